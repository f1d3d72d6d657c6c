// Ready-made questions of the history store. The address holds the question, so that an answer can be shared.

import { address, get, piece, Problem } from "./api.js";
import { el, redraw } from "./dom.js";
import { frame, watchService } from "./frame.js";
import { card, table } from "./lines.js";
import { momentOf, span } from "./times.js";
import { figure, portion, sentence } from "./words.js";

const ROWS = 100;
const SCALES = Object.freeze(["", "k", "M", "G", "T", "P", "E"]);
/** The units that stand in the head of a column; others stand with the value, or in its name. */
const UNITS = /\d|^(d|dBm|h)$/;
const page = frame();
const form = /** @type {HTMLFormElement | null} */ (document.getElementById("ask"));
const answer = /** @type {HTMLElement} */ (document.getElementById("answer"));
/** The cursors of the pages before this one. @type {string[]} */
let before = [];
let latest = 0;

/** @typedef {{name: string, type: string, unit: string, meaning: string}} Column */

/** The question that is chosen, and what was filled in. @param {HTMLFormElement} fields @returns {{name: string, query: Record<string, string>}} */
function question(fields) {
  const { q, ...given } = Object.fromEntries([...new FormData(fields)].map(([key, value]) => [key, String(value).trim()]));
  return { name: q, query: Object.fromEntries(Object.entries(given).filter(([, value]) => value)) };
}

/** Shows the fields of the chosen question. @param {HTMLFormElement} fields */
function choose(fields) {
  const { name } = question(fields);
  for (const one of fields.querySelectorAll("fieldset")) one.hidden = one.disabled = one.dataset.question !== name;
}

/** @param {HTMLFormElement} fields @param {string} [cursor] */
async function ask(fields, cursor = "") {
  const turn = ++latest;
  const { name, query } = question(fields);
  redraw(answer, el("p.skeleton"));
  let shown;
  try {
    shown = drawn(await get(`history/questions/${piece(name)}`, { ...query, limit: ROWS, cursor }), fields, cursor);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    shown = el("div.empty.failed", { role: "alert" }, el("h2", null, error.title || "No answer"), el("p", null, sentence(error.message)));
  }
  if (turn === latest) redraw(answer, shown);
}

/** @param {any} found HistoryAnswer @param {HTMLFormElement} fields @param {string} cursor */
function drawn(found, fields, cursor) {
  const { name, query } = question(fields);
  const heads = found.columns.map(head);
  const numbers = found.columns.flatMap((/** @type {Column} */ one, /** @type {number} */ i) => (["number", "whole"].includes(one.type) ? [i] : []));
  const rows = found.items.map((/** @type {any} */ row) => found.columns.map((/** @type {Column} */ one) => shownValue(row[one.name], one)));
  const csv = address(`history/questions/${piece(name)}`, { ...query, format: "csv" });
  return el("div.answer", null,
    found.notes.map((/** @type {string} */ note) => el("p.note", null, note)),
    rows.length ? card(found.title, table(heads, rows, { numbers, caption: found.title })) : el("p.card.pad", { role: "status" }, found.no_data),
    el("p.tools", null, rows.length ? el("a.button", { href: csv, download: `${name}.csv` }, "CSV") : null,
      step("Previous", before.length > 0, () => ask(fields, before.pop())),
      step("Next", found.next !== null, () => ask(fields, (before.push(cursor), found.next)))),
    explained(found.columns),
    copied(command(name, query)));
}

/** @param {string} word @param {boolean} there @param {() => unknown} go */
function step(word, there, go) {
  return there || before.length ? el("button", { type: "button", disabled: !there, on: { click: go } }, word) : null;
}

/** @param {Column} column */
const head = ({ name, unit }) => `${name.replaceAll("_", " ")}${UNITS.test(unit) ? ` (${unit})` : ""}`;

/** @param {Column[]} columns */
function explained(columns) {
  return el("details.folded.card", null, el("summary", null, "What the columns mean"), el("dl.facts", null,
    columns.map((one) => el("div", null, el("dt", null, head(one)), el("dd", null, sentence(one.meaning))))));
}

/** @param {any} value @param {Column} column */
function shownValue(value, { type, unit }) {
  if (value === null) return el("span.soft", { title: "no data" }, "–");
  if (type === "time") return momentOf(value);
  if (type === "flag") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.join(" → ");
  return typeof value === "number" ? quantity(value, unit) : value;
}

/** @param {number} value @param {string} unit */
function quantity(value, unit) {
  if (unit === "s") return span(value);
  if (unit === "B") return bytes(value);
  if (unit === "share" && (value === 0 || Math.abs(value) >= 0.001)) return portion(value);
  return value !== 0 && Math.abs(value) < 0.001 ? value.toExponential(1) : figure(Number(value.toPrecision(4)));
}

/** @param {number} value */
function bytes(value) {
  const power = value >= 1000 ? Math.min(SCALES.length - 1, Math.floor(Math.log10(value) / 3)) : 0;
  return `${Number((value / 1000 ** power).toPrecision(3))} ${SCALES[power]}B`;
}

/** The same question on the command line. @param {string} name @param {Record<string, string>} query */
function command(name, query) {
  const quoted = (/** @type {string} */ value) => (/^[\w.:+/-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`);
  const options = Object.entries(query).map(([key, value]) => (value === "true" ? `--${key}` : `--${key.replaceAll("_", "-")} ${quoted(value)}`));
  return ["truerail query", name, ...options].join(" ");
}

/** @param {string} text */
function copied(text) {
  const code = el("code.raw", null, text);
  const button = el("button", { type: "button", on: { click: copy } }, "Copy");
  async function copy() {
    getSelection()?.selectAllChildren(code);
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Selected"; // a page without TLS has no clipboard
    }
  }
  return el("p.command", null, el("span.soft", null, "The same on the command line: "), code, " ", button);
}

/** @param {HTMLFormElement} fields */
function fromAddress(fields) {
  const { q, ...given } = Object.fromEntries(new URLSearchParams(location.search));
  const choice = /** @type {HTMLSelectElement} */ (fields.elements.namedItem("q"));
  if (q && [...choice.options].some((one) => one.value === q)) choice.value = q;
  choose(fields);
  for (const field of fields.querySelectorAll("fieldset:enabled input")) {
    const { name, type } = /** @type {HTMLInputElement} */ (field);
    if (type === "checkbox") /** @type {HTMLInputElement} */ (field).checked = given[name] === "true";
    else /** @type {HTMLInputElement} */ (field).value = given[name] ?? "";
  }
  before = [];
  if (q) void ask(fields);
}

if (form) {
  form.addEventListener("change", () => choose(form));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { name, query } = question(form);
    history.pushState(null, "", `/ask/history?${new URLSearchParams({ q: name, ...query })}`);
    before = [];
    void ask(form);
  });
  addEventListener("popstate", () => fromAddress(form));
  fromAddress(form);
}
page.live.start();
void watchService(page);
