// Going back in time: the slider over the journal with its marks, the field for an exact time, and what says that it is not now.

import { get } from "./api.js";
import { at, follow, go, onTime, takesTime } from "./asof.js";
import { byId, el, redraw, svg } from "./dom.js";
import { shortcuts } from "./shortcuts.js";
import { agoOf, fill, instant, isoOf, moment, momentOf, zoneLabel } from "./times.js";
import { count, kindWords, sentence } from "./words.js";

/** @typedef {{at: string, kind: string, cause: string, cause_kind: string, summary: string}} Change */
/** @typedef {{begins: string | null, ends: string, changes: Change[], complete: boolean}} Span */

const WORDS = Object.freeze({ appeared: "began", regressed: "came back", flapping: "flaps", resolved: "ended" });
const FEW = 3;

/** The control of the time on one page. */
class TimeBar {
  constructor() {
    /** @type {Span | null} */
    this.span = null;
    this.unknown = /** @type {string[] | null} */ (null);
    this.button = byId("past");
    this.node = el("section.time", { id: "time", "aria-label": "Time", hidden: true });
    this.banner = el("div.banner.as-of", { id: "banner-at", role: "status", hidden: true });
    byId("content").before(this.banner, this.node);
    const header = /** @type {HTMLElement} */ (document.querySelector("header.top"));
    new ResizeObserver(() => document.documentElement.style.setProperty("--top", `${header.offsetHeight}px`)).observe(header);
    this.button.hidden = false;
    this.button.setAttribute("aria-controls", "time");
    this.button.addEventListener("click", () => this.show(this.node.hidden));
    onTime(() => this.turned());
    shortcuts("Time", [{ keys: ["b"], words: "Back in time: another time than now", act: () => this.show(true) }]);
    follow();
    if (at()) this.show(true);
    this.say();
  }

  /** @param {boolean} wanted */
  show(wanted) {
    this.node.hidden = !wanted;
    this.button.setAttribute("aria-expanded", String(wanted));
    if (wanted && !this.span) void this.load();
    else if (wanted) this.slider?.focus();
  }

  async load() {
    redraw(this.node, el("p.soft", null, "Reading the journal"));
    try {
      this.span = /** @type {Span} */ (await get("journal"));
      this.draw();
      if (!at()) this.slider?.focus();
    } catch (error) {
      redraw(this.node, el("p.problem", { role: "alert" }, sentence(/** @type {Error} */ (error).message)));
    }
  }

  /** The span's times in milliseconds, and that of each change once. */
  get first() {
    return Date.parse(this.span?.begins ?? "");
  }

  get last() {
    return Date.parse(this.span?.ends ?? "");
  }

  /** The time that is shown, in milliseconds; now without one. */
  get shown() {
    const time = Date.parse(at() ?? "");
    return Number.isNaN(time) ? this.last : time;
  }

  draw() {
    const { span } = this;
    if (!span?.begins) return redraw(this.node, el("p.soft", null, "There is no journal, so there is no earlier time. Set journal.url in truerail.yaml."));
    this.slider = el("input", { id: "time-slider", type: "range", min: this.first, max: this.last, step: 1000, "aria-label": "Time",
      on: { input: () => this.moved(), change: () => this.chosen(), keydown: (/** @type {KeyboardEvent} */ event) => this.key(event) } });
    this.field = el("input", { type: "datetime-local", step: 1, "aria-label": "Exact time", required: true });
    this.words = el("p.soft", { id: "time-words" });
    const typed = (/** @type {Event} */ event) => {
      event.preventDefault();
      go(instant(this.field));
    };
    redraw(this.node,
      el("div.steps", null,
        el("button", { type: "button", id: "time-back", "aria-label": "Change before", title: "Change before (←)", on: { click: () => this.step(-1) } }, "◀"),
        el("div.track", null, this.marks(), this.slider),
        el("button", { type: "button", id: "time-on", "aria-label": "Change after", title: "Change after (→)", on: { click: () => this.step(1) } }, "▶")),
      el("form.exact", { on: { submit: typed } }, this.field, zoneLabel(), el("button", null, "Show")),
      this.words);
    this.place();
  }

  /** Where causes began and ended. */
  marks() {
    const { changes } = /** @type {Span} */ (this.span);
    const share = (/** @type {string} */ time) => (100 * (Date.parse(time) - this.first)) / Math.max(1, this.last - this.first);
    return svg("svg.ticks", { height: 12, "aria-hidden": "true" }, changes.map((one) => svg(`rect.${one.kind}`, { x: `${share(one.at)}%`, y: one.kind === "resolved" ? 6 : 0, width: 2, height: 6 })));
  }

  /** The slider and the field at the time that is shown. */
  place() {
    if (!this.slider) return;
    this.slider.value = String(this.shown);
    fill(this.field, new Date(this.shown));
    this.moved();
  }

  /** Says what is under the thumb. */
  moved() {
    const time = Number(this.slider.value);
    const words = time >= this.last - 1000 ? "now" : moment(isoOf(time));
    this.slider.setAttribute("aria-valuetext", words);
    const near = this.changes(time);
    const total = (this.span?.changes ?? []).length;
    const said = near.slice(0, FEW).map((one) => `${kindWords(one.cause_kind)} ${WORDS[/** @type {"resolved"} */ (one.kind)] ?? one.kind}`).join(", ");
    redraw(this.words, el("b", null, words), near.length ? `: ${said}${near.length > FEW ? ` and ${near.length - FEW} more` : ""}.` : `. ${count(total, "change")} of causes${this.span?.complete ? "" : ", the newest"}; ← and → step from one to the next.`);
  }

  /** What began or ended at just that time. @param {number} time */
  changes(time) {
    return (this.span?.changes ?? []).filter((one) => Math.abs(Date.parse(one.at) - time) < 1000 && Date.parse(one.at) >= this.first);
  }

  chosen() {
    const time = Number(this.slider.value);
    go(time >= this.last - 1000 ? null : isoOf(time));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const way = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (!way || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.step(way);
  }

  /** The change before or after; after the last one it is now. @param {number} way */
  step(way) {
    const times = (this.span?.changes ?? []).map((one) => one.at);
    const to = way < 0 ? times.findLast((one) => Date.parse(one) < this.shown) : times.find((one) => Date.parse(one) > this.shown);
    if (to) go(to.replace("+00:00", "Z"));
    else if (way > 0) go(null);
  }

  turned() {
    this.unknown = null;
    this.say();
    if (at() && this.node.hidden) this.show(true);
    this.place();
  }

  /** The line that this is not now. */
  say() {
    const time = at();
    document.body.classList.toggle("as-of", Boolean(time));
    this.banner.hidden = !time;
    if (!time) return redraw(this.banner);
    const known = !Number.isNaN(Date.parse(time));
    const back = el("button.primary", { type: "button", id: "now", "data-key": "now", on: { click: () => go(null) } }, "Back to now");
    redraw(this.banner, el("p", null, el("b", null, "As of ", known ? momentOf(time) : time), known ? [", ", agoOf(time)] : null, ": not live. ", back),
      this.unknown?.length ? el("details", { "data-key": "unknown-then" }, el("summary", null, "What is unknown of that time"), el("ul", null, this.unknown.map((one) => el("li", null, sentence(one))))) : null);
  }

  /** What the service says of the time. @param {{at: string, unknown: string[]} | null} past AsOf */
  known(past) {
    if (!past || !at()) return;
    if (Number.isNaN(Date.parse(at() ?? ""))) go(past.at, true);
    this.unknown = past.unknown;
    this.say();
    this.place();
  }
}

/** The control, on a page that can show an earlier time. @returns {TimeBar | null} */
export function timeBar() {
  return takesTime ? new TimeBar() : null;
}
