// Lines that many pages show: findings, states, who muted what.

import { el } from "./dom.js";
import * as links from "./links.js";
import { agoOf, momentOf, span } from "./times.js";
import { wide } from "./wide.js";
import { GLYPHS, percent, sentence } from "./words.js";

/** A cable's state with its mark. @param {string | null} state */
export function stateChip(state) {
  return state ? el(
    `span.state.${state}`,
    null,
    el("b", { "aria-hidden": "true" }, GLYPHS[/** @type {"right"} */ (state)] ?? ""),
    ` ${state}`,
  ) : el("span.soft", null, "–");
}

/**
 * When something began, and what it is called in its life.
 * @param {{state: string, since: string | null, muted: string | null}} line
 */
export function life({ state, since, muted }) {
  return el("span.life", null,
    state !== "ongoing" ? el(`span.tag.${state}`, null, state) : null,
    muted ? el("span.tag.muted", null, muted) : null,
    agoOf(since));
}

/**
 * When something that is over began and ended, and what repaired it.
 * @param {{since: string | null, ended: string | null}} line @param {string} repair
 */
export function ended({ since, ended: at }, repair) {
  return el("div.past", null,
    el("p", null, el("span.tag.resolved", null, "resolved"), " from ", momentOf(since), " to ", momentOf(at)),
    repair ? el("p", null, el("b", null, "What ended it: "), sentence(repair)) : null);
}

/**
 * Of something that is shown as of a time: what was suggested then, and what became of it.
 * @param {{suggested: string, since: string | null, ended: string | null, repair?: string}} line @param {string} page its page
 */
export function became({ suggested, since, ended: at, repair }, page) {
  return el("div.past", null,
    suggested ? el("p", null, "Suggested then: ", sentence(suggested)) : null,
    at ? el("p", null, el("span.tag.resolved", null, "ended"), " ", momentOf(at), since ? `, after ${span((Date.parse(at) - Date.parse(since)) / 1000)}` : null)
      : el("p", null, el("span.tag", null, "still open"), " ", el("a", { href: page, "data-now": true }, "As it is now")),
    at && repair ? el("p", null, "What ended it: ", sentence(repair)) : null);
}

/** @param {any} finding */
export function findingLine(finding) {
  return el(`li.line${finding.muted ? ".is-muted" : ""}`, null,
    el(`span.dot.${finding.severity}`, { title: finding.severity }, el("span.hidden", null, finding.severity)),
    el("div", null,
      el(
        "p",
        null,
        el("a", { href: links.finding(finding.id), "data-key": finding.id }, sentence(finding.summary)),
        " ",
        life(finding),
      ),
      finding.action ? el("p.soft", null, sentence(finding.action)) : null,
      el("p.small.soft", null, `${finding.rule} ${finding.name}, ${percent(finding.confidence)} sure`)));
}

/** @param {any[]} findings @param {string} nothing */
export function findingList(findings, nothing) {
  return findings.length ? el("ul.lines", null, findings.map(findingLine)) : el("p.soft.pad", null, nothing);
}

/** A word and what it is. @param {Array<[string, any]>} pairs */
export function facts(pairs) {
  const reported = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return el(
    "dl.facts",
    null,
    reported.map(([word, value]) => el("div", null, el("dt", null, word), el("dd", null, value))),
  );
}

/** A titled card. @param {string} title @param {...any} content */
export function card(title, ...content) {
  return el("section.card", { "aria-label": title }, el("header", null, el("h2", null, title)), ...content);
}

/**
 * A table; numbers stand right.
 * @param {string[]} heads @param {any[][]} rows @param {{numbers?: number[], caption?: string}} [how]
 */
export function table(heads, rows, { numbers = [], caption } = {}) {
  const side = (/** @type {number} */ i) => (numbers.includes(i) ? "number" : null);
  return wide(caption ?? `Table: ${heads.filter(Boolean).join(", ")}`, "", el("table", null, caption ? el("caption.hidden", null, caption) : null,
    el("thead", null, el("tr", null, heads.map((head, i) => (head ? el("th", { scope: "col", class: side(i) }, head) : el("td"))))),
    el("tbody", null, rows.map((row) => el("tr", null, row.map((cell, i) => el("td", { class: side(i) }, cell)))))));
}
