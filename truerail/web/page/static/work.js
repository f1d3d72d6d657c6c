// What to take out of service, and what to repair in which order.

import { el } from "./dom.js";
import { card, table } from "./lines.js";
import * as links from "./links.js";
import { momentOf } from "./times.js";
import { count, figure, kindWords, portion, sentence } from "./words.js";

const MOST = 200;
const MOST_STEPS = 8;
const KNOWN = new Map([[true, "yes"], [false, "no"], [null, "unknown"]]);

/** @param {Array<[string, any]>} tiles */
function tilesOf(tiles) {
  return el("dl.facts.card", null, tiles.map(([word, value]) => el("div", null, el("dt", null, word), el("dd.large", null, value))));
}

/** @param {any[]} all @param {string} what */
function rest(all, what) {
  return all.length > MOST ? el("p.soft.pad", null, `and ${count(all.length - MOST, `more ${what}`)}.`) : null;
}

/** @param {number[]} rails */
const rails = (rails) => rails.join(", ") || "–";

/** @param {string} nodes */
const nodeset = (nodes) => el("span.port", null, nodes || "–");

/** @param {any} answer Drain */
export function drain(answer) {
  return [
    el("p.verdict", null, sentence(answer.summary)),
    tilesOf([
      ["Can be drained now", KNOWN.get(answer.can_drain_now)],
      ["RDMA retries bridge it", KNOWN.get(answer.rdma_survives)],
      ["Hosts affected", figure(answer.hosts_affected)],
      ["GPUs affected", figure(answer.gpus_affected)],
      ["Their bandwidth left", answer.share_left === null ? "–" : portion(answer.share_left)],
      ["Uplinks left, at least", answer.uplink_share_left === null ? "–" : portion(answer.uplink_share_left)],
    ]),
    el("p.note", null, sentence(answer.rdma)),
    card("Steps", el("ol.plan-steps.pad", null, answer.steps.map((/** @type {string} */ step) => el("li", null, sentence(step))))),
    drainedJobs(answer),
    drainedHosts(answer.hosts),
    drainedSwitches(answer.switches),
    beside(answer),
    card("Announcement", el("p.pad", null, answer.announcement), answer.command ? el("pre.raw", null, answer.command) : null),
  ];
}

/** @param {any} answer Drain */
function drainedJobs({ jobs, jobs_known: known, not_in_plan: strangers }) {
  if (!known) return el("p.note", null, "Jobs are unknown: every affected host may run one.");
  return card(
    "Jobs",
    strangers.length ? el("p.pad.soft", null, `Not in the plan: ${strangers.slice(0, 50).join(", ")}`) : null,
    jobs.length
      ? table(["Job", "Hosts", "Effect", ""], jobs.map((/** @type {any} */ job) => [job.name, nodeset(job.hosts), job.effect, job.summary]))
      : el("p.soft.pad", null, "No given job is on an affected host."),
  );
}

/** @param {any[]} hosts DrainHost */
function drainedHosts(hosts) {
  if (!hosts.length) return null;
  const rows = hosts.slice(0, MOST).map((one) => [
    links.portLink(one.host), rails(one.lost), rails(one.reduced), rails(one.unknown), rails(one.already_lost), portion(one.share_left),
  ]);
  return card(
    "Hosts, least left first",
    table(["Host", "Rails lost", "Reduced", "Unknown", "Lost already", "Bandwidth left"], rows, { numbers: [5] }),
    rest(hosts, "host"),
  );
}

/** @param {any[]} switches DrainSwitch */
function drainedSwitches(switches) {
  if (!switches.length) return null;
  const rows = switches.slice(0, MOST).map((one) => [
    links.portLink(one.switch, "leaf"), figure(one.planned), figure(one.now), figure(one.left), figure(one.unknown),
  ]);
  return card(
    "Uplinks of the switches below, least left first",
    table(["Switch", "Planned", "Work now", "Left", "Of unknown state"], rows, { numbers: [1, 2, 3, 4] }),
    rest(switches, "switch"),
  );
}

/** @param {any} answer Drain */
function beside({ faults, other_work: work, other_work_known: known }) {
  const rows = [
    ...faults.slice(0, MOST).map((/** @type {any} */ one) => [
      el("a", { href: links.cause(one.key) }, kindWords(one.kind)), nodeset(one.hosts || one.switches), sentence(one.summary),
    ]),
    ...work.map((/** @type {any} */ one) => [
      `maintenance of ${one.what}`, nodeset(one.hosts || one.switches),
      el("span", null, momentOf(one.starts), " to ", momentOf(one.ends), one.reason ? `: ${one.reason}` : ""),
    ]),
  ];
  return [
    known ? null : el("p.note", null, "Whether other work is announced is unknown: the journal cannot be read."),
    rows.length ? card("On what would be left", table(["What", "Has both", ""], rows), rest(faults, "cause")) : null,
  ];
}

/** @param {any} answer RepairPlan */
export function planRepair(answer) {
  const names = new Map(answer.repairs.map((/** @type {any} */ one) => [one.key, one.id]));
  return [
    el("p.verdict", null, sentence(answer.summary)),
    tilesOf([
      ["Repairs", figure(answer.repairs.length)],
      ["GPU-hours back", figure(answer.gpu_hours_back)],
      ["Effect unknown", figure(answer.gains_unknown)],
      ["Jobs given", answer.jobs_known ? figure(answer.jobs) : "unknown"],
      ["Technicians", figure(answer.technicians)],
    ]),
    answer.windows_known ? null : el("p.note", null, "Announced maintenance is unknown: the journal cannot be read."),
    answer.not_in_plan.length ? el("p.note", null, `Not in the plan: ${answer.not_in_plan.slice(0, 50).join(", ")}`) : null,
    slots(answer.repairs).map(([when, repairs]) => card(titleOf(when), el("div", null, repairs.slice(0, MOST).map((one) => repair(one, names))), rest(repairs, "repair"))),
    answer.not_together.length
      ? card("Not at the same time", table(["Repairs", "Why"], answer.not_together.slice(0, MOST).map((/** @type {any} */ one) => [
        one.causes.slice(0, 20).map((/** @type {string} */ key) => names.get(key) ?? key).join(", "), one.why,
      ])), rest(answer.not_together, "reason"))
      : null,
    card("Assumed", el("ul.plan-steps.pad", null, answer.assumptions.map((/** @type {string} */ words) => el("li", null, sentence(words))))),
  ];
}

/** Repairs by their place in the plan, in its order. @param {any[]} repairs @returns {Array<[string, any[]]>} */
function slots(repairs) {
  const found = new Map();
  for (const one of repairs) found.set(one.when, [...(found.get(one.when) ?? []), one]);
  return [...found];
}

/** @param {string} when */
const titleOf = (when) => (when === "now" ? "Now" : when ? `In the window of ${when}` : "Not planned yet");

/** @param {any} one Repair @param {Map<string, string>} names */
function repair(one, names) {
  const racks = one.racks.length ? ` rack ${one.racks.join(", ")},` : "";
  return el("article.cause.info.repair", { "data-cause": one.key },
    el("header", null,
      one.starts ? el("b", null, momentOf(one.starts)) : null,
      el("a.kind", { href: links.cause(one.key), "data-key": one.key }, `${one.id} ${kindWords(one.kind)}`),
      el("span.soft", null, `${racks} ${one.minutes} min${one.technicians > 1 ? `, ${one.technicians} technicians` : ""}`),
      el("span.impact", null, back(one))),
    one.waits_for ? el("p.note", null, sentence(`Waits: ${one.waits_for}`)) : null,
    one.confirm_first && one.work !== "confirm" ? el("p.note", null, sentence(`Confirm first: ${one.confirm_first}`)) : null,
    el("p.action", null, sentence(one.action || one.summary)),
    one.interrupts ? el("p.soft", null, `Interrupts ${one.interrupts}`, one.jobs.length ? ` (${one.jobs.join(", ")})` : "") : null,
    one.not_with.length ? el("p.soft", null, `Not together with ${one.not_with.slice(0, 20).map((/** @type {string} */ key) => names.get(key) ?? key).join(", ")}`) : null,
    one.work === "move" ? moves(one.steps) : null);
}

/** @param {any} one Repair */
function back(one) {
  if (one.gpus_back === null) return "effect unknown";
  const least = one.gpus_back_is_lower_bound ? "at least " : "";
  const share = one.bisection_share_back ? `, ${portion(one.bisection_share_back)} of the bisection` : "";
  return `${least}${count(one.gpus_back, "GPU")}${share} back`;
}

/** @param {any[]} steps RepairStep */
function moves(steps) {
  return el("ol.moves", null,
    steps.slice(0, MOST_STEPS).map((step) => el("li", null, el("span.port", null, step.at), el("span.arrow", { "aria-label": "to" }, "→"), el("span.port", null, step.to ?? ""))),
    steps.length > MOST_STEPS ? el("li.more", null, `and ${count(steps.length - MOST_STEPS, "more plug")}`) : null);
}
