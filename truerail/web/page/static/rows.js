// The table of a list, with heads that sort, and its pages.

import { el } from "./dom.js";
import { wide } from "./wide.js";
import { figure } from "./words.js";

/** @typedef {import("./listing.js").Column} Column */

/** @param {string} caption @param {Column[]} columns @param {any[]} rows @param {string} sort @param {(sort: string) => void} turn */
export function drawTable(caption, columns, rows, sort, turn) {
  const side = (/** @type {Column} */ one) => (one.number ? "number" : null);
  return wide(`Table of ${caption}`, ".card", el("table.rows", null, el("caption.hidden", null, caption),
    el("thead", null, el("tr", null, columns.map((one) => head(one, sort, turn)))),
    el("tbody", null, rows.map((row) => el("tr", null, columns.map((one) => el("td", { class: side(one), "data-head": one.head }, el("span", null, one.cell(row)))))))));
}

/** The first click sorts, the second the other way, the third not. @param {Column} one @param {string} sort @param {(sort: string) => void} turn */
function head(one, sort, turn) {
  const [up, down] = [sort === one.key, sort === `-${one.key}`];
  const steps = one.highest ? [`-${one.key}`, one.key, ""] : [one.key, `-${one.key}`, ""];
  const next = up || down ? steps[steps.indexOf(sort) + 1] : steps[0];
  const sorted = up ? "ascending" : down ? "descending" : null;
  return el("th", { scope: "col", class: one.number ? "number" : null, "aria-sort": sorted }, one.sort ? el(
    "button.sort",
    { type: "button", "data-key": `sort-${one.key}`, on: { click: () => turn(next) } },
    one.head,
    el("span.soft", { "aria-hidden": "true" }, up ? " ▲" : down ? " ▼" : " ↕"),
  ) : one.head);
}

/** @param {number} now @param {number} last @param {(to: number) => void} go */
export function pager(now, last, go) {
  const step = (/** @type {string} */ word, /** @type {number} */ to) => el(
    "button",
    { type: "button", disabled: to < 1 || to > last || to === now, "data-key": `page-${word}`, on: { click: () => go(to) } },
    word,
  );
  const change = (/** @type {any} */ event) => go(Math.min(last, Math.max(1, Math.floor(event.target.value) || 1)));
  return el("nav.pager", { "aria-label": "Pages of the list" },
    step("First", 1),
    step("Previous", now - 1),
    el("label.check", null, "Page", el("input", { type: "number", min: 1, max: last, value: now, "data-key": "page", on: { change } }), `of ${figure(last)}`),
    step("Next", now + 1),
    step("Last", last));
}
