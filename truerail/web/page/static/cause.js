// A cause: what is wrong, the moves as a drawing, what it explains, and the alternatives.

import { acknowledgeButton } from "./acknowledge.js";
import { alertCard } from "./alerts.js";
import { piece } from "./api.js";
import { at } from "./asof.js";
import { crossing } from "./crossing.js";
import { instruction, treeLink } from "./causes.js";
import { byId, el, redraw } from "./dom.js";
import { frame, watchService } from "./frame.js";
import { became, card, ended, findingList, life, table } from "./lines.js";
import { cause as causePage, changes, portLink } from "./links.js";
import { watch } from "./watch.js";
import { count, firstSentence, kindWords, percent, sentence } from "./words.js";

const key = document.body.dataset.thing ?? "";
const page = frame();
const node = byId("page");
const findings = el("div", null, el("p.skeleton"));
/** @type {any} */
let alert = null;
/** @type {boolean | null} */
let past = null;
/** @type {(() => Promise<void>) | null} */
let askFindings = null;
const findingsPath = () => (past ? `why?finding=${encodeURIComponent(key)}` : `findings?cause=${encodeURIComponent(key)}&limit=200`);

/** @param {any} cause CauseLine */
function draw(cause) {
  const over = cause.state === "resolved";
  document.title = `${cause.kind} – truerail`;
  if (past !== over) {
    past = over;
    if (askFindings) void askFindings();
    else askFindings = watch(page.live, findingsPath, findings, drawFindings);
  }
  const [first, rest] = firstSentence(cause.summary);
  redraw(node,
    el("div.title", null, el("div", null, el(
      "p.soft",
      null,
      el(`b.${cause.severity}`, null, kindWords(cause.kind)),
      ` · ${percent(cause.confidence)} sure · ${over ? "over" : at() ? harmThen(cause) : harmWords(cause)}`,
    ),
      el("h1", null, sentence(first)), rest ? el("p", null, sentence(rest)) : null,
      over ? ended(cause, cause.repair) : at() ? became(cause, causePage(cause.key)) : [el("p.action", null, instruction(cause)), el("p", null, life(cause))]),
    over || at() ? null : el("div.buttons", null, changesLink(cause), treeLink(cause, ".button"), acknowledgeButton(cause.key, cause.summary, cause.muted))),
    moves(cause, over || Boolean(at())), otherwise(cause),
    el("div.halves", null, el("div", null, card(`Explains ${count(cause.explains.length, "finding")}`, findings)), el("div", null, over || at() ? null : (alert ??= alertCard(page.live, `causes/${piece(key)}`)), subjects(cause))));
}

/** @param {any} cause */
function changesLink({ kind, moves: all, key: cause }) {
  const found = changes(kind, all.length > 0, cause);
  return found ? el("a.button", { href: found.href }, `${found.words[0].toUpperCase()}${found.words.slice(1)}`) : null;
}

/** @param {any} cause */
function harmWords({ impact, impact_known: known, undecided }) {
  if (!impact) return known ? "no GPU affected" : "it is unknown which GPUs are affected";
  if (undecided) return `${count(impact, "GPU", "GPUs")} may lose ${impact === 1 ? "its" : "their"} rail: the cause is not confirmed`;
  return `${count(impact, "GPU loses its rail", "GPUs lose their rail")} until it is fixed`;
}

/** @param {any} cause as of a time */
function harmThen({ impact, impact_known: known, undecided }) {
  if (!impact) return known ? "no GPU affected" : "it is unknown which GPUs were affected";
  return `${count(impact, "GPU")} ${undecided ? "may have lost" : "lost"} ${impact === 1 ? "its" : "their"} rail while it lasted`;
}

/** Its findings, open or from the journal. @param {any} answer a page of findings, or Why */
function drawFindings({ items, total, explained }) {
  if (explained) redraw(findings, findingList(explained, "The journal has none of its findings."));
  else redraw(findings, findingList(items, "Its findings are resolved."), total > items.length ? el("p.soft.pad", null, `and ${count(total - items.length, "more finding")}.`) : null);
}

/** @param {any} cause @param {boolean} over */
function moves({ moves: all }, over) {
  if (!all.length) return null;
  const drawing = crossing(all);
  return card(over ? `Repair that was proposed: ${count(all.length, "cable")}` : count(all.length, "cable to move", "cables to move"),
    el("div.halves.pad", null,
      drawing ? el(
        "figure",
        null,
        drawing,
        el("figcaption.legend", null, el("span.key.planned"), "planned", el("span.key.now"), "actual"),
      ) : null,
      table(over ? ["", "Was in", "Planned in", "Other end"] : ["", "Unplug from", "Plug into", "Other end stays in"], all.map((/** @type {any} */ move, /** @type {number} */ i) => [i + 1, portLink(move.source, "leaf"), [portLink(move.target, "leaf"), move.not_before ? el("p.small.soft", null, `not before ${move.not_before}`) : null], portLink(move.cable)]))));
}

/** @param {any} cause */
function otherwise({ alternatives, to_confirm }) {
  if (!alternatives.length && !to_confirm) return null;
  return card(
    "Alternatives",
    el(
      "div.prose",
      null,
      alternatives.map((/** @type {string} */ one) => el("p", null, sentence(one))),
      to_confirm ? el("p", null, el("b", null, "To confirm: "), sentence(to_confirm)) : null,
    ),
  );
}

/** @param {any} cause */
function subjects({ subjects: all }) {
  return card(
    count(all.length, "subject"),
    el(
      "ul.lines",
      null,
      all.slice(0, 200).map((/** @type {string} */ one) => el("li.line", null, portLink(one))),
      all.length > 200 ? el("li.line.soft", null, `and ${all.length - 200} more`) : null,
    ),
  );
}

watch(page.live, `causes/${piece(key)}`, node, draw);
page.live.start();
void watchService(page);
