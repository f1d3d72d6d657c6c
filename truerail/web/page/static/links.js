// Where things are shown.

import { el } from "./dom.js";
import { piece } from "./api.js";

/**
 * A device's page. Its role, where it is known, spares a detour.
 * @param {string} name
 * @param {string | null} [role]
 */
export function thing(name, role) {
  const device = name.split("/", 1)[0];
  return `/${role && role !== "host" ? "switches" : "hosts"}/${piece(device)}`;
}

/** @param {string} id */
export const finding = (id) => `/findings/${piece(id)}`;

/** @param {string} key */
export const cause = (key) => `/causes/${piece(key)}`;

/** Kinds of causes that names alone may repair. */
const BY_NAMES = new Set(["leaf-swap", "host-swap", "gpu-nic-order"]);

/**
 * The names to change, as text; null for a cause that names alone do not repair.
 * @param {string} kind @param {boolean} moved whether a cable has to move @param {string} key of the cause
 */
export function changes(kind, moved, key) {
  return moved || !BY_NAMES.has(kind) ? null : { words: "names to change", href: `/ask?${new URLSearchParams({ q: "repair-diff", cause: key })}` };
}

/** The pause tree that a port or device takes part in. @param {string} name */
export const storm = (name) => `/storm?of=${encodeURIComponent(name)}`;

/**
 * A device's dashboard in a Grafana, which the settings name.
 * @param {string} grafana @param {string} fabric @param {string} name @param {string} role
 */
export function dashboard(grafana, fabric, name, role) {
  const board = role === "host" ? "host" : "switch";
  return `${grafana}/d/truerail-${board}?${new URLSearchParams({ "var-fabric": fabric, [`var-${board}`]: name })}`;
}

/** A port or device as a link to its device. @param {string} name @param {string | null} [role] */
export function portLink(name, role) {
  return el("a.port", { href: thing(name, role) }, name);
}

/** `device/port` of an end. @param {any} end */
export function nameOf(end) {
  return end.port ? `${end.device}/${end.port}` : end.device;
}

/** `rack A03, unit 12`, as much as is known. @param {any} end */
export function placeOf(end) {
  return [
    end.rack ? `rack ${end.rack}` : "",
    end.unit === null || end.unit === undefined ? "" : `unit ${end.unit}`,
  ].filter(Boolean).join(", ");
}

/** `pp-1/3 (rack A03, unit 42) › pp-9/3`, the place of each panel once. @param {any[]} via */
export function pathText(via) {
  return via.map((end, at) => nameOf(end) + (placeOf(end) && end.device !== via[at - 1]?.device ? ` (${placeOf(end)})` : "")).join(" › ");
}

/** An end with its place below it. @param {any} end */
export function endLink(end) {
  const place = placeOf(end);
  return el("span.end", null, portLink(nameOf(end), end.role), place ? el("small", null, place) : null);
}
