// PFC storms: each with its culprit, the tree of those who wait for it, and what to do. Nothing stands, or nobody can
// tell, is said as plainly.

import { address } from "./api.js";
import { byId, el, redraw } from "./dom.js";
import { frame, watchService } from "./frame.js";
import { card, facts, findingList, table } from "./lines.js";
import { finding, portLink } from "./links.js";
import { folded } from "./nodeset.js";
import { stormTree } from "./stormtree.js";
import { watch } from "./watch.js";
import { ago, count, figure, moment, percent, sentence, span } from "./words.js";

const MOST_STORMS = 20;
const MOST_WAITS = 500;
const LONGEST_NODESET = 4096;
const CALM = "there is no PFC storm";
const page = frame();
const answer = byId("answer");
const of = new URLSearchParams(location.search).get("of") ?? "";
const narrow = matchMedia("(max-width: 760px)");
/** @type {any} */ let shown = null;

/** @param {any} storm Storm */
function draw(storm) {
  shown = storm;
  const { storms, deadlocks, told, says, do: what } = storm;
  const several = storms.length + deadlocks.length > 1;
  redraw(answer, el("div.answer", null,
    several ? el("div", null, el("p.verdict", null, sentence(says)), el("p", null, sentence(what))) : null,
    storms.slice(0, MOST_STORMS).map(one),
    storms.length > MOST_STORMS ? el("p.soft", null, `and ${count(storms.length - MOST_STORMS, "more storm")}.`) : null,
    deadlocks.length ? card(count(deadlocks.length, "deadlock"), findingList(deadlocks, "")) : null,
    storms.length || (deadlocks.length && told) ? null : told ? calm(says) : doubt(says)));
}

/** @param {string} says */
function calm(says) {
  return el("section.card", { "aria-label": "No storm" }, el("div.empty.calm", { role: "status" }, el("span.mark", { "aria-hidden": "true" }, "✓"),
    el("h2", null, "No PFC storm"),
    says === CALM ? null : el("p", null, sentence(says)),
    el("p.soft", null, "This page follows every round: a storm appears here with its culprit as soon as counters tell of it."),
    of ? el("p", null, el("a", { href: "/storm" }, "All storms")) : null));
}

/** @param {string} says */
function doubt(says) {
  return el("section.card", { "aria-label": "Not known" }, el("div.empty.doubtful", { role: "status" }, el("span.mark", { "aria-hidden": "true" }, "?"),
    el("h2", null, "Not known"),
    el("p", null, sentence(says)),
    el("p.soft", null, "Pauses are read with nic_counters on hosts and pfc_counters on switches, and need three rounds.")));
}

/** @param {any} tree StormTree */
function one(tree) {
  const sure = `${percent(tree.confidence)} sure`;
  return el("section.card.storm", { "aria-label": `Storm of ${tree.culprit}` },
    el("header", null, el("h2", null, tree.behind ? "Behind " : null, portLink(tree.culprit, tree.nodes[0]?.role)),
      el(`span.tag${tree.level === "storm" ? ".new" : ".flapping"}`, null, tree.level === "storm" ? "storm" : "may be a storm"),
      el("span.soft", null, sure),
      tree.finding ? el("a.aside", { href: finding(tree.finding), "data-key": `why-${tree.finding}` }, "What it rests on") : null),
    el("div.pad", null, el("p", null, sentence(tree.says || `A PFC storm begins at ${tree.culprit}`)), tree.do ? el("p.do", null, sentence(tree.do)) : null),
    figures(tree),
    el("div.drawing.scroll", null, stormTree(tree, narrow.matches)),
    legend(),
    el("details.folded", { "data-key": `waits-${tree.culprit}-${tree.priority}` }, el("summary", null, `${count(tree.edges.length, "paused link")} in figures`), waits(tree)));
}

/** @param {any} tree */
function figures(tree) {
  const nodes = tree.hosts.join(",");
  const job = nodes.length <= LONGEST_NODESET ? el(
    "a",
    { href: `/ask?${new URLSearchParams({ q: "job", nodes: folded(tree.hosts) })}`, "data-key": `job-${tree.culprit}` },
    "Job over these hosts",
  ) : null;
  return facts([
    ["Why", tree.sub_cause],
    ["Priority", tree.priority ?? "not told"],
    ["Rail", tree.rail],
    ["Paused", `${portionOf(tree.paused_share)} of the time`],
    ["One pause", tree.mean_pause_us === null ? "length not told" : pause(tree.mean_pause_us)],
    ["Since", tree.since ? el("time", { datetime: tree.since, title: moment(tree.since) }, ago(tree.since)) : "not told"],
    ["Suffer", tree.hosts.length ? el("span", null, `${count(tree.hosts.length, "host")}: `, el("span.port", null, folded(tree.hosts)), el("small.block", null, job)) : "no host that is counted"],
  ]);
}

/** @param {number} share */
const portionOf = (share) => `${Math.round(share * 100)} %`;

/** @param {number} us */
const pause = (us) => (us < 1000 ? `${figure(Math.round(us))} µs` : span(us / 1e6));

function legend() {
  const key = (/** @type {string} */ kind, /** @type {string} */ word) => el("span", null, el(`span.key.${kind}`), word);
  return el("p.legend.pad", null, el("span", null, "An arrow leads to whom it stops, with the share of time and the priority."),
    key("strong", "80 % or more"), key("weak", "less"), key("lone", "told by one end only"), el("span", null, "≤ frames allow for it at most"));
}

/** @param {any} tree */
function waits({ edges, nodes }) {
  const roles = new Map(nodes.map((/** @type {any} */ node) => [node.device, node.role]));
  const port = (/** @type {string} */ name) => (name ? portLink(name, roles.get(name.split("/", 1)[0])) : el("span.unknown", null, "not known"));
  const rows = edges.slice(0, MOST_WAITS).map((/** @type {any} */ edge) => [
    edge.hops, port(edge.waiting), port(edge.on), `${edge.exact ? "" : "at most "}${portionOf(edge.share)}`, edge.told_by,
    edge.link === "seen" ? "seen" : "as planned",
  ]);
  return [
    table(["Hops", "Waits", "For", "Of the time", "Told by", "Cable"], rows, { numbers: [3] }),
    edges.length > MOST_WAITS ? el("p.soft.pad", null, `and ${count(edges.length - MOST_WAITS, "more paused link")}.`) : null,
  ];
}

byId("ask").elements.namedItem("of").value = of;
narrow.addEventListener("change", () => shown && draw(shown));
watch(page.live, address("storm", { of }).slice("/api/v1/".length), answer, draw);
page.live.start();
void watchService(page);
