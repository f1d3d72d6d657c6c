// The list of causes.

import { el } from "./dom.js";
import { instruction } from "./causes.js";
import { life } from "./lines.js";
import { cause, portLink } from "./links.js";
import { listing } from "./listing.js";
import { momentOf } from "./times.js";
import { figure, kindWords, percent, sentence } from "./words.js";

const LIVES = ["new", "ongoing", "regressed", "flapping", "recovering", "unseen"];
const FEW = 4;

/** @param {string[]} all */
function subjects(all) {
  const few = all.slice(0, FEW).map((one) => [portLink(one), " "]);
  return all.length > FEW ? [few, `and ${figure(all.length - FEW)} more`] : few;
}

listing({
  path: "causes",
  one: "cause",
  many: "causes",
  filters: [
    { key: "kind", label: "Kind", hint: "cable-swap" },
    { key: "severity", label: "Severity", words: ["critical", "warning", "info"] },
    { key: "state", label: "State", words: LIVES },
    { key: "muted", label: "Muted", words: ["false", "true"] },
  ],
  columns: [
    { key: "kind", head: "Kind", sort: true, cell: (row) => el("a.kind", { href: cause(row.key) }, kindWords(row.kind)) },
    { key: "impact", head: "GPUs affected", sort: true, highest: true, number: true, cell: (row) => `${row.undecided && row.impact ? "perhaps " : ""}${row.impact || row.impact_known ? figure(row.impact) : "unknown"}` },
    { key: "severity", head: "Severity", sort: true, highest: true, cell: (row) => el(`span.${row.severity}`, null, row.severity) },
    { key: "summary", head: "Cause", cell: (row) => sentence(row.summary) },
    { key: "action", head: "What to do", when: "now", cell: (row) => instruction(row) },
    { key: "suggested", head: "Suggested then", when: "then", cell: (row) => (row.suggested ? sentence(row.suggested) : el("span.soft", null, "–")) },
    { key: "ended", head: "Ended", when: "then", cell: (row) => (row.ended ? momentOf(row.ended) : el("span.soft", null, "still open")) },
    { key: "subjects", head: "Ports and devices", extra: true, cell: (row) => subjects(row.subjects) },
    { key: "explains", head: "Findings", sort: true, highest: true, number: true, cell: (row) => el("a", { href: `/findings?cause=${encodeURIComponent(row.key)}` }, figure(row.explains.length)) },
    { key: "moves", head: "Cables to move", when: "now", sort: true, highest: true, number: true, cell: (row) => figure(row.moves.length) },
    { key: "confidence", head: "Sure", sort: true, number: true, cell: (row) => percent(row.confidence) },
    { key: "state", head: "State", sort: true, cell: (row) => [row.state === "ongoing" ? "ongoing " : null, life({ ...row, since: null })] },
    { key: "since", head: "Since", sort: true, extra: true, cell: (row) => life({ ...row, state: "ongoing", muted: null }) },
    { key: "muted", head: "Muted", sort: true, extra: true, cell: (row) => row.muted ?? "–" },
  ],
});
