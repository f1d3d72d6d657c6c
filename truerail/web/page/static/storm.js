// PFC storms: each with its culprit, the tree of devices that wait for it, and what to do. "No storm" and "unknown"
// are shown as plainly.

import { address } from "./api.js";
import { at } from "./asof.js";
import { byId, el, redraw } from "./dom.js";
import { frame, watchService } from "./frame.js";
import { card, findingList } from "./lines.js";
import { stormCard } from "./stormcard.js";
import { watch } from "./watch.js";
import { count, sentence } from "./words.js";

const MOST_STORMS = 20;
const CALM = "there is no PFC storm";
const page = frame();
const answer = byId("answer");
const of = new URLSearchParams(location.search).get("of") ?? "";
const narrow = matchMedia("(max-width: 760px)");
/** @type {any} */ let shown = null;

/** @param {any} storm Storm */
function draw(storm) {
  shown = storm;
  const { storms, deadlocks, reported, summary, action: what } = storm;
  const several = storms.length + deadlocks.length > 1;
  const more = storms.length - MOST_STORMS;
  redraw(answer, el("div.answer", null,
    several ? el("div", null, el("p.verdict", null, sentence(summary)), el("p", null, sentence(what))) : null,
    storms.slice(0, MOST_STORMS).map((/** @type {any} */ tree) => stormCard(tree, narrow.matches)),
    more > 0 ? el("p.soft", null, `and ${count(more, "more storm")}.`) : null,
    deadlocks.length ? card(count(deadlocks.length, "deadlock"), findingList(deadlocks, "")) : null,
    storms.length || (deadlocks.length && reported) ? null : reported ? calm(summary) : doubt(summary)));
}

/** @param {string} summary */
function calm(summary) {
  return el("section.card", { "aria-label": "No storm" }, el("div.empty.calm", { role: "status" },
    el("span.mark", { "aria-hidden": "true" }, "✓"),
    el("h2", null, "No PFC storm"),
    summary === CALM ? null : el("p", null, sentence(summary)),
    at() ? null : el("p.soft", null, "This page follows every round: a storm appears here as soon as counters report it."),
    of ? el("p", null, el("a", { href: "/storm" }, "All storms")) : null));
}

/** @param {string} summary */
function doubt(summary) {
  const how = "Pauses are read with nic_counters on hosts and pfc_counters on switches, and need three rounds.";
  return el("section.card", { "aria-label": "Unknown" }, el("div.empty.doubtful", { role: "status" },
    el("span.mark", { "aria-hidden": "true" }, "?"),
    el("h2", null, "Unknown"),
    el("p", null, sentence(summary)),
    el("p.soft", null, how)));
}

byId("ask").elements.namedItem("of").value = of;
narrow.addEventListener("change", () => shown && draw(shown));
watch(page.live, address("storm", { of }).slice("/api/v1/".length), answer, draw);
page.live.start();
void watchService(page);
