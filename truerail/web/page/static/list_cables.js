// The list of cables.

import { el } from "./dom.js";
import { stateChip } from "./lines.js";
import { finding, portLink } from "./links.js";
import { listing } from "./listing.js";

const STATES = ["wrong", "missing", "unknown", "right", "wrong,missing,unknown"];
const CONFIRMED = ["both ends", "one end", "other sources", "device only", "none"];

/** Findings as numbered links. @param {string[]} ids */
function numbered(ids) {
  return ids.map((id, i) => [i ? " " : "", el("a", { href: finding(id), "aria-label": `Finding ${i + 1}` }, i + 1)]);
}

listing({
  path: "cables",
  one: "cable",
  many: "cables",
  filters: [
    { key: "state", label: "State", words: STATES },
    { key: "nodes", label: "Devices", hint: "gpu-[001-064]" },
    { key: "rail", label: "Rail" },
    { key: "pod", label: "Pod" },
    { key: "verified", label: "Confirmed by", words: CONFIRMED },
  ],
  columns: [
    { key: "subject", head: "Port", sort: true, cell: (row) => portLink(row.subject) },
    { key: "planned", head: "Planned", sort: true, cell: (row) => portLink(row.planned, "leaf") },
    { key: "actual", head: "Actual", cell: (row) => (row.actual ? portLink(row.actual, "leaf") : el("span.soft", null, "unknown")) },
    { key: "rail", head: "Rail", sort: true, number: true, cell: (row) => row.rail ?? "–" },
    { key: "plane", head: "Plane", sort: true, number: true, extra: true, cell: (row) => row.plane ?? "–" },
    { key: "pod", head: "Pod", sort: true, extra: true, cell: (row) => row.pod || "–" },
    { key: "label", head: "Label", sort: true, extra: true, cell: (row) => row.label || "–" },
    { key: "state", head: "State", sort: true, cell: (row) => stateChip(row.state) },
    { key: "why", head: "Why", cell: (row) => row.why },
    { key: "verified", head: "Confirmed by", when: "now", sort: true, extra: true, cell: (row) => row.verified },
    { key: "findings", head: "Findings", sort: true, highest: true, number: true, cell: (row) => numbered(row.findings) },
  ],
});
