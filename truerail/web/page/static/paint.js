// Paints what is in sight of the map: first all that is right, then on top of it what is not.

import { offset, placeOf } from "./layout.js";
import { byCause, light, notch, SHAPES } from "./shapes.js";

const SMALLEST_MARK = 4;
const TIGHT = 6;
const LARGE = 11;
const FEW = 40;

/**
 * @typedef {object} Scene
 * @property {CanvasRenderingContext2D} ctx
 * @property {import("./cells.js").Cells} cells
 * @property {import("./layout.js").Layout} layout
 * @property {import("./shapes.js").Palette} colours
 * @property {number} top of what is in sight
 * @property {number} width
 * @property {number} height
 * @property {Set<number> | null} only states that are shown in full; null for all
 * @property {Set<number> | null} lit cells that are pointed out; null for none
 * @property {Set<number>} fresh cells that just changed
 * @property {boolean} coloured by cause, not by state
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
  point(scene, marked);
  captions(scene);
  for (const cell of scene.fresh) ring(scene, cell, scene.colours.ink, 1);
  if (scene.focus >= 0 && scene.focus < cells.length) ring(
    scene,
    scene.focus,
    scene.focused ? scene.colours.focus : scene.colours.soft,
    scene.focused ? 2 : 1,
  );
  ctx.restore();
}

/**
 * The cells of a column that are right; the others are kept for later, so that they lie on top.
 * @param {Scene} scene
 * @param {import("./layout.js").Column} column
 * @param {number} low
 * @param {number} high
 * @param {number[]} marked
 */
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
      if (code !== 1 || (scene.coloured && cells.causeOf(first + at))) marked.push(first + at);
      if (gap && (code & 7) === 1) ctx.fillRect(column.x + offset(layout, at), y, size - gap, size - gap);
    }
  }
  if (size >= 12) dots(scene, column, low, high);
  ctx.globalAlpha = 1;
}

/**
 * The mark of what is right.
 * @param {Scene} scene
 * @param {import("./layout.js").Column} column
 * @param {number} low
 * @param {number} high
 */
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

/** A few cells that are pointed out are found at any size. @param {Scene} scene @param {number[]} marked */
function point(scene, marked) {
  const { lit, only, cells, layout, colours } = scene;
  if ((!lit && !only) || layout.size >= LARGE) return;
  const shown = marked.filter((cell) => (!lit || lit.has(cell)) && (!only || only.has(cells.state(cell))));
  if (shown.length <= FEW) for (const cell of shown) ring(scene, cell, colours.ink, 1.5);
}

/** A cell that says something. @param {Scene} scene @param {number} cell */
function mark(scene, cell) {
  const { ctx, cells, layout, colours, lit, only, coloured } = scene;
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
  const cause = cells.causeOf(cell);
  if (coloured && cause) byCause(ctx, x + shift, y + shift, size, { cause, state }, colours);
  else if (!coloured && !lit && !only && state > 1 && cells.oneOfMany(cell)) light(ctx, x + shift, y + shift, size, state, colours);
  else SHAPES[state](ctx, x + shift, y + shift, size, colours);
  if (state === 1 && cells.severity(cell) > 0) notch(ctx, x + shift, y + shift, size, cells.severity(cell), colours);
  ctx.globalAlpha = 1;
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
  let taken = { y: -1, x: 0 };
  for (const title of layout.titles) {
    const crowded = title.y === taken.y && title.x < taken.x;
    if (crowded || title.y + 20 < top || title.y > top + height) continue;
    ctx.fillText(title.name, title.x, title.y + 12, Math.max(60, title.width));
    taken = { y: title.y, x: title.x + Math.min(Math.max(60, title.width), ctx.measureText(title.name).width) + 4 };
  }
  const small = Math.min(11.5, layout.size - 2);
  for (const column of layout.columns) {
    if (column.y > top + height || column.y + column.rows * layout.size < top) continue;
    if (layout.head) {
      ctx.font = `10px ${colours.text}`;
      ctx.textAlign = "center";
      const half = (layout.planes * layout.size - 1) / 2;
      cells.rails.forEach(
        (rail, i) => ctx.fillText(
          String(rail ?? "–"),
          column.x + offset(layout, i * layout.planes) + half,
          column.y - 5,
        )
      );
    }
    if (!layout.label) continue;
    ctx.textAlign = "right";
    ctx.font = `${small}px ${colours.font}`;
    const low = Math.max(0, Math.floor((top - column.y) / layout.size));
    const high = Math.min(column.rows, Math.ceil((top + height - column.y) / layout.size));
    for (let row = low; row < high; row++) ctx.fillText(
      cells.hosts[column.first + row],
      column.x - 7,
      column.y + (row + 0.5) * layout.size + small * 0.32,
      layout.label - 8,
    );
  }
}
