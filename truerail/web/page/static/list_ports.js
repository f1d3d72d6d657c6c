// The list of the switches' ports.

import { el } from "./dom.js";
import { stateChip } from "./lines.js";
import { portLink, thing } from "./links.js";
import { listing } from "./listing.js";
import { figure } from "./words.js";

const STATES = ["wrong", "missing", "unknown", "right", "wrong,missing,unknown"];

/** @param {string | null} name @param {string} none */
function peer(name, none) {
  return name ? portLink(name) : el("span.soft", null, none);
}

listing({
  path: "ports",
  one: "switch port",
  many: "switch ports",
  filters: [
    { key: "facing", label: "Facing", words: ["down", "up", "free"] },
    { key: "state", label: "State", words: STATES },
    { key: "nodes", label: "Switches", hint: "leaf-[0-7]" },
  ],
  columns: [
    { key: "device", head: "Switch", sort: true, cell: (row) => el("a.port", { href: thing(row.device, "leaf") }, row.device) },
    { key: "port", head: "Port", sort: true, cell: (row) => el("span.port", null, row.port) },
    { key: "facing", head: "Facing", sort: true, cell: (row) => row.facing },
    { key: "rail", head: "Rail", sort: true, number: true, cell: (row) => row.rail ?? "–" },
    { key: "plane", head: "Plane", sort: true, number: true, extra: true, cell: (row) => row.plane ?? "–" },
    { key: "peer_planned", head: "Planned", cell: (row) => peer(row.peer_planned, "nothing") },
    { key: "peer_actual", head: "Actual", cell: (row) => peer(row.peer_actual, "unknown") },
    { key: "state", head: "State", sort: true, cell: (row) => stateChip(row.state) },
    { key: "link", head: "Link", cell: (row) => row.link ?? el("span.unknown", null, "unknown") },
    { key: "severity", head: "Worst finding", sort: true, highest: true, cell: (row) => (row.severity ? el(`span.${row.severity}`, null, row.severity) : "–") },
    { key: "findings", head: "Findings", sort: true, highest: true, number: true, extra: true, cell: (row) => figure(row.findings.length) },
  ],
});
