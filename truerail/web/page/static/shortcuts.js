// Keys that work wherever nothing is typed: each page adds its own, `?` shows them all.

import { el } from "./dom.js";

/** @typedef {{keys: string[], words: string, act: (event: KeyboardEvent) => void, when?: (event: KeyboardEvent) => boolean}} Shortcut */

const NAMES = Object.freeze({ ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc", "-": "−" });
const TYPED = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]";
/** @type {Map<string, Shortcut[]>} */ const groups = new Map();

/** Adds keys, under a title of the list. @param {string} title @param {Shortcut[]} added */
export function shortcuts(title, added) {
  if (!groups.size) addEventListener("keydown", pressed);
  groups.set(title, [...(groups.get(title) ?? []), ...added]);
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  const typing = event.target instanceof Element && event.target.closest(TYPED);
  if (event.defaultPrevented || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector("dialog[open]")) return;
  const on = event.target instanceof Element && event.target.closest("a, button, summary");
  if (on && (event.key === "Enter" || event.key === " ")) return;
  const found = [...groups.values()].flat().find((one) => one.keys.includes(event.key) && (one.when?.(event) ?? true));
  if (!found) return;
  event.preventDefault();
  found.act(event);
}

/** @param {string} key */
const cap = (key) => el("kbd", null, NAMES[/** @type {"Escape"} */ (key)] ?? key);

/** @param {Shortcut} one */
function row({ keys, words }) {
  const shown = keys.length > 4 ? [cap(keys[0]), "to ", cap(keys[keys.length - 1])] : keys.map(cap);
  return el("tr", null, el("th", { scope: "row" }, shown), el("td", null, words));
}

/** The list of all keys. */
export function showKeys() {
  const close = el("button", { type: "button", on: { click: () => dialog.close() } }, "Close");
  const dialog = el("dialog.keys", { "aria-label": "Keys", on: { close: () => dialog.remove() } },
    el("h2", null, "Keys"),
    [...groups].map(([title, all]) => el("section", null, el("h3", null, title), el("table", null, el("tbody", null, all.map(row))))),
    el("div.buttons", null, close));
  dialog.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "?") return;
    event.preventDefault();
    dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
}
