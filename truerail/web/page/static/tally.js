// The counts under the overview's headline. Each says of what, and leads to the list of just that.

import { el } from "./dom.js";
import { count, figure, GLYPHS, SEVERITIES } from "./words.js";

const BROKEN = /** @type {const} */ (["wrong", "missing", "unknown"]);
const SWITCHES = "leaf,spine,superspine";

/** @param {any} fabric FabricView */
export function tally(fabric) {
  const { cables, findings, muted, causes } = fabric;
  const loud = [...SEVERITIES].reverse().filter((word) => word && findings[word]);
  return [
    group("Cables", [
      link("/cables", `${figure(cables.right)} of ${figure(cables.planned)} right`, cables.right === cables.planned ? "right" : ""),
      BROKEN.filter((state) => cables[state]).map((state) => link(`/cables?state=${state}`, `${GLYPHS[state]} ${figure(cables[state])} ${state}`, state)),
    ]),
    group("Causes", [link("/causes", figure(causes))]),
    group("Findings", [
      loud.length ? loud.map((word) => link(`/findings?severity=${word}&muted=false`, `${figure(findings[word])} ${word}`, word)) : link("/findings", "none"),
      muted ? link("/findings?muted=true", `${figure(muted)} muted`) : null,
    ]),
    group("Answered", [
      link("/devices?role=host", `${figure(fabric.hosts_read)} of ${count(fabric.hosts, "host")}`, fabric.hosts_read < fabric.hosts ? "unknown" : ""),
      link(`/devices?role=${SWITCHES}`, `${figure(fabric.switches_read)} of ${count(fabric.switches, "switch", "switches")}`, fabric.switches_read < fabric.switches ? "unknown" : ""),
    ]),
  ];
}

/** @param {string} word @param {any[]} content */
function group(word, content) {
  return el("span.tally-group", null, el("b", null, word), content);
}

/** @param {string} href @param {string} words @param {string} [kind] */
function link(href, words, kind = "") {
  return el(`a${kind ? `.${kind}` : ""}`, { href, "data-key": href }, words);
}
