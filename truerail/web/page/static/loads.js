// The balance of rails, and what a port counted.

import { causeCard } from "./causes.js";
import { el } from "./dom.js";
import { card, findingList, table } from "./lines.js";
import { portLink } from "./links.js";
import { figure, sentence } from "./words.js";

const MOST = 200;

/** @param {number | null} share */
const percent = (share) => (share === null ? "?" : `${Math.round(100 * share)} %`);

/** @param {any} count StateCount */
function cabling({ planned, right, wrong, missing, unknown }) {
  const bad = Object.entries({ wrong, missing, unknown }).filter(([, number]) => number);
  return [
    `${figure(right)} of ${figure(planned)} right`,
    ...bad.map(([word, number]) => el(`span.${word}`, null, `, ${figure(number)} ${word}`)),
  ];
}

/** @param {any} answer Balance */
export function rails({ rails: all, hosts, not_measured: gaps, causes, findings, uplinks, summary, action: what }) {
  return [
    el("div", null, el("p.verdict", null, sentence(summary)), what ? el("p", null, sentence(what)) : null),
    causes.length ? card("Causes, by impact", causes.map((/** @type {any} */ cause) => causeCard(cause))) : null,
    card(
      "Rails",
      table(
        ["Rail", "Share of the host's median NIC", "Load", "Cables", "Low on"],
        all.map((/** @type {any} */ one) => [
          one.name, percent(one.share), percent(one.load), cabling(one.cables), el("span.port", null, one.low),
        ]),
      ),
    ),
    hosts.length
      ? card(
        "Hosts out of balance, or with wrong or missing cables",
        table(
          ["Host", "Rail", "Port", "Share", "Load", "Cable", ""],
          hosts.slice(0, MOST).flatMap((/** @type {any} */ host) =>
            host.rails.filter((/** @type {any} */ one) => one.low || one.state === "wrong" || one.state === "missing")
              .map((/** @type {any} */ one) => [
                portLink(host.host), one.rail, portLink(one.port), percent(one.share), percent(one.load),
                el(`span.${one.state}`, null, one.state),
                host.alike && one.low ? "the work loads the rails so" : "",
              ])),
        ),
      )
      : null,
    gaps.length
      ? card("Not measured", table(["Hosts", "Why"], gaps.map((/** @type {any} */ gap) => [el("span.port", null, gap.hosts), gap.why])))
      : null,
    findings.length || uplinks.length ? card("Findings", findingList([...findings, ...uplinks], "")) : null,
  ];
}

/** @param {any} line CounterLine */
function rate({ rate: value, rate_unit: unit }) {
  if (value === null) return "level";
  return unit === "share of time" ? `${(100 * value).toFixed(1)} % of the time` : `${figure(Number(value.toPrecision(4)))} ${unit}`;
}

/** @param {any} answer Counters */
export function counters({ ports, findings, summary }) {
  const shown = ports.slice(0, 64);
  return [
    el("p.verdict", null, sentence(summary)),
    findings.length ? card("Findings", findingList(findings, "")) : null,
    shown.map((/** @type {any} */ port) =>
      card(
        port.port,
        table(
          ["Group", "Counter", "Priority", "Rate", "Total"],
          port.counters.filter((/** @type {any} */ line) => line.total || line.group === "traffic" || shown.length === 1)
            .map((/** @type {any} */ line) => [
              line.group, line.counter, line.priority ?? "", rate(line), `${figure(line.total)} ${line.unit}`,
            ]),
        ),
        port.without.length ? el("p.soft.pad", null, `Unknown, since it reports none: ${port.without.join(", ")}.`) : null,
      )),
  ];
}
