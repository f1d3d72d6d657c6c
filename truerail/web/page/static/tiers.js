// The switches of one pod as a drawing: tier above tier, a line for each bundle of cables, what is not right on top.

import { ending } from "./crossing.js";
import { svg } from "./dom.js";
import { cause, finding, thing } from "./links.js";
import { count, figure } from "./words.js";

const BOX = Object.freeze({ width: 118, height: 42, gap: 12 });
const TIER = 150;
const ORDER = /** @type {const} */ (["wrong", "missing", "unknown"]);

/** The worst state of some cables. @param {any} states StateCount */
export const worst = (states) => ORDER.find((state) => states[state]) ?? (states.planned ? "right" : "none");

/** `30 of 32 right, 1 wrong, 1 missing`. @param {any} states StateCount */
export function stateWords(states) {
  const bad = ORDER.filter((state) => states[state]).map((state) => `${figure(states[state])} ${state}`);
  return [`${figure(states.right)} of ${figure(states.planned)} right`, ...bad].join(", ");
}

/** The states of several bundles in one. @param {any[]} all StateCount */
export function summed(all) {
  const total = { planned: 0, right: 0, wrong: 0, missing: 0, unknown: 0 };
  for (const one of all) for (const key of /** @type {Array<keyof typeof total>} */ (Object.keys(total))) total[key] += one[key];
  return total;
}

/**
 * @param {Array<any[]>} tiers boxes of each tier, from the top; a box is a SwitchNode, or `many` switches in one
 * @param {any[]} bundles of names of boxes
 */
export function tiersDrawing(tiers, bundles) {
  const widest = Math.max(...tiers.map((tier) => tier.length));
  const width = Math.max(widest * (BOX.width + BOX.gap) - BOX.gap, 420) + 2;
  /** @type {Map<string, {x: number, y: number}>} */ const at = new Map();
  tiers.forEach((tier, row) => {
    const step = width / tier.length;
    tier.forEach((box, i) => at.set(box.device, { x: (i + 0.5) * step, y: 4 + row * TIER }));
  });
  const height = 8 + (tiers.length - 1) * TIER + BOX.height;
  const drawn = bundles.filter((one) => at.has(one.lower) && at.has(one.upper)).sort((one, other) => badness(one) - badness(other));
  return svg("svg.tiers", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": `${count(at.size, "switch", "switches")}, ${count(drawn.length, "bundle")} of cables` },
    drawn.map((one) => line(one, at.get(one.lower), at.get(one.upper))), tiers.flat().map((box) => node(box, at.get(box.device))));
}

/** @param {any} bundle */
const badness = ({ count: states }) => ORDER.length - (ORDER.indexOf(/** @type {any} */ (worst(states))) + ORDER.length + 1) % (ORDER.length + 1);

/** @param {any} bundle @param {any} low @param {any} high */
function line(bundle, low, high) {
  const state = worst(bundle.count);
  const words = `${bundle.lower} to ${bundle.upper}: ${stateWords(bundle.count)}`;
  const [y1, y2] = [low.y, high.y + BOX.height];
  const path = svg(`path.bundle.${state}`, { d: `M${low.x} ${y1} C ${low.x} ${y1 - 46}, ${high.x} ${y2 + 46}, ${high.x} ${y2}` }, svg("title", null, words));
  if (state === "right") return path;
  const [x, y] = [(low.x + high.x) / 2, (y1 + y2) / 2];
  const text = `${figure(bundle.count.right)}/${figure(bundle.count.planned)}`;
  return svg("a.odd", { href: leads(bundle), "aria-label": words, "data-key": `bundle-${bundle.lower}-${bundle.upper}` }, path,
    svg(`rect.label.${state}`, { x: x - 4 * text.length - 4, y: y - 10, width: 8 * text.length + 8, height: 19, rx: 5 }),
    svg(`text.figure.${state}`, { x, y: y + 4, "text-anchor": "middle" }, text));
}

/** To the cause where there is one, else to the finding, else to the switch below. @param {any} bundle */
export function leads(bundle) {
  if (bundle.cause) return cause(bundle.cause);
  return bundle.finding ? finding(bundle.finding) : thing(bundle.lower, "leaf");
}

/** @param {any} box @param {any} at */
function node(box, { x, y }) {
  const state = box.hosts.planned ? worst(box.hosts) : box.read === false ? "unknown" : "right";
  const hosts = box.hosts.planned ? `${figure(box.hosts.right)}/${figure(box.hosts.planned)} hosts` : box.detail ?? box.role;
  const words = `${box.device}, ${box.role}${box.hosts.planned ? `, cables to hosts: ${stateWords(box.hosts)}` : ""}${box.read === false ? ", no answer" : ""}${box.severity ? `, ${count(box.findings, "finding")}, ${box.severity}` : ""}`;
  const inside = [svg("title", null, words),
    svg("rect.box", { x: x - BOX.width / 2, y, width: BOX.width, height: BOX.height, rx: 6 }),
    svg(`rect.strip.${state}`, { x: x - BOX.width / 2, y: y + BOX.height - 5, width: BOX.width, height: 5, rx: 2 }),
    svg("text.name", { x, y: y + 16, "text-anchor": "middle" }, ending(box.device, 15)),
    svg("text.soft", { x, y: y + 30, "text-anchor": "middle" }, box.read === false ? "? no answer" : hosts),
    box.severity ? svg(`circle.alarm.${box.severity}`, { cx: x + BOX.width / 2 - 7, cy: y + 7, r: 4 }) : null];
  if (box.many) return svg("g.switch", null, inside);
  return svg("a.switch", { href: thing(box.device, box.role), "aria-label": words, "data-key": `switch-${box.device}` }, inside);
}
