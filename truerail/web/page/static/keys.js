// Keys of the fabric map: which there are, and which cell each leads to.

import { columnOf } from "./layout.js";
import { shortcuts } from "./shortcuts.js";

/** The map's keys, for where nothing has the focus. @param {import("./map.js").FabricMap} map */
export function mapKeys(map) {
  const act = (/** @type {KeyboardEvent} */ event) => {
    map.canvas.focus({ preventScroll: true });
    map.key(event);
  };
  const when = () => map.layout !== null && document.activeElement === document.body;
  shortcuts("Fabric map", [
    { keys: ["n", "p"], words: "Next and previous cable that is not right", act, when },
    { keys: ["ArrowLeft", "ArrowRight"], words: "Move along the rails", act, when },
    { keys: ["ArrowUp", "ArrowDown"], words: "Move along the hosts", act, when: () => when() && scrollY === 0 },
    { keys: ["+", "-", "0"], words: "Larger, smaller, whole fabric", act, when },
    { keys: ["Enter"], words: "Open the host", act, when },
  ]);
}

/**
 * The cell that a key leads to from `cell`; null for a key that leads nowhere.
 * @param {string} key
 * @param {number} cell -1 for none yet
 * @param {import("./cells.js").Cells} cells
 * @param {import("./layout.js").Layout} layout
 * @returns {number | null}
 */
export function arrow(key, cell, cells, layout) {
  const last = cells.length - 1;
  if (key === "n") return cells.next(cell, 1);
  if (key === "p") return cells.next(Math.max(cell, 0), -1);
  if (key === "Home") return 0;
  if (key === "End") return last;
  if (!key.startsWith("Arrow") && !key.startsWith("Page")) return null;
  if (cell < 0) return 0;
  const page = 10 * cells.perHost;
  const by = { ArrowUp: -cells.perHost, ArrowDown: cells.perHost, PageUp: -page, PageDown: page }[key];
  if (by !== undefined) return clamp(
    cell + by,
    cell % cells.perHost,
    last - cells.perHost + 1 + (cell % cells.perHost),
  );
  return sideways(key === "ArrowRight" ? 1 : -1, cell, cells, layout);
}

/**
 * Along the rails of a host; beyond them into the column beside, on the same height.
 * @param {1 | -1} step
 * @param {number} cell
 * @param {import("./cells.js").Cells} cells
 * @param {import("./layout.js").Layout} layout
 */
function sideways(step, cell, cells, layout) {
  const at = (cell % cells.perHost) + step;
  if (at >= 0 && at < cells.perHost) return cell + step;
  const column = columnOf(layout, cells.hostOf(cell));
  const beside = layout.columns[layout.columns.indexOf(column) + step];
  if (!beside) return cell;
  const row = Math.min(cells.hostOf(cell) - column.first, beside.rows - 1);
  return (beside.first + row) * cells.perHost + (step > 0 ? 0 : cells.perHost - 1);
}

/** @param {number} value @param {number} low @param {number} high */
function clamp(value, low, high) {
  return Math.min(high, Math.max(low, value));
}
