// Names to change: commands for each device, and the changes of inventory and plan, to copy.

import { el } from "./dom.js";
import { card, table } from "./lines.js";
import { cause } from "./links.js";
import { kindWords, sentence } from "./words.js";

/** @param {any} answer RepairDiff */
export function repairDiff({ summary, repairs }) {
  return [el("p.verdict", null, sentence(summary)), ...repairs.map(repair)];
}

/** @param {any} one NameRepair */
function repair(one) {
  return card(`${one.id} ${kindWords(one.kind)}`,
    el("div.prose", null,
      el("p", null, el("a", { href: cause(one.cause) }, sentence(one.summary))),
      one.refused ? el("p", null, sentence(one.refused)) : null,
      one.confirm_first ? el("p.note", null, el("b", null, "Not confirmed. First: "), sentence(one.confirm_first)) : null,
      one.devices.map(device),
      one.inventory.length ? instead(one) : null));
}

/** @param {any} one Rename */
function device({ device: now, new_name: name, place, commands }) {
  return Object.entries(commands).map(([platform, lines]) => [
    el("p", null, `${platform}: the device that announces `, el("code", null, now), " is ", el("code", null, name), place ? `, in ${place}` : ""),
    el("pre.raw", null, lines.join("\n")),
  ]);
}

/** @param {any} one NameRepair */
function instead({ inventory, plan_diff: diff }) {
  return [
    el("p", null, el("b", null, "Or, if the devices have their names and the plan has not: "), "exchange them in NetBox, Nautobot or truerail's inventory, in this order, and in the plan."),
    table(["Device", "New name"], inventory.map((/** @type {any} */ one) => [one.device, one.new_name])),
    el("details", null, el("summary", null, "Diff of the plan (CSV)"), el("pre.raw", null, diff)),
  ];
}
