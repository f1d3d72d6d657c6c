// The overview's line about storms: shown only while an unmuted one is active.

import { el, redraw } from "./dom.js";
import { watch } from "./watch.js";
import { figure, sentence } from "./words.js";

const ASKED = "findings?rule=PFC001,PFC003&muted=false&limit=1";

/** @param {import("./live.js").Live} live @param {HTMLElement} node */
export function standing(live, node) {
  watch(live, ASKED, [], ({ items, total }) => {
    node.hidden = !total;
    const which = total > 1 ? `${figure(total)} PFC storms or deadlocks; the largest:  ` : "";
    if (!total) return redraw(node);
    redraw(node, el("span", null, which, sentence(items[0].summary)), el("a", { href: "/storm" }, "Pause tree"));
  }, true);
}
