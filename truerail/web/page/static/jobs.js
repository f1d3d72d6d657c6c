// The running jobs, those that a fault affects first.

import { address } from "./api.js";
import { byId, el, redraw } from "./dom.js";
import { field, search } from "./fields.js";
import { frame, watchService } from "./frame.js";
import { cause } from "./links.js";
import { facts, hostsOf, hours, link, pathOf, schedulers, startOf } from "./runs.js";
import { drawTable, pager } from "./rows.js";
import { watch } from "./watch.js";
import { count, figure, kindWords, sentence } from "./words.js";

const ROWS = 100;
const PAUSE = 250;
const KEYS = Object.freeze(["text", "state", "on", "page"]);
const WORDS = Object.freeze(["affected", "unknown", "no fault", "ended"]);
const page = frame();
const answer = byId("answer");
const controls = byId("controls");
/** @type {Record<string, string>} what the address says */
let asked = fromAddress();
/** @type {any} */
let reported = null;
let timer = 0;

/** @type {import("./listing.js").Column[]} */
const COLUMNS = [
  { key: "key", head: "Job", cell: (run) => [link(run.key), run.name ? el("bdi.block.small.soft", null, run.name) : null] },
  { key: "state", head: "Its network", cell: (run) => pathOf(run) },
  { key: "harm", head: "Affected by", cell: (run) => run.harm.map((/** @type {any} */ harm) => el("div", null, el("a.kind", { href: cause(harm.key) }, kindWords(harm.kind)), ` on ${count(harm.hosts_affected, "host")}`)) },
  { key: "hosts", head: "Hosts", cell: (run) => hostsOf(run) },
  { key: "gpus", head: "GPUs", number: true, cell: (run) => (run.gpus === null ? "unknown" : figure(run.gpus)) },
  { key: "hours", head: "GPU-hours affected", number: true, cell: (run) => hours(run, "gpu_hours") },
  { key: "waiting", head: "Waiting", number: true, cell: (run) => hours(run, "waiting_hours") },
  { key: "user", head: "User", cell: (run) => el("bdi", null, run.user || "–") },
  { key: "since", head: "Began", cell: (run) => startOf(run) },
];

function fromAddress() {
  const given = new URLSearchParams(location.search);
  return Object.fromEntries(KEYS.map((key) => [key, given.get(key) ?? ""]));
}

/** @param {Record<string, string>} changed @param {boolean} [typed] */
function turn(changed, typed = false) {
  const before = asked.on;
  asked = { ...asked, ...("page" in changed ? {} : { page: "" }), ...changed };
  const query = new URLSearchParams(Object.entries(asked).filter(([, value]) => value !== "")).toString();
  history[typed ? "replaceState" : "pushState"](null, "", query ? `?${query}` : location.pathname);
  drawControls();
  if (asked.on !== before) void again();
  else draw();
}

/** @param {string} key */
function typing(key) {
  return (/** @type {string} */ value) => {
    clearTimeout(timer);
    timer = window.setTimeout(() => turn({ [key]: value.trim() }, true), PAUSE);
  };
}

/** A field in which somebody types stays as it is. */
function drawControls() {
  if (controls.contains(document.activeElement) && document.activeElement?.matches("input")) return;
  redraw(controls,
    search("Search jobs, users and hosts", asked.text, typing("text")),
    field({ key: "state", label: "Network", words: [...WORDS] }, asked.state, typing("state"), (value) => turn({ state: value })),
    field({ key: "on", label: "On", hint: "leaf-3, rail 3, C4" }, asked.on, typing("on"), typing("on")));
}

/** @param {any} run */
function fits(run) {
  const words = asked.text.toLowerCase().split(/\s+/).filter(Boolean);
  const text = [run.key, run.name, run.user, run.hosts, run.scheduler].join(" ").toLowerCase();
  return (!asked.state || facts(run).state === asked.state) && words.every((word) => text.includes(word));
}

function draw() {
  if (!reported) return;
  const all = reported.jobs.filter(fits);
  const last = Math.max(1, Math.ceil(all.length / ROWS));
  const number = Math.min(last, Math.max(1, Math.floor(Number(asked.page)) || 1));
  const shown = all.slice(ROWS * (number - 1), ROWS * number);
  const known = reported.running + reported.ended;
  const cut = known > reported.jobs.length ? `; of ${figure(known)} the first ${figure(reported.jobs.length)} are here, worst first` : "";
  const part = all.length > shown.length ? `, ${figure(ROWS * (number - 1) + 1)} to ${figure(ROWS * (number - 1) + shown.length)} shown` : "";
  redraw(answer,
    el("p.verdict", null, sentence(reported.summary)), reported.action ? el("p", null, sentence(reported.action)) : null,
    schedulers(reported),
    el("p.total", { role: "status" }, `${count(all.length, "job")}${all.length < reported.jobs.length ? (all.length === 1 ? " matches" : " match") : ""}${part}${cut}`),
    shown.length ? drawTable("jobs", COLUMNS, shown, "", () => undefined) : null,
    last > 1 ? pager(number, last, (to) => turn({ page: to > 1 ? String(to) : "" })) : null);
}

addEventListener("popstate", () => {
  asked = fromAddress();
  drawControls();
  void again();
  draw();
});
drawControls();
const again = watch(page.live, () => address("jobs", asked.on ? { on: asked.on } : {}).slice("/api/v1/".length), answer, (found) => {
  reported = found;
  draw();
});
page.live.start();
void watchService(page);
