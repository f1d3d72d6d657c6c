// Racks: the floor by rows, and the elevation of the rack that is opened, with its devices and its work.

import { get } from "./api.js";
import { at, carry } from "./asof.js";
import { byId, el, redraw } from "./dom.js";
import { elevation } from "./elevation.js";
import { frame, watchService } from "./frame.js";
import { shortcuts } from "./shortcuts.js";
import { trouble, watch } from "./watch.js";
import { count, figure, GLYPHS } from "./words.js";

const OPEN_AT_MOST = 240;
const NO_RACK = "-";
const page = frame();
/** @type {any[]} */ let racks = [];
let opened = new URLSearchParams(location.search).get("rack") ?? "";

/** @param {any} rack RackLine */
const nameOf = (rack) => rack.rack || NO_RACK;

/** How a rack stands: its worst cable, else its findings, such as a storm. @param {any} rack */
function stateOf({ count: states, unread, severity }) {
  const bad = ["wrong", "missing", "unknown"].find((state) => states[state]);
  return bad ?? (unread ? "unknown" : severity && severity !== "info" ? "finding" : states.planned ? "right" : "none");
}

/** Whether all that is wrong here is repaired in other racks. @param {any} rack */
const repairedElsewhere = ({ count: { wrong, missing, unknown }, elsewhere, steps, unread }) =>
  elsewhere > 0 && elsewhere === wrong + missing && !unknown && !unread && !steps;

/** The whole list: it comes in pages. @param {any} first Page of RackLine */
async function all(first) {
  let { items, next } = first;
  while (next) {
    const answer = await get("racks", { limit: 1000, cursor: next });
    items = [...items, ...answer.items];
    next = answer.next;
  }
  return items;
}

/** @param {any} first */
async function draw(first) {
  racks = await all(first);
  const placed = racks.filter((rack) => rack.rack);
  const [lost] = racks.filter((rack) => !rack.rack);
  const work = racks.filter((rack) => rack.steps);
  byId("sum").textContent = `${count(placed.length, "rack")}${at() ? "" : `, ${count(work.length, "rack")} with work`}`;
  byId("next").disabled = !work.length;
  byId("next").hidden = Boolean(at());
  const rows = new Map();
  for (const rack of placed) rows.set(rack.row, [...(rows.get(rack.row) ?? []), rack]);
  redraw(byId("floor"), placed.length ? legend() : null,
    [...rows].map(([name, here]) => row(name, here, placed.length <= OPEN_AT_MOST)),
    placed.length ? null : el("div.card.empty", null, el("h2", null, "The plan names no rack"), el("p.soft", null, "Give each device a rack and a unit in the plan (docs/plan.md): the punch list is then in walking order too.")),
    lost ? apart(lost) : null);
  if (opened) await open(opened, false);
  else redraw(byId("rack"), el("p.soft.pad", null, at() ? "Choose a rack to see its devices." : "Choose a rack to see its devices and its work."));
}

function legend() {
  return el("p.legend", null, ["right", "wrong", "missing", "unknown", "finding"].map((state) => [el(`span.tile.key.${state}`, { "aria-hidden": "true" }), state === "finding" ? "cables right, with a finding" : state]), el("span.tile.key.wrong.elsewhere", { "aria-hidden": "true" }), "repaired in another rack", el("span", null, at() ? "The punch list of that time is not kept." : "The number is the steps of the punch list that are left."));
}

/** A row of racks; its tiles are made when it is opened. @param {string} name @param {any[]} here @param {boolean} wide */
function row(name, here, wide) {
  const body = el("div.tiles");
  const work = here.reduce((sum, rack) => sum + rack.steps, 0);
  const away = here.reduce((sum, rack) => sum + rack.elsewhere, 0);
  const words = [
    count(here.length, "rack"),
    ...["wrong", "missing", "unknown"].map((state) => [state, here.reduce((sum, rack) => sum + rack.count[state], 0)]).filter(([, n]) => n).map(([state, n]) => el(`span.${state}`, null, ` · ${figure(n)} ${state}`)),
    away ? ` · ${figure(away)} repaired in other racks` : null,
    work ? el("b", null, ` · ${count(work, "step")}`) : null,
  ];
  const fill = () => body.childElementCount || body.append(...here.map(tile));
  const open = wide || here.some((rack) => nameOf(rack) === opened);
  if (open) fill();
  return el("details.card.row", { "data-key": `row-${name}`, open, on: { toggle: fill } },
    el("summary", null, el("b", null, name ? `Row ${name}` : "Row"), " ", el("span.soft", null, words)), body);
}

/** @param {any} rack RackLine */
function tile(rack) {
  const state = stateOf(rack), elsewhere = repairedElsewhere(rack);
  const words = `Rack ${rack.rack}: ${count(rack.hosts, "host")}, ${count(rack.switches, "switch", "switches")}${rack.panels ? `, ${count(rack.panels, "patch panel")}` : ""}, ${state === "finding" ? "cables right, with a finding" : state}${elsewhere ? ", repaired in another rack" : ""}${rack.unread ? `, ${count(rack.unread, "device")} without an answer` : ""}${rack.steps ? `, ${count(rack.steps, "step")} to do` : ""}`;
  return el(`a.tile.${state}${elsewhere ? ".elsewhere" : ""}`, { href: `/racks?rack=${encodeURIComponent(rack.rack)}`, title: words, "aria-label": words, "aria-current": rack.rack === opened ? "true" : null, "data-key": `rack-${rack.rack}`, on: { click: go } },
    el("span", null, rack.rack), el("span.foot", null, el(`span.${state}`, null, state === "right" ? "" : state === "finding" ? "!" : GLYPHS[/** @type {"wrong"} */ (state)]), rack.steps ? el("b", null, figure(rack.steps)) : null));
}

/** @param {any} lost RackLine without a name */
function apart(lost) {
  return el("section.card", { "aria-label": "Without a rack" },
    el("header", null, el("h2", null, "No rack in the plan"), el("span.soft", null, [count(lost.hosts, "host"), count(lost.switches, "switch", "switches")].join(", "))),
    el("p.pad", null, el("a", { href: `/racks?rack=${NO_RACK}`, "data-key": "rack--", on: { click: go } }, "Its devices"), lost.steps ? `, ${count(lost.steps, "step")} to do` : ""));
}

/** @param {MouseEvent} event */
function go(event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const link = /** @type {HTMLAnchorElement} */ (event.currentTarget);
  void open(new URL(link.href).searchParams.get("rack") ?? "", true);
}

/** @param {string} name @param {boolean} chosen by hand: then the address follows */
async function open(name, chosen) {
  opened = name;
  if (chosen) history.pushState(null, "", carry(`/racks?rack=${encodeURIComponent(name)}`));
  for (const one of byId("floor").querySelectorAll("a.tile")) {
    if (new URL(one.href).searchParams.get("rack") === name) one.setAttribute("aria-current", "true");
    else one.removeAttribute("aria-current");
  }
  const line = racks.find((rack) => nameOf(rack) === name);
  try {
    const devices = (await get("devices", { rack: name, limit: 1000 })).items;
    const steps = line?.steps && line.rack ? (await get("steps", { rack: name, limit: 1000 })).items : [];
    if (name !== opened) return;
    redraw(byId("rack"), elevation(line, devices, steps));
  } catch (error) {
    redraw(byId("rack"), trouble(error));
  }
  if (chosen && matchMedia("(max-width: 1000px)").matches) byId("rack").scrollIntoView({ block: "start" });
}

/** The next rack in walking order with something to do. */
function next() {
  const work = racks.filter((rack) => rack.steps);
  const at = racks.findIndex((rack) => nameOf(rack) === opened);
  const found = work.find((rack) => racks.indexOf(rack) > at) ?? work[0];
  if (found) void open(nameOf(found), true);
}

byId("next").addEventListener("click", next);
shortcuts("Racks", [{ keys: ["n"], words: "Next rack with work", act: next }]);
addEventListener("popstate", () => void open(new URLSearchParams(location.search).get("rack") ?? "", false));
watch(page.live, "racks?limit=1000", byId("floor"), (first) => void draw(first));
page.live.start();
void watchService(page);
