// An answer without a drawing of its own: its summary, its values, and a table for each list.

import { el } from "./dom.js";
import { card, table } from "./lines.js";
import { count, sentence } from "./words.js";

const MOST = 200;

/** @param {string} key */
const words = (key) => key.replaceAll("_", " ");

/** @param {any} value @returns {string} */
function short(value) {
  if (value === null || value === "") return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.map(short).join(", ") || "–";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** @param {any} value */
const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** @param {Record<string, any>} answer */
export function plain({ summary, ...rest }) {
  const lists = Object.entries(rest).filter(([, value]) => Array.isArray(value) && value.some(isRecord));
  const values = Object.entries(rest).filter(([key]) => !lists.some(([list]) => list === key));
  return [
    summary ? el("p.verdict", null, sentence(summary)) : null,
    values.length ? el("dl.facts.card", null, values.map(([key, value]) => el("div", null, el("dt", null, words(key)), el("dd", null, short(value))))) : null,
    lists.map(([key, rows]) => listed(key, rows)),
  ];
}

/** @param {string} key @param {Record<string, any>[]} rows */
function listed(key, rows) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const more = rows.length - MOST;
  return card(words(key), table(columns.map(words), rows.slice(0, MOST).map((row) => columns.map((column) => short(row[column] ?? null)))),
    more > 0 ? el("p.soft.pad", null, `and ${count(more, "more row")}.`) : null);
}
