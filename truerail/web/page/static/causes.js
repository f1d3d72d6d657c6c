// Causes in order of impact: what is wrong, what to do, how sure.

import { el } from "./dom.js";
import { acknowledgeButton } from "./acknowledge.js";
import { life } from "./lines.js";
import * as links from "./links.js";
import { count, kindWords, percent, sentence } from "./words.js";

const FIRST_MOVES = 4;

/** What to do, without the moves where the words repeat them. @param {any} cause */
export function instruction(cause) {
  const [head, ...rest] = cause.action.split(": ");
  return sentence(
    rest.length && cause.moves.length && rest.join(": ").includes(cause.moves[0].target) ? head : cause.action
  );
}

/** @param {any} cause @param {{hover?: (cause: any | null) => void}} [how] */
export function causeCard(cause, { hover } = {}) {
  const on = hover && {
    mouseenter: () => hover(cause),
    mouseleave: () => hover(null),
    focusin: () => hover(cause),
    focusout: () => hover(null),
  };
  return el(`article.cause.${cause.severity}`, { on, "data-cause": cause.key },
    el("header", null,
      el(
        "a.kind",
        { href: links.cause(cause.key), "data-key": cause.key },
        kindWords(cause.kind),
      ), life(cause),
      el("span.impact", { title: `GPUs that ${cause.undecided ? "may " : ""}lose their rail until it is fixed` },
        cause.impact ? `${cause.undecided ? "perhaps " : ""}${count(cause.impact, "GPU")}` : "no GPU affected")),
    el("p.summary", null, sentence(cause.summary)),
    el("p.action", null, instruction(cause)),
    moves(cause),
    el("footer", null, el("span", null, `${percent(cause.confidence)} sure, explains ${count(cause.explains.length, "finding")}`),
      treeLink(cause), acknowledgeButton(cause.key, cause.summary, cause.muted)));
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
 * @param {any[]} causes @param {number} total @param {{hover?: (cause: any | null) => void}} [how]
 */
export function causeStack(causes, total, how) {
  const loud = causes.filter((cause) => !cause.muted);
  const muted = causes.filter((cause) => cause.muted);
  return [
    loud.map((cause) => causeCard(cause, how)),
    loud.length || muted.length ? null : el("p.soft.pad", null, "No causes."),
    total > causes.length ? el("p.soft.pad", null, `and ${count(total - causes.length, "more cause")}.`) : null,
    muted.length ? el(
      "details.folded",
      { "data-key": "muted" },
      el("summary", null, `${count(muted.length, "muted cause")}`),
      muted.map((cause) => causeCard(cause, how)),
    ) : null,
  ];
}
