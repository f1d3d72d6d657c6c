// What a cell is, beside the pointer.

import { el } from "./dom.js";
import { GLYPHS, SEVERITIES, STATES } from "./words.js";

const AWAY = 14;

/** A small card that follows the pointer or the focus. */
export class Tip {
  /** @param {HTMLElement} room */
  constructor(room) {
    this.room = room;
    this.node = el("div.tip", { hidden: true, "aria-hidden": "true" });
    room.addEventListener("focusout", () => this.hide());
  }

  hide() {
    this.node.hidden = true;
  }

  /**
   * @param {import("./cells.js").Cells} cells
   * @param {number} cell
   * @param {number} x
   * @param {number} y in the window
   */
  show(cells, cell, x, y) {
    const host = cells.hostOf(cell);
    const state = STATES[cells.state(cell)];
    const severity = SEVERITIES[cells.severity(cell)];
    const plane = cells.planes > 1 ? `, plane ${cell % cells.planes}` : "";
    const pod = cells.podOf(host);
    const place = [
      pod ? `pod ${pod}` : "",
      cells.racks[host] ? `rack ${cells.racks[host]}` : "",
    ].filter(Boolean).join(", ");
    this.node.replaceChildren(
      el("b.port", null, cells.hosts[host]), el("span", null, `rail ${cells.railOf(cell)}${plane}`),
      el(
        `span.state.${state}`,
        null,
        `${GLYPHS[/** @type {"right"} */ (state)]} ${cells.words[cells.state(cell)]}`.trim(),
      ),
      severity ? el(`span.${severity}`, null, severity) : "", cells.muted(cell) ? el("span.soft", null, "muted") : "", cells.causeOf(cell) ? el("span", null, cells.causeWords(cell)) : "", place ? el("small", null, place) : "");
    this.node.hidden = false;
    const { width, height } = this.node.getBoundingClientRect();
    const left = x + AWAY + width > innerWidth ? x - AWAY - width : x + AWAY;
    const top = y + AWAY + height > innerHeight ? y - AWAY - height : y + AWAY;
    Object.assign(this.node.style, { left: `${Math.max(4, left)}px`, top: `${Math.max(4, top)}px` });
  }
}
