// A host's rails as a drawing: GPU, NIC, cable, leaf port, uplinks; planned and actual port of each cable.

import { ending } from "./crossing.js";
import { svg } from "./dom.js";
import { nameOf, thing } from "./links.js";
import { GLYPHS } from "./words.js";

const ROW = 46;
const BOX = 34;
const TOP = 26;
const WIDTH = 1100;
const AT = Object.freeze({ rail: 0, gpu: 46, nic: 152, out: 392, leaf: 690, up: 900 });

/** @param {any[]} paths CablePath, in order of rails */
export function railsDrawing(paths) {
  const ports = places(paths);
  const height = TOP + Math.max(paths.length, ports.size) * ROW + 4;
  return svg("svg.railmap", { viewBox: `0 0 ${WIDTH} ${height}`, role: "group", "aria-label": paths.map(summary).join(" ") },
    heads(), paths.map((path, row) => left(path, row)),
    paths.map((path, row) => cables(path, row, ports)), [...ports].map(([, port]) => leaf(port)), paths.map((path, row) => badge(path, row)));
}

/** @typedef {{end: any, row: number, extra: boolean, uplinks: any[], rail: number | null}} Place */

/**
 * Every leaf port on the right side: planned ones in order, then actual ones that no path here plans.
 * @param {any[]} paths
 */
function places(paths) {
  /** @type {Map<string, Place>} */ const found = new Map();
  for (const path of paths) found.set(
    nameOf(path.planned),
    {
      end: path.planned,
      row: found.size,
      extra: false,
      uplinks: path.state === "wrong" ? [] : path.uplinks,
      rail: path.rail,
    },
  );
  for (const path of paths) {
    if (!path.actual) continue;
    const there = found.get(nameOf(path.actual));
    if (there) there.uplinks = path.uplinks;
    else found.set(
      nameOf(path.actual),
      { end: path.actual, row: found.size, extra: true, uplinks: path.uplinks, rail: path.actual.rail },
    );
  }
  return found;
}

/** @param {any} path */
function summary(path) {
  const seen = path.actual ? `actual ${nameOf(path.actual)}` : "actual none";
  return `Rail ${path.rail ?? "none"}: ${nameOf(path.a)}, planned ${nameOf(path.planned)}, ${seen}, ${path.state}.`;
}

function heads() {
  return /** @type {const} */ (
    [["rail", AT.rail], ["GPU", AT.gpu], ["NIC", AT.nic], ["leaf port", AT.leaf], ["uplinks right", AT.up]]
  ).map(([word, x]) => svg("text.head", { x, y: 14 }, word));
}

/** @param {number} row */
const middle = (row) => TOP + row * ROW + BOX / 2 + 2;

/** @param {number} x @param {number} row @param {number} width @param {string} kind */
function box(x, row, width, kind) {
  return svg(
    `rect.box${kind ? `.${kind}` : ""}`,
    { x: x + 0.5, y: middle(row) - BOX / 2 + 0.5, width, height: BOX - 1, rx: 6 },
  );
}

/** GPU and NIC of a row. @param {any} path @param {number} row */
function left(path, row) {
  const y = middle(row);
  const gpus = path.gpus.map((/** @type {any} */ link) => link.gpu).join(", ");
  const level = path.gpus.map((/** @type {any} */ link) => link.level)[0] ?? "";
  const detail = path.nic ? [
    path.nic.rdma,
    path.nic.link,
    path.nic.speed_gbps ? `${path.nic.speed_gbps}G` : "",
  ].filter(Boolean).join(" · ") : "nothing reported";
  return svg("g", null,
    svg(
      "text.rail",
      { x: AT.rail + 6, y: y + 6 },
      path.rail === null ? "–" : `${path.rail}${path.plane === null ? "" : `.${path.plane}`}`,
    ),
    gpus ? [
      box(AT.gpu, row, 72, ""),
      svg("text.name", { x: AT.gpu + 9, y: y - 2 }, `GPU ${gpus}`),
      svg("text.soft", { x: AT.gpu + 9, y: y + 11 }, level),
      svg("path.bus", { d: `M${AT.gpu + 72} ${y} H ${AT.nic}` }),
    ]
      : svg("text.soft", { x: AT.gpu + 9, y: y + 4 }, "not reported"),
    box(AT.nic, row, AT.out - AT.nic, path.nic?.link === "down" ? "down" : ""),
    path.via.length ? svg("text.soft", { x: AT.out + 24, y: y - 6 }, ending(fronts(path.via), 46)) : null,
    svg("text.name", { x: AT.nic + 9, y: y - 2 }, ending(path.a.port, 28)), svg("text.soft", { x: AT.nic + 9, y: y + 11 }, ending(detail, 36)));
}

/** The front ports of the patch panels on a path. @param {any[]} via */
const fronts = (via) => via.filter((end) => !/:\d+$/.test(end.port)).map(nameOf).join(" › ");

/** @param {number} from @param {number} to */
function curve(from, to) {
  const bend = from === to ? 0 : 110;
  return `M${AT.out} ${from} C ${AT.out + bend} ${from}, ${AT.leaf - bend} ${to}, ${AT.leaf} ${to}`;
}

/**
 * The cable as planned, and as it is if that differs.
 * @param {any} path
 * @param {number} row
 * @param {Map<string, Place>} ports
 */
function cables(path, row, ports) {
  const belongs = middle(ports.get(nameOf(path.planned))?.row ?? row);
  const kind = {
    right: "planned",
    wrong: "planned.thin",
    missing: "gap",
    unknown: "doubt",
  }[/** @type {"right"} */ (path.state)] ?? "doubt";
  const lines = [svg(`path.${kind}`, { d: curve(middle(row), belongs) })];
  if (path.actual && path.state !== "right") lines.push(
    svg("path.now", { d: curve(middle(row), middle(ports.get(nameOf(path.actual))?.row ?? row)) })
  );
  return lines;
}

/** The state of a row, where the cable leaves the NIC. @param {any} path @param {number} row */
function badge(path, row) {
  const y = middle(row);
  const glyph = GLYPHS[/** @type {"right"} */ (path.state)] ?? "?";
  return svg(
    `g.badge.${path.state}`,
    null,
    svg("title", null, `${path.state}: ${path.why}`),
    svg("circle", { cx: AT.out, cy: y, r: 9 }),
    svg("text", { x: AT.out, y: y + 4.5, "text-anchor": "middle" }, glyph),
  );
}

/** A leaf port with the uplinks behind it. @param {Place} place */
function leaf({ end, row, extra, uplinks, rail }) {
  const y = middle(row);
  const planned = uplinks.reduce((sum, up) => sum + up.planned, 0);
  const right = uplinks.reduce((sum, up) => sum + up.right, 0);
  const reported = [
    rail === null || rail === undefined ? "" : `rail ${rail}`,
    extra ? "not planned for this host" : "",
    end.rack && !extra ? `rack ${end.rack}` : "",
  ].filter(Boolean).join(" · ");
  return svg("g", null,
    svg("a", {
      href: `${thing(end.device, end.role ?? "leaf")}#${encodeURIComponent(end.port)}`,
    }, box(AT.leaf, row, 190, extra ? "extra" : ""),
      svg("text.name", { x: AT.leaf + 9, y: y - 2 }, ending(nameOf(end), 25)), svg("text.soft", { x: AT.leaf + 9, y: y + 11 }, ending(reported, 34))),
    planned ? [svg(
      "path.bus",
      { d: `M${AT.leaf + 190} ${y} H ${AT.up}` },
    ), svg("rect.track", { x: AT.up, y: y - 3, width: 90, height: 7, rx: 3 }),
      svg(
        `rect.${right === planned ? "right" : right ? "missing" : "wrong"}`,
        { x: AT.up, y: y - 3, width: Math.max(2, (90 * right) / planned), height: 7, rx: 3 },
      ),
      svg("text.name", { x: AT.up + 100, y: y + 4 }, `${right} of ${planned}`)] : null);
}
