// Causes in order of impact: what is wrong, what to do, how sure.

import { at } from "./asof.js";
import { el } from "./dom.js";
import { acknowledgeButton } from "./acknowledge.js";
import { became, ended, life } from "./lines.js";
import * as links from "./links.js";
import { link, tenths } from "./runs.js";
import { COLOURED } from "./shapes.js";
import { count, figure, kindWords, percent, sentence } from "./words.js";

const FIRST_MOVES = 4;
const FEW = 3;

/** What to do, without the moves where the words repeat them. @param {any} cause */
export function instruction(cause) {
  const [head, ...rest] = cause.action.split(": ");
  return sentence(
    rest.length && cause.moves.length && rest.join(": ").includes(cause.moves[0].target) ? head : cause.action
  );
}

/** @param {any} cause @param {{hover?: (cause: any | null) => void, number?: number}} [how] `number` on the map */
export function causeCard(cause, { hover, number } = {}) {
  const on = hover && {
    mouseenter: () => hover(cause),
    mouseleave: () => hover(null),
    focusin: () => hover(cause),
    focusout: () => hover(null),
  };
  const over = cause.state === "resolved";
  const then = Boolean(at());
  return el(`article.cause.${cause.severity}`, { on, "data-cause": cause.key },
    el("header", null,
      number ? el(`span.cause-number.cause-${Math.min(number, COLOURED + 1)}`, { title: `Cause ${number} on the map` }, number) : null,
      el(
        "a.kind",
        { href: links.cause(cause.key), "data-key": cause.key },
        kindWords(cause.kind),
      ), life(cause),
      over ? null : el("span.impact", { title: then ? `GPUs that ${cause.undecided ? "may have lost" : "lost"} their rail while it lasted` : `GPUs that ${cause.undecided ? "may " : ""}lose their rail until it is fixed` },
        cause.impact ? `${cause.undecided ? "perhaps " : ""}${count(cause.impact, "GPU")}` : cause.impact_known ? "no GPU affected" : "GPUs unknown")),
    el("p.summary", null, sentence(cause.summary)),
    affected(cause),
    over ? ended(cause, cause.repair) : then ? became(cause, links.cause(cause.key)) : [el("p.action", null, instruction(cause)), moves(cause)],
    el("footer", null, el("span", null, `${percent(cause.confidence)} sure, ${then ? "explained" : "explains"} ${count(cause.explains.length, "finding")}`),
      over || then ? null : [treeLink(cause), acknowledgeButton(cause.key, cause.summary, cause.muted)]));
}

/** The jobs that a cause affects, the first few. @param {any} cause */
function affected({ jobs, jobs_affected: all }) {
  if (!jobs.length) return null;
  const words = jobs.slice(0, FEW).map((/** @type {any} */ job, /** @type {number} */ i) => [i ? "; " : "Affects job ", link(job.key), job.name ? [" (", el("bdi", null, job.name), ")"] : null,
    job.gpus === null ? null : `: ${count(job.gpus, "GPU")}`, job.waiting ? `, ${figure(job.waiting)} more wait` : null, job.gpu_hours === null ? ", GPU-hours unknown" : `, ${tenths.format(job.gpu_hours)} GPU-hours so far`]);
  return el("p", null, words, all > FEW ? ` and ${figure(all - FEW)} more` : null);
}

/** Leads to the pause tree of a storm. @param {any} cause @param {string} [kind] */
export function treeLink(cause, kind = "") {
  if (cause.kind !== "pfc-storm" || !cause.subjects.length) return null;
  return el(`a${kind}`, { href: links.storm(cause.subjects[0]), "data-key": `tree-${cause.key}` }, "Pause tree");
}

/** @param {any} cause */
function moves(cause) {
  if (!cause.moves.length) return null;
  const shown = cause.moves.slice(0, FIRST_MOVES);
  const [first] = shown;
  const once = first.not_before && cause.moves.every((/** @type {any} */ move) => move.not_before === first.not_before);
  return el("ol.moves", null,
    once ? el("li.soft", null, sentence(`not before ${first.not_before}`)) : null,
    shown.map(
      (/** @type {any} */ move) => el(
        "li",
        null,
        el("span.port", null, move.source),
        el("span.arrow", { "aria-label": "to" }, "→"),
        el("span.port", null, move.target),
        move.not_before && !once ? el("small.soft", null, `not before ${move.not_before}`) : null,
      )
    ),
    cause.moves.length > shown.length ? el("li.more", null, el("a", { href: links.cause(cause.key) }, `and ${count(cause.moves.length - shown.length, "more move")}`)) : null);
}

/**
 * The list, muted ones folded.
 * @param {any[]} causes @param {number} total
 * @param {{hover?: (cause: any | null) => void, numbered?: boolean}} [how] `numbered` as on the map
 */
export function causeStack(causes, total, { hover, numbered } = {}) {
  const number = new Map(causes.map((cause, i) => [cause.key, numbered ? i + 1 : 0]));
  const drawn = (/** @type {any} */ cause) => causeCard(cause, { hover, number: number.get(cause.key) });
  const loud = causes.filter((cause) => !cause.muted);
  const muted = causes.filter((cause) => cause.muted);
  return [
    loud.map(drawn),
    loud.length || muted.length ? null : el("p.soft.pad", null, "No causes."),
    total > FEW ? el(`p.pad.all-causes${total > causes.length ? ".more" : ""}`, null, el("a", { href: "/causes", "data-key": "all-causes" }, `All ${count(total, "cause")}`)) : null,
    muted.length ? el(
      "details.folded",
      { "data-key": "muted" },
      el("summary", null, `${count(muted.length, "muted cause")}`),
      muted.map(drawn),
    ) : null,
  ];
}
