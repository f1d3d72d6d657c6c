// The alert of a cause or finding: what fires and since when, why it is muted, and the notification it is in.

import { el, redraw } from "./dom.js";
import { card, facts } from "./lines.js";
import { momentOf } from "./times.js";
import { watch } from "./watch.js";

/**
 * A card that follows the alerts of an open cause or finding.
 * @param {import("./live.js").Live} live @param {string} path of the API, `causes/KEY`
 */
export function alertCard(live, path) {
  const node = el("div", null, el("p.skeleton"));
  watch(live, `${path}/alerts`, node, (alerts) => redraw(node, ...alerts.map(lines), alerts.length ? null : el("p.soft.pad", null, "None: it is over, or a cause has it.")), true);
  return card("Alert", node);
}

/** @param {any} alert FaultAlert */
function lines(alert) {
  if (alert.state === "none") return el("p.soft.pad", null, `None: ${alert.why_none}.`);
  return facts([
    ["Alert", el("span", null, el(`b.${alert.severity}`, null, alert.name), ` · ${alert.title}`)],
    ["Severity", alert.in_use_only && alert.severity === "critical" ? "critical; a warning where the pod is still being cabled" : alert.severity],
    ["State", state(alert)],
    ["Muted by", alert.muted.length ? el("span", null, alert.muted.map(mute)) : null],
    ["Notification", el("span.small", null, Object.entries(alert.notification).map(([label, value]) => el("code", null, `${label}=${value}`)).flatMap((one, i) => (i ? [" ", one] : [one])))],
    ["Runbook", alert.runbook_url ? el("a", { href: alert.runbook_url, rel: "noopener", target: "_blank" }, alert.runbook) : el("code", null, `truerail rules explain ${alert.runbook}`)],
    ["Dashboard", alert.dashboard_url ? el("a", { href: alert.dashboard_url, rel: "noopener", target: "_blank" }, "Grafana") : null],
  ]);
}

/** @param {any} alert */
function state({ state: word, wait_minutes: minutes, fires_at: at }) {
  if (word === "muted") return "muted: nothing is sent";
  if (!at) return `fires once it has lasted ${minutes} min`;
  return el("span", null, word === "firing" ? "firing since " : "will fire at ", momentOf(at), ` (after ${minutes} min)`);
}

/** @param {any} one */
function mute({ kind, author, reason, until }) {
  return el("div", null, `${kind} by ${author}`, reason ? `: ${reason}` : "", until ? [", until ", momentOf(until)] : null);
}
