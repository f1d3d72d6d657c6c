// The punch list, in walking order: the work on site, ticked off as rounds confirm it.

import { me } from "./api.js";
import { byId, el, redraw } from "./dom.js";
import { frame, watchService } from "./frame.js";
import { handwork, refused } from "./handwork.js";
import { cause as causeUrl, placeOf, changes } from "./links.js";
import { keepName, keepRole, Marks, storedName, storedRole } from "./marks.js";
import { folded } from "./nodeset.js";
import { keepForTheHall } from "./offline.js";
import { watch } from "./watch.js";
import { agoOf } from "./times.js";
import { count, kindWords, sentence } from "./words.js";

const MARKS = Object.freeze({ left: "", new: "new", done: "✓", unseen: "?" });
const page = frame();
const filter = byId("rack");
const hide = byId("hide");
const order = new Intl.Collator("en", { numeric: true });
const person = byId("name");
const marks = new Marks(() => show());
/** @type {any[]} */ let steps = [];
let listed = false;
let everything = 0;
let kept = false;

/** @param {any} answer */
function draw({ items, total }) {
  steps = items.sort(walk);
  [listed, everything] = [true, total];
  const racks = [...new Set(steps.map((step) => step.rack).filter(Boolean))];
  redraw(byId("racks"), racks.map((rack) => el("option", { value: rack })));
  show();
}

/** Walking order: racks by name, units from the top, then ports; last what waits for another repair. @param {any} one @param {any} other */
function walk(one, other) {
  return Number(!!one.after) - Number(!!other.after) || Number(!one.rack) - Number(!other.rack) || order.compare(one.rack, other.rack) || (other.unit ?? 0) - (one.unit ?? 0) || order.compare(one.at, other.at);
}

/** A port with its rack and unit. @param {string} name @param {string} rack @param {number | null} unit */
function far(name, rack, unit) {
  const place = placeOf({ rack, unit });
  return [el("span.port", null, name), place ? el("small", null, ` ${place}`) : null];
}

function show() {
  tellQueue();
  if (!listed) return;
  const wanted = filter.value.trim().toLowerCase();
  const here = steps.filter(
    (step) => (!wanted || step.rack.toLowerCase().startsWith(wanted)) && !(hide.checked && step.mark === "done")
  );
  const done = steps.filter((step) => step.mark === "done").length;
  const ticked = steps.filter((step) => step.mark !== "done" && marks.of(step.key).ticked_by).length;
  byId("progress").textContent = steps.length ? `${done} of ${count(steps.length, "step")} done${ticked ? `, ${ticked} ticked and not confirmed` : ""}${wanted ? `, ${count(here.length, "step")} shown` : ""}` : "";
  const silent = here.filter((step) => step.kind === "unreachable" && step.mark !== "done");
  const walked = silent.length > 1 ? here.filter((step) => !silent.includes(step)) : here;
  redraw(byId("steps"), here.length ? [...byRack(walked)].map(rack) : nothing(wanted),
    silent.length > 1 ? unreachable(silent) : null,
    everything > steps.length ? el("p.soft", null, `and ${count(everything - steps.length, "more step")} not shown.`) : null);
  const gone = marks.refused().filter((entry) => !steps.some((step) => step.key === entry.step));
  redraw(byId("refused"), gone.map((entry) => refused(entry, marks)));
}

/** What waits in this browser, and whether the page opens without a network. */
function tellQueue() {
  const waiting = marks.waiting().length;
  const words = waiting ? `${count(waiting, "entry", "entries")} not sent yet: kept in this browser, and sent when the service answers.` : "";
  byId("queue").textContent = words || (kept ? "Kept in this browser: opens without a network too." : "");
}

/** Devices that do not answer, in one line. @param {any[]} here */
function unreachable(here) {
  return el("section.rack", { "aria-label": "Devices without an answer" },
    el("details", { "data-key": "unreachable" },
      el("summary", null, el("b", null, count(here.length, "device"), " without an answer: "), el("span.port", null, folded(here.map((step) => step.device))), " ", sentence(here[0].action)),
      el("ol", null, here.map(line))));
}

/** The name to write with; without one the page asks for it. */
function who() {
  const name = person.value.trim();
  if (!name) person.reportValidity();
  return name;
}

/** @param {any[]} list @returns {Map<string, any[]>} */
function byRack(list) {
  const racks = new Map();
  for (const step of list) {
    const stop = `${step.rack ? `Rack ${step.rack}` : "No rack in the plan"}${step.after ? ", after other repairs" : ""}`;
    racks.set(stop, [...(racks.get(stop) ?? []), step]);
  }
  return racks;
}

/** @param {string} wanted */
function nothing(wanted) {
  return el(
    "div.empty",
    null,
    el("h2", null, wanted ? `Nothing to do in ${wanted}` : "Nothing to do"),
    el("p.soft", null, wanted ? "" : "No cause needs work on site. New steps appear here automatically."),
  );
}

/** @param {[string, any[]]} stop */
function rack([name, here]) {
  const left = here.filter((step) => step.mark !== "done").length;
  return el("section.rack", { "aria-label": name },
    el(
      "header",
      null,
      el("h2", null, name),
      el("span.soft", null, left ? `${left} left` : "all done"),
    ),
    el("ol", null, here.map(line)));
}

/** @param {any} step StepLine */
function line(step) {
  const words = {
    left: "to do",
    new: "to do, new",
    done: "done",
    unseen: "unknown: no device at either end answers",
  }[/** @type {"left"} */ (step.mark)];
  const ticked = step.mark !== "done" && marks.of(step.key).ticked_by;
  return el(`li.step.${step.mark}${ticked ? ".ticked" : ""}`, { "data-step": step.key },
    el("span.tick", { role: "img", "aria-label": ticked ? `${words}, ticked by ${ticked}` : words }, ticked ? "☑" : MARKS[/** @type {"left"} */ (step.mark)]),
    el("div.what", null,
      el("p.at", null, step.unit === null ? null : el("b.unit", null, `U${step.unit}`), el("span.port", null, step.at)),
      step.to ? el(
        "p.move",
        null,
        "Move the plug to ",
        step.to.split("/", 1)[0] === step.device ? el("span.port", null, step.to) : far(step.to, step.to_rack, step.to_unit),
      ) : el("p.move", null, sentence(step.action)),
      step.panels ? el("p.small", null, sentence(step.panels)) : null,
      step.after ? el("p.small", null, sentence(`not before ${step.after}`)) : null,
      el(
        "p.far.soft",
        null,
        step.far ? ["other end ", far(step.far, step.far_rack, step.far_unit)] : null,
        step.label ? el("span.label", null, step.label) : null,
        step.serial ? el("small", null, `serial ${step.serial}`) : null,
        step.far_serial ? el("small", null, `serial at the other end ${step.far_serial}`) : null,
      ),
      el("p.small.soft", null, el("a", { href: causeUrl(step.cause), "data-key": step.key }, kindWords(step.kind)), changesLink(step), step.since ? [" · since ", agoOf(step.since)] : null, step.mark === "unseen" ? " · state unknown now" : ""),
      handwork(step, marks, who)));
}

/** @param {any} step */
function changesLink({ kind, to, cause }) {
  const found = changes(kind, Boolean(to), cause);
  return found ? [" · ", el("a", { href: found.href }, found.words)] : null;
}

filter.value = new URLSearchParams(location.search).get("rack") ?? "";
filter.addEventListener("input", () => show());
hide.addEventListener("change", () => show());
byId("print").addEventListener("click", () => print());
person.value = storedName();
person.addEventListener("change", () => keepName(person.value.trim()));
watch(page.live, "steps?limit=1000", byId("steps"), draw);
for (const kind of /** @type {const} */ (["state", "round", "steps"])) page.live.on(kind, () => void marks.ask());
page.live.on("status", (status) => status === "live" && void marks.send());
page.live.start();
void marks.ask();
void marks.send();
void watchService(page);
me().then(({ role }) => keepRole(role), () => (document.body.dataset.role ??= storedRole()));
keepForTheHall().then((able) => { kept = able; tellQueue(); });
