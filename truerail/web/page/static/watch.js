// A part of the page that follows one answer of the API.

import { address, Problem, text } from "./api.js";
import { el, redraw } from "./dom.js";
import { sentence } from "./words.js";

/**
 * Asks now, and again after each round and each mute; draws only what is different.
 * @param {import("./live.js").Live} live
 * @param {string | (() => string)} path of the API, with its query
 * @param {Element | Element[]} node where trouble is reported
 * @param {(answer: any) => void} draw
 * @param {boolean} [small] the page tells trouble elsewhere too
 * @returns {() => Promise<void>} asks at once
 */
export function watch(live, path, node, draw, small = false) {
  let shown = "";
  let latest = 0;
  const ask = async () => {
    const turn = ++latest;
    try {
      const answer = await text(address(typeof path === "string" ? path : path()));
      if (turn !== latest || answer === shown) return;
      shown = answer;
      draw(JSON.parse(answer));
    } catch (error) {
      if (turn === latest && !(shown && /** @type {Problem} */ (error).status === 0)) {
        shown = "";
        for (const one of [node].flat()) redraw(one, trouble(error, small));
      }
    }
  };
  for (const kind of /** @type {const} */ (["state", "round", "mutes", "time"])) live.on(kind, ask);
  void ask();
  return ask;
}

const PAST = /^\/(causes|findings)\//;

/**
 * What went wrong, in the place of what was asked for.
 * @param {any} error
 * @param {boolean} [small] beside something that says the same
 */
export function trouble(error, small = false) {
  if (!(error instanceof Problem)) throw error;
  if (error.title === "Not ready") {
    if (small) return el("p.soft.pad", { role: "status" }, "Shown after the first evaluation.");
    return el("div.empty", { role: "status" }, el("span.spinner", { "aria-hidden": "true" }), el("h2", null, "The first round is running"),
      el("p.soft", null, "Devices are being polled. This page updates after the first evaluation."));
  }
  const title = error.status === 404 ? (PAST.test(location.pathname) ? "Not in the journal" : "Not found") : error.status === 0 ? "No connection" : error.title || "Request failed";
  return el("div.empty.failed", { role: "alert" }, el("h2", null, title), el("p", null, sentence(error.message)));
}
