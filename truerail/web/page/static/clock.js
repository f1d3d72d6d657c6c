// How old the picture is, and what is to be thought of it: live, stale, lost.

import { at as past } from "./asof.js";
import { byId, el, redraw } from "./dom.js";
import { age, moment, span } from "./times.js";

const ROUNDS_TO_STALE = 3;
const SHORTEST = 30;

/** Shows in the header how old the evaluation is, and says so below it when that is too old. */
export class Clock {
  /** @param {import("./live.js").Live} live */
  constructor(live) {
    this.live = live;
    /** @type {string | null} */
    this.at = null;
    this.interval = SHORTEST;
    this.shown = "";
    live.on("state", (data) => this.evaluated(data)).on("round", (data) => this.evaluated(data)).on("status", () => this.show());
    setInterval(() => this.show(), 1000);
  }

  /** @param {{at: string | null, number: number | null}} evaluated */
  evaluated({ at, number }) {
    if (!at || past()) return;
    this.at = at;
    byId("number").textContent = number ? `round ${number}` : "";
    this.show();
  }

  /** What a collector's interval is: no news for three of them is stale. @param {number} seconds */
  expect(seconds) {
    this.interval = Math.max(SHORTEST, seconds);
  }

  get stale() {
    return this.at !== null && age(this.at) > ROUNDS_TO_STALE * this.interval;
  }

  show() {
    const status = this.live.status === "live" && this.stale ? "stale" : this.live.status;
    const reported = status === "past" ? "not live" : this.at ? `as of ${span(Math.round(age(this.at)))} ago` : status;
    const node = byId("live");
    node.dataset.status = status;
    node.lastElementChild.textContent = status === "lost" ? `disconnected, ${reported}` : reported;
    if (status === "past") node.title = "";
    else if (this.at) node.title = `Evaluated from device answers of ${moment(this.at)}`;
    if (status !== this.shown) this.explain(status);
    this.shown = status;
    document.body.classList.toggle("old", status === "stale" || status === "lost" || status === "stopped");
  }

  /** @param {string} status */
  explain(status) {
    const words = {
      stale: "No new evaluation for three rounds: this page may be out of date.",
      lost: "Connection to the service lost: this page shows the last state received. Reconnecting.",
      stopped: "The service is stopping. Reconnecting.",
    }[status];
    banner("clock", words ? "doubt" : null, words ?? "");
  }
}

/**
 * One line above the page, by its key; without a tone it goes.
 * @param {string} key
 * @param {"bad" | "doubt" | "note" | null} tone
 * @param {string} words
 */
export function banner(key, tone, words) {
  const node = byId(`banner-${key}`);
  if (!tone) node?.remove();
  else if (node) {
    if (node.textContent !== words) redraw(node, words);
    node.className = `banner ${tone}`;
  } else byId("banners").append(el(`p.banner.${tone}`, { id: `banner-${key}` }, words));
}
