// A pause tree as a drawing: the culprit at the root, an arrow to everyone that it stops, straight or through others.
// On a wide page hops run to the right; on a narrow one they are steps inwards.

import { branches, deviceOf, portOf } from "./branches.js";
import { ending } from "./crossing.js";
import { svg } from "./dom.js";
import { thing } from "./links.js";
import { folded } from "./nodeset.js";
import { count } from "./words.js";

/** @typedef {import("./branches.js").Branch} Branch */
/** @typedef {{branch: Branch, x: number, y: number, width: number, link: string, label: [number, number]}} Spot */

const BOX = 36;
const WIDE = Object.freeze({ row: 46, top: 24, box: 148, gap: 116 });
const NARROW = Object.freeze({ row: 60, step: 16, width: 340 });
const STRONG = 0.8;

/** @param {any} tree StormTree @param {boolean} narrow */
export function stormTree(tree, narrow) {
  const root = branches(tree);
  const spots = narrow ? inwards(root) : rightwards(root);
  const width = narrow ? NARROW.width : Math.max(...spots.map((spot) => spot.x + spot.width)) + 2;
  const height = Math.max(...spots.map((spot) => spot.y)) + BOX / 2 + 6;
  const summary = `Pause tree of ${tree.culprit}: ${count(tree.edges.length, "paused link")}.`;
  return svg("svg.stormtree", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": summary },
    narrow ? null : heads(spots),
    spots.filter((spot) => spot.link).map(arrow),
    spots.filter((spot) => spot.link).map((spot) => reported(spot, tree, narrow)),
    spots.map((spot) => device(spot, tree)));
}

/** Rows from the top, a device beside the first that waits for it. @param {Branch} root @returns {Spot[]} */
function rightwards(root) {
  /** @type {Spot[]} */ const spots = [];
  let row = 0;
  /** @param {Branch} branch @param {number} depth @returns {Spot} */
  const put = (branch, depth) => {
    const x = depth * (WIDE.box + WIDE.gap) + 1;
    /** @type {Spot} */ const spot = { branch, x, y: 0, width: WIDE.box, link: "", label: [0, 0] };
    spots.push(spot);
    const below = branch.children.map((child) => put(child, depth + 1));
    spot.y = below.length ? below[0].y : WIDE.top + BOX / 2 + WIDE.row * row++;
    for (const child of below) {
      const [from, turn] = [x + WIDE.box, x + WIDE.box + WIDE.gap * 0.3];
      child.link = `M${from} ${spot.y} C ${turn} ${spot.y}, ${from} ${child.y}, ${turn} ${child.y} H ${child.x}`;
      child.label = [child.x - 12, child.y - 5];
    }
    return spot;
  };
  put(root, 0);
  return spots;
}

/** One row a device, below the one that it waits for. @param {Branch} root @returns {Spot[]} */
function inwards(root) {
  /** @type {Spot[]} */ const spots = [];
  /** @param {Branch} branch @param {number} depth @param {Spot | null} above */
  const put = (branch, depth, above) => {
    const x = depth * NARROW.step + 1;
    const y = BOX / 2 + 2 + NARROW.row * spots.length;
    const link = above ? `M${above.x + 8} ${above.y + BOX / 2} V ${y} H ${x}` : "";
    /** @type {Spot} */
    const spot = { branch, x, y, width: NARROW.width - x - 1, link, label: [x + 14, y - BOX / 2 - 6] };
    spots.push(spot);
    for (const child of branch.children) put(child, depth + 1, spot);
  };
  put(root, 0, null);
  return spots;
}

/** @param {Spot[]} spots */
function heads(spots) {
  const far = Math.max(...spots.map((spot) => spot.branch.hops));
  return Array.from({ length: far + 1 }, (_, hops) =>
    svg("text.head", { x: hops * (WIDE.box + WIDE.gap) + 1, y: 12 }, hops ? count(hops, "hop") : "culprit"));
}

/** @param {any[]} waits StormEdge */
function shares(waits) {
  const all = waits.map((one) => Math.round(one.share * 100));
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const bound = waits.every((one) => one.exact) ? "" : "≤ ";
  return `${bound}${least === most ? "" : `${least}–`}${most} %`;
}

/** The arrow to a device that is stopped. @param {Spot} spot */
function arrow({ branch: { waits }, link, x, y }) {
  const share = Math.max(...waits.map((one) => one.share));
  return svg(`g.wait${share >= STRONG ? ".strong" : ""}${bothEnds(waits) ? "" : ".lone"}`, null,
    svg("path.line", { d: link, "stroke-width": (1.2 + 2.6 * share).toFixed(1) }),
    svg("path.tip", { d: `M${x - 9} ${y - 5} L ${x} ${y} L ${x - 9} ${y + 5} Z` }));
}

/** @param {any[]} waits StormEdge */
const bothEnds = (waits) => waits.every((one) => one.source === "both ends");

/**
 * What stands at an arrow: share of time, priority, who tells it.
 * @param {Spot} spot
 * @param {any} tree
 * @param {boolean} narrow
 */
function reported({ branch: { waits }, label: [x, y] }, tree, narrow) {
  const at = { x, "text-anchor": narrow ? "start" : "end" };
  const first = `${shares(waits)}${tree.priority === null ? "" : ` · P${tree.priority}`}`;
  const second = `${waits.length > 1 ? `${waits.length} links · ` : ""}${bothEnds(waits) ? "both ends" : "one end"}`;
  if (narrow) return svg("text.share", { ...at, y }, `${first} · ${second}`);
  return [svg("text.share", { ...at, y }, first), svg("text.soft", { ...at, y: y + 18 }, second)];
}

/** @param {Spot} spot @param {any} tree */
function device({ branch, x, y, width }, tree) {
  const { many, kind, role, device: name } = branch;
  const first = many.length ? count(many.length, `more ${role === "host" ? "host" : "device"}`) : name || "unknown";
  const second = many.length ? folded(many) : detail(branch, tree);
  const fit = Math.floor((width - 18) / 7.3);
  const box = [
    svg("title", null, words(branch, tree)),
    svg("rect.box", { x: x + 0.5, y: y - BOX / 2 + 0.5, width: width - 1, height: BOX - 1, rx: 6 }),
    svg("text.name", { x: x + 10, y: y - 2 }, ending(first, fit)),
    svg("text.soft", { x: x + 10, y: y + 11 }, ending(second, Math.floor(fit * 1.12))),
  ];
  const drawn = `${kind}${kind === "culprit" && (tree.behind || tree.level !== "storm") ? ".suspect" : ""}`;
  if (many.length || !name) return svg(`g.stop.${drawn}`, null, box);
  return svg(`a.stop.${drawn}`, { href: thing(name, role), "aria-label": words(branch, tree) }, box);
}

/** The port, and what the device does with the pause. @param {Branch} branch @param {any} tree */
function detail({ kind, waits, role, device: name }, tree) {
  if (kind === "culprit" && !waits.length) {
    if (tree.behind) return "not monitored";
    return deviceOf(tree.culprit) === name ? portOf(tree.culprit) : role ?? "";
  }
  const ports = [...new Set(waits.map((wait) => portOf(wait.waiting)))];
  return ports.length > 1 ? count(ports.length, "port") : ports[0] || role || "";
}

/** A device's place in the tree, in words. @param {Branch} branch @param {any} tree */
function words({ waits, many, kind }, tree) {
  if (!waits.length) return `${tree.culprit}: the storm begins ${tree.behind ? "behind it" : "here"}`;
  const on = tree.priority === null ? "of the time" : `of the time on priority ${tree.priority}`;
  if (many.length) return `${folded(many)}: ${count(waits.length, "port waits", "ports wait")}, ${shares(waits)} ${on}`;
  const port = (/** @type {string} */ one) => one || "an unknown port";
  const each = waits.map(
    (wait) => `${port(wait.waiting)} waits for ${port(wait.on)} ${shares([wait])} ${on}, reported by ${wait.source}`
  );
  const further = kind === "between" ? "; it also sends pause" : "";
  return `${each.join("; ")}; ${count(waits[0].hops, "hop")} from the culprit${further}`;
}
