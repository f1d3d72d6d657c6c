// The fields of a list: words to search for, filters to type or to choose.

import { el } from "./dom.js";

/** @typedef {{key: string, label: string, hint?: string, words?: string[]}} Filter */

const NAMES = Object.freeze({ true: "yes", false: "no" });
const SHORTEST = 6;

/** @param {string} label @param {string} value @param {(value: string) => void} typed */
export function search(label, value, typed) {
  return el("label.search", null, el("span.hidden", null, label), input({ type: "search", placeholder: label, "data-key": "text" }, value, typed));
}

/** A filter to type, or to choose where its words are known. @param {Filter} filter @param {string} value @param {(value: string) => void} typed @param {(value: string) => void} chosen */
export function field({ key, label, hint = "all", words }, value, typed, chosen) {
  if (!words) return el("label", null, label, input({ placeholder: hint, size: Math.max(SHORTEST, hint.length), "data-key": key }, value, typed));
  const known = ["", ...words, ...(words.includes(value) || !value ? [] : [value])];
  const change = (/** @type {any} */ event) => chosen(event.target.value);
  return el("label", null, label, el("select", { "data-key": key, on: { change } },
    known.map((word) => el("option", { value: word, selected: word === value }, named(word)))));
}

/** @param {string} word */
function named(word) {
  return NAMES[/** @type {"true"} */ (word)] ?? (word.replaceAll(",", ", ") || "all");
}

/** @param {Record<string, any>} attributes @param {string} value @param {(value: string) => void} typed */
function input(attributes, value, typed) {
  const heard = (/** @type {any} */ event) => typed(event.target.value);
  return el("input", { ...attributes, value, spellcheck: "false", autocomplete: "off", on: { input: heard } });
}
