// Topology: what is wrong between switches. Pods are folded; each shows the states of its cables, and opens as a drawing.

import { byId, el, redraw } from "./dom.js";
import { frame, watchService } from "./frame.js";
import { card, stateChip } from "./lines.js";
import { bar } from "./panels.js";
import { leads, stateWords, summed, tiersDrawing, worst } from "./tiers.js";
import { watch } from "./watch.js";
import { wide } from "./wide.js";
import { count, figure } from "./words.js";

const CORE_BOXES = 16;
const ODD_AT_MOST = 60;
const ROLES = /** @type {const} */ (["superspine", "spine", "leaf"]);
const CORE = "above the pods";
const page = frame();
const answer = byId("answer");
/** @type {Set<string>} */ const opened = new Set(new URLSearchParams(location.search).getAll("pod"));

/** @param {any} answer Topology */
function draw({ switches, bundles }) {
  if (!switches.length) return redraw(answer, el("div.card.empty", null, el("h2", null, "The plan has no switch")));
  const pods = [...new Set(switches.map((/** @type {any} */ one) => one.pod))].filter(Boolean);
  const home = new Map(switches.map((/** @type {any} */ one) => [one.device, one.role === "superspine" || (pods.length && !one.pod) ? CORE : one.pod]));
  const core = switches.filter((/** @type {any} */ one) => home.get(one.device) === CORE);
  const groups = [...new Set(home.values())].filter((pod) => pod !== CORE).sort(new Intl.Collator("en", { numeric: true }).compare);
  const all = summed(bundles.map((/** @type {any} */ one) => one.count));
  byId("sum").textContent = `${count(switches.length, "switch", "switches")}, ${count(all.planned, "cable")} between them: ${stateWords(all)}`;
  const one = groups.length === 1;
  redraw(answer, el("div.answer", null,
    odd(bundles),
    core.length ? card(`Above the pods: ${count(core.length, "switch", "switches")}`, coreDrawing(core, groups, switches, bundles, home)) : null,
    groups.map((pod) => podCard(String(pod), switches.filter((/** @type {any} */ node) => home.get(node.device) === pod), bundles, home, one))));
}

/** What is not right, as a list: it is what one came for. @param {any[]} bundles */
function odd(bundles) {
  const bad = bundles.filter((one) => worst(one.count) !== "right" && one.count.planned)
    .sort((one, other) => other.count.wrong - one.count.wrong || other.count.missing - one.count.missing || other.count.unknown - one.count.unknown);
  if (!bad.length) return el("p.verdict", { role: "status" }, bundles.length ? "All cables between switches are right." : "The plan has no cables between switches.");
  return card(`${count(bad.length, "bundle")} not right`,
    el("ul.lines", null, bad.slice(0, ODD_AT_MOST).map((one) => el("li.line.between", null,
      stateChip(worst(one.count)), el("a.port", { href: leads(one), "data-key": `odd-${one.lower}-${one.upper}` }, `${one.lower} – ${one.upper}`), el("span.soft", null, stateWords(one.count)),
      one.cause ? el("span.tag", null, "cause") : null))),
    bad.length > ODD_AT_MOST ? el("p.soft.pad", null, `and ${count(bad.length - ODD_AT_MOST, "more bundle")}.`) : null);
}

/** Bundles between a group and the core, by member of the core. @param {string} pod @param {any[]} bundles @param {Map<string, any>} home */
function upwards(pod, bundles, home) {
  return bundles.filter((one) => home.get(one.lower) === pod && home.get(one.upper) === CORE);
}

/** A row for each pod: its bundle to what is above. @param {any[]} core @param {any[]} groups @param {any[]} switches @param {any[]} bundles @param {Map<string, any>} home */
function coreDrawing(core, groups, switches, bundles, home) {
  const boxes = core.length > CORE_BOXES ? el("p.pad.soft", null, `${core[0].device} to ${core[core.length - 1].device}`)
    : wide("Switches above the pods", ".drawing", tiersDrawing([core], []));
  return [boxes, wide("Cables from the pods", "", el("table.trunks", null, el("thead", null, el("tr", null, ["Pod", "Switches", "Cables upwards", "State"].map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", null, groups.map((pod) => {
      const states = summed(upwards(pod, bundles, home).map((one) => one.count));
      return el("tr", null, el("th", { scope: "row" }, el("a", { href: `#pod-${encodeURIComponent(pod)}`, "data-key": `trunk-${pod}`, on: { click: () => unfold(pod) } }, pod || "no pod")),
        el("td.number", null, figure(switches.filter((one) => home.get(one.device) === pod).length)),
        el("td.bars", null, bar(states, `Cables of ${pod} upwards`)), el(`td.${worst(states)}`, null, states.planned ? stateWords(states) : "none planned"));
    }))))];
}

/** @param {string} pod */
function unfold(pod) {
  const node = /** @type {HTMLDetailsElement | null} */ (document.getElementById(`pod-${pod}`));
  if (node) node.open = true;
}

/** @param {string} pod @param {any[]} members @param {any[]} bundles @param {Map<string, any>} home @param {boolean} one */
function podCard(pod, members, bundles, home, one) {
  const inner = bundles.filter((each) => home.get(each.lower) === pod && home.get(each.upper) === pod);
  const up = upwards(pod, bundles, home);
  const hosts = summed(members.map((each) => each.hosts));
  const states = summed([...inner, ...up].map((each) => each.count));
  const silent = members.filter((each) => !each.read).length;
  const body = el("div");
  const fill = () => {
    if (node.open) opened.add(pod);
    else opened.delete(pod);
    if (node.open && !body.childElementCount) body.append(podDrawing(pod, members, inner, up));
  };
  const node = el("details.card.pod", { id: `pod-${pod}`, "data-key": `pod-${pod}`, open: one || opened.has(pod), on: { toggle: fill } },
    el("summary", null, el("b", null, pod ? `Pod ${pod}` : "Fabric"), el("span.soft", null, ROLES.map((role) => members.filter((each) => each.role === role).length && count(members.filter((each) => each.role === role).length, role, role === "leaf" ? "leaves" : `${role}s`)).filter(Boolean).join(", ")),
      silent ? el("span.unknown", null, `? ${count(silent, "switch", "switches")} without an answer`) : null,
      states.planned ? el("span.sum", null, el("span.soft", null, "between switches "), el(`b.${worst(states)}`, null, stateWords(states))) : null,
      hosts.planned ? el("span.sum", null, el("span.soft", null, "to hosts "), el(`b.${worst(hosts)}`, null, stateWords(hosts))) : null), body);
  if (node.open) fill();
  return node;
}

/** @param {string} pod @param {any[]} members @param {any[]} inner @param {any[]} up */
function podDrawing(pod, members, inner, up) {
  const tiers = ROLES.map((role) => members.filter((each) => each.role === role)).filter((tier) => tier.length);
  const bundles = [...inner];
  if (up.length) {
    tiers.unshift([{ device: CORE, role: "", hosts: summed([]), read: true, many: true, detail: count(new Set(up.map((each) => each.upper)).size, "switch", "switches") }]);
    for (const lower of new Set(up.map((each) => each.lower))) {
      const own = up.filter((each) => each.lower === lower);
      const bad = own.find((each) => each.cause) ?? own.find((each) => each.finding) ?? own[0];
      bundles.push({ ...bad, lower, upper: CORE, count: summed(own.map((each) => each.count)) });
    }
  }
  return wide(`Switches of ${pod || "the fabric"}`, ".drawing", tiersDrawing(tiers, bundles));
}

watch(page.live, "topology", answer, draw);
page.live.start();
void watchService(page);
