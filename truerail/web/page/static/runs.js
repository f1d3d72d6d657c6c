// A job of a scheduler in words: unknown is shown as unknown, and names stay names.

import { piece } from "./api.js";
import { el } from "./dom.js";
import { agoOf, momentOf } from "./times.js";
import { count, figure, sentence } from "./words.js";

const LONGEST = 60;
export const tenths = new Intl.NumberFormat("en", { maximumFractionDigits: 1, minimumFractionDigits: 1 });

/** @param {string} key */
export function link(key) {
  return el("a.port", { href: `/jobs/${piece(key)}` }, el("bdi", null, key));
}

/**
 * What is known of the network of a job: `affected`, `unknown`, `no fault`, or `ended`.
 * @param {any} run JobRun
 * @returns {{state: string, mark: string, kind: string, why: string}}
 */
export function facts(run) {
  const cables = count(run.cables, "cable");
  if (run.harm.length) return { state: run.ended ? "ended" : "affected", mark: "✗", kind: "wrong", why: `affected by ${count(run.harm.length, "cause")}` };
  if (run.findings.length) return { state: "affected", mark: "✗", kind: "wrong", why: `affected: ${run.findings[0]}` };
  if (run.ended) return { state: "ended", mark: "·", kind: "soft", why: "ended, no cause affected it" };
  if (!run.cables) return { state: "unknown", mark: "?", kind: "unknown", why: "unknown: the plan has none of its hosts" };
  if (run.cables_unknown) return { state: "unknown", mark: "?", kind: "unknown", why: `unknown: ${figure(run.cables_unknown)} of ${cables} not seen` };
  if (run.not_in_plan.length) return { state: "unknown", mark: "?", kind: "unknown", why: `unknown: ${count(run.not_in_plan.length, "host")} not in the plan` };
  if (run.unevaluated) return { state: "unknown", mark: "?", kind: "unknown", why: `unknown: ${run.unevaluated}` };
  return { state: "no fault", mark: "·", kind: "right", why: `no fault known on its ${cables}` };
}

/** @param {any} run */
export function pathOf(run) {
  const { mark, kind, why } = facts(run);
  return [el(`span.${kind}`, null, `${mark} ${why}`), run.stale ? el("div.small.unknown", null, "may have ended: as of ", run.as_of ? momentOf(run.as_of) : "an unknown time") : null];
}

/** @param {any} run */
export function hostsOf(run) {
  const all = run.hosts;
  const short = all.length > LONGEST ? `${all.slice(0, LONGEST)}…` : all;
  return [el("span.port", { title: all === short ? null : all }, short || "–"), ` (${figure(run.nodes)})`];
}

/** Hours that are not known stay so. @param {any} run @param {string} key */
export function hours(run, key) {
  return run[key] === null ? "unknown" : run.harm.length ? tenths.format(run[key]) : "–";
}

/** @param {any} run */
export function startOf(run) {
  if (run.ended) return ["ended ", momentOf(run.ended)];
  return run.start ? agoOf(run.start) : "unknown";
}

/** Who is asked for jobs, and what does not answer. @param {any} answer Jobs */
export function schedulers({ schedulers: all, known }) {
  if (!all.length) return el("p.note", null, "No scheduler is asked for jobs, so none is known. Set jobs in truerail.yaml.");
  const silent = all.filter((/** @type {any} */ one) => one.error || !one.at);
  if (!silent.length && known) return null;
  return el("ul.note", { role: "status" }, silent.map((/** @type {any} */ one) => el("li", null, el("b", null, one.name), ` (${one.scheduler}): `,
    one.error ? sentence(one.error) : "No answer yet.", " ", one.at ? ["Its jobs are as of ", momentOf(one.at), "."] : "Its jobs are unknown.")));
}
