// The fabric's cells: one byte for each host, rail and plane, as the API packs them.

import { SEVERITIES, STATES } from "./words.js";

/**
 * @typedef {object} MapAnswer
 * @property {number} number
 * @property {string} at
 * @property {string} plan_digest
 * @property {Array<number | null>} rails null last, for cables without a rail
 * @property {number} planes
 * @property {Array<{name: string, first: number, hosts: number}>} pods
 * @property {string[]} hosts
 * @property {string[]} racks
 * @property {string} cells
 */

const WORDS = Object.freeze(["no cable planned", ...STATES.slice(1)]);
const RIGHT = 1;
const MANY = 12;

/** Cells and what they stand for. */
export class Cells {
  /** @param {MapAnswer} answer */
  constructor(answer) {
    this.number = answer.number;
    this.digest = answer.plan_digest;
    this.hosts = answer.hosts;
    this.racks = answer.racks;
    this.pods = answer.pods;
    this.rails = answer.rails;
    this.planes = answer.planes;
    this.perHost = answer.rails.length * answer.planes;
    /** @type {string | null} */
    this.packed = answer.cells;
    this.codes = bytes(answer.cells);
    /** @type {Uint8Array | null} which cause explains each cell, by its place in the list; 0 none, 255 a later one */
    this.causes = null;
    /** @type {boolean[]} by that place: whether the cause explains so many cells that they would hide the others */
    this.many = [];
    /** @type {readonly string[]} what each state is called */
    this.words = WORDS;
  }

  /** Which cause explains which cell; an answer for another plan is ignored. @param {any} answer MapCauses */
  explain(answer) {
    const causes = bytes(answer.cells);
    if (answer.plan_digest !== this.digest || causes.length !== this.length) return;
    this.causes = causes;
    this.many = [false, ...answer.causes.map((/** @type {any} */ cause) => cause.cells >= MANY)];
  }

  /** 0 none, n the n-th cause of the list, 255 a later one. @param {number} cell */
  causeOf(cell) {
    return this.causes?.[cell] ?? 0;
  }

  /** Whether one cause explains this cell and many others. @param {number} cell */
  oneOfMany(cell) {
    return this.causes !== null && this.many[this.causes[cell]] === true;
  }

  /** Whether an answer shows what these were made from. @param {MapAnswer} answer */
  same(answer) {
    return this.digest === answer.plan_digest && this.packed === answer.cells;
  }

  get length() {
    return this.codes.length;
  }

  /** 0 none, 1 right, 2 wrong, 3 missing, 4 unknown. @param {number} cell */
  state(cell) {
    return this.codes[cell] & 7;
  }

  /** 0 none, 1 info, 2 warning, 3 critical. @param {number} cell */
  severity(cell) {
    return (this.codes[cell] >> 3) & 3;
  }

  /** @param {number} cell */
  muted(cell) {
    return (this.codes[cell] & 32) !== 0;
  }

  /** @param {number} cell */
  hostOf(cell) {
    return Math.floor(cell / this.perHost);
  }

  /** @param {number} cell */
  railOf(cell) {
    return this.rails[Math.floor((cell % this.perHost) / this.planes)] ?? "none";
  }

  /** @param {number} host */
  podOf(host) {
    return this.pods.find((pod) => host < pod.first + pod.hosts)?.name ?? "";
  }

  /**
   * The cells of a host on a rail, over its planes.
   * @param {string} name
   * @param {number | null} rail
   * @returns {number[]}
   */
  of(name, rail) {
    this.index ??= new Map(this.hosts.map((host, at) => [host, at]));
    const host = this.index.get(name);
    if (host === undefined) return [];
    const at = rail === null ? -1 : this.rails.indexOf(rail);
    const [first, many] = at < 0 ? [0, rail === null ? this.perHost : 0] : [at * this.planes, this.planes];
    return Array.from({ length: many }, (_, i) => host * this.perHost + first + i);
  }

  /**
   * Takes a round's changes; those cells that look different now.
   * @param {Array<[number, number]>} changes
   * @returns {number[]}
   */
  take(changes) {
    const fresh = changes.filter(([cell, code]) => this.codes[cell] !== code).map(([cell]) => cell);
    for (const [cell, code] of changes) this.codes[cell] = code;
    if (fresh.length) this.packed = null;
    return fresh;
  }

  /** How many cells are in each state. @returns {number[]} */
  counts() {
    const found = [0, 0, 0, 0, 0, 0, 0, 0];
    for (const code of this.codes) found[code & 7] += 1;
    return found.slice(0, STATES.length);
  }

  /**
   * The next cell that is not right, from `cell` in the direction of `step`; -1 where there is none.
   * @param {number} cell
   * @param {1 | -1} step
   */
  next(cell, step) {
    for (let i = 1; i <= this.length; i++) {
      const at = (cell + step * i + this.length * 2) % this.length;
      if (this.state(at) > RIGHT) return at;
    }
    return -1;
  }

  /**
   * Hosts with a cable that is not right, at most so many.
   * @param {number} most
   * @returns {{hosts: number[], all: number}}
   */
  broken(most) {
    const hosts = [];
    let all = 0;
    for (let host = 0; host < this.hosts.length; host++) {
      const first = host * this.perHost;
      for (let cell = first; cell < first + this.perHost; cell++) {
        if (this.state(cell) <= RIGHT) continue;
        all += 1;
        if (hosts.length < most) hosts.push(host);
        break;
      }
    }
    return { hosts, all };
  }

  /** The cause of a cell in words; empty without one. @param {number} cell */
  causeWords(cell) {
    const cause = this.causeOf(cell);
    return cause === 0 ? "" : cause === 255 ? "explained by a later cause" : `cause ${cause}`;
  }

  /** A cell in words. @param {number} cell */
  summary(cell) {
    const severity = SEVERITIES[this.severity(cell)];
    const plane = this.planes > 1 ? ` plane ${cell % this.planes}` : "";
    return `${this.hosts[this.hostOf(cell)]} rail ${this.railOf(cell)}${plane}: ${this.words[this.state(cell)]}${severity ? `, ${severity}` : ""}${this.muted(cell) ? ", muted" : ""}${this.causeOf(cell) ? `, ${this.causeWords(cell)}` : ""}`;
  }
}

/** @param {string} packed base64 */
function bytes(packed) {
  return Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
}
