// What happened to a thing, newest first.

import { address, text } from "./api.js";
import { el, redraw } from "./dom.js";
import { finding } from "./links.js";
import { trouble } from "./watch.js";
import { momentOf } from "./times.js";
import { sentence } from "./words.js";

/** @param {any} timeline */
export function eventList({ events, whole }) {
  if (!events.length) return el("p.soft.pad", null, "No events in the journal.");
  return [el("ol.timeline", null, events.map((/** @type {any} */ event) => el(`li.${event.kind.split(" ")[0]}${event.severity ? `.sev-${event.severity}` : ""}`, null,
    momentOf(event.at),
    el("div", null, el("span.tag", null, event.kind), " ", event.finding ? el("a", { href: finding(event.finding) }, sentence(event.summary)) : sentence(event.summary), event.author ? el("small.soft", null, ` ${event.author}`) : null)))),
  whole ? null : el("p.soft.pad", null, "Older events are not shown.")];
}

/** A card with a thing's timeline. @param {string} of */
export function timelineCard(of) {
  const body = el("div", null, el("p.skeleton"));
  const ask = async () => {
    try {
      redraw(body, eventList(JSON.parse(await text(address("timeline", { of, limit: 30 })))));
    } catch (error) {
      redraw(body, trouble(error));
    }
  };
  void ask();
  return el(
    "section.card",
    { "aria-label": "Timeline" },
    el(
      "header",
      null,
      el("h2", null, "Timeline"),
      el("a", { href: `/timeline?of=${encodeURIComponent(of)}` }, "Full timeline"),
    ),
    body,
  );
}
