// The overview's small cards: rails, coverage, collectors, counts.

import { el, svg } from "./dom.js";
import { span } from "./times.js";
import { count, figure, GLYPHS, percent } from "./words.js";

const STATES = /** @type {const} */ (["right", "wrong", "missing", "unknown"]);
const LEAST = 0.8;

/** A bar of states; what is not zero stays visible. @param {any} states StateCount @param {string} what */
export function bar(states, what) {
  const parts = STATES.filter((state) => states[state]).map(
    (state) => ({ state, width: Math.max((100 * states[state]) / states.planned, LEAST) })
  );
  const scale = 100 / (parts.reduce((sum, part) => sum + part.width, 0) || 1);
  let x = 0;
  const rects = parts.map(({ state, width }) => {
    const rect = svg(`rect.${state}`, { x: `${x}%`, y: 0, width: `${width * scale}%`, height: 10 });
    x += width * scale;
    return rect;
  });
  const summary = `${what}: ${STATES.filter((state) => states[state]).map((state) => `${figure(states[state])} ${state}`).join(", ") || "no cables planned"}`;
  return svg("svg.bar", { role: "img", "aria-label": summary, height: 10 }, svg("title", null, summary), rects);
}

/** Cables that are not right; those of a rail lead to their list. @param {any} states @param {number | null | "up"} rail */
function notRight(states, rail) {
  return STATES.filter((state) => state !== "right" && states[state]).map((state) => {
    const words = `${GLYPHS[state]} ${figure(states[state])} `;
    const href = typeof rail === "number" ? `/cables?state=${state}&rail=${rail}` : "";
    return href ? el(`a.${state}`, { href, "data-key": href }, words) : el(`span.${state}`, null, words);
  });
}

/** @param {any} fabric */
export function rails(fabric) {
  const rows = [
    ...fabric.rails,
    { name: "uplinks", rail: "up", count: fabric.uplinks },
  ].filter((line) => line.count.planned);
  return el("table.rails", null, el("tbody", null, rows.map((line) => el("tr", null,
    el("th", { scope: "row" }, line.name || (line.rail === null ? "no rail" : `rail ${line.rail}`)),
    el("td", null, bar(line.count, line.name || `rail ${line.rail}`)),
    el("td.number", null, line.count.right === line.count.planned ? el("span.soft", null, figure(line.count.planned)) : notRight(line.count, line.rail))))));
}

/** Why a card has no figures of an earlier time. @param {string} what */
function notKept(what) {
  return el("p.pad", null, el("span.unknown", null, "Unknown: "), `the journal does not keep ${what}.`);
}

/** @param {any} fabric */
export function coverage(
  { coverage: c, hosts, hosts_read: read, switches, switches_read: switchesRead, notes, cables, uplinks, as_of: past }
) {
  if (past) return notKept("which ends confirmed a cable");
  const all = c.both_ends + c.one_end + c.other_sources + c.none || 1;
  const row = (
    /** @type {string} */ word,
    /** @type {number} */ number,
    /** @type {string} */ kind,
    /** @type {string} */ verified,
  ) => el("tr", null, el("th", { scope: "row" }, word),
    el("td", null, svg("svg.bar", { height: 10, "aria-hidden": "true" }, svg(`rect.${kind}`, { x: 0, y: 0, width: `${(100 * number) / all}%`, height: 10 }))), el("td.number", null, number ? el("a", { href: `/cables?verified=${verified}`, "data-key": verified }, figure(number)) : "0"));
  return [
    el("p.big", null, percent(c.share), el("small", null, "of cables confirmed by both ends")),
    el(
      "table.rails",
      null,
      el(
        "tbody",
        null,
        row("both ends", c.both_ends, "right", "both+ends"),
        row("one end", c.one_end, "half", "one+end,device+only"),
        row("other sources", c.other_sources, "half", "other+sources"),
        row("no end", c.none, "unknown", "none"),
      ),
    ),
    el(
      "p.soft.pad",
      null,
      `${figure(read)} of ${count(hosts, "host")} and ${figure(switchesRead)} of ${count(switches, "switch", "switches")} read. ${count(cables.planned, "cable")} planned, ${figure(uplinks.planned)} of them between switches.`,
    ),
    notes.length ? el(
      "details.folded",
      { "data-key": "notes" },
      el("summary", null, count(notes.length, "note")),
      el("ul", null, notes.map((/** @type {string} */ note) => el("li", null, note))),
    ) : null,
  ];
}

/** @param {any[]} runs @param {any} past AsOf, or null */
export function collectors(runs, past) {
  if (past) return notKept("which devices answered which collector");
  if (!runs.length) return el("p.soft.pad", null, "No collector has run yet.");
  const unasked = runs.filter((run) => !run.devices_asked).map((run) => run.collector);
  return el("table.collectors", null,
    el(
      "thead",
      null,
      el(
        "tr",
        null,
        ["Collector", "Answered", "Age", "Every"].map(
          (head, i) => el("th", { scope: "col", class: i ? "number" : null }, head)
        ),
      ),
    ),
    el("tbody", null, runs.filter((run) => run.devices_asked).map((run) => {
      const short = run.devices_answered < run.devices_asked;
      const late = run.age_seconds === null || run.age_seconds > 3 * run.every_seconds;
      return el("tr", null, el("th", { scope: "row" }, run.collector),
        el(
          "td.number",
          { class: short ? (run.devices_answered ? "number missing" : "number wrong") : null },
          `${figure(run.devices_answered)}/${figure(run.devices_asked)}`,
        ),
        el("td.number", { class: late ? "number unknown" : null }, run.age_seconds === null ? "never" : span(run.age_seconds)), el("td.number.soft", null, span(run.every_seconds)));
    })),
    unasked.length ? el("tfoot", null, el("tr", null, el("td.soft", { colspan: 4 }, `No device polled: ${unasked.join(", ")}`))) : null);
}
