// The fabric map: one canvas as large as what is in sight, over a scrolled height; pointer, wheel, keys, words.

import { el } from "./dom.js";
import { arrow } from "./keys.js";
import { cellAt, fit, NAMED, placeOf, roomy, STEPS } from "./layout.js";
import { paint } from "./paint.js";
import { palette } from "./shapes.js";
import { Tip } from "./tip.js";

const FRESH_FOR = 4000;

/** Draws `Cells` into a node. Calls `open(host name)` when one is chosen. */
export class FabricMap {
  /** @param {HTMLElement} node @param {(host: string) => void} open */
  constructor(node, open) {
    this.node = node;
    this.open = open;
    this.canvas = el(
      "canvas",
      {
        tabindex: "0",
        role: "application",
        "aria-roledescription": "fabric map",
        "aria-label": "Fabric map. Arrow keys move, n moves to the next cable that is not right, Enter opens the host.",
      },
    );
    this.ctx = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    this.space = el("div.space", null, this.canvas);
    this.said = el("p.hidden", { "aria-live": "polite" });
    this.tip = new Tip(node);
    /** @type {import("./cells.js").Cells | null} */ this.cells = null;
    /** @type {import("./layout.js").Layout | null} */ this.layout = null;
    /** @type {Set<number> | null} */ this.only = null;
    /** @type {Set<number> | null} */ this.lit = null;
    /** @type {Set<number>} */ this.fresh = new Set();
    this.coloured = false;
    this.arranged = () => {};
    this.focus = -1;
    this.wanted = 0;
    this.asked = 0;
    this.colours = palette(node);
    node.replaceChildren(this.space, this.said, this.tip.node);
    this.listen();
  }

  listen() {
    const { node, canvas } = this;
    new ResizeObserver(() => this.arrange()).observe(node);
    node.addEventListener("scroll", () => this.draw(), { passive: true });
    node.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => this.hover(this.at(event), event));
    canvas.addEventListener("pointerleave", () => this.tip.hide());
    canvas.addEventListener("click", (/** @type {PointerEvent} */ event) => this.choose(this.at(event)));
    canvas.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.key(event));
    for (const kind of ["focus", "blur"]) canvas.addEventListener(kind, () => this.draw());
    addEventListener("truerail:theme", () => this.recolour());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour());
  }

  recolour() {
    this.colours = palette(this.node);
    this.draw();
    this.arranged();
  }

  /** Other cells, all of them. @param {import("./cells.js").Cells} cells */
  show(cells) {
    const same = this.cells?.digest === cells.digest && this.cells.length === cells.length;
    this.cells = cells;
    if (!same) this.focus = -1;
    this.node.classList.remove("loading");
    if (same) this.draw();
    else this.arrange();
  }

  /** Cells that look different now. @param {number[]} changed */
  refresh(changed) {
    for (const cell of changed) this.fresh.add(cell);
    setTimeout(() => {
      for (const cell of changed) this.fresh.delete(cell);
      this.draw();
    }, FRESH_FOR);
    this.draw();
  }

  arrange() {
    const { cells, node } = this;
    const [width, height] = [node.clientWidth - 2, node.clientHeight - 2];
    if (!cells || width < 20) return;
    const name = this.nameWidth();
    const whole = fit(cells, width, height, name);
    this.layout = this.wanted > whole.size ? roomy(cells, width, this.wanted, name) : whole;
    this.space.style.height = `${Math.max(height, this.layout.height)}px`;
    const scale = devicePixelRatio || 1;
    [this.canvas.width, this.canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    this.ctx.setTransform(scale, 0, 0, scale, 0, 0);
    this.paintNow();
    this.arranged();
  }

  /** The longest name, by its letters: they are all alike in width. */
  nameWidth() {
    let longest = 0;
    for (const name of this.cells?.hosts ?? []) longest = Math.max(longest, name.length);
    this.ctx.font = `11.5px ${this.colours.font}`;
    return Math.min(150, this.ctx.measureText("0").width * longest + 14);
  }

  draw() {
    this.asked ||= requestAnimationFrame(() => this.paintNow());
  }

  paintNow() {
    cancelAnimationFrame(this.asked);
    this.asked = 0;
    const { ctx, cells, layout, colours, only, lit, fresh, focus, node, coloured } = this;
    if (!cells || !layout) return;
    const focused = document.activeElement === this.canvas;
    const sight = { top: node.scrollTop, width: node.clientWidth, height: node.clientHeight };
    paint({ ctx, cells, layout, colours, only, lit, fresh, coloured, focus, focused, ...sight });
  }

  /** The cell under the pointer. @param {{offsetX: number, offsetY: number}} event */
  at({ offsetX, offsetY }) {
    return this.layout && this.cells ? cellAt(
      this.layout,
      offsetX,
      offsetY + this.node.scrollTop,
      this.cells.perHost,
    ) : -1;
  }

  /** @param {number} cell @param {PointerEvent} event */
  hover(cell, event) {
    this.canvas.classList.toggle("over", cell >= 0);
    if (cell < 0 || !this.cells) this.tip.hide();
    else this.tip.show(this.cells, cell, event.clientX, event.clientY);
  }

  /** @param {number} cell */
  choose(cell) {
    if (cell < 0 || !this.cells) return;
    this.focus = cell;
    this.open(this.cells.hosts[this.cells.hostOf(cell)]);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!this.cells || !this.layout || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter") this.choose(this.focus);
    else if (event.key === "+" || event.key === "-" || event.key === "0") this.resize({ "+": 1, "-": -1, 0: 0 }[event.key] ?? 0);
    else {
      const next = arrow(event.key, this.focus, this.cells, this.layout);
      if (next === null) return;
      this.move(next);
    }
    event.preventDefault();
  }

  /** Puts the focus on a cell, into sight, and says it. @param {number} cell */
  move(cell) {
    if (cell < 0 || !this.cells || !this.layout) return;
    this.focus = cell;
    const { x, y } = placeOf(this.layout, cell, this.cells.perHost);
    const { scrollTop, clientHeight } = this.node;
    if (y < scrollTop + 30 || y > scrollTop + clientHeight - 30) this.node.scrollTop = y - clientHeight / 2;
    this.said.textContent = this.cells.summary(cell);
    const box = this.canvas.getBoundingClientRect();
    this.tip.show(
      this.cells,
      cell,
      box.left + x + this.layout.size,
      box.top + y - this.node.scrollTop + this.layout.size,
    );
    this.draw();
  }

  /**
   * Larger, smaller, or everything in sight (0); what is at the pointer or the focus stays there.
   * @param {number} step
   * @param {number} [anchor] cell
   */
  resize(step, anchor = this.focus) {
    const size = this.layout?.size ?? 0;
    const larger = STEPS.find((one) => one > size) ?? STEPS[STEPS.length - 1];
    const smaller = [...STEPS].reverse().find((one) => one < size) ?? 0;
    this.wanted = step > 0 ? larger : step < 0 ? smaller : 0;
    this.arrange();
    if (anchor >= 0 && this.cells && this.layout) this.node.scrollTop = placeOf(this.layout, anchor, this.cells.perHost).y - this.node.clientHeight / 2;
    this.draw();
    return (this.layout?.size ?? 0) >= NAMED;
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.resize(event.deltaY < 0 ? 1 : -1, this.at(event));
  }
}
