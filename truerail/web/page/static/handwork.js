// The part of a step that people write: who takes it, who ticked it, a note, and what could not be sent.

import { el } from "./dom.js";
import { momentOf } from "./times.js";
import { sentence } from "./words.js";

/** @typedef {import("./marks.js").Marks} Marks */
const DID = Object.freeze({ take: "take it", release: "release it", tick: "tick it", untick: "take back the tick", note: "note" });

/**
 * @param {any} step StepLine
 * @param {Marks} marks
 * @param {() => string} name the person's name; empty where it is not typed yet, and the page asks for it
 */
export function handwork(step, marks, name) {
  const mark = marks.of(step.key);
  const waits = marks.waiting(step.key).length;
  return [
    mark.taken_by ? el("p.hand", null, "taken by ", el("b", null, mark.taken_by), " · ", momentOf(mark.taken_at)) : null,
    mark.ticked_by
      ? el("p.hand", null, "ticked by ", el("b", null, mark.ticked_by), " · ", momentOf(mark.ticked_at), step.mark === "done" ? "" : " · not confirmed by an evaluation yet")
      : null,
    mark.note ? el("p.hand.note", null, `“${mark.note}” `, el("span.soft", null, mark.noted_by, " · ", momentOf(mark.noted_at))) : null,
    waits ? el("p.hand.waits", { role: "status" }, "not sent yet") : null,
    marks.refused(step.key).map((entry) => refused(entry, marks)),
    step.mark === "done" ? null : buttons(step, mark, marks, name),
  ];
}

/** @param {import("./marks.js").Entry} entry @param {Marks} marks */
export function refused(entry, marks) {
  const mine = entry.action === "note" ? `: “${entry.note}”` : "";
  return el("div.refused", { role: "alert" },
    el("p", null, el("b", null, "Conflict: "), sentence(entry.refused), ` ${entry.name} wanted to ${DID[entry.action]}${mine} at `, momentOf(entry.at), "."),
    el("div.buttons", null,
      el("button", { type: "button", on: { click: () => marks.drop(entry.id) } }, "Keep what is there"),
      el("button", { type: "button", on: { click: () => marks.insist(entry) } }, "Write mine")));
}

/** @param {any} step @param {import("./marks.js").Mark} mark @param {Marks} marks @param {() => string} name */
function buttons(step, mark, marks, name) {
  /** @param {import("./marks.js").Action} action @param {string} words */
  const button = (action, words) => el("button", {
    type: "button",
    "data-key": `${action}-${step.key}`,
    on: { click: () => { const who = name(); if (who) marks.put(step.key, action, who); } },
  }, words);
  const note = el("button", { type: "button", "data-key": `note-${step.key}`, on: { click: () => { const who = name(); if (who) ask(step, mark, marks, who); } } }, mark.note ? "Change note" : "Note");
  return el("div.buttons.operator", null,
    mark.taken_by ? button("release", "Release") : button("take", "Take"),
    mark.ticked_by ? button("untick", "Take back the tick") : button("tick", "Tick"), note);
}

/** @param {any} step @param {import("./marks.js").Mark} mark @param {Marks} marks @param {string} who */
function ask(step, mark, marks, who) {
  const field = el("textarea", { name: "note", maxlength: "500", rows: "3", autofocus: true });
  field.value = mark.note;
  const form = el("form", { method: "dialog" }, el("h2", null, "Note"), el("p.soft", null, step.at), el("label", null, "Note", field),
    el("div.buttons", null, el("button", { type: "button", on: { click: () => dialog.close() } }, "Cancel"), el("button.primary", { type: "submit" }, "Save")));
  const dialog = el("dialog", { "aria-label": "Note", on: { close: () => dialog.remove() } }, form);
  form.addEventListener("submit", () => marks.put(step.key, "note", who, field.value.replace(/\s+/g, " ").trim()));
  document.body.append(dialog);
  dialog.showModal();
}
