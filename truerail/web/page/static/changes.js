// What changed, by cause: since then, between two moments, or against the plan.

import { byId, el, redraw } from "./dom.js";
import { frame, watchService } from "./frame.js";
import { card, table } from "./lines.js";
import { cause as causePage, finding, portLink } from "./links.js";
import { address } from "./api.js";
import { watch } from "./watch.js";
import { fill, instant, momentOf } from "./times.js";
import { count, sentence } from "./words.js";

const page = frame();
const form = byId("ask");
const answer = byId("answer");

function question() {
  const fields = new FormData(form);
  const since = String(fields.get("since"));
  byId("range").hidden = since !== "range";
  const query = since === "plan" ? { planned: "true" } : since !== "range" ? { since } : {
    since: instant(range.namedItem("from")),
    until: instant(range.namedItem("to")),
  };
  return address("diff", query).slice("/api/v1/".length);
}

/** @param {any} diff Diff */
function draw(diff) {
  const caused = diff.causes.length > 0;
  redraw(answer, el(
    "div.answer",
    null,
    el("p.verdict", null, sentence(diff.summary)),
    caused ? card(count(diff.causes.length, "cause"), diff.causes.map((/** @type {any} */ one) => causeLine(one, diff))) : null,
    caused && !Object.values(diff.no_cause).some(Boolean) ? null : loose(diff, caused),
  ));
}

/** What belongs to no cause. @param {any} diff @param {boolean} caused */
function loose(diff, caused) {
  const none = (/** @type {any} */ one) => one.cause === null;
  const links = diff.links.filter(none);
  const findings = diff.findings.filter(none);
  const planned = diff.against === "plan";
  const where = caused ? " without a cause" : "";
  return [
    card(count(links.length, "link") + where, links.length ? linkTable(links) : el("p.soft.pad", null, planned ? `No link${where} differs from the plan.` : `No link${where} changed.`)),
    planned && !findings.length ? null : card(count(findings.length, "finding") + where, findings.length ? findingTable(findings) : el("p.soft.pad", null, `No finding${where} came or went.`)),
  ];
}

/** One cause on one line, with its links and findings below. @param {any} cause CauseChange @param {any} diff */
function causeLine(cause, diff) {
  const mine = (/** @type {any} */ one) => one.cause === cause.cause;
  const [links, findings] = [diff.links.filter(mine), diff.findings.filter(mine)];
  const { counts } = cause;
  const hidden = counts.nics + counts.uplinks + counts.links - links.length + counts.findings - findings.length;
  return el("details.folded.change", { "data-key": cause.cause }, el(
    "summary",
    null,
    el("b", null, sentence(brief(cause.summary)).replace(/\.$/, "")),
    " ",
    lasting(cause),
    el("span.soft", null, ` ${counted(counts).join(", ")}`),
  ),
    el("p.pad", null, el("a", { href: causePage(cause.cause) }, "The cause, its evidence and its repair")),
    links.length ? linkTable(links) : null,
    findings.length ? findingTable(findings) : null,
    hidden > 0 ? el("p.soft.pad", null, `${count(hidden, "more change")} not listed: changed back, or beyond the first 1,000.`) : null);
}

/** When a cause began and ended, as far as that was in the time in question. @param {any} cause */
function lasting({ began, ended, state, times }) {
  const tag = ended ? "resolved" : state;
  return el("span.life", null, el(`span.tag.${tag}`, null, ended ? "ended" : state),
    began ? momentOf(began) : ended ? "before" : null,
    ended ? [" – ", momentOf(ended)] : null,
    times > 1 ? `, ${times} times` : null);
}

/** The first clause of a cause's sentence; a name alone, before a colon, is none. @param {string} summary */
function brief(summary) {
  const clause = summary.split(": ", 1)[0];
  return (clause.includes(" ") ? clause : summary).split(". ", 1)[0];
}

/** @param {any} counts Counts @returns {string[]} */
function counted({ uplinks, nics, links, findings }) {
  return [
    uplinks ? count(uplinks, "uplink") : "",
    nics ? count(nics, "NIC") : "",
    links ? count(links, "unplanned link") : "",
    findings ? count(findings, "finding") : "",
  ].filter(Boolean);
}

/** @param {any[]} links */
function linkTable(links) {
  return table(["When", "Port", "Rail", "Was", "Is", "State"], links.map(link));
}

/** @param {any[]} findings */
function findingTable(findings) {
  return table(["When", "What", "Severity", "Finding"], findings.map(change));
}

/** @param {any} line LinkLine */
function link(line) {
  const port = (/** @type {string | null} */ name) => (
    name ? el("span.port", null, name) : el("span.soft", null, "nothing")
  );
  return [
    momentOf(line.at),
    portLink(line.port),
    line.rail ?? "–",
    port(line.was),
    port(line.now),
    el("span", null, line.was_state, " → ", el(`b.${line.now_state}`, null, line.now_state)),
  ];
}

/** @param {any} event FindingChange */
function change(event) {
  return [
    momentOf(event.at),
    el("span.tag", null, event.kind),
    el(`span.${event.severity}`, null, event.severity),
    el("a", { href: finding(event.finding) }, sentence(event.summary)),
  ];
}

const range = form.elements;
fill(range.namedItem("to"), new Date());
fill(range.namedItem("from"), new Date(Date.now() - 86400000));
const ask = watch(page.live, question, answer, draw);
form.addEventListener("change", () => ask());
form.addEventListener("submit", (/** @type {Event} */ event) => {
  event.preventDefault();
  void ask();
});
page.live.start();
void watchService(page);
