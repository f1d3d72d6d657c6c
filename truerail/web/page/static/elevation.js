// One rack from the top unit down: its devices with their state, and the work in it.

import { el } from "./dom.js";
import { cause, thing } from "./links.js";
import { bar } from "./panels.js";
import { count, figure, GLYPHS, sentence } from "./words.js";

const FIRST_STEPS = 8;

/** @param {any} line RackLine, or nothing for a rack that the plan lacks @param {any[]} devices DeviceLine @param {any[]} steps StepLine */
export function elevation(line, devices, steps) {
  const title = line?.rack ? `Rack ${line.rack}` : "No rack in the plan";
  const placed = devices.filter((device) => device.unit !== null).sort((one, other) => other.unit - one.unit);
  const loose = devices.filter((device) => device.unit === null);
  return el("section.card", { "aria-label": title },
    el("header", null, el("h2", null, title), el("span.soft", null, count(devices.length, "device")),
      line?.rack && line.steps !== null ? el("a.button.aside", { href: `/punch?rack=${encodeURIComponent(line.rack)}`, "data-key": "punch" }, line.steps ? `Punch list: ${count(line.steps, "step")}` : "Punch list") : null),
    placed.length ? el("ol.elevation", null, units(placed)) : null,
    loose.length ? [line?.rack ? el("h3.pad", null, "No unit in the plan") : null, el("ol.elevation", null, loose.map((device) => slot(device)))] : null,
    devices.length ? null : el("p.soft.pad", null, "The plan has no device here."),
    work(steps.filter((step) => step.mark !== "done")));
}

/** Devices by unit from the top, and the units between them. @param {any[]} placed */
function units(placed) {
  const rows = [];
  let below = placed[0].unit;
  for (const device of placed) {
    if (below - device.unit > 1) rows.push(el("li.gap", null, free(device.unit + 1, below - 1)));
    rows.push(slot(device));
    below = device.unit;
  }
  if (below > 1) rows.push(el("li.gap", null, free(1, below - 1)));
  return rows;
}

/** @param {number} low @param {number} high */
const free = (low, high) => (low === high ? `U${low}` : `U${high} to U${low}`);

/** @param {any} device DeviceLine */
function slot(device) {
  const { count: states } = device;
  const bad = ["wrong", "missing", "unknown"].filter((state) => states[state]);
  return el(`li.slot.${device.role === "host" ? "host" : "switch"}`, null,
    el("span.unit", null, device.unit === null ? "–" : `U${device.unit}`),
    el("span.what", null, el("a.port", { href: thing(device.device, device.role), "data-key": `slot-${device.device}` }, device.device),
      el("small.soft", null, device.role === "host" ? null : device.role)),
    el("span.states", null, device.read ? null : el("span.unknown", null, "? no answer"),
      bad.map((state) => el(`span.${state}`, { title: `${figure(states[state])} ${state}` }, `${GLYPHS[/** @type {"wrong"} */ (state)]} ${figure(states[state])}`, el("span.hidden", null, ` ${state}`))),
      device.severity ? el(`span.dot.${device.severity}`, { role: "img", "aria-label": `${count(device.findings, "finding")}, ${device.severity}` }) : null),
    el("span.bars", null, bar(states, device.device)));
}

/** @param {any[]} steps */
function work(steps) {
  if (!steps.length) return null;
  return [el("h3.pad", null, "To do here"), el("ol.lines", null, steps.slice(0, FIRST_STEPS).map((step) => el("li.line", null,
    el("div", null, el("p", null, step.unit === null ? null : el("b", null, `U${step.unit} `), el("span.port", null, step.at), step.to ? [" → ", el("span.port", null, step.to)] : null),
      step.to ? null : el("p.soft", null, sentence(step.action)), step.cause ? el("p.small", null, el("a", { href: cause(step.cause), "data-key": step.key }, "Cause")) : null))),
  steps.length > FIRST_STEPS ? el("li.line.soft", null, `and ${count(steps.length - FIRST_STEPS, "more step")}`) : null)];
}
