// A host or a switch: asked for by name, drawn by what it is.

import { piece } from "./api.js";
import { at as past } from "./asof.js";
import { recheckButton } from "./acknowledge.js";
import { causeCard } from "./causes.js";
import { byId, el, redraw } from "./dom.js";
import { frame, watchService } from "./frame.js";
import { hostBody } from "./host.js";
import { card, findingList, stateChip, table } from "./lines.js";
import { dashboard, placeOf, thing } from "./links.js";
import { ratesCard } from "./rates.js";
import { switchBody } from "./switch.js";
import { timelineCard } from "./events.js";
import { watch } from "./watch.js";
import { agoOf, span } from "./times.js";
import { figure } from "./words.js";

const name = document.body.dataset.thing ?? "";
const page = frame();
const node = byId("page");
const notKept = (/** @type {string} */ title, /** @type {string} */ what) => card(title, el("p.pad", null, el("span.unknown", null, "Unknown: "), `the journal does not keep ${what}.`));
/** @type {any} */ let rates = null;
const traffic = () => (past() ? notKept("Traffic", "counters") : (rates ??= ratesCard(page.live, name)));

/** @param {any} view DeviceView */
function draw(view) {
  const { device } = view;
  const proper = thing(device.device, device.role);
  if (decodeURI(location.pathname) !== decodeURI(proper)) history.replaceState(null, "", proper + location.search + location.hash);
  const others = view.causes.length ? card(
    "Causes",
    view.causes.map((/** @type {any} */ cause) => causeCard(cause)),
  ) : null;
  redraw(node, head(view), others, view.panel.length ? switchBody(view) : hostBody(view), traffic(),
    el("div.halves", null,
      el("div", null, card("Findings", findingList(view.findings, "No findings."))),
      el("div", null, timelineCard(device.device), readings(view))));
  if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView({ block: "center" });
}

/** @param {any} view */
function head({ device, platform, address: at, read, count: states, maintenance }) {
  const reported = [
    device.role,
    device.pod ? `pod ${device.pod}` : "",
    placeOf(device),
    platform,
    at,
  ].filter(Boolean).join(" · ");
  return [
    el("div.title", null, el("div", null, el("h1.port", null, device.device), el("p.soft", null, reported)),
      el("div.sums", null, el("span.soft", null, "Cables"), stateSums(states)),
      el("div.buttons", null, el("a.button", { href: `/ask?q=blast&of=${piece(device.device)}${past() ? `&at=${piece(past() ?? "")}` : ""}` }, "Impact if down"), grafanaLink(device), past() ? null : recheckButton(device.device))),
    maintenance ? el("p.note", null, el("b", null, "Under maintenance. "), maintenance) : null,
    read ? null : el("p.note.unknown", null, past() ? "Nothing is known of this device at that time but what other devices reported of it." : "This device does not answer: this page shows what other devices report of it."),
  ];
}

/** Where the settings name a Grafana. @param {any} device */
function grafanaLink({ device, role }) {
  const { grafana, fabric } = node.dataset;
  return grafana ? el("a.button", { href: dashboard(grafana, fabric ?? "", device, role), rel: "noopener", target: "_blank" }, "Grafana") : null;
}

/** @param {any} states StateCount */
function stateSums(states) {
  return /** @type {const} */ (["right", "wrong", "missing", "unknown"]).filter((state) => states[state])
    .map((state) => el("span", null, stateChip(state), ` ${figure(states[state])}`));
}

/** @param {any} view */
function readings({ readings: runs }) {
  const rows = runs.map((/** @type {any} */ run) => [el("code", null, run.collector),
    el("span", null, run.error ? el("span.wrong", null, run.error) : "answered", el("code.soft.block", { title: run.source }, run.command || run.source)), agoOf(run.at), run.took_seconds === null ? "" : span(run.took_seconds)]);
  if (past()) return notKept("Collectors", "which collectors it answered");
  return card(
    "Collectors",
    runs.length ? table(
      ["Collector", "Answer", "When", "Took"],
      rows,
      { numbers: [2, 3] },
    ) : el("p.soft.pad", null, "No collector has polled this device."),
  );
}

watch(page.live, `devices/${piece(name)}`, node, draw);
page.live.start();
void watchService(page);
