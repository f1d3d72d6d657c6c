// A long list, a page at a time: sorted, filtered and searched by the service, so that no browser holds 100,000 rows.
// The address holds the question: a pasted one shows the same.

import { address } from "./api.js";
import { at, carry, onTime } from "./asof.js";
import { byId, el, redraw } from "./dom.js";
import { field, search } from "./fields.js";
import { frame, watchService } from "./frame.js";
import { drawTable, pager } from "./rows.js";
import { watch } from "./watch.js";
import { count, figure } from "./words.js";

/**
 * @typedef {object} Column
 * @property {string} key its name in the API and in the CSV
 * @property {string} head
 * @property {(row: any) => any} cell
 * @property {boolean} [sort] whether the service sorts by it
 * @property {boolean} [highest] whether the first click begins with the highest
 * @property {boolean} [number] whether it stands right
 * @property {boolean} [extra] whether it is shown only when chosen
 * @property {"now" | "then"} [when] whether it is only of now, or only of an earlier time
 */
/** @typedef {{path: string, one: string, many: string, columns: Column[], filters: import("./fields.js").Filter[]}} List */
/** @typedef {Record<string, string>} Asked what the address says: filters, text, sort, columns, page */

const ROWS = 100;
const PAUSE = 250;

/** The page of one list. */
class Listing {
  /** @param {List} list */
  constructor(list) {
    this.list = list;
    this.page = frame();
    this.asked = this.fromAddress();
    this.timer = 0;
    this.ask = watch(this.page.live, () => this.query(), byId("answer"), (reported) => this.draw(reported));
    addEventListener("popstate", () => {
      this.asked = this.fromAddress();
      this.controls();
      void this.ask();
    });
    onTime(() => this.controls());
    this.controls();
    this.page.live.start();
    void watchService(this.page);
  }

  /** @returns {Asked} */
  fromAddress() {
    const given = new URLSearchParams(location.search);
    const keys = ["text", ...this.list.filters.map((one) => one.key), "sort", "columns", "page"];
    return Object.fromEntries(keys.map((key) => [key, given.get(key) ?? ""]));
  }

  get number() {
    return Math.max(1, Math.floor(Number(this.asked.page)) || 1);
  }

  /** What narrows the list. @returns {Asked} */
  get filters() {
    return Object.fromEntries(["text", ...this.list.filters.map((one) => one.key)].map((key) => [key, this.asked[key]]));
  }

  get narrowed() {
    return Object.values(this.filters).some(Boolean);
  }

  /** The columns that the time that is shown has. @returns {Column[]} */
  get all() {
    return this.list.columns.filter((one) => !one.when || (one.when === "then") === Boolean(at()));
  }

  /** The columns that are shown. @returns {Column[]} */
  get columns() {
    const wanted = this.asked.columns.split(",");
    const chosen = this.all.filter((one) => wanted.includes(one.key));
    return chosen.length ? chosen : this.all.filter((one) => !one.extra);
  }

  query() {
    const { sort } = this.asked;
    return address(this.list.path, { ...this.filters, sort, limit: ROWS, offset: ROWS * (this.number - 1) }).slice("/api/v1/".length);
  }

  /** Another question. Typed words make no steps back. @param {Asked} changed @param {boolean} [typed] */
  turn(changed, typed = false) {
    this.asked = { ...this.asked, ...("page" in changed || "columns" in changed ? {} : { page: "" }), ...changed };
    const query = new URLSearchParams(Object.entries(this.asked).filter(([, value]) => value !== "")).toString();
    history[typed ? "replaceState" : "pushState"](null, "", carry(query ? `?${query}` : location.pathname));
    this.controls();
    byId("answer").setAttribute("aria-busy", "true");
    void this.ask();
    if (this.reported) this.draw(this.reported);
  }

  /** @param {string} key @returns {(value: string) => void} */
  typed(key) {
    return (value) => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.turn({ [key]: value.trim() }, true), PAUSE);
    };
  }

  /** Search, filters, columns and the CSV. A field in which somebody types stays as it is. */
  controls() {
    const node = byId("controls");
    const { list, asked } = this;
    const all = () => this.turn(Object.fromEntries(Object.keys(this.filters).map((key) => [key, ""])));
    if (!node.contains(document.activeElement) || !document.activeElement?.matches("input:not([type=checkbox])")) redraw(node,
      search(`Search ${list.many}`, asked.text, this.typed("text")),
      list.filters.map((one) => field(one, asked[one.key], this.typed(one.key), (value) => this.turn({ [one.key]: value }))),
      el("button", { id: "clear", type: "button", "data-key": "all", on: { click: all } }, "Clear filters"),
      el("details.columns", { "data-key": "columns" }, el("summary.button", null, "Columns"), el("div.card", null, this.all.map((one) => this.chooser(one)))),
      el("a.button", { id: "csv", download: "", title: "All rows that match, in this order, with these columns" }, "CSV"));
    byId("clear").hidden = !this.narrowed;
    const columns = this.columns.map((one) => one.key).join(",");
    byId("csv").href = address(list.path, { format: "csv", columns, sort: asked.sort, ...this.filters });
  }

  /** @param {Column} one */
  chooser(one) {
    const now = this.columns;
    const change = (/** @type {any} */ event) => {
      const kept = this.all.filter((other) => (other === one ? event.target.checked : now.includes(other)));
      const usual = this.all.every((other) => kept.includes(other) === !other.extra);
      this.turn({ columns: usual ? "" : kept.map((other) => other.key).join(",") });
    };
    return el("label.check", null, el("input", { type: "checkbox", checked: now.includes(one), "data-key": `column-${one.key}`, on: { change } }), one.head);
  }

  /** @param {{items: any[], total: number}} reported */
  draw(reported) {
    this.reported = reported;
    const { items, total } = reported;
    const { list, asked, number } = this;
    const last = Math.max(1, Math.ceil(total / ROWS));
    if (number > last) return this.turn({ page: last > 1 ? String(last) : "" }, true);
    const first = ROWS * (number - 1) + 1;
    const all = `${count(total, list.one, list.many)}${this.narrowed ? (total === 1 ? " matches" : " match") : ""}`;
    byId("answer").removeAttribute("aria-busy");
    redraw(byId("answer"),
      el("p.total", { role: "status" }, total > items.length ? `${all}, ${figure(first)} to ${figure(first + items.length - 1)} shown` : all),
      items.length ? drawTable(list.many, this.columns, items, asked.sort, (sort) => this.turn({ sort })) : el("p.card.pad.soft", null, `No ${list.many} here.`),
      last > 1 ? pager(number, last, (to) => this.turn({ page: to > 1 ? String(to) : "" })) : null);
  }
}

/** Wakes the page of a list. @param {List} list */
export function listing(list) {
  return new Listing(list);
}
