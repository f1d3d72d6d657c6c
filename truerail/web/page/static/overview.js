// The overview: the map, the causes beside it, and how the watching itself goes.

import { address, text } from "./api.js";
import { brokenHosts } from "./broken.js";
import { causeStack } from "./causes.js";
import { Cells } from "./cells.js";
import { byId, el, redraw } from "./dom.js";
import { frame, serviceTroubles } from "./frame.js";
import * as links from "./links.js";
import { FabricMap } from "./map.js";
import { collectors, counts, coverage, rails } from "./panels.js";
import { pointing } from "./pointing.js";
import { figure, GLYPHS, STATES, TONES } from "./words.js";
import { trouble, watch } from "./watch.js";

const page = frame();
const { live } = page;
const map = new FabricMap(byId("map"), (host) => location.assign(links.thing(host)));
/** @type {Set<number>} */
const only = new Set();
let repair = "";

/** @param {{tone: string, headline: string}} verdict */
function verdict({ tone, headline }) {
  const node = byId("verdict");
  node.className = `verdict ${tone}`;
  redraw(node, el("span.mark", { "aria-hidden": "true" }, TONES[/** @type {"good"} */ (tone)] ?? "?"), el("div", null, el("p", null, headline), el("p.repair", null, repair || "\u00a0")));
}

function states() {
  const found = map.cells?.counts() ?? [];
  redraw(byId("states"), STATES.slice(1).map((state, i) => {
    const code = i + 1;
    const pressed = only.has(code);
    return el(`button.chip.${state}`, { type: "button", "aria-pressed": String(pressed), "data-key": `state-${state}`, on: { click: () => toggle(code) } },
      el("b", { "aria-hidden": "true" }, GLYPHS[/** @type {"right"} */ (state)]), ` ${state} `, el("span.figure", null, figure(found[code] ?? 0)));
  }));
}

/** @param {number} code */
function toggle(code) {
  if (!only.delete(code)) only.add(code);
  map.only = only.size ? only : null;
  states();
  map.draw();
}

function behind() {
  if (!map.cells) return;
  const { caption, body } = brokenHosts(map.cells);
  const node = byId("broken");
  node.firstElementChild.textContent = caption;
  redraw(node.lastElementChild, body);
}

/** @param {any} answer FabricMap */
function whole(answer) {
  map.show(new Cells(answer));
  performance.clearMarks("truerail:map");
  performance.mark("truerail:map");
  page.clock.judged(answer);
  verdict(answer);
  states();
  requestIdleCallback(behind);
}

/** @param {any} round */
function changed(round) {
  if (!map.cells) return;
  performance.clearMarks("truerail:round");
  performance.mark("truerail:round");
  map.refresh(map.cells.take(round.changed));
  verdict(round);
  redraw(byId("counts"), counts(round.findings, round.muted));
  states();
  requestIdleCallback(behind);
}

/** @param {any} fabric */
function service(fabric) {
  serviceTroubles(fabric, page);
  repair = fabric.repair;
  verdict(fabric);
  redraw(byId("counts"), counts(fabric.findings, fabric.muted));
  redraw(byId("rails"), rails(fabric));
  redraw(byId("coverage"), coverage(fabric));
  redraw(byId("collectors"), collectors(fabric.collectors));
}

/** The first judgement, or why there is none yet. */
async function begin() {
  try {
    whole(JSON.parse(await text(address("map"))));
  } catch (error) {
    byId("map").classList.remove("loading");
    redraw(map.space, trouble(error));
    redraw(byId("verdict"), el("span.mark", { "aria-hidden": "true" }, "…"), el("div", null, el("p", null, /** @type {any} */ (error).status === 503 ? "Nothing is judged yet" : "The fabric cannot be shown"), el("p", null, /** @type {Error} */ (error).message)));
  }
  live.on("state", (state) => {
    map.node.replaceChildren(map.space, map.said, map.tip.node);
    map.space.replaceChildren(map.canvas);
    whole(state);
  });
  live.on("round", changed).on("mutes", () => text(address("map")).then((answer) => whole(JSON.parse(answer)), () => {})).start();
  const point = pointing(map);
  watch(live, "causes?limit=50", byId("causes"), ({ items, total }) => redraw(byId("causes"), causeStack(items, total, { hover: point })), true);
  watch(live, "fabric", [byId("rails"), byId("coverage"), byId("collectors")], service, true);
}

for (const [id, step] of /** @type {const} */ ([["smaller", -1], ["fit", 0], ["larger", 1]])) byId(id).addEventListener("click", () => map.resize(step));
void begin();
