// What changed: since then, between two moments, or against the plan.

import { byId, el, redraw } from "./dom.js";
import { frame, watchService } from "./frame.js";
import { card, table } from "./lines.js";
import { finding, portLink } from "./links.js";
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
  const query = since === "plan" ? { plan: "true" } : since !== "range" ? { since } : {
    from: instant(range.namedItem("from")),
    to: instant(range.namedItem("to")),
  };
  return address("diff", query).slice("/api/v1/".length);
}

/** @param {any} diff Diff */
function draw(diff) {
  redraw(answer, el("div.answer", null, el("p.verdict", null, sentence(diff.summary)), diff.whole ? null : el(
    "p.note",
    null,
    "Not all changes are shown: choose a shorter time.",
  ),
    card(
      count(diff.links.length, "link"),
      diff.links.length ? table(
        ["When", "Port", "Rail", "Was", "Is", "State"],
        diff.links.map(link),
      ) : el("p.soft.pad", null, diff.against === "plan" ? "No link differs from the plan." : "No link changed."),
    ),
    diff.against === "plan" && !diff.findings.length ? null : card(count(diff.findings.length, "finding"), diff.findings.length ? table(["When", "What", "Severity", "Finding"], diff.findings.map(change)) : el("p.soft.pad", null, "No finding came or went."))));
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
