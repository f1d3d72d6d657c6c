// What may be wider than the screen: it scrolls sideways, says so, and can be scrolled by keys.

import { el } from "./dom.js";

const SIZES = new ResizeObserver((entries) => {
  for (const { target } of entries) look(/** @type {HTMLElement} */ (target.closest(".scroll")));
});

/**
 * A box that scrolls sideways where its content is wider than the page. `tag` may add classes: `drawing`.
 * @param {string} label what is in it, for screen readers
 * @param {string} classes
 * @param {...any} children
 */
export function wide(label, classes, ...children) {
  const box = el(`div.scroll${classes}`, { "data-label": label, on: { scroll: () => look(box) } }, ...children);
  SIZES.observe(box);
  for (const child of box.children) SIZES.observe(child);
  return el("div.wide", null, box, el("p.sideways", { "aria-hidden": "true", hidden: true }, "Scroll sideways for more →"));
}

/** @param {HTMLElement} box */
function look(box) {
  const beyond = box.scrollWidth - box.clientWidth;
  const over = beyond > 1;
  const hint = /** @type {HTMLElement} */ (box.nextElementSibling);
  hint.hidden = !over;
  hint.classList.toggle("end", box.scrollLeft >= beyond - 1);
  box.classList.toggle("more", over && box.scrollLeft < beyond - 1);
  for (const [name, value] of [["tabindex", "0"], ["role", "group"], ["aria-label", box.dataset.label ?? ""]]) {
    if (over) box.setAttribute(name, value);
    else box.removeAttribute(name);
  }
}
