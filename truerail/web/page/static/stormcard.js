// One storm: what to do, its figures, its tree, and every paused link.

import { el } from "./dom.js";
import { facts, table } from "./lines.js";
import { finding, portLink } from "./links.js";
import { folded } from "./nodeset.js";
import { stormTree } from "./stormtree.js";
import { agoOf, span } from "./times.js";
import { wide } from "./wide.js";
import { count, figure, percent, sentence } from "./words.js";

const MOST_WAITS = 500;
const LONGEST_NODESET = 4096;

/** @param {any} tree StormTree @param {boolean} narrow */
export function stormCard(tree, narrow) {
  const key = `${tree.culprit}-${tree.priority}`;
  return el("section.card.storm", { "aria-label": `Storm of ${tree.culprit}` },
    head(tree),
    el("div.pad", null,
      el("p", null, sentence(tree.summary || `a PFC storm begins at ${tree.culprit}`)),
      tree.action ? el("p.action", null, sentence(tree.action)) : null),
    figures(tree),
    wide(`Pause tree of ${tree.culprit}`, ".drawing", stormTree(tree, narrow)),
    tree.edges.length ? legend() : null,
    tree.edges.length ? el("details.folded", { "data-key": `waits-${key}` },
      el("summary", null, `${count(tree.edges.length, "paused link")} in detail`),
      waits(tree)) : el("p.soft.pad", null, "Which links were paused is unknown: no counters of that time are kept."));
}

/** @param {any} tree */
function head({ culprit, behind, level, confidence, nodes, finding: id }) {
  const storm = level === "storm";
  return el("header", null,
    el("h2", null, behind ? "Behind " : null, portLink(culprit, behind ? null : nodes[0]?.role)),
    el(`span.tag${storm ? ".new" : ".flapping"}`, null, storm ? "storm" : "may be a storm"),
    el("span.soft", null, `${percent(confidence)} sure`),
    id ? el("a.aside", { href: finding(id), "data-key": `why-${id}` }, "Evidence") : null);
}

/** @param {any} tree */
function figures(tree) {
  return facts([
    ["Why", tree.sub_cause],
    ["Priority", tree.priority ?? "not reported"],
    ["Rail", tree.rail],
    ["Paused", `${share(tree.paused_share)} of the time`],
    ["One pause", tree.mean_pause_us === null ? "length not reported" : pause(tree.mean_pause_us)],
    ["Since", agoOf(tree.since) ?? "not reported"],
    ["Victims", tree.hosts.length ? victims(tree) : "no host with counters"],
  ]);
}

/** Hosts whose NICs are paused, and the job that runs on them. @param {any} tree */
function victims({ hosts, culprit }) {
  const nodes = folded(hosts);
  const job = `/ask?${new URLSearchParams({ q: "job", nodes })}`;
  return el("span", null, `${count(hosts.length, "host")}: `, el("span.port", null, nodes),
    nodes.length > LONGEST_NODESET ? null : el("small.block", null,
      el("a", { href: job, "data-key": `job-${culprit}` }, "Check job on these hosts")));
}

/** @param {number} part */
const share = (part) => `${Math.round(part * 100)} %`;

/** @param {number} us */
const pause = (us) => (us < 1000 ? `${figure(Math.round(us))} µs` : span(us / 1e6));

function legend() {
  /** @param {string} kind @param {string} word */
  const key = (kind, word) => el("span", null, el(`span.key.${kind}`), word);
  return el("p.legend.pad", null,
    el("span", null, "An arrow points to the port that is paused, with the share of time and the priority."),
    key("strong", "80 % or more"),
    key("weak", "less"),
    key("lone", "reported by one end only"),
    el("span", null, "≤ upper bound from pause frames"));
}

/** @param {any} tree */
function waits({ edges, nodes }) {
  const roles = new Map(nodes.map((/** @type {any} */ node) => [node.device, node.role]));
  /** @param {string} name */
  const port = (name) => (
    name ? portLink(name, roles.get(name.split("/", 1)[0])) : el("span.unknown", null, "unknown")
  );
  const rows = edges.slice(0, MOST_WAITS).map((/** @type {any} */ edge) => [
    edge.hops,
    port(edge.waiting),
    port(edge.on),
    `${edge.exact ? "" : "at most "}${share(edge.share)}`,
    edge.source,
    edge.link === "actual" ? "actual" : "as planned",
  ]);
  const more = edges.length - rows.length;
  return [
    table(["Hops", "Waits", "For", "Of the time", "Reported by", "Cable"], rows, { numbers: [3] }),
    more ? el("p.soft.pad", null, `and ${count(more, "more paused link")}.`) : null,
  ];
}
