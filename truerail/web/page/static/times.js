// Times as the page shows them: in one zone, the browser's or UTC, which every time names. Nothing else formats one.

import { el } from "./dom.js";

const KEY = "truerail:zone";
const SWITCHED = "truerail:zone";
const REFRESH = 20000;
const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone || "local time";
const FORMS = Object.freeze({ moment, ago });
let utc = stored();

function stored() {
  try {
    return localStorage.getItem(KEY) === "utc";
  } catch {
    return false; // storage is blocked: the browser's zone, for this page alone
  }
}

/** Whether the browser's own zone is UTC: then there is nothing to switch. */
export const onlyUtc = ["UTC", "Etc/UTC", "Etc/GMT", "GMT"].includes(HERE);

/** The zone's name: `Europe/Berlin`, or `UTC`. */
export function zoneName() {
  return utc || onlyUtc ? "UTC" : HERE;
}

/** Minutes ahead of UTC then. @param {Date} date */
function ahead(date) {
  return utc ? 0 : -date.getTimezoneOffset();
}

/** The zone of a moment: `UTC`, `UTC+1`, `UTC-3:30`. @param {Date} [date] */
export function offset(date = new Date()) {
  const minutes = Math.abs(ahead(date));
  if (!minutes) return "UTC";
  const part = minutes % 60 ? `:${String(minutes % 60).padStart(2, "0")}` : "";
  return `UTC${ahead(date) < 0 ? "-" : "+"}${Math.floor(minutes / 60)}${part}`;
}

/** `2026-11-21T05:30:09` on the clocks of the zone. @param {Date} date */
function wall(date) {
  return new Date(date.getTime() + ahead(date) * 60000).toISOString().slice(0, 19);
}

/** `2026-11-20 14:05:09 UTC+1`; today's without the date. @param {string} at */
export function moment(at) {
  const then = new Date(at);
  const [day, time] = wall(then).split("T");
  return `${day === wall(new Date()).slice(0, 10) ? "" : `${day} `}${time} ${offset(then)}`;
}

/** A length of time in one unit: `12 s`, `34 min`, `5 h`, `3 d`. @param {number} seconds */
export function span(seconds) {
  if (seconds > 0 && seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  const s = Math.max(0, Math.round(seconds));
  if (s < 100) return `${s} s`;
  if (s < 100 * 60) return `${Math.round(s / 60)} min`;
  if (s < 48 * 3600) return `${Math.round(s / 3600)} h`;
  return `${Math.round(s / 86400)} d`;
}

/** Seconds since then. @param {string} at */
export function age(at) {
  return (Date.now() - Date.parse(at)) / 1000;
}

/** `34 min ago`. @param {string} at */
function ago(at) {
  return `${span(Math.round(age(at)))} ago`;
}

/** @param {string} at @param {keyof typeof FORMS} form */
function shown(at, form) {
  return el("time", { datetime: at, "data-form": form, title: form === "ago" ? moment(at) : null }, FORMS[form](at));
}

/** A moment, which follows the zone. @param {string | null | undefined} at */
export function momentOf(at) {
  return at ? shown(at, "moment") : el("span.soft", null, "–");
}

/** How long ago that was, which grows older; nothing where it is unknown. @param {string | null | undefined} at */
export function agoOf(at) {
  return at ? shown(at, "ago") : null;
}

/** The zone as text beside a field, which follows the switch. */
export function zoneLabel() {
  return el("small.zone", { "data-zone": true }, zoneName());
}

/** Puts a moment into a field of date and time, in the zone. @param {HTMLInputElement} field @param {Date} date */
export function fill(field, date) {
  field.value = wall(date).slice(0, field.step === "1" ? 19 : 16);
}

/** What a field of date and time holds, as ISO 8601 in UTC. @param {HTMLInputElement} field */
export function instant({ value }) {
  if (!value) return null;
  const then = new Date(utc ? `${value}Z` : value);
  return Number.isNaN(then.getTime()) ? null : then.toISOString();
}

/** Milliseconds since 1970 as ISO 8601 in UTC. @param {number} time */
export function isoOf(time) {
  return new Date(time).toISOString();
}

/** So many hours from now, as ISO 8601 in UTC. @param {number} hours */
export function hence(hours) {
  return new Date(Date.now() + hours * 3600000).toISOString();
}

/** Every time on the page, again. */
function refresh() {
  for (const node of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("time[data-form]"))) {
    const at = node.getAttribute("datetime") ?? "";
    node.textContent = FORMS[/** @type {"ago"} */ (node.dataset.form)](at);
    if (node.dataset.form === "ago") node.title = moment(at);
  }
  for (const node of document.querySelectorAll("[data-zone]")) node.textContent = zoneName();
}

/** @param {boolean} wanted */
function change(wanted) {
  if (utc === wanted) return;
  const fields = /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll("input[type=datetime-local]")]);
  const values = fields.map(instant);
  utc = wanted;
  fields.forEach((field, i) => values[i] && fill(field, new Date(/** @type {string} */ (values[i]))));
  refresh();
  dispatchEvent(new CustomEvent(SWITCHED));
}

/** The switch between the browser's zone and UTC; other tabs follow it. @param {HTMLElement} button */
export function zoneSwitch(button) {
  const name = () => {
    button.textContent = offset();
    button.title = onlyUtc ? "Times are in UTC" : `Times are in ${zoneName()}. Switch to ${utc ? HERE : "UTC"}`;
    button.setAttribute("aria-label", `${offset()}: ${button.title}`);
  };
  button.toggleAttribute("disabled", onlyUtc);
  button.addEventListener("click", () => {
    change(!utc);
    try {
      localStorage.setItem(KEY, utc ? "utc" : "local");
    } catch { /* storage is blocked: it holds for this page alone */ }
  });
  addEventListener(SWITCHED, name);
  addEventListener("storage", ({ key }) => key === KEY && change(stored()));
  setInterval(() => document.hidden || refresh(), REFRESH);
  name();
  refresh();
}
