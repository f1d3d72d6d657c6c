// Elements out of values. Text is only ever set as text: nothing that a device said becomes markup.

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | number | null | undefined | false | Child[]} Child */

/**
 * An HTML element. Attributes that are null or false are left out; `on` holds listeners by event.
 * @param {string} tag `div`, or `div.card.wide`
 * @param {Record<string, any> | null} [attributes]
 * @param {...Child} children
 * @returns {any}
 */
export function el(tag, attributes, ...children) {
  const [name, ...classes] = tag.split(".");
  return filled(document.createElement(name), classes, attributes, children);
}

/**
 * An SVG element, as `el`.
 * @param {string} tag
 * @param {Record<string, any> | null} [attributes]
 * @param {...Child} children
 * @returns {any}
 */
export function svg(tag, attributes, ...children) {
  const [name, ...classes] = tag.split(".");
  return filled(document.createElementNS(SVG, name), classes, attributes, children);
}

/** @param {Element} node @param {string[]} classes @param {any} attributes @param {Child[]} children */
function filled(node, classes, attributes, children) {
  if (classes.length) node.setAttribute("class", classes.join(" "));
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "on") for (const [event, heard] of Object.entries(value)) node.addEventListener(event, /** @type {any} */ (heard));
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  append(node, children);
  return node;
}

/** @param {Element} node @param {Child[]} children */
function append(node, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(node, child);
    else if (child !== null && child !== undefined && child !== false && child !== "") node.append(child instanceof Node ? child : String(child));
  }
}

/**
 * What stands in a node, again. The focus, opened details and typed words stay where they were, by `data-key`.
 * @param {Element} node
 * @param {...Child} children
 */
export function redraw(node, ...children) {
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  const key = focused && node.contains(focused) ? focused.dataset.key : undefined;
  const open = new Set(
    [...node.querySelectorAll("details[open][data-key]")].map((one) => /** @type {HTMLElement} */ (one).dataset.key)
  );
  node.replaceChildren();
  append(node, children);
  for (const one of node.querySelectorAll("details[data-key]")) if (open.has(/** @type {HTMLElement} */ (one).dataset.key)) one.setAttribute("open", "");
  if (key) /** @type {HTMLElement | null} */ (
    node.querySelector(`[data-key="${CSS.escape(key)}"]`)
  )?.focus({ preventScroll: true });
}

/** @param {string} id @returns {any} */
export function byId(id) {
  return document.getElementById(id);
}
