// What happened to a thing, newest first; links and findings are folded below their cause.

import { address, text } from "./api.js";
import { el, redraw } from "./dom.js";
import { cause, finding } from "./links.js";
import { trouble } from "./watch.js";
import { momentOf } from "./times.js";
import { count, sentence } from "./words.js";

/** @param {any} timeline */
export function eventList({ events, folded, complete }) {
  if (!events.length) return el("p.soft.pad", null, "No events in the journal.");
  return [
    el("ol.timeline", null, events.map(eventLine)),
    folded.length ? el(
      "details.folded",
      { "data-key": "folded" },
      el("summary", null, `${count(folded.length, "event")} of links and findings of these causes`),
      el("ol.timeline", null, folded.map(eventLine)),
    ) : null,
    complete ? null : el("p.soft.pad", null, "Older events are not shown."),
  ];
}

/** @param {any} event TimelineEvent */
function eventLine(event) {
  const below = [
    event.links ? count(event.links, "link") : "",
    event.findings ? count(event.findings, "finding") : "",
  ].filter(Boolean);
  const to = event.finding ? finding(event.finding) : event.cause && event.kind !== "link" ? cause(event.cause) : null;
  return el(`li.${event.kind.split(" ")[0]}${event.severity ? `.sev-${event.severity}` : ""}`, null,
    momentOf(event.at),
    el("div", null, el("span.tag", null, event.kind), " ",
      to ? el("a", { href: to }, sentence(event.summary)) : sentence(event.summary),
      below.length ? el("small.soft", null, ` ${below.join(", ")}`) : null,
      event.author ? el("small.soft", null, ` ${event.author}`) : null));
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
