// The list of devices.

import { el } from "./dom.js";
import { thing } from "./links.js";
import { listing } from "./listing.js";
import { figure, GLYPHS } from "./words.js";

/**
 * Its cables in a state.
 * @param {"right" | "wrong" | "missing" | "unknown"} state
 * @returns {import("./listing.js").Column}
 */
function cables(state) {
  const mark = state === "right" ? "" : `${GLYPHS[state]} `;
  return {
    key: state,
    head: `Cables ${state}`,
    sort: true,
    highest: true,
    number: true,
    cell: ({ count }) => (count[state] ? el(`span${mark ? `.${state}` : ""}`, null, `${mark}${figure(count[state])}`) : el("span.soft", null, "0")),
  };
}

listing({
  path: "devices",
  one: "device",
  many: "devices",
  filters: [
    { key: "role", label: "Role", words: ["host", "leaf", "spine", "superspine"] },
    { key: "nodes", label: "Devices", hint: "gpu-[001-064]" },
    { key: "pod", label: "Pod" },
    { key: "rack", label: "Rack" },
    { key: "severity", label: "Worst finding", words: ["critical", "warning", "info"] },
    { key: "read", label: "Answers", words: ["true", "false"] },
  ],
  columns: [
    { key: "device", head: "Device", sort: true, cell: (row) => el("a.port", { href: thing(row.device, row.role) }, row.device) },
    { key: "role", head: "Role", sort: true, cell: (row) => row.role },
    { key: "pod", head: "Pod", sort: true, cell: (row) => row.pod || "–" },
    { key: "rack", head: "Rack", sort: true, cell: (row) => row.rack || "–" },
    { key: "unit", head: "Unit", sort: true, number: true, cell: (row) => row.unit ?? "–" },
    { key: "platform", head: "Platform", sort: true, extra: true, cell: (row) => row.platform || "–" },
    { key: "read", head: "Answers", sort: true, cell: (row) => (row.read ? "yes" : el("span.unknown", null, "? no")) },
    cables("right"),
    cables("wrong"),
    cables("missing"),
    cables("unknown"),
    { key: "findings", head: "Findings", sort: true, highest: true, number: true, cell: (row) => figure(row.findings) },
    { key: "severity", head: "Worst finding", sort: true, highest: true, cell: (row) => (row.severity ? el(`span.${row.severity}`, null, row.severity) : "–") },
  ],
});
