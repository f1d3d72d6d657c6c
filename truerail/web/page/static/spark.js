// Samples over time as small bars. One that was not reported leaves a dot where its bar would stand, never a zero.

import { el, svg } from "./dom.js";

const BAR = 3;
const STEP = 4;
const HEIGHT = 18;

/**
 * @param {Array<number | null>} samples the oldest first
 * @param {number} full what fills the height
 * @param {(value: number) => string} said a value in words
 * @param {{kind?: string, what: string}} how
 */
export function spark(samples, full, said, { kind = "flow", what }) {
  const known = /** @type {number[]} */ (samples.filter((one) => one !== null));
  if (!known.length) return el("span.unknown", null, "not reported");
  const gaps = samples.length - known.length;
  const latest = samples[samples.length - 1];
  const holes = gaps ? `, ${gaps} of ${samples.length} samples not reported` : "";
  const summary = `${what}: ${said(Math.min(...known))} to ${said(Math.max(...known))}${holes}`;
  return el("span.sparked", null,
    svg(`svg.spark.${kind}`, { width: samples.length * STEP, height: HEIGHT, role: "img", "aria-label": summary },
      svg("title", null, summary), samples.map((value, i) => (value === null ? gap(i) : bar(i, value / (full || 1))))),
    latest === null ? el("span.unknown", null, "not reported now") : el("span.figure", null, said(latest)));
}

/** @param {number} i @param {number} share */
function bar(i, share) {
  const height = share > 0 ? Math.max(1, Math.min(1, share) * HEIGHT) : 0;
  return svg("rect", { x: i * STEP, y: (HEIGHT - height).toFixed(1), width: BAR, height: height.toFixed(1) });
}

/** @param {number} i */
function gap(i) {
  return svg("circle.gap", { cx: i * STEP + BAR / 2, cy: HEIGHT - 1.5, r: 1.2 });
}
