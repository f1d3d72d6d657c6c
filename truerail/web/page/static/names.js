// The names to change: commands for each device, and the changes of inventory and plan, to copy.

import { el } from "./dom.js";
import { card, table } from "./lines.js";
import { cause, finding } from "./links.js";
import { kindWords, sentence } from "./words.js";

/** @param {any} answer RepairDiff */
export function repairDiff({ summary, repairs }) {
  return [el("p.verdict", null, sentence(summary)), ...repairs.map(repair)];
}

/** @param {any} one TextRepair */
function repair(one) {
  const alone = !/^C\d+$/.test(one.id);
  return card(`${one.id} ${kindWords(one.kind)}`,
    el("div.prose", null,
      el("p", null, el("a", { href: alone ? finding(one.cause) : cause(one.cause) }, sentence(one.summary))),
      one.refused ? el("p", null, sentence(one.refused)) : null,
      one.confirm_first ? el("p.note", null, el("b", null, "Not confirmed. First: "), sentence(one.confirm_first)) : null,
      one.devices.map(device),
      one.links.map(links),
      one.inventory.length ? instead(one) : null));
}

/** @param {any} one DeviceRename */
function device({ device: now, new_name: name, place }) {
  return el("p", null, "The device that announces ", el("code", null, now), " is ", el("code", null, name), place ? `, in ${place}.` : ".");
}

/** @param {any} one HostLinks */
function links({ host, diff, no_diff: reason }) {
  if (reason) return noDiff(host, reason);
  return [el("p", null, "systemd: the names of the NICs of ", el("code", null, host), ", from the next boot on"), el("pre.raw", null, diff)];
}

/** @param {string} name @param {string} reason */
function noDiff(name, reason) {
  return el("p", null, "No diff for ", el("code", null, name), `: ${sentence(reason)}`);
}

/** @param {any} one TextRepair */
function instead({ inventory, plan_diff: plan }) {
  return [
    el("p", null, el("b", null, "Or, if the devices have their names and the plan has not: "), "change them in NetBox, Nautobot or truerail's inventory, in this order, and in the plan."),
    table(["Name", "New name"], inventory.map((/** @type {any} */ one) => [one.name, one.new_name])),
    folded("Diff of the plan (CSV)", plan),
  ];
}

/** @param {string} title @param {string} text */
function folded(title, text) {
  return el("details", null, el("summary", null, title), el("pre.raw", null, text));
}
