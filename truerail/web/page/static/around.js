// What the overview shows around its map: causes, collectors, the list behind the map, and what is new.

import { address, text } from "./api.js";
import { brokenHosts } from "./broken.js";
import { causeStack } from "./causes.js";
import { byId, redraw } from "./dom.js";
import { frame, serviceTroubles } from "./frame.js";
import { collectors, counts, coverage, rails } from "./panels.js";
import { pointing } from "./pointing.js";
import { standing } from "./standing.js";
import { trouble, watch } from "./watch.js";

/**
 * Wakes the rest of the overview.
 * @param {import("./picture.js").Picture} picture
 * @param {any} failure why there is no map, or null
 */
export function around(picture, failure) {
  const page = frame();
  const { live } = page;
  const { map } = picture;
  if (failure) redraw(map.space, trouble(failure));
  picture.changed = () => requestIdleCallback(() => behind(map));
  picture.changed();
  live.on("state", (state) => {
    if (!map.canvas.isConnected) map.space.replaceChildren(map.canvas);
    picture.whole(state);
  });
  live.on("round", (round) => {
    picture.round(round);
    redraw(byId("counts"), counts(round.findings, round.muted));
  });
  live.on("mutes", () => text(address("map")).then((answer) => picture.whole(JSON.parse(answer)), () => {}));
  standing(live, byId("standing"));
  const point = pointing(map);
  watch(
    live,
    "causes?limit=50",
    byId("causes"),
    ({ items, total }) => redraw(byId("causes"), causeStack(items, total, { hover: point })),
    true,
  );
  watch(live, "fabric", [byId("rails"), byId("coverage"), byId("collectors")], (fabric) => {
    serviceTroubles(fabric, page);
    picture.verdict(fabric);
    redraw(byId("counts"), counts(fabric.findings, fabric.muted));
    redraw(byId("rails"), rails(fabric));
    redraw(byId("coverage"), coverage(fabric));
    redraw(byId("collectors"), collectors(fabric.collectors));
  }, true);
  live.start();
}

/** The list behind the map. @param {import("./map.js").FabricMap} map */
function behind({ cells }) {
  if (!cells) return;
  const { caption, body } = brokenHosts(cells);
  const node = byId("broken");
  node.firstElementChild.textContent = caption;
  redraw(node.lastElementChild, body);
}
