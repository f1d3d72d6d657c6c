// What happens, as it happens: one event stream for each page, and what it says of itself.

import { at, onTime } from "./asof.js";

/** @typedef {"connecting" | "live" | "lost" | "stopped" | "past"} Status */

const UNSEEN = 20000;
const KINDS = ["state", "round", "mutes", "steps", "journal", "stale", "stop"];

/** The stream of events. Listeners are called with the event's data. */
export class Live {
  constructor() {
    /** @type {Map<string, Array<(data: any) => void>>} */
    this.listeners = new Map();
    /** @type {Status} */
    this.status = "connecting";
    /** @type {EventSource | null} */
    this.source = null;
    this.pause = 1000;
    this.leaving = 0;
  }

  /**
   * @param {"state" | "round" | "mutes" | "steps" | "journal" | "stale" | "stop" | "status" | "time"} kind
   * @param {(data: any) => void} heard
   */
  on(kind, heard) {
    this.listeners.set(kind, [...(this.listeners.get(kind) ?? []), heard]);
    return this;
  }

  /** @param {string} kind @param {any} data */
  tell(kind, data) {
    for (const heard of this.listeners.get(kind) ?? []) heard(data);
  }

  /** @param {Status} status */
  become(status) {
    if (status === this.status) return;
    this.status = status;
    this.tell("status", status);
  }

  /**
   * Connects, and stays connected while the tab is visible: a browser has few connections to one service, and
   * tabs in the background would take them all. A tab that becomes visible again gets the full state.
   */
  start() {
    document.addEventListener("visibilitychange", () => this.seen(!document.hidden));
    onTime(() => this.turned());
    addEventListener("pagehide", () => this.close());
    addEventListener("pageshow", (event) => event.persisted && this.connect());
    this.connect();
    this.seen(!document.hidden);
  }

  /** @param {boolean} visible */
  seen(visible) {
    clearTimeout(this.leaving);
    if (visible) this.connect();
    else this.leaving = window.setTimeout(() => this.close(), UNSEEN);
  }

  close() {
    this.source?.close();
    this.source = null;
  }

  /** Another time: a past one does not change. */
  turned() {
    this.close();
    this.become("connecting");
    this.connect();
    this.tell("time", null);
  }

  connect() {
    if (this.source) return;
    if (at()) return this.become("past");
    const source = new EventSource("/api/v1/events");
    this.source = source;
    source.addEventListener("open", () => {
      this.pause = 1000;
      this.become("live");
    });
    source.addEventListener("error", () => {
      this.become(this.status === "stopped" ? "stopped" : "lost");
      if (source.readyState === EventSource.CLOSED) this.again();
    });
    for (const kind of KINDS) {
      source.addEventListener(kind, (event) => {
        if (kind === "stop") this.become("stopped");
        this.tell(kind, JSON.parse(event.data || "{}"));
      });
    }
  }

  /** A stream that the browser gave up (the service restarts, or refused it) is opened again, ever more patiently. */
  again() {
    this.close();
    setTimeout(() => document.hidden || this.connect(), this.pause);
    this.pause = Math.min(30000, this.pause * 2);
  }
}
