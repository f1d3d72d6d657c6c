// What the overview shows around its map: causes, collectors, the list behind the map, and what is new.

import { address, get, text } from "./api.js";
import { brokenHosts } from "./broken.js";
import { causeStack } from "./causes.js";
import { byId, redraw } from "./dom.js";
import { frame, serviceTroubles } from "./frame.js";
import { mapKeys } from "./keys.js";
import { collectors, coverage, rails } from "./panels.js";
import { pointing } from "./pointing.js";
import { tally } from "./tally.js";
import { trouble, watch } from "./watch.js";
import { count } from "./words.js";

/**
 * Wakes the rest of the overview.
 * @param {import("./picture.js").Picture} picture
 * @param {any} failure why there is no map, or null
 */
export function around(picture, failure) {
  const page = frame();
  const { live } = page;
  const { map } = picture;
  mapKeys(map);
  if (failure) redraw(map.space, trouble(failure));
  const begun = steps(["explained", "causes", "fabric"]);
  const explain = () => get("map/causes").then((answer) => {
    picture.explained(answer);
    begun("explained");
  }, () => {});
  void explain();
  picture.changed = () => requestIdleCallback(() => behind(map));
  byId("broken").addEventListener("toggle", () => behind(map));
  picture.changed();
  live.on("state", (state) => {
    if (!map.canvas.isConnected) map.space.replaceChildren(map.canvas);
    picture.whole(state);
    void explain();
  });
  live.on("round", (round) => {
    picture.round(round);
    void explain();
  });
  live.on("time", () => {
    text(address("map")).then((answer) => {
      if (!map.canvas.isConnected) map.space.replaceChildren(map.canvas);
      picture.whole(JSON.parse(answer));
      void explain();
    }, (error) => picture.failed(error));
  });
  live.on("mutes", () => text(address("map")).then((answer) => picture.whole(JSON.parse(answer)), () => {}));
  const point = pointing(map);
  watch(
    live,
    "causes?limit=50",
    byId("causes"),
    ({ items, total }) => {
      byId("causes-h").textContent = total ? `${count(total, "cause")}, by impact` : "Causes";
      redraw(byId("causes"), causeStack(items, total, { hover: point, numbered: true }));
      begun("causes");
    },
    true,
  );
  watch(live, "fabric", [byId("rails"), byId("coverage"), byId("collectors")], (fabric) => {
    serviceTroubles(fabric, page);
    picture.verdict(fabric);
    redraw(byId("tally"), tally(fabric));
    redraw(byId("rails"), rails(fabric));
    redraw(byId("coverage"), coverage(fabric));
    redraw(byId("collectors"), collectors(fabric.collectors, fabric.as_of));
    begun("fabric");
  }, true);
  live.start();
}

/** Marks the moment at which everything of the page has been drawn once. @param {string[]} left */
function steps(left) {
  const missing = new Set(left);
  return (/** @type {string} */ step) => {
    if (missing.delete(step) && !missing.size) performance.mark("truerail:ready");
  };
}

/** The list behind the map: its rows are made while it is open. @param {import("./map.js").FabricMap} map */
function behind({ cells }) {
  if (!cells) return;
  const { caption, body } = brokenHosts(cells);
  const node = byId("broken");
  node.firstElementChild.textContent = caption;
  if (node.open) redraw(node.lastElementChild, body());
}
