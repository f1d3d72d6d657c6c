// A cause's moves as a drawing: each cable's actual port (dashed) and its planned port (solid).

import { svg } from "./dom.js";

const LINE = 26;
const MOST = 8;
const WIDTH = 460;

/** @typedef {{cable: string, source: string, target: string}} Move */

/** The drawing; null without moves, or with more than a reader can follow. @param {Move[]} moves */
export function crossing(moves) {
  if (moves.length < 1 || moves.length > MOST) return null;
  /** @type {Map<string, number>} */ const heights = new Map();
  for (const side of /** @type {const} */ (["target", "source"])) for (const move of moves) if (!heights.has(move[side])) heights.set(move[side], height(heights.size));
  const lines = moves.map(
    (move, row) => ({ from: height(row), now: heights.get(move.source) ?? 0, planned: heights.get(move.target) ?? 0 })
  );
  const summary = moves.map((move) => `${move.cable}: actual ${move.source}, planned ${move.target}.`).join(" ");
  return svg("svg.crossing", { viewBox: `0 0 ${WIDTH} ${LINE * heights.size + 4}`, role: "img", "aria-label": summary },
    lines.map(({ from, now }) => svg("path.now", { d: curve(from, now) })),
    lines.map(({ from, planned }) => svg("path.planned", { d: curve(from, planned) })),
    moves.map((move, row) => svg("text", { x: 176, y: height(row) + 4, "text-anchor": "end" }, ending(move.cable, 24))),
    [...heights].map(([port, y]) => svg("text", { x: 326, y: y + 4 }, ending(port, 18))));
}

/** @param {number} row */
function height(row) {
  return LINE * row + LINE / 2 + 2;
}

/** @param {number} from @param {number} to */
function curve(from, to) {
  return `M182 ${from} C 236 ${from}, 266 ${to}, 320 ${to}`;
}

/** A long name by its end, which tells ports apart. @param {string} text @param {number} most */
export function ending(text, most) {
  return text.length > most ? `…${text.slice(1 - most)}` : text;
}
