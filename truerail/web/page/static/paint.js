// How cells look. Each state has a colour and a shape of its own, at every size: what is right recedes; a wrong one is
// solid with a cross, a missing one hollow, an unknown one a diamond or a question mark.

import { offset, placeOf } from "./layout.js";

/** @typedef {ReturnType<typeof palette>} Palette */

const SMALLEST_MARK = 4;
const TIGHT = 6;

/** The colours of the theme in force. @param {Element} node */
export function palette(node) {
  const style = getComputedStyle(node);
  const take = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  return {
    right: take("--cell-right"), dot: take("--cell-dot"), blank: take("--cell-blank"), wrong: take("--cell-wrong"), missing: take("--cell-missing"),
    unknown: take("--cell-unknown"), paper: take("--paper"), ink: take("--ink"), soft: take("--soft"), focus: take("--focus"), missingTint: take("--missing-bg"), unknownTint: take("--unknown-bg"),
    font: take("--mono"), text: take("--sans"), info: take("--link"),
  };
}

/**
 * @typedef {object} Scene
 * @property {CanvasRenderingContext2D} ctx
 * @property {import("./cells.js").Cells} cells
 * @property {import("./layout.js").Layout} layout
 * @property {Palette} colours
 * @property {number} top of what is in sight
 * @property {number} width
 * @property {number} height
 * @property {Set<number> | null} only states that are shown in full; null for all
 * @property {Set<number> | null} lit cells that are pointed out; null for none
 * @property {Set<number>} fresh cells that just changed
 * @property {number} focus cell, or -1
 * @property {boolean} focused whether the keyboard is here
 */

/** Draws what is in sight. @param {Scene} scene */
export function paint(scene) {
  const { ctx, layout, top, width, height, cells } = scene;
  ctx.clearRect(0, 0, width, height);
  ctx.save();
  ctx.translate(0, -top);
  /** @type {number[]} */ const marked = [];
  for (const column of layout.columns) {
    const low = Math.max(0, Math.floor((top - column.y) / layout.size));
    const high = Math.min(column.rows, Math.ceil((top + height - column.y) / layout.size));
    if (low < high) quiet(scene, column, low, high, marked);
  }
  for (const cell of marked) mark(scene, cell);
  captions(scene);
  for (const cell of scene.fresh) ring(scene, cell, scene.colours.ink, 1);
  if (scene.focus >= 0 && scene.focus < cells.length) ring(scene, scene.focus, scene.focused ? scene.colours.focus : scene.colours.soft, scene.focused ? 2 : 1);
  ctx.restore();
}

/** The cells of a column that are right; the others are kept for later, so that they lie on top. @param {Scene} scene @param {import("./layout.js").Column} column @param {number} low @param {number} high @param {number[]} marked */
function quiet(scene, column, low, high, marked) {
  const { ctx, cells, layout, colours, lit, only } = scene;
  const { size } = layout;
  const { perHost } = cells;
  const gap = size >= TIGHT ? 1 : 0;
  ctx.fillStyle = colours.right;
  ctx.globalAlpha = lit || (only && !only.has(1)) ? 0.35 : 1;
  if (!gap) ctx.fillRect(column.x, column.y + low * size, layout.across, (high - low) * size);
  for (let row = low; row < high; row++) {
    const first = (column.first + row) * perHost;
    const y = column.y + row * size;
    for (let at = 0; at < perHost; at++) {
      const code = cells.codes[first + at];
      if (code !== 1) marked.push(first + at);
      if (gap && (code & 7) === 1) ctx.fillRect(column.x + offset(layout, at), y, size - gap, size - gap);
    }
  }
  if (size >= 12) dots(scene, column, low, high);
  ctx.globalAlpha = 1;
}

/** The mark of what is right. @param {Scene} scene @param {import("./layout.js").Column} column @param {number} low @param {number} high */
function dots({ ctx, cells, layout, colours }, column, low, high) {
  const { size } = layout;
  ctx.fillStyle = colours.dot;
  for (let row = low; row < high; row++) {
    for (let at = 0; at < cells.perHost; at++) {
      if (cells.state((column.first + row) * cells.perHost + at) !== 1) continue;
      ctx.fillRect(column.x + offset(layout, at) + size / 2 - 1.5, column.y + (row + 0.5) * size - 1.5, 2, 2);
    }
  }
}

/** A cell that says something. @param {Scene} scene @param {number} cell */
function mark(scene, cell) {
  const { ctx, cells, layout, colours, lit, only } = scene;
  const state = cells.state(cell);
  const { x, y } = placeOf(layout, cell, cells.perHost);
  const faded = (lit && !lit.has(cell)) || (only && !only.has(state));
  ctx.globalAlpha = faded ? 0.12 : cells.muted(cell) ? 0.38 : 1;
  const size = layout.size >= TIGHT ? layout.size - 1 : Math.max(layout.size, SMALLEST_MARK);
  const shift = layout.size >= TIGHT ? 0 : (layout.size - size) / 2;
  if (layout.size >= TIGHT && state !== 1) {
    ctx.fillStyle = colours.paper;
    ctx.fillRect(x, y, size, size);
  }
  SHAPES[state](ctx, x + shift, y + shift, size, colours);
  if (state === 1 && cells.severity(cell) > 0) notch(ctx, x + shift, y + shift, size, cells.severity(cell), colours);
  ctx.globalAlpha = 1;
}

/** @type {Array<(ctx: CanvasRenderingContext2D, x: number, y: number, size: number, colours: Palette) => void>} */
const SHAPES = [
  (ctx, x, y, size, colours) => {
    ctx.fillStyle = colours.blank;
    ctx.fillRect(x, y, size, size);
  },
  () => {},
  (ctx, x, y, size, colours) => {
    ctx.fillStyle = colours.wrong;
    ctx.fillRect(x, y, size, size);
    if (size < 6) return;
    const inset = size * 0.3;
    ctx.strokeStyle = colours.paper;
    ctx.lineWidth = Math.max(1.2, size / 9);
    ctx.beginPath();
    ctx.moveTo(x + inset, y + inset);
    ctx.lineTo(x + size - inset, y + size - inset);
    ctx.moveTo(x + size - inset, y + inset);
    ctx.lineTo(x + inset, y + size - inset);
    ctx.stroke();
  },
  (ctx, x, y, size, colours) => {
    const line = size < 6 ? 1 : Math.max(1.5, size / 9);
    ctx.fillStyle = size < 6 ? colours.paper : colours.missingTint;
    ctx.fillRect(x, y, size, size);
    ctx.strokeStyle = colours.missing;
    ctx.lineWidth = line;
    ctx.strokeRect(x + line / 2, y + line / 2, size - line, size - line);
    if (size < 10) return;
    ctx.beginPath();
    ctx.arc(x + size / 2, y + size / 2, size * 0.2, 0, 2 * Math.PI);
    ctx.stroke();
  },
  (ctx, x, y, size, colours) => {
    if (size >= 12) {
      ctx.fillStyle = colours.unknownTint;
      ctx.fillRect(x, y, size, size);
      ctx.fillStyle = colours.unknown;
      ctx.font = `700 ${Math.round(size * 0.72)}px ${colours.text}`;
      ctx.textAlign = "center";
      ctx.textBaseline = "middle";
      ctx.fillText("?", x + size / 2, y + size / 2 + 0.5);
      return;
    }
    ctx.fillStyle = colours.unknownTint;
    ctx.fillRect(x, y, size, size);
    ctx.fillStyle = colours.unknown;
    const half = size / 2;
    ctx.beginPath();
    ctx.moveTo(x + half, y);
    ctx.lineTo(x + size, y + half);
    ctx.lineTo(x + half, y + size);
    ctx.lineTo(x, y + half);
    ctx.fill();
  },
];

/** A finding on a cable that is in the right place. @param {CanvasRenderingContext2D} ctx @param {number} x @param {number} y @param {number} size @param {number} severity @param {Palette} colours */
function notch(ctx, x, y, size, severity, colours) {
  const side = Math.max(2, size * 0.5);
  ctx.fillStyle = severity === 3 ? colours.wrong : severity === 2 ? colours.missing : colours.info;
  ctx.beginPath();
  ctx.moveTo(x + size - side, y);
  ctx.lineTo(x + size, y);
  ctx.lineTo(x + size, y + side);
  ctx.fill();
}

/** @param {Scene} scene @param {number} cell @param {string} colour @param {number} line */
function ring({ ctx, cells, layout }, cell, colour, line) {
  const { x, y } = placeOf(layout, cell, cells.perHost);
  const size = Math.max(layout.size - (layout.size >= TIGHT ? 1 : 0), SMALLEST_MARK);
  const out = line + 0.5;
  ctx.strokeStyle = colour;
  ctx.lineWidth = line;
  ctx.strokeRect(x - out, y - out, size + 2 * out, size + 2 * out);
}

/** Names of pods, rails and hosts, where there is room. @param {Scene} scene */
function captions({ ctx, cells, layout, colours, top, height }) {
  ctx.textBaseline = "alphabetic";
  ctx.textAlign = "left";
  ctx.fillStyle = colours.soft;
  ctx.font = `600 11px ${colours.text}`;
  for (const title of layout.titles) if (title.y + 20 > top && title.y < top + height) ctx.fillText(title.name, title.x, title.y + 12, Math.max(20, title.width));
  const small = Math.min(11.5, layout.size - 2);
  for (const column of layout.columns) {
    if (column.y > top + height || column.y + column.rows * layout.size < top) continue;
    if (layout.head) {
      ctx.font = `10px ${colours.text}`;
      ctx.textAlign = "center";
      const half = (layout.planes * layout.size - 1) / 2;
      cells.rails.forEach((rail, i) => ctx.fillText(String(rail ?? "–"), column.x + offset(layout, i * layout.planes) + half, column.y - 5));
    }
    if (!layout.label) continue;
    ctx.textAlign = "right";
    ctx.font = `${small}px ${colours.font}`;
    const low = Math.max(0, Math.floor((top - column.y) / layout.size));
    const high = Math.min(column.rows, Math.ceil((top + height - column.y) / layout.size));
    for (let row = low; row < high; row++) ctx.fillText(cells.hosts[column.first + row], column.x - 7, column.y + (row + 0.5) * layout.size + small * 0.32, layout.label - 8);
  }
}
