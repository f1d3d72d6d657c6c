// The on-call questions. The address holds the question, so that an answer can be shared.

import { address } from "./api.js";
import { blast, job, path, where } from "./answers.js";
import { byId, el, redraw } from "./dom.js";
import { frame, watchService } from "./frame.js";
import { counters, rails } from "./loads.js";
import { repairDiff } from "./names.js";
import { plain } from "./plain.js";
import { fill, instant, momentOf } from "./times.js";
import { watch } from "./watch.js";
import { drain, planRepair } from "./work.js";
import { sentence } from "./words.js";

/** @type {Readonly<Record<string, (answer: any) => any>>} */
const DRAW = Object.freeze({ where, job, blast, path, rails, counters, drain, "plan-repair": planRepair, "repair-diff": repairDiff });
const page = frame();
const answer = byId("answer");
/** @type {HTMLFormElement[]} */
const forms = [
  ...document.querySelectorAll("form[data-question]"),
].map((form) => /** @type {HTMLFormElement} */ (form));
/** @type {(() => Promise<void>) | null} */
let again = null;
let asked = { question: "", query: /** @type {Record<string, string>} */ ({}) };

/** @param {string} question @param {Record<string, string>} query */
function put(question, query) {
  asked = { question, query };
  for (const form of forms) form.classList.toggle("asked", form.dataset.question === question);
  redraw(answer, el("p.skeleton"));
  if (again) void again();
  else again = watch(
    page.live,
    () => address(asked.question, asked.query).slice("/api/v1/".length),
    answer,
    (reported) => redraw(answer, el("div.answer", null, asOf(reported.as_of), (DRAW[asked.question] ?? plain)(reported))),
  );
}

/** Says of an answer about the past that it is not live, and what is unknown in it. @param {any} past AsOf */
function asOf(past) {
  if (!past) return null;
  return el("div.note.past", { role: "status" },
    el("p", null, el("b", null, "As it was at ", momentOf(past.at), ": not live. "), el("button.link", { type: "button", on: { click: now } }, "Now")),
    el("ul", null, past.unknown.map((/** @type {string} */ words) => el("li", null, sentence(words)))));
}

/** The same question about now. */
function now() {
  const form = forms.find((one) => one.dataset.question === asked.question);
  if (!form) return;
  at(form).value = "";
  /** @type {HTMLInputElement} */ (form.querySelector("[data-back]")).value = "0";
  form.requestSubmit();
}

/** @param {HTMLFormElement} form @returns {HTMLInputElement} */
function at(form) {
  return /** @type {HTMLInputElement} */ (form.elements.namedItem("at"));
}

/** @param {HTMLFormElement} form */
function fields(form) {
  const found = Object.fromEntries(
    [...new FormData(form)].map(([key, value]) => [key, String(value).trim()]).filter(([, value]) => value)
  );
  return found.at ? { ...found, at: instant(at(form)) ?? "" } : found;
}

for (const form of forms) {
  form.querySelector("[data-back]")?.addEventListener("input", (event) => {
    const hours = Number(/** @type {HTMLInputElement} */ (event.target).value);
    if (hours) fill(at(form), new Date(Date.now() - hours * 3600000));
    else at(form).value = "";
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const question = form.dataset.question ?? "";
    history.pushState(null, "", `/ask?${new URLSearchParams({ q: question, ...fields(form) })}`);
    put(question, fields(form));
    answer.scrollIntoView({ block: "nearest" });
  });
}

function fromAddress() {
  const { q, ...query } = Object.fromEntries(new URLSearchParams(location.search));
  const form = forms.find((one) => one.dataset.question === q);
  if (!form) return;
  for (const [key, value] of Object.entries(query)) {
    const field = /** @type {HTMLInputElement | null} */ (form.elements.namedItem(key));
    if (field && key === "at") fill(field, new Date(value));
    else if (field?.type === "checkbox") field.checked = value === "true";
    else if (field) field.value = value;
  }
  put(q ?? "", fields(form));
}

addEventListener("popstate", fromAddress);
fromAddress();
page.live.start();
void watchService(page);
