// One job: whether the network slows it, what affects it, its rails and hosts, and the findings on them.

import { address, piece } from "./api.js";
import { job as answerOf } from "./answers.js";
import { byId, el, redraw } from "./dom.js";
import { frame, watchService } from "./frame.js";
import { card, facts, findingList, table } from "./lines.js";
import { cause, portLink } from "./links.js";
import { hostsOf, hours, pathOf } from "./runs.js";
import { momentOf } from "./times.js";
import { watch } from "./watch.js";
import { wide } from "./wide.js";
import { count, figure, kindWords, sentence } from "./words.js";

const MOST = 200;
const LONGEST = 4096;
const CELLS = Object.freeze({ lost: ["✗", "wrong", "lost"], degraded: ["○", "missing", "one plane left"], unknown: ["?", "unknown", "unknown"], whole: ["·", "right", "connected"] });
const key = document.body.dataset.thing ?? "";
const page = frame();
const node = byId("page");
const findings = el("div", null, el("p.skeleton"));
/** @type {(() => Promise<void>) | null} */
let askFindings = null;
let hosts = "";

/** @param {any} answer Job */
function draw(answer) {
  const { run, worst, rails } = answer;
  document.title = `${key} – truerail`;
  hosts = run?.hosts ?? "";
  if (askFindings) void askFindings();
  else if (hosts.length && hosts.length <= LONGEST) askFindings = watch(page.live, () => address("findings", { nodes: hosts, limit: MOST }).slice("/api/v1/".length), findings, drawFindings, true);
  else redraw(findings, el("p.soft.pad", null, "Its hosts are too many for one list: open them from the table above."));
  const [verdict, ...rest] = answerOf(answer);
  redraw(node,
    el("div.title", null, el("h1.port", null, el("bdi", null, key))),
    verdict,
    run ? about(run) : null,
    run?.harm.length ? harmTable(run) : null,
    rest,
    worst.length ? grid(answer.hosts.length, worst, rails) : null,
    card("Findings on its hosts", findings));
}

/** @param {any} run JobRun */
function about(run) {
  return el("div.card", null, facts([
    ["Its network", pathOf(run)],
    ["Name", run.name && el("bdi", null, run.name)],
    ["User", run.user && el("bdi", null, run.user)],
    ["Scheduler", run.scheduler],
    ["Hosts", hostsOf(run)],
    ["GPUs", run.gpus === null ? "unknown" : figure(run.gpus)],
    ["Began", run.start ? momentOf(run.start) : "unknown"],
    ["Ended", run.ended ? momentOf(run.ended) : null],
    ["Cables not seen", `${figure(run.cables_unknown)} of ${figure(run.cables)}`],
    ["GPU-hours affected", run.harm.length ? hours(run, "gpu_hours") : null],
    ["GPU-hours waiting", run.harm.length ? hours(run, "waiting_hours") : null],
  ]));
}

/** @param {any} run */
function harmTable(run) {
  return card("What affects it", table(["Cause", "On hosts", "Since", "GPUs affected", "Waiting", ""], run.harm.map((/** @type {any} */ harm) => [
    el("a.kind", { href: cause(harm.key) }, kindWords(harm.kind)), el("span.port", null, harm.hosts), harm.since ? momentOf(harm.since) : "unknown",
    harm.gpus === null ? "unknown" : figure(harm.gpus), harm.waiting === null ? "unknown" : figure(harm.waiting), sentence(harm.summary)]), { numbers: [3, 4] }));
}

/** Hosts as rows, rails as columns. @param {number} all @param {any[]} worst @param {any[]} rails */
function grid(all, worst, rails) {
  const shown = worst.slice(0, MOST);
  const numbers = rails.map((rail) => rail.rail).filter((rail) => rail !== null).sort((one, other) => one - other);
  const everywhere = new Set(rails.filter((rail) => rail.hosts === all).map((rail) => rail.rail));
  const cell = (/** @type {any} */ host, /** @type {number} */ rail) => {
    const state = host.lost.includes(rail) ? "lost" : host.degraded.includes(rail) ? "degraded" : host.unknown.includes(rail) ? "unknown" : "whole";
    if (state === "whole" && !everywhere.has(rail)) return el("td", { title: "no fault known; some hosts do not have this rail" });
    const [mark, kind, word] = CELLS[/** @type {"lost"} */ (state)];
    return el("td", null, el(`span.${kind}`, { title: word, "aria-label": word, role: "img" }, mark));
  };
  return card("Its hosts by rail", wide("Hosts by rail", "", el("table", null,
    el("thead", null, el("tr", null, el("th", { scope: "col" }, "Host"), numbers.map((rail) => el("th", { scope: "col" }, `Rail ${rail}`)))),
    el("tbody", null, shown.map((host) => el("tr", null, el("th", { scope: "row" }, portLink(host.host)), numbers.map((rail) => cell(host, rail))))))),
    el("p.soft.pad", null, `${count(all - worst.length, "further host")} ${all - worst.length === 1 ? "has" : "have"} all rails.${worst.length > shown.length ? ` ${figure(worst.length - shown.length)} more with faults are not shown.` : ""}`));
}

/** @param {any} answer a page of findings */
function drawFindings({ items, total }) {
  redraw(findings, findingList(items, "No finding is open on its hosts."), total > items.length ? el("p.soft.pad", null, `and ${count(total - items.length, "more finding")}.`) : null);
}

watch(page.live, `jobs/${piece(key)}`, node, draw);
page.live.start();
void watchService(page);
