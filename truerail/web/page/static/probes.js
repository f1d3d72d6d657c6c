// Probes: hosts by rails as a map of what was tried, what failed and what was not tried; figures by rail; hosts left out.

import { Cells } from "./cells.js";
import { byId, el, redraw } from "./dom.js";
import { frame, watchService } from "./frame.js";
import { stateLegend } from "./legend.js";
import { thing } from "./links.js";
import { FabricMap } from "./map.js";
import { agoOf } from "./times.js";
import { watch } from "./watch.js";
import { wide } from "./wide.js";
import { count, figure, GLYPHS, portion, sentence, STATES } from "./words.js";

const WORDS = Object.freeze(["no NIC planned", "reached", "lost", "partly lost", "untried"]);
const HEADS = ["Rail", "NICs", "Reached", "Partly lost", "Lost", "Untried", "Pairs reached", "Pairs lost", "Pairs wrong NIC", "Pairs implied", "Pairs untried", "Packets lost"];
const page = frame();
const list = "/probed-nics";
const map = new FabricMap(byId("map"), (host) => location.assign(`${list}?nodes=${encodeURIComponent(host)}`));
map.canvas.setAttribute("aria-label", "Map of probes. Arrow keys move, n moves to the next NIC that is not reached, Enter lists the NICs of the host.");
map.arranged = () => redraw(byId("legend"), stateLegend(map));
/** @type {Set<number>} */ const only = new Set();

/** Cells in the words of probes. */
class ProbeCells extends Cells {
  /** @param {any} answer ProbeMatrix */
  constructor(answer) {
    super(answer);
    this.words = WORDS;
  }
}

/** @param {any} found ProbeMatrix */
function draw(found) {
  const bad = found.by_rail.reduce((/** @type {number} */ sum, /** @type {any} */ rail) => sum + rail.lost + rail.partly, 0);
  const untried = found.by_rail.reduce((/** @type {number} */ sum, /** @type {any} */ rail) => sum + rail.untried, 0);
  const tone = bad ? "bad" : untried || !found.probed_at ? "doubt" : "good";
  const words = bad ? `${count(bad, "NIC")} ${bad === 1 ? "loses" : "lose"} packets of probes` : tone === "good" ? "Every NIC is reached, both ways" : found.probed_at ? `${count(untried, "NIC is", "NICs are")} untried; of the others none loses packets` : "Nothing was probed";
  byId("verdict").className = `verdict ${tone}`;
  redraw(byId("verdict"), el("span.mark", { "aria-hidden": "true" }, { bad: "✗", doubt: "?", good: "✓" }[tone]),
    el("div", null, el("p", null, words), el("p.repair", null, sentence(found.summary), found.probed_at ? [" Probed ", agoOf(found.probed_at), "."] : null)));
  if (!map.cells?.same(found)) map.show(new ProbeCells(found));
  states();
  redraw(byId("rails"), found.by_rail.length ? wide("Probes by rail", "", table(found.by_rail)) : el("p.soft.pad", null, "The plan has no NIC on a rail."));
  byId("left").hidden = !found.left_out_total;
  redraw(byId("left-out"), el("p.pad", null, `${count(found.left_out_total, "host")} took no part: all that would have been sent to or from ${found.left_out_total === 1 ? "it" : "them"} is untried.`),
    el("ul.pad", null, found.left_out.map((/** @type {any} */ one) => el("li", null, el("a.port", { href: thing(one.host) }, one.host), `: ${one.why}`))),
    found.left_out_total > found.left_out.length ? el("p.soft.pad", null, `The first ${figure(found.left_out.length)} are shown.`) : null);
}

/** @param {any[]} rails ProbedRail */
function table(rails) {
  return el("table.rows", null, el("caption.hidden", null, "Probes by rail"),
    el("thead", null, el("tr", null, HEADS.map((head) => el("th.number", { scope: "col" }, head)))),
    el("tbody", null, rails.map((rail) => el("tr", null, cells(rail).map((cell, i) => el("td.number", { "data-head": HEADS[i] }, el("span", null, cell)))))));
}

/** @param {any} rail ProbedRail */
function cells(rail) {
  const some = (/** @type {number} */ number, /** @type {string} */ kind) => (number ? el(`b.${kind}`, null, figure(number)) : "0");
  const listed = (/** @type {string} */ state, /** @type {number} */ number, /** @type {string} */ kind) => (number ? el("a", { href: `${list}?rail=${rail.rail}&state=${state}` }, some(number, kind)) : "0");
  return [
    String(rail.rail), figure(rail.nics), figure(rail.reached), listed("partly", rail.partly, "missing"), listed("lost", rail.lost, "wrong"), listed("untried", rail.untried, "unknown"),
    figure(rail.pairs_reached), some(rail.pairs_lost, "wrong"), some(rail.pairs_wrong_nic, "wrong"), figure(rail.pairs_implied), some(rail.pairs_untried, "unknown"),
    rail.packets ? (rail.packets_lost ? el("b.wrong", null, `${portion(rail.packets_lost / rail.packets)} of ${figure(rail.packets)}`) : `0 of ${figure(rail.packets)}`) : el("span.unknown", null, "unknown"),
  ];
}

/** The states as buttons: what is pressed is shown alone. */
function states() {
  const found = map.cells?.counts() ?? [];
  redraw(byId("states"), STATES.slice(1).map((state, i) => el(`button.chip.${state}`,
    { type: "button", "aria-pressed": String(only.has(i + 1)), "data-key": `state-${state}`, on: { click: () => toggle(i + 1) } },
    el("b", { "aria-hidden": "true" }, GLYPHS[/** @type {"right"} */ (state)]), ` ${WORDS[i + 1]} `, el("span.figure", null, figure(found[i + 1] ?? 0)))));
}

/** @param {number} code */
function toggle(code) {
  if (!only.delete(code)) only.add(code);
  map.only = only.size ? only : null;
  states();
  map.draw();
}

for (const [id, step] of /** @type {const} */ ([["smaller", -1], ["fit", 0], ["larger", 1]])) byId(id).addEventListener("click", () => map.resize(step));
byId("nics").href = list;
watch(page.live, "probe", byId("rails"), draw);
page.live.start();
void watchService(page);
