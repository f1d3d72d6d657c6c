// What a device's ports carry, how long they are paused and which errors they count, sample by sample.

import { address } from "./api.js";
import { el, redraw } from "./dom.js";
import { card, table } from "./lines.js";
import { portLink } from "./links.js";
import { spark } from "./spark.js";
import { watch } from "./watch.js";
import { span } from "./times.js";
import { count, figure, portion, sentence } from "./words.js";

const FEW = 16;
const LOUD_SHARE = 0.05;

/**
 * A card that follows the rates of a device.
 * @param {import("./live.js").Live} live @param {string} device
 */
export function ratesCard(live, device) {
  const node = el("div", null, el("p.skeleton"));
  const asked = address("rates", { of: device }).slice("/api/v1/".length);
  watch(live, asked, node, (rates) => redraw(node, body(rates)), true);
  return card("Traffic", node);
}

/** @param {any} rates Rates */
function body({ ports, reported, summary, begins }) {
  if (!reported) return el("p.unknown.pad", null, `Not reported: ${summary}.`);
  const loud = ports.length > FEW ? ports.filter(isLoud) : ports;
  const quiet = ports.filter((/** @type {any} */ port) => !loud.includes(port));
  return [
    el("p.soft.pad", null, `${sentence(summary)} ${reach(begins, ports)}`),
    loud.length ? rows(loud) : null,
    quiet.length ? el("details.folded", { "data-key": "rates" },
      el("summary", null, count(quiet.length, loud.length ? "other port" : "port")),
      rows(quiet)) : null,
  ];
}

/** What the bars mean. @param {string[]} begins @param {any[]} ports */
function reach(begins, ports) {
  const seconds = (Date.parse(begins[begins.length - 1]) - Date.parse(begins[0])) / 1000;
  const known = ports.every((port) => port.speed_gbps !== null);
  const full = known ? "the port's speed" : "the port's speed, or its own peak where the speed is unknown";
  return `${count(begins.length, "sample")} over ${span(seconds)}; a full bar is ${full}.`;
}

/** Paused, pausing, or with errors. @param {any} port PortRates */
function isLoud({ paused, pausing, errors }) {
  const shares = [...paused, ...pausing].filter((share) => share !== null);
  return shares.some((share) => share >= LOUD_SHARE) || Object.values(errors).some(Boolean);
}

/** @param {any[]} ports PortRates */
function rows(ports) {
  const heads = ["Port", "Rail", "Sends", "Receives", "Pause received", "Pause sent", "Errors", "To"];
  return table(heads, ports.map((port) => [
    el("span.port", null, port.port.slice(port.port.indexOf("/") + 1)),
    port.rail ?? "",
    rate(port.tx_gbps, port, "sends"),
    rate(port.rx_gbps, port, "receives"),
    share(port.paused, port.paused_exact, "pause received"),
    share(port.pausing, port.pausing_exact, "pause sent"),
    errors(port.errors),
    port.peer ? portLink(port.peer) : el("span.soft", null, "nothing planned"),
  ]));
}

/** @param {number} value */
const gbps = (value) => {
  if (value > 0 && value < 0.01) return "< 0.01 Gb/s";
  return `${value >= 9.95 ? Math.round(value) : Number(value.toFixed(value >= 0.995 ? 1 : 2))} Gb/s`;
};

/** @param {Array<number | null>} samples @param {any} port @param {string} what */
function rate(samples, port, what) {
  const most = Math.max(...samples.map((one) => one ?? 0), 0);
  return spark(samples, port.speed_gbps ?? most, gbps, { what });
}

/** @param {Array<number | null>} samples @param {boolean} exact @param {string} what */
function share(samples, exact, what) {
  return spark(samples, 1, (value) => `${exact || !value ? "" : "≤ "}${portion(value)}`, { kind: "pause", what });
}

/** @param {Record<string, number>} kinds */
function errors(kinds) {
  const reported = Object.entries(kinds);
  if (!reported.length) return el("span.unknown", null, "not reported");
  const some = reported.filter(([, number]) => number);
  if (!some.length) return el("span.soft", null, "none");
  return some.map(([kind, number]) => el("span.missing.block", null, `${figure(number)} ${kind.replaceAll("_", " ")}`));
}
