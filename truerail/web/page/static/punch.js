// The punch list, in walking order: the work on site, ticked off as rounds confirm it.

import { byId, el, redraw } from "./dom.js";
import { frame, watchService } from "./frame.js";
import { cause as causeUrl, placeOf } from "./links.js";
import { watch } from "./watch.js";
import { agoOf } from "./times.js";
import { count, kindWords, sentence } from "./words.js";

const MARKS = Object.freeze({ left: "", new: "new", done: "✓", unseen: "?" });
const page = frame();
const filter = byId("rack");
const hide = byId("hide");
const order = new Intl.Collator("en", { numeric: true });
/** @type {any[]} */ let steps = [];

/** @param {any} answer */
function draw({ items, total }) {
  steps = items.sort(walk);
  const racks = [...new Set(steps.map((step) => step.rack).filter(Boolean))];
  redraw(byId("racks"), racks.map((rack) => el("option", { value: rack })));
  show(total);
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

/** @param {number} [total] */
function show(total = steps.length) {
  const wanted = filter.value.trim().toLowerCase();
  const here = steps.filter(
    (step) => (!wanted || step.rack.toLowerCase().startsWith(wanted)) && !(hide.checked && step.mark === "done")
  );
  const done = steps.filter((step) => step.mark === "done").length;
  byId("progress").textContent = steps.length ? `${done} of ${count(steps.length, "step")} done${wanted ? `, ${count(here.length, "step")} shown` : ""}` : "";
  redraw(byId("steps"), here.length ? [...byRack(here)].map(rack) : nothing(wanted),
    total > steps.length ? el("p.soft", null, `and ${count(total - steps.length, "more step")} not shown.`) : null);
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
  return el(`li.step.${step.mark}`, { "data-step": step.key },
    el("span.tick", { role: "img", "aria-label": words }, MARKS[/** @type {"left"} */ (step.mark)]),
    el("div.what", null,
      el("p.at", null, step.unit === null ? null : el("b.unit", null, `U${step.unit}`), el("span.port", null, step.at)),
      step.to ? el(
        "p.move",
        null,
        el("span", { "aria-label": "move to" }, "→ "),
        step.to.split("/", 1)[0] === step.device ? el("span.port", null, step.to) : far(step.to, step.to_rack, step.to_unit),
      ) : el("p.move", null, sentence(step.action)),
      step.after ? el("p.small", null, sentence(`not before ${step.after}`)) : null,
      el(
        "p.far.soft",
        null,
        step.far ? ["other end ", far(step.far, step.far_rack, step.far_unit)] : null,
        step.label ? el("span.label", null, step.label) : null,
      ),
      el("p.small.soft", null, el("a", { href: causeUrl(step.cause), "data-key": step.key }, kindWords(step.kind)), step.since ? [" · since ", agoOf(step.since)] : null, step.mark === "unseen" ? " · state unknown now" : "")));
}

filter.value = new URLSearchParams(location.search).get("rack") ?? "";
filter.addEventListener("input", () => show());
hide.addEventListener("change", () => show());
byId("print").addEventListener("click", () => print());
watch(page.live, "steps?limit=1000", byId("steps"), draw);
page.live.start();
void watchService(page);
