// How each on-call answer looks.

import { causeCard } from "./causes.js";
import { el, svg } from "./dom.js";
import { pathTable } from "./host.js";
import { card, table } from "./lines.js";
import { portLink, thing } from "./links.js";
import { railsDrawing } from "./rails.js";
import { link as jobLink } from "./runs.js";
import { wide } from "./wide.js";
import { count, figure, portion, sentence } from "./words.js";

const MOST = 200;

/** @param {string} summary @param {string} [more] */
function verdict(summary, more) {
  return el("div", null, el("p.verdict", null, sentence(summary)), more ? el("p", null, sentence(more)) : null);
}

/** @param {any} answer Where */
export function where({ query, matched_type, paths, summary }) {
  const causes = [
    ...new Map(
      paths.flatMap((/** @type {any} */ path) => path.causes.map((/** @type {any} */ cause) => [cause.key, cause]))
    ).values(),
  ];
  const shown = paths.slice(0, MOST);
  const hosts = shown.filter((/** @type {any} */ path) => path.a.role === "host");
  return [verdict(summary, `“${query}” matched: ${matched_type}.`),
    hosts.length && hosts.length <= 16 ? card("Path", wide("Path", ".drawing", railsDrawing(hosts))) : null,
    shown.length ? card("Details", pathTable(shown)) : null,
    causes.length ? card("Causes on this path", causes.map((/** @type {any} */ cause) => causeCard(cause))) : null];
}

/** @param {any} answer Job */
export function job({ rails, pairs, worst, causes, hosts, not_in_plan: strangers, summary, action: what }) {
  const lists = [["Lost on", "wrong", "broken"], ["Degraded on", "missing", "degraded"], ["Unknown on", "unknown", "unknown"]].filter(([, , key]) => rails.some((/** @type {any} */ rail) => rail[key]));
  return [verdict(summary, what),
    strangers.length ? el("p.note", null, `Not in the plan: ${strangers.slice(0, 50).join(", ")}`) : null,
    el("div.halves", null,
      el(
        "div",
        null,
        card(
          `Rails of ${count(hosts.length, "host")}`,
          table(
            ["Rail", "Connected", ...lists.map(([head]) => head)],
            rails.map((/** @type {any} */ rail) => [rail.rail ?? "–", `${figure(rail.connected)} of ${figure(rail.hosts)}`, ...lists.map(([, kind, key]) => el(`span.port.${kind}`, null, rail[key]))]),
          ),
        ),
      ),
      el("div", null, card("Host pairs, all rails", pairBars(pairs)),
        worst.length ? card("Affected hosts, worst first", table(["Host", "Rails lost", "Unknown", ""], worst.slice(0, MOST).map((/** @type {any} */ host) => [portLink(host.host), host.lost.join(", ") || "–", host.unknown.join(", ") || "–", host.summary]))) : null)),
    causes.length ? card("Causes, by impact", causes.map((/** @type {any} */ cause) => causeCard(cause))) : null];
}

/** @param {any} pairs */
function pairBars(pairs) {
  const kinds = /** @type {const} */ (
    [
      ["same_rail", "same rail", "right"],
      ["rerouted", "rerouted", "missing"],
      ["cut", "cut", "wrong"],
      ["unknown", "unknown", "unknown"],
    ]
  );
  return el("table.rails", null, el("tbody", null, kinds.map(([key, word, kind]) => el("tr", null, el("th", { scope: "row" }, word),
    el("td", null, svg("svg.bar", { height: 8, "aria-hidden": "true" }, svg(`rect.${kind}`, { x: 0, y: 0, height: 8, width: `${(100 * pairs[key]) / (pairs.total || 1)}%` }))), el("td.number", null, figure(pairs[key]))))));
}

/** @param {any} answer Blast */
export function blast(answer) {
  const now = answer.down_now === null ? "Whether it is down now is unknown." : answer.down_now ? "It is down now." : "It is not down now.";
  const tiles = [
    ["Hosts affected", figure(answer.hosts_affected)],
    ["GPUs affected", `${figure(answer.gpus_affected)} of ${figure(answer.gpus_of_hosts)}`],
    ["Bandwidth lost", portion(answer.share_lost)],
    ["Uplinks lost", portion(answer.uplink_share_lost)],
    ["Pairs cut", figure(answer.pairs_cut)],
    ["Rails", answer.rails.join(", ") || "–"],
  ];
  return [verdict(answer.summary, now), el(
    "dl.facts.card",
    null,
    tiles.map(([word, value]) => el("div", null, el("dt", null, word), el("dd.large", null, value))),
  ),
    answer.drain ? el("p.note", null, sentence(answer.drain)) : null,
    answer.hosts.length ? card("Hosts", table(
      ["Host", "GPUs", "Rails", "Bandwidth lost"],
      answer.hosts.slice(0, MOST).map(
        (/** @type {any} */ host) => [
          portLink(host.host),
          host.gpus.join(", "),
          host.rails.join(", "),
          portion(host.share_lost),
        ]
      ),
      { numbers: [3] },
    ),
      answer.hosts_affected > Math.min(MOST, answer.hosts.length) ? el("p.soft.pad", null, `and ${count(answer.hosts_affected - Math.min(MOST, answer.hosts.length), "more host")}.`) : null) : null,
    answer.jobs.length ? card("Jobs that run there", table(
      ["Job", "Name", "User", "Hosts there", "Hosts"],
      answer.jobs.slice(0, MOST).map((/** @type {any} */ job) => [jobLink(job.key), el("bdi", null, job.name || "–"), el("bdi", null, job.user || "–"), job.hosts, `${figure(job.hosts_affected)} of ${figure(job.hosts_total)}`]),
    ),
      answer.jobs_affected > Math.min(MOST, answer.jobs.length) ? el("p.soft.pad", null, `and ${count(answer.jobs_affected - Math.min(MOST, answer.jobs.length), "more job")}.`) : null)
      : answer.jobs_affected === 0 ? el("p.note", null, "No running job is there.") : null];
}

/** @param {any} answer PathAnswer */
export function path({ rails, summary, source, target }) {
  return [verdict(summary), card(`${source} to ${target}`, table(["Rail", "Hops, actual", ""], rails.map((/** @type {any} */ way) => [way.rail ?? "–", hops(way),
    el(`span.${way.stays === null ? "unknown" : way.stays ? "right" : "wrong"}`, null, sentence(way.summary))])))];
}

/** @param {any} way RailPath */
function hops({ hops: all, leaves_at: off }) {
  return el("ol.hops", null, all.map((/** @type {any} */ hop) => el("li", null, el(`a.hop${hop.device === off ? ".off" : ""}`, { href: thing(hop.device, hop.role) },
    el("span.port", null, hop.device), hop.nvlink ? el("small", null, `NVLink ${hop.nvlink}`) : null, el("small", null, [hop.in_port, hop.out_port].filter(Boolean).join(" → ") || "–", hop.choices > 1 ? `, ${hop.choices} ways` : "")))));
}

