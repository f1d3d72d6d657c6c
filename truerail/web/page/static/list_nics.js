// The list of probed NICs.

import { el } from "./dom.js";
import { portLink, thing } from "./links.js";
import { listing } from "./listing.js";
import { figure, GLYPHS } from "./words.js";

const STATES = ["lost", "partly", "untried", "reached", "lost,partly", "lost,partly,untried"];
const KINDS = Object.freeze({ reached: "right", lost: "wrong", partly: "missing", untried: "unknown" });

/** @param {string} state */
function chip(state) {
  const kind = KINDS[/** @type {"lost"} */ (state)] ?? "unknown";
  return el(`span.state.${kind}`, null, `${GLYPHS[kind]} ${state}`);
}

/** @param {number} number */
const some = (number) => (number ? el("b.wrong", null, figure(number)) : "0");

listing({
  path: "probe/nics",
  one: "NIC",
  many: "NICs",
  filters: [
    { key: "state", label: "State", words: STATES },
    { key: "rail", label: "Rail", hint: "0" },
    { key: "nodes", label: "Hosts", hint: "gpu-[001-016]" },
  ],
  columns: [
    { key: "nic", head: "NIC", sort: true, cell: (row) => portLink(row.nic) },
    { key: "host", head: "Host", sort: true, extra: true, cell: (row) => el("a.port", { href: thing(row.host) }, row.host) },
    { key: "rail", head: "Rail", sort: true, number: true, cell: (row) => row.rail },
    { key: "plane", head: "Plane", sort: true, number: true, extra: true, cell: (row) => row.plane ?? "–" },
    { key: "leaf", head: "Leaf", sort: true, cell: (row) => el("a.port", { href: thing(row.leaf, "leaf") }, row.leaf) },
    { key: "state", head: "State", sort: true, cell: (row) => chip(row.state) },
    { key: "sent", head: "Flows sent", sort: true, highest: true, number: true, cell: (row) => figure(row.sent) },
    { key: "sent_lost", head: "Lost", sort: true, highest: true, number: true, cell: (row) => some(row.sent_lost) },
    { key: "received", head: "Flows to it", sort: true, highest: true, number: true, cell: (row) => figure(row.received) },
    { key: "received_lost", head: "Lost to it", sort: true, highest: true, number: true, cell: (row) => some(row.received_lost) },
    { key: "faulty", head: "With a fault", sort: true, highest: true, number: true, cell: (row) => some(row.faulty) },
    { key: "why_untried", head: "Why untried", cell: (row) => row.why_untried },
  ],
});
