// The overview's picture of the fabric: verdict, states and map. It is drawn before anything else of the page loads.

import { carry } from "./asof.js";
import { byId, el, redraw } from "./dom.js";
import { Cells } from "./cells.js";
import { legend } from "./legend.js";
import { cause as causeUrl, thing } from "./links.js";
import { FabricMap } from "./map.js";
import { figure, GLYPHS, STATES, TONES } from "./words.js";

/** Draws map answers, and the changes of rounds. `changed` is called after each. */
export class Picture {
  constructor() {
    this.map = new FabricMap(byId("map"), (host) => location.assign(carry(thing(host))));
    /** @type {Set<number>} */
    this.only = new Set();
    this.changed = () => {};
    this.map.arranged = () => redraw(byId("legend"), legend(this.map));
    this.colour(new URLSearchParams(location.search).get("colour") === "cause");
    for (const by of ["state", "cause"]) byId(`by-${by}`).addEventListener("click", () => this.choose(by));
    for (const [id, step] of /** @type {const} */ ([["smaller", -1], ["fit", 0], ["larger", 1]])) byId(id).addEventListener("click", () => this.map.resize(step));
  }

  /** A map answer, all of it. @param {any} answer */
  whole(answer) {
    this.verdict(answer);
    if (this.map.cells?.same(answer)) return;
    this.map.show(new Cells(answer));
    if (!performance.getEntriesByName("truerail:map").length) performance.mark("truerail:map");
    this.states();
    this.changed();
  }

  /** Which cause explains which cell. @param {any} answer MapCauses */
  explained(answer) {
    this.map.cells?.explain(answer);
    this.map.draw();
    this.map.arranged();
  }

  /** Colours by state or by cause; the address says so. @param {string} by */
  choose(by) {
    this.colour(by === "cause");
    history.replaceState(null, "", carry(by === "cause" ? "?colour=cause" : location.pathname));
    this.map.draw();
    this.map.arranged();
  }

  /** @param {boolean} coloured */
  colour(coloured) {
    this.map.coloured = coloured;
    document.body.classList.toggle("by-cause", coloured);
    byId("by-cause").setAttribute("aria-pressed", String(coloured));
    byId("by-state").setAttribute("aria-pressed", String(!coloured));
  }

  /** What is different after a round. @param {any} round */
  round(round) {
    if (!this.map.cells) return;
    performance.clearMarks("truerail:round");
    performance.mark("truerail:round");
    this.map.refresh(this.map.cells.take(round.changed));
    this.verdict(round);
    this.states();
    this.changed();
  }

  /** @param {{tone: string, headline: string, repair: string, worst: string | null}} reported */
  verdict({ tone, headline, repair, worst }) {
    byId("verdict").className = `verdict ${tone}`;
    const first = worst ? el("a", { href: causeUrl(worst), "data-key": "worst" }, headline) : headline;
    this.say(TONES[/** @type {"good"} */ (tone)] ?? "?", first, repair);
  }

  /** Why there is nothing to see. @param {any} error */
  failed(error) {
    this.map.node.classList.remove("loading");
    this.say("…", error.title === "Not ready" ? "No evaluation yet" : "The map cannot be loaded", error.message);
  }

  /** @param {string} mark @param {string | Node} first @param {string} second */
  say(mark, first, second) {
    redraw(
      byId("verdict"),
      el("span.mark", { "aria-hidden": "true" }, mark),
      el("div", null, el("p", null, first), el("p.repair", null, second || "\u00a0")),
    );
  }

  /** The states as buttons: what is pressed is shown alone. */
  states() {
    const found = this.map.cells?.counts() ?? [];
    redraw(byId("states"), STATES.slice(1).map((state, i) => el(`button.chip.${state}`,
      {
        type: "button",
        "aria-pressed": String(this.only.has(i + 1)),
        "data-key": `state-${state}`,
        on: { click: () => this.toggle(i + 1) },
      },
      el("b", { "aria-hidden": "true" }, GLYPHS[/** @type {"right"} */ (state)]), ` ${state} `, el("span.figure", null, figure(found[i + 1] ?? 0)))));
  }

  /** @param {number} code */
  toggle(code) {
    if (!this.only.delete(code)) this.only.add(code);
    this.map.only = this.only.size ? this.only : null;
    this.states();
    this.map.draw();
  }
}
