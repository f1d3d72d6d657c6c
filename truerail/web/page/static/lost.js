// A page that does not exist: names like its last part.

import { get } from "./api.js";
import { byId, el, redraw } from "./dom.js";
import { target } from "./finder.js";
import { frame, watchService } from "./frame.js";

const page = frame();
const word = location.pathname.split("/").filter(Boolean).pop() ?? "";

/** @param {any} found */
function draw({ items }) {
  if (!items.length) return;
  /** @param {any} one */
  const line = (one) => (
    el("li.line", null, el("a.port", { href: target(one) }, one.name), el("span.soft", null, one.summary || one.kind))
  );
  redraw(byId("meant"), el("h3", null, "Did you mean"), el("ul.lines", null, items.slice(0, 6).map(line)));
}

/** @param {string} text */
function plain(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

if (word) get("find", { text: plain(word).slice(0, 200) }).then(draw, () => {});
page.live.start();
void watchService(page);
