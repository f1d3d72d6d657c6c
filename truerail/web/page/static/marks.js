// What people write on steps. An entry counts here at once, is stored in this browser, and is sent when the service answers.

import { get, piece, Problem, write } from "./api.js";
import { hence } from "./times.js";

/** @typedef {"take" | "release" | "tick" | "untick" | "note"} Action */
/** @typedef {{step: string, at: string, taken_by: string, taken_at: string | null, ticked_by: string, ticked_at: string | null, note: string, noted_by: string, noted_at: string | null}} Mark */
/** @typedef {{id: string, step: string, action: Action, name: string, note: string, was: string, at: string, refused: string}} Entry */

const QUEUE = "truerail:steps:queue";
const NAME = "truerail:steps:name";
const ROLE = "truerail:steps:role";
const RETRY = 15000;
/** The service may answer otherwise later: no network, no log-in, too busy, no journal, or a proxy without the service. */
const LATER = new Set([0, 401, 429, 500, 502, 503, 504]);
const PART = Object.freeze({ take: "taken", release: "taken", tick: "ticked", untick: "ticked", note: "noted" });

/** @param {string} key @param {any} without */
function stored(key, without) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null") ?? without;
  } catch {
    return without;
  }
}

/** @param {string} key @param {any} value */
function store(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch { /* storage is blocked: it holds for this page alone */ }
}

/** The person's name, as typed before. */
export const storedName = () => String(stored(NAME, ""));
/** @param {string} name */
export const keepName = (name) => store(NAME, name);
/** The account's role when the service last said it: what a page without a network offers. */
export const storedRole = () => String(stored(ROLE, "reader"));
/** @param {string} role */
export const keepRole = (role) => store(ROLE, role);

/** The marks as this browser knows them: the service's, then its own entries. */
export class Marks {
  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    /** @type {Map<string, Mark>} */ this.known = new Map();
    /** @type {Entry[]} */ this.queue = stored(QUEUE, []);
    this.sending = false;
    this.timer = this.turn = 0;
    addEventListener("online", () => void this.send());
    addEventListener("storage", ({ key }) => {
      if (key !== QUEUE) return;
      this.queue = stored(QUEUE, []);
      this.changed();
    });
  }

  /** Asks the service for all marks. */
  async ask() {
    const turn = ++this.turn;
    try {
      const { items } = await get("steps/marks");
      if (turn !== this.turn) return;
      this.known = new Map(items.map((/** @type {Mark} */ mark) => [mark.step, mark]));
      this.changed();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
  }

  /** @param {string} step @returns {Mark} */
  of(step) {
    const mark = { ...blank(step), ...this.known.get(step) };
    for (const { action, name, note, at } of this.waiting(step)) {
      const gone = action === "release" || action === "untick";
      Object.assign(mark, { [`${PART[action]}_by`]: gone ? "" : name, [`${PART[action]}_at`]: gone ? null : at });
      if (action === "note") mark.note = note;
    }
    return mark;
  }

  /** Entries that are not sent yet. @param {string} [step] */
  waiting(step) {
    return this.queue.filter((entry) => !entry.refused && (step === undefined || entry.step === step));
  }

  /** Entries that the service refused, since somebody else wrote meanwhile or the step is gone. @param {string} [step] */
  refused(step) {
    return this.queue.filter((entry) => entry.refused && (step === undefined || entry.step === step));
  }

  /** @param {string} step @param {Action} action @param {string} name @param {string} [note] */
  put(step, action, name, note = "") {
    const id = `${Date.now()}-${Math.random()}`;
    const was = this.of(step)[action === "note" ? "note" : /** @type {"taken_by"} */ (`${PART[action]}_by`)];
    this.save([...this.queue, { id, step, action, name, note, was, at: hence(0), refused: "" }]);
    void this.send();
  }

  /** Takes an entry back, or leaves to the service what stands there. @param {string} id */
  drop(id) {
    this.save(this.queue.filter((entry) => entry.id !== id));
  }

  /** Puts a refused entry in the place of what its refusal names. @param {Entry} refused */
  insist(refused) {
    this.save(this.queue.map((entry) => (entry.id === refused.id ? { ...entry, at: hence(0), refused: "" } : entry)));
    void this.send();
  }

  /** @param {Entry[]} queue */
  save(queue) {
    this.queue = queue;
    store(QUEUE, queue);
    this.changed();
  }

  /** Sends what waits, in order, until there is nothing left or the service does not answer. */
  async send() {
    clearTimeout(this.timer);
    if (this.sending) return;
    this.sending = true;
    let answers = true;
    for (let entry = this.waiting()[0]; entry && answers; entry = this.waiting()[0]) answers = await this.sent(entry);
    this.sending = false;
    if (this.waiting().length) this.timer = window.setTimeout(() => void this.send(), RETRY);
  }

  /** Whether the service took or refused it. @param {Entry} entry */
  async sent({ id, step, action, name, note, was, at }) {
    try {
      const mark = await write("POST", `steps/${piece(step)}/marks`, { action, name, note, was, at });
      this.known.set(step, mark);
      this.drop(id);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (LATER.has(error.status)) return false;
      this.save(this.queue.map((entry) => (entry.id === id ? { ...entry, was: error.now ?? was, refused: error.message } : entry)));
      void this.ask();
    }
    return true;
  }
}

/** @param {string} step @returns {Mark} */
function blank(step) {
  return { step, at: "", taken_by: "", taken_at: null, ticked_by: "", ticked_at: null, note: "", noted_by: "", noted_at: null };
}
