// Acknowledging a finding or a cause: why, and until when.

import { me, write } from "./api.js";
import { el } from "./dom.js";
import { fill, hence, instant, zoneLabel } from "./times.js";

const HOURS = /** @type {const} */ (
  [["1", "1 hour"], ["8", "8 hours"], ["24", "1 day"], ["168", "1 week"], ["", "resolved"], ["at", "a set time"]]
);

/**
 * A button that opens the dialog; nothing where it is muted already.
 * @param {string} target finding id or cause key
 * @param {string} summary
 * @param {string | null} muted
 */
export function acknowledgeButton(target, summary, muted) {
  return muted ? null : el(
    "button.quiet.operator",
    { type: "button", "data-key": `ack-${target}`, on: { click: () => ask(target, summary) } },
    "Acknowledge",
  );
}

/** @param {string} target @param {string} summary */
function ask(target, summary) {
  const problem = el("p.problem", { role: "alert", hidden: true });
  const at = el(
    "input",
    {
      type: "datetime-local",
      name: "at",
      "aria-label": "End of the acknowledgement",
    },
  );
  fill(at, new Date(Date.now() + 86400000));
  const set = el("span.at", { hidden: true }, at, zoneLabel());
  const until = el(
    "select",
    { name: "until", on: { change: () => (set.hidden = until.value !== "at") } },
    HOURS.map(([value, words]) => el("option", { value, selected: value === "8" }, words)),
  );
  const form = el("form", { method: "dialog" },
    el("h2", null, "Acknowledge"), el("p.soft", null, summary),
    el(
      "label",
      null,
      "Reason",
      el("textarea", { name: "reason", required: true, maxlength: "500", rows: "3", autofocus: true }),
    ),
    el("label", null, "Until", until), set, problem,
    el("div.buttons", null, el("button", { type: "button", on: { click: () => dialog.close() } }, "Cancel"), el("button.primary", { type: "submit" }, "Acknowledge")));
  const dialog = el("dialog", { "aria-label": "Acknowledge", on: { close: () => dialog.remove() } }, form);
  form.addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const fields = new FormData(form);
    try {
      await write(
        "POST",
        "acknowledgements",
        { target, reason: fields.get("reason"), until: ends(String(fields.get("until")), at) },
      );
      dialog.close();
    } catch (error) {
      [problem.textContent, problem.hidden] = [/** @type {Error} */ (error).message, false];
    }
  });
  document.body.append(dialog);
  dialog.showModal();
}

/** @param {string} hours @param {HTMLInputElement} at @returns {string | null} */
function ends(hours, at) {
  if (hours === "at") return instant(at);
  return hours ? hence(Number(hours)) : null;
}

/** A button that polls devices again, now. @param {string} devices node set */
export function recheckButton(devices) {
  const button = el("button.operator", { type: "button", "data-key": "recheck" }, "Recheck now");
  button.addEventListener("click", async () => {
    button.disabled = true;
    button.textContent = "Queuing …";
    try {
      await write("POST", "recheck", { devices });
      button.textContent = "Queued";
    } catch (error) {
      button.textContent = /** @type {Error} */ (error).message;
    }
    setTimeout(() => Object.assign(button, { disabled: false, textContent: "Recheck now" }), 4000);
  });
  return button;
}

/** Whether writes are offered. */
export async function operator() {
  return (await me()).role === "operator";
}
