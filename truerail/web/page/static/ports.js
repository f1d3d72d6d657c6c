// Ports: light, heat, errors, falls and speed at both ends of each cable in one table, worst first.

import { address } from "./api.js";
import { byId, el, redraw } from "./dom.js";
import { frame, watchService } from "./frame.js";
import { finding, portLink } from "./links.js";
import { spark } from "./spark.js";
import { span } from "./times.js";
import { watch } from "./watch.js";
import { wide } from "./wide.js";
import { count, figure } from "./words.js";

const STEP = 50;
const MOST = 1000;
const ONLY = Object.freeze({
  "": {},
  findings: { severity: "info,warning,critical" },
  reported: { reported: "true" },
  silent: { reported: "false" },
});
const HEADS = ["Rail", "Port", "Link", "Gb/s", "Receives dBm", "Sends dBm", "°C", "FEC corrected", "FEC lost", "BER before FEC", "BER after FEC", "Falls", "Module"];
const FIELDS = [[], [], ["link"], ["speed_gbps"], ["rx_dbm"], ["tx_dbm"], ["celsius"], ["fec_corrected"], ["fec_uncorrected"], ["ber_before_fec", "margin_db_days"], ["ber_after_fec"], ["flaps"], ["vendor", "part", "serial"]];
/** Columns that no end on the screen reports: one sentence says so in place of their cells. @type {Set<number>} */
let silent = new Set();
const NUMBERS = new Set([3, 4, 5, 6, 7, 8, 9, 10, 11]);
const page = frame();
const form = byId("ask");
const answer = byId("answer");
let shown = STEP;

/** The question in the address, so that a view can be sent to somebody. */
function fields() {
  const { nodes, rail, only } = Object.fromEntries([...new FormData(form)].map(([key, value]) => [key, String(value).trim()]));
  return { nodes, rail, only };
}

function question() {
  const { nodes, rail, only } = fields();
  return address("link-health", { nodes, rail, ...ONLY[/** @type {"findings"} */ (only)], limit: shown }).slice("/api/v1/".length);
}

/** @param {any} page Page of LinkHealth */
function draw({ items, total }) {
  if (!items.length) return redraw(answer, el("div.card.empty", { role: "status" }, el("h2", null, "No such cable")));
  const more = Math.min(total, MOST) - items.length;
  silent = unreported(items.flatMap((/** @type {any} */ link) => link.ends));
  const unknown = HEADS.filter((_, i) => silent.has(i)).join(", ");
  redraw(answer, el("section.card", { "aria-label": "Ports of cables" },
    el("header", null, el("h2", null, count(total, "cable")), el("span.soft", null, total > items.length ? `the worst ${figure(items.length)} are shown` : "all are shown")),
    unknown ? el("p.pad", null, el("span.unknown", null, "Unknown"), ` for every port shown, because no device reported it: ${unknown}.`) : null,
    wide("Table of ports", "", el("table.ends", null,
      el("thead", null, el("tr", null, HEADS.map((head, i) => (silent.has(i) ? null : el("th", { scope: "col", class: NUMBERS.has(i) ? "number" : null }, head))))),
      items.map(cable))),
    more > 0 ? el("p.pad", null, el("button", { type: "button", "data-key": "more", on: { click: further } }, `Show ${figure(Math.min(STEP, more))} more`)) : null,
    total > MOST ? el("p.soft.pad", null, `At most ${figure(MOST)} cables are shown: limit them by devices or rail.`) : null));
}

/** @param {any[]} ends LinkEnd */
const unreported = (ends) => new Set(FIELDS.flatMap((fields, i) => (fields.length && ends.every((end) => fields.every((field) => String(end[field] ?? "") === "")) ? [i] : [])));

function further() {
  shown = Math.min(MOST, shown + STEP);
  void again();
}

/** Both ends of a cable. @param {any} link LinkHealth */
function cable(link) {
  const [near, far] = link.ends;
  return el("tbody", { class: link.severity },
    el("tr", null, el("td", { rowspan: 2 }, link.rail === null ? "–" : `${link.rail}${link.plane === null ? "" : `.${link.plane}`}`), end(near, link, far)),
    el("tr", null, end(far, link, near)),
    link.findings.map((/** @type {any} */ one) => el("tr.why", null, el("td"), el("td", { colspan: HEADS.length - silent.size - 1 },
      el(`span.dot.${one.severity}`, { "aria-hidden": "true" }), el("a", { href: finding(one.id), "data-key": one.id }, one.summary), one.muted ? el("span.tag.muted", null, one.muted) : null))));
}

/** @param {any} value @param {(value: any) => any} [shape] */
const known = (value, shape = (one) => one) => (value === null || value === undefined ? el("span.unknown", null, "unknown") : shape(value));

/** @param {any} end LinkEnd @param {any} link LinkHealth @param {any} other LinkEnd */
function end(end, link, other) {
  const speeds = [link.planned_speed_gbps, other.speed_gbps].filter((one) => one !== null);
  const odd = end.speed_gbps !== null && speeds.some((one) => Math.abs(one - end.speed_gbps) > one / 100);
  const cells = [
    portLink(end.port, end.role),
    known(end.link, (one) => el(`span.${one === "up" ? "soft" : "missing"}`, null, one)),
    known(end.speed_gbps, (one) => el("span", { class: odd ? "missing" : null, title: odd ? "not the speed planned, or not that of the other end" : null }, figure(one))),
    trended(known(end.rx_dbm, level), end.rx_dbm_days, "received light by day", (one) => `${level(one)} dBm`), known(end.tx_dbm, level), known(end.celsius, (one) => one.toFixed(0)),
    known(end.fec_corrected, figure), known(end.fec_uncorrected, some), trended(known(end.ber_before_fec, (one) => ratio(one, end.ber_seconds)), end.margin_db_days, "margin over FEC's limit by day", (one) => `${one.toFixed(1)} dB`),
    known(end.ber_after_fec, (one) => ratio(one, end.ber_seconds)), known(end.flaps, some), module(end),
  ];
  return cells.map((cell, i) => (silent.has(i + 1) ? null : el("td", { class: NUMBERS.has(i + 1) ? "number" : null }, cell)));
}

/** @param {number} dbm */
const level = (dbm) => dbm.toFixed(1).replace("-", "−");

/**
 * A value with its days below it, where its link gets worse. The lowest day is a short bar: what falls is shown.
 * @param {any} now @param {Array<number | null>} days @param {string} what @param {(value: number) => string} said
 */
function trended(now, days, what, said) {
  const known = /** @type {number[]} */ (days.filter((one) => one !== null));
  if (known.length < 2 || Math.max(...known) === Math.min(...known)) return now;
  const least = Math.min(...known) - (Math.max(...known) - Math.min(...known)) / 8;
  const bars = days.map((one) => (one === null ? null : one - least));
  return el("span", null, now, el("span.block", null, spark(bars, Math.max(...known) - least, (one) => said(one + least), { what })));
}

/** A count that should be zero. @param {number} number */
const some = (number) => (number ? el("b.missing", null, figure(number)) : "0");

/** @param {number} rate @param {number | null} seconds */
function ratio(rate, seconds) {
  return el("span", { title: seconds === null ? "over the device's own interval" : `over ${span(seconds)}` }, rate ? rate.toExponential(0) : "0");
}

/** @param {any} end */
function module({ vendor, part, serial }) {
  const words = [vendor, part].filter(Boolean).join(" ");
  return words || serial ? el("span", null, words || "–", serial ? el("small.soft.block", null, `serial ${serial}`) : null) : known(null);
}

for (const [key, value] of new URLSearchParams(location.search)) {
  const field = form.elements.namedItem(key);
  if (field) field.value = value;
}
form.addEventListener("submit", (/** @type {Event} */ event) => {
  event.preventDefault();
  shown = STEP;
  const kept = Object.entries(fields()).filter(([, value]) => value);
  history.replaceState(null, "", `/ports${kept.length ? `?${new URLSearchParams(kept)}` : ""}`);
  void again();
});
const again = watch(page.live, question, answer, draw);
page.live.start();
void watchService(page);
