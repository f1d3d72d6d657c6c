// What the marks of the map mean: each is drawn by what draws the map, at the size that it has there.

import { el } from "./dom.js";
import { byCause, COLOURED, light, notch, SHAPES } from "./shapes.js";
import { STATES } from "./words.js";

const [LEAST, MOST] = [9, 16];
const PLAIN = "right";

/** @typedef {(ctx: CanvasRenderingContext2D, size: number) => void} Draw */

/** @param {import("./map.js").FabricMap} map */
const sizeOn = (map) => Math.min(MOST, Math.max(LEAST, (map.layout?.size ?? MOST) - 1));

/** The mark of a state. @param {import("./map.js").FabricMap} map @param {number} state @returns {Draw} */
const markOf = ({ colours }, state) => (ctx, size) => {
  ctx.fillStyle = colours.right;
  if (state === 1) ctx.fillRect(0, 0, size, size);
  SHAPES[state](ctx, 0, 0, size, colours);
};

/** The marks of the states alone, in the words of the map. @param {import("./map.js").FabricMap} map */
export function stateLegend(map) {
  const words = map.cells?.words ?? [];
  return [1, 2, 3, 4, 0].map((state) => el("span.mark-key", null, sample(markOf(map, state), sizeOn(map)), words[state]));
}

/** The marks that are in use on a map, with their words. @param {import("./map.js").FabricMap} map */
export function legend(map) {
  const { cells, colours } = map;
  if (!cells) return [];
  const size = sizeOn(map);
  const states = cells.counts();
  /** @param {Draw} draw @param {string} word */
  const entry = (draw, word) => el("span.mark-key", null, sample(draw, size), word);
  /** @param {number} state @returns {Draw} */
  const of = (state) => (ctx) => markOf(map, state)(ctx, size);
  /** @param {number} severity @returns {Draw} */
  const noted = (severity) => (ctx) => {
    of(1)(ctx, size);
    notch(ctx, 0, 0, size, severity, colours);
  };
  /** @returns {Draw} */
  const ringed = () => (ctx) => {
    of(1)(ctx, size);
    ctx.strokeStyle = colours.ink;
    ctx.strokeRect(0.5, 0.5, size - 1, size - 1);
  };
  /** @type {Draw} */
  const faded = (ctx) => {
    ctx.globalAlpha = 0.38;
    of(2)(ctx, size);
  };
  return [
    ...STATES.slice(1).map((word, i) => entry(of(i + 1), word === PLAIN ? "as planned" : word)),
    states[0] ? entry(of(0), "no cable planned") : null,
    map.coloured ? colourKeys(map, entry) : entry((ctx) => light(ctx, 0, 0, size, 2, colours), "light: one cause explains 12 cells or more"),
    el("span.mark-key", null, [3, 2, 1].map((severity) => sample(noted(severity), size)), "cable right, with a critical, warning, info finding"),
    entry(faded, "pale: muted"),
    entry(ringed(), "framed: changed just now, or focused"),
  ];
}

/** @param {import("./map.js").FabricMap} map @param {(draw: Draw, word: string) => any} entry */
function colourKeys({ cells, colours }, entry) {
  const used = new Set(cells?.causes ?? []);
  const numbers = [...used].filter((cause) => cause > 0 && cause <= COLOURED).sort((one, other) => one - other);
  const later = [...used].some((cause) => cause > COLOURED);
  /** @param {number} cause @returns {Draw} */
  const of = (cause) => (ctx, size) => byCause(ctx, 0, 0, size, { cause, state: 2 }, colours);
  /** @param {number} state @returns {Draw} */
  const formed = (state) => (ctx, size) => byCause(ctx, 0, 0, size, { cause: 1, state }, colours);
  return [
    numbers.map((cause) => entry(of(cause), `cause ${cause}`)),
    [[3, "of a cause: missing"], [4, "unknown"], [1, "right, but affected"]].map(([state, word]) => entry(formed(Number(state)), String(word))),
    later ? entry(of(COLOURED + 1), "a later cause") : null,
  ];
}

/** @param {Draw} draw @param {number} size */
function sample(draw, size) {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const scale = devicePixelRatio || 1;
  [canvas.width, canvas.height] = [Math.ceil(size * scale), Math.ceil(size * scale)];
  Object.assign(canvas.style, { width: `${size}px`, height: `${size}px` });
  const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  ctx.setTransform(scale, 0, 0, scale, 0, 0);
  draw(ctx, size);
  return canvas;
}
