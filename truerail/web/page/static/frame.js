// What every page has: the clock, the search box, the theme, the user, and the service's own problems.

import { get, me } from "./api.js";
import { banner, Clock } from "./clock.js";
import { byId, el, redraw } from "./dom.js";
import { finder } from "./finder.js";
import { Live } from "./live.js";
import { menus } from "./menu.js";
import { shortcuts, showKeys } from "./shortcuts.js";
import { timeBar } from "./timebar.js";
import { moment, zoneSwitch } from "./times.js";

/** @typedef {{live: Live, clock: Clock, time: ReturnType<typeof timeBar>}} Frame */

/** Wakes the frame. @returns {Frame} */
export function frame() {
  const live = new Live();
  const clock = new Clock(live);
  finder(byId("find"), byId("found"));
  menus(byId("menu"), byId("pages"));
  byId("theme").addEventListener("click", turn);
  zoneSwitch(byId("zone"));
  keys();
  me().then(whoami, () => {});
  live.on("journal", journal).on("stale", ({ since, why }) => stale(since, why));
  return { live, clock, time: timeBar() };
}

/** What the fabric's view says of the service itself. @param {any} fabric @param {Frame} frame */
export function serviceTroubles(fabric, { clock, time }) {
  time?.known(fabric.as_of);
  clock.evaluated(fabric);
  const every = fabric.collectors.map((/** @type {any} */ run) => run.every_seconds).filter(Boolean);
  if (every.length) clock.expect(Math.min(...every));
  banner(
    "plan",
    fabric.plan_inferred ? "doubt" : null,
    "No plan is given: the fabric is compared with what most of its hosts agree on.",
  );
  journal(fabric.journal);
  stale(fabric.stale_since, fabric.stale_reason);
}

/** Asks for the fabric's view only for what concerns every page. @param {Frame} frame */
export async function watchService(frame) {
  const look = () => get("fabric").then((fabric) => serviceTroubles(fabric, frame), () => {});
  frame.live.on("state", look).on("time", look);
  await look();
}

/** @param {{health: string, error: string, since: string | null, waiting: number}} state */
function journal({ health, error, since, waiting }) {
  const failing = health === "failing";
  const begun = since ? ` Since ${moment(since)}.` : "";
  const words = `The journal cannot be written: ${error || "the database does not answer"}. Evaluation continues; ${waiting} rounds are queued in memory.${begun}`;
  banner("journal", failing ? "bad" : null, words);
}

/** @param {string | null} since @param {string} [why] what keeps a front from the judge, or from a newer view */
function stale(since, why) {
  const silent = "the process that evaluates does not report, and what only it knows is unknown";
  const words = since ? `This page shows the evaluation of before ${moment(since)}: ${why || silent}.` : "";
  banner("stale", since ? "bad" : null, words);
}

/** @param {{name: string, role: string, csrf: string}} who */
function whoami({ name, role, csrf }) {
  document.body.dataset.role = role;
  const leave = el(
    "form",
    { method: "post", action: "/logout" },
    el("input", { type: "hidden", name: "csrf", value: csrf }),
    el("button.quiet", null, "Log out"),
  );
  const reported = el(
    "span",
    { title: role === "operator" ? "Can acknowledge, announce maintenance and recheck" : "Can read" },
    name,
    el("small", null, role),
  );
  redraw(byId("me"), reported, name === "local" ? null : leave);
}

/** The keys of every page. */
function keys() {
  const pages = [...document.querySelectorAll("nav[aria-label=Pages] a")].map((link) => /** @type {HTMLAnchorElement} */ (link)).slice(0, 9);
  const numbers = pages.map((_, i) => String(i + 1));
  shortcuts("Everywhere", [
    { keys: numbers, words: "Open the page of that place in the menu", act: ({ key }) => location.assign(pages[Number(key) - 1].href) },
    { keys: ["u"], words: "Times in the browser's zone or in UTC", act: () => byId("zone").click() },
    { keys: ["t"], words: "Light or dark", act: turn },
    { keys: ["?"], words: "These keys", act: showKeys },
  ]);
  byId("keys").addEventListener("click", showKeys);
}

function turn() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
  const next = now === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem("truerail:theme", next);
  } catch { /* storage is blocked: it holds for this page alone */ }
  dispatchEvent(new CustomEvent("truerail:theme"));
}
