// The search box: a combobox over /api/v1/find.

import { get, piece } from "./api.js";
import { el, redraw } from "./dom.js";
import { cause, finding, thing } from "./links.js";
import { shortcuts } from "./shortcuts.js";

/** @typedef {{name: string, kind: string, says: string}} Found */

const PAUSE = 90;

/** Where something that was found is shown. @param {Found} found */
export function target({ name, kind }) {
  if (kind === "finding") return finding(name);
  if (kind === "cause") return cause(name);
  if (kind === "job") return `/jobs/${piece(name)}`;
  if (kind === "rule") return `/findings?${new URLSearchParams({ rule: name })}`;
  if (kind === "rack") return `/racks?rack=${encodeURIComponent(name)}`;
  if (kind === "host" || kind === "leaf" || kind === "spine" || kind === "superspine" || kind === "switch") return thing(name, kind);
  return `/ask?q=where&port=${encodeURIComponent(name)}`;
}

/** @param {HTMLInputElement} box @param {HTMLElement} list */
export function finder(box, list) {
  let timer = 0;
  let chosen = -1;
  let asked = "";

  const close = () => {
    list.hidden = true;
    chosen = -1;
    box.setAttribute("aria-expanded", "false");
    box.removeAttribute("aria-activedescendant");
  };
  const choose = (/** @type {number} */ index) => {
    const options = [...list.querySelectorAll("[role=option]")];
    if (!options.length) return;
    chosen = (index + options.length) % options.length;
    options.forEach((one, i) => one.setAttribute("aria-selected", String(i === chosen)));
    options[chosen].scrollIntoView({ block: "nearest" });
    box.setAttribute("aria-activedescendant", options[chosen].id);
  };
  const ask = async () => {
    const text = (asked = box.value.trim());
    if (!text) return close();
    const answer = await get("find", { text }).catch(() => ({ items: [] }));
    if (text !== asked) return;
    redraw(
      list,
      answer.items.length ? answer.items.map(option) : el("li.nothing", null, `No match for “${text}”.`),
    );
    list.hidden = false;
    box.setAttribute("aria-expanded", "true");
    choose(0);
  };
  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(ask, PAUSE);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
  box.form?.addEventListener("submit", (event) => {
    const link = /** @type {HTMLAnchorElement | null} */ (
      list.hidden ? null : list.querySelector("[aria-selected=true] a")
    );
    if (!link || box.value.trim() !== asked) return;
    event.preventDefault();
    location.assign(link.href);
  });
  box.addEventListener("blur", () => setTimeout(close, 150));
  const act = () => {
    box.select();
    box.focus();
  };
  shortcuts("Everywhere", [{ keys: ["/"], words: "Find a host, port, MAC, job or cause", act }]);
}

/** @param {Found} found @param {number} index */
function option(found, index) {
  return el("li", { role: "option", id: `found-${index}`, "aria-selected": "false" },
    el("a", { href: target(found), tabindex: "-1" }, el("span.port", null, found.name), el("small", null, found.summary || found.kind)));
}
