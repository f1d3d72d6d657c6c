// Everything that fits a name, where Enter was pressed before the list was there.

import { get } from "./api.js";
import { byId, el, redraw } from "./dom.js";
import { target } from "./finder.js";
import { frame, watchService } from "./frame.js";
import { trouble } from "./watch.js";

const page = frame();
const text = new URLSearchParams(location.search).get("text")?.trim() ?? "";
const answer = byId("answer");
byId("find").value = text;

/** @param {any} found */
function draw({ items }) {
  if (items.length === 1) location.replace(target(items[0]));
  redraw(answer, items.length ? el(
    "ul.lines.card",
    null,
    items.map(
      (/** @type {any} */ one) => el(
        "li.line",
        null,
        el("a.port", { href: target(one) }, one.name),
        el("span.soft", null, one.summary || one.kind),
      )
    ),
  )
    : el("div.empty", null, el("h2", null, `No match for “${text}”`), el("p.soft", null, "Search by any part of the name of a host, switch, port, RDMA device or rack, of a MAC address, of a job's id, name or user, or by words of a cause.")));
}

if (text) get("find", { text }).then(draw, (error) => redraw(answer, trouble(error)));
else draw({ items: [] });
page.live.start();
void watchService(page);
