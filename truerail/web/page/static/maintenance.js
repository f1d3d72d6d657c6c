// Work that is announced, what is acknowledged, and the plan in force.

import { write } from "./api.js";
import { byId, el, redraw } from "./dom.js";
import { frame, watchService } from "./frame.js";
import { table } from "./lines.js";
import { cause, finding } from "./links.js";
import { watch } from "./watch.js";
import { agoOf, fill, instant, momentOf } from "./times.js";

const page = frame();
const form = byId("announce");
const problem = form.querySelector(".problem");

/** @param {string} word @param {() => Promise<any>} act */
function ending(word, act) {
  const button = el("button.quiet.operator", { type: "button" }, word);
  button.addEventListener("click", async () => {
    button.disabled = true;
    await act().catch((error) => (button.textContent = error.message));
    void refresh();
  });
  return button;
}

/** @param {any} answer */
function windows({ items }) {
  const now = Date.now();
  redraw(byId("windows"), items.length ? table(["", "What", "Starts", "Ends", "Reason", "By", ""], items.map((/** @type {any} */ one) => [
    el(
      `span.tag${Date.parse(one.starts) <= now ? ".flapping" : ""}`,
      null,
      Date.parse(one.starts) <= now ? "open" : "announced",
    ),
    el(
      "span",
      null,
      `${one.scope} `,
      el("b.port", null, one.what),
    ), momentOf(one.starts), momentOf(one.ends), one.reason, one.author,
    ending("End", () => write("DELETE", `maintenance/${one.id}`))])) : el("p.soft.pad", null, "No maintenance is open or announced."));
}

/** @param {any} answer */
function acknowledged({ items }) {
  redraw(byId("acknowledged"), items.length ? table(["What", "Reason", "By", "Since", "Until", ""], items.map((/** @type {any} */ one) => [
    el(
      "span",
      null,
      el("a", { href: finding(one.target) }, "finding"),
      " or ",
      el("a", { href: cause(one.target) }, "cause"),
      " ",
      el("code", null, one.target),
    ), one.reason, one.author, agoOf(one.at), one.until ? momentOf(one.until) : "resolved",
    ending("Withdraw", () => write("DELETE", `acknowledgements/${one.id}`))])) : el("p.soft.pad", null, "Nothing is acknowledged."));
}

/** @param {any} plan */
function planned(plan) {
  const reported = el("span.soft", { role: "status" });
  const reload = el("button", { type: "button" }, "Reload plan");
  reload.addEventListener("click", async () => {
    reported.textContent = "Reading …";
    reported.textContent = await write("POST", "plan/reload").then(
      () => "Plan reloaded. The next round uses it.",
      (error) => error.message,
    );
  });
  redraw(
    byId("plan"),
    el("p", null, el("b", null, plan.source || plan.name || "inferred"), " ", el("code.soft", null, plan.digest ?? "")),
    el("div.buttons", null, reported, reload),
  );
}

form.addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  const fields = Object.fromEntries(new FormData(form));
  problem.hidden = true;
  try {
    await write(
      "POST",
      "maintenance",
      {
        ...fields,
        starts: instant(form.elements.namedItem("starts")),
        ends: instant(form.elements.namedItem("ends")),
      },
    );
    form.elements.namedItem("what").value = form.elements.namedItem("reason").value = "";
    void refresh();
  } catch (error) {
    [problem.textContent, problem.hidden] = [/** @type {Error} */ (error).message, false];
  }
});
fill(form.elements.namedItem("starts"), new Date());
fill(form.elements.namedItem("ends"), new Date(Date.now() + 2 * 3600000));
const again = [
  watch(page.live, "maintenance", byId("windows"), windows),
  watch(page.live, "acknowledgements", byId("acknowledged"), acknowledged),
  watch(page.live, "plan", byId("plan"), planned),
];
function refresh() {
  return Promise.all(again.map((ask) => ask()));
}
page.live.start();
void watchService(page);
