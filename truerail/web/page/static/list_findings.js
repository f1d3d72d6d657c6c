// The list of findings.

import { el } from "./dom.js";
import { life } from "./lines.js";
import { cause, finding, portLink } from "./links.js";
import { listing } from "./listing.js";
import { momentOf } from "./times.js";
import { percent, sentence } from "./words.js";

const LIVES = ["new", "ongoing", "regressed", "flapping", "recovering", "unseen"];

listing({
  path: "findings",
  one: "finding",
  many: "findings",
  filters: [
    { key: "severity", label: "Severity", words: ["critical", "warning", "info"] },
    { key: "nodes", label: "Devices", hint: "gpu-[001-064]" },
    { key: "rail", label: "Rail" },
    { key: "rule", label: "Rule", hint: "CAB001" },
    { key: "state", label: "State", words: LIVES },
    { key: "muted", label: "Muted", words: ["false", "true"] },
    { key: "cause", label: "Cause", hint: "its key" },
  ],
  columns: [
    { key: "severity", head: "Severity", sort: true, highest: true, cell: (row) => el(`span.${row.severity}`, null, row.severity) },
    { key: "summary", head: "Finding", cell: (row) => el("a", { href: finding(row.id) }, sentence(row.summary)) },
    { key: "subject", head: "Port or device", sort: true, cell: (row) => portLink(row.subject) },
    { key: "rail", head: "Rail", sort: true, number: true, cell: (row) => row.rail ?? "–" },
    { key: "rule", head: "Rule", sort: true, cell: (row) => el("span", { title: row.name }, row.rule) },
    { key: "expected", head: "Expected", extra: true, cell: (row) => row.expected ?? "–" },
    { key: "observed", head: "Observed", extra: true, cell: (row) => row.observed ?? "–" },
    { key: "action", head: "What to do", extra: true, when: "now", cell: (row) => sentence(row.action) },
    { key: "suggested", head: "Suggested then", when: "then", extra: true, cell: (row) => (row.suggested ? sentence(row.suggested) : el("span.soft", null, "–")) },
    { key: "ended", head: "Ended", when: "then", cell: (row) => (row.ended ? momentOf(row.ended) : el("span.soft", null, "still open")) },
    { key: "cause", head: "Cause", cell: (row) => (row.cause ? el("a", { href: cause(row.cause) }, "Cause") : el("span.soft", null, "none")) },
    { key: "confidence", head: "Sure", sort: true, number: true, extra: true, cell: (row) => percent(row.confidence) },
    { key: "state", head: "State", sort: true, cell: (row) => [row.state === "ongoing" ? "ongoing " : null, life({ ...row, since: null })] },
    { key: "since", head: "Since", sort: true, cell: (row) => life({ ...row, state: "ongoing", muted: null }) },
    { key: "muted", head: "Muted", sort: true, extra: true, cell: (row) => row.muted ?? "–" },
  ],
});
