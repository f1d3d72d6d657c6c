// Why a finding: its evidence, both ends, the alternatives and what was ruled out.

import { acknowledgeButton, recheckButton } from "./acknowledge.js";
import { alertCard } from "./alerts.js";
import { piece } from "./api.js";
import { at } from "./asof.js";
import { causeCard } from "./causes.js";
import { byId, el, redraw } from "./dom.js";
import { timelineCard } from "./events.js";
import { frame, watchService } from "./frame.js";
import { became, card, ended, facts, life, stateChip } from "./lines.js";
import { cause as causePage, endLink, finding as findingPage, pathText, portLink, storm } from "./links.js";
import { prose } from "./markdown.js";
import { railsDrawing } from "./rails.js";
import { watch } from "./watch.js";
import { wide } from "./wide.js";
import { agoOf } from "./times.js";
import { percent, sentence } from "./words.js";

const STORMS = new Set(["PFC001", "PFC003"]);
const page = frame();
const node = byId("page");
/** @type {any} */
let alert = null;

/** @param {any} why Why */
function draw(why) {
  const { finding, path, cause } = why;
  if (!finding) {
    location.replace(causePage(cause.key));
    return;
  }
  document.title = `${finding.rule} ${finding.subject} – truerail`;
  redraw(node, head(why),
    path ? card("The cable", wide("The cable", ".drawing", railsDrawing([path])), ends(path)) : null,
    el("div.halves", null,
      el(
        "div",
        null,
        cause ? card("Explained by", causeCard(cause)) : null,
        list("Ruled out", why.ruled_out, finding.state === "resolved" ? "" : at() ? "The journal keeps no answers of devices, so what was ruled out then is unknown." : "No alternative was considered."),
        list("Alternatives", why.alternatives, ""),
        evidence(why.evidence),
      ),
      el("div", null, card("Planned and actual", compared(why)), cause || finding.state === "resolved" || at() ? null : (alert ??= alertCard(page.live, `findings/${piece(finding.id)}`)), timelineCard(finding.subject), why.explanation ? card("About this rule", el("div.prose", null, prose(why.explanation))) : null)));
}

/** @param {any} why */
function head({ finding, repair, acknowledged_by: by, acknowledged_reason: reason }) {
  const over = finding.state === "resolved";
  return [
    el("div.title", null, el("div", null, el(
      "p.soft",
      null,
      el(`b.${finding.severity}`, null, finding.severity),
      ` · ${finding.rule} ${finding.name} · ${finding.id}`,
    ), el("h1", null, sentence(finding.summary)),
      over ? ended(finding, repair) : at() ? became(finding, findingPage(finding.id)) : [el("p.action", null, sentence(finding.action)), el("p", null, life(finding))]),
    over || at() ? null : el("div.buttons", null, STORMS.has(finding.rule) ? el("a.button", { href: storm(finding.subject) }, "Pause tree") : null,
      acknowledgeButton(finding.id, finding.summary, finding.muted), recheckButton(finding.subject.split("/", 1)[0]))),
    by ? el("p.note", null, el("b", null, `Acknowledged by ${by}. `), reason ?? "") : null,
  ];
}

/** @param {any} path */
function ends(path) {
  return facts(
    [
      ["This end", endLink(path.a)],
      ["Via", pathText(path.via)],
      ["Planned", endLink(path.planned)],
      ["Actual", path.actual ? endLink(path.actual) : "nothing"],
      ["State", stateChip(path.state)],
      ["Confirmed by", path.witnesses.length > 1 || path.verified === "other sources" ? path.witnesses.join(", ") : path.verified],
      ["Label", path.label],
      ["Length", path.length_m ? `${path.length_m} m` : null],
    ]
  );
}

/** @param {any} why */
function compared({ finding, detail, episodes, first_seen: first }) {
  return facts([
    ["Subject", portLink(finding.subject)], ["Rail", finding.rail], ["Expected", finding.expected], ["Observed", finding.observed], ["Sure", percent(finding.confidence)],
    [
      "First seen",
      agoOf(first),
    ], ["Episodes", episodes > 1 ? episodes : null],
    ...Object.entries(detail).map(
      ([key, value]) => /** @type {[string, any]} */ ([key.replaceAll("_", " "), plain(value)])
    ),
  ]);
}

/** @param {any} value */
function plain(value) {
  return value !== null && typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** @param {string} title @param {string[]} sentences @param {string} nothing */
function list(title, sentences, nothing) {
  if (!sentences.length) return nothing ? card(title, el("p.soft.pad", null, nothing)) : null;
  return card(title, el("ul.prose", null, sentences.map((one) => el("li", null, sentence(one)))));
}

/** @param {any[]} lines EvidenceLine */
function evidence(lines) {
  return card("Evidence", lines.length ? lines.map((line) => el("article.evidence", null,
    el(
      "header",
      null,
      el("b", null, portLink(line.device)),
      el("span", null, line.kind),
      el("code.soft", { title: line.source }, line.command || line.source),
      el("span.soft", null, agoOf(line.at)),
    ),
    el("dl.raw", null, Object.entries(line.fact).map(([key, value]) => el("div", null, el("dt", null, key), el("dd", null, plain(value))))))) : el("p.soft.pad", null, "No facts: no device reported this cable."));
}

watch(page.live, `findings/${piece(document.body.dataset.thing ?? "")}`, node, draw);
page.live.start();
void watchService(page);
