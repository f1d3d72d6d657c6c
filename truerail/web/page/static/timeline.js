// The timeline of anything that has a name.

import { address } from "./api.js";
import { byId, el, redraw } from "./dom.js";
import { eventList } from "./events.js";
import { frame, watchService } from "./frame.js";
import { portLink } from "./links.js";
import { watch } from "./watch.js";
import { sentence } from "./words.js";

const page = frame();
const of = new URLSearchParams(location.search).get("of") ?? "";
byId("ask").elements.namedItem("of").value = of;
if (of) {
  const node = byId("answer");
  watch(page.live, address("timeline", { of, limit: 500 }).slice("/api/v1/".length), node, (timeline) =>
    redraw(node, el("div.answer", null, el("p.verdict", null, sentence(timeline.summary)), el("section.card", { "aria-label": "Events" }, el("header", null, el("h2", null, portLink(of))), eventList(timeline)))));
}
page.live.start();
void watchService(page);
