// Where devices stand: rack and unit, for the ends of cables.

import { get } from "./api.js";

const AT_ONCE = 200;

/** @type {Map<string, any>} */
const known = new Map();

/**
 * The devices of some ports by their names.
 * @param {Array<string | null>} ports
 * @returns {Promise<Map<string, any>>}
 */
export async function places(ports) {
  const names = [
    ...new Set(ports.filter(Boolean).map((port) => String(port).split("/", 1)[0])),
  ].filter((name) => !known.has(name));
  for (let i = 0; i < names.length; i += AT_ONCE) {
    const { items } = await get(
      "devices",
      { nodes: names.slice(i, i + AT_ONCE).join(","), limit: AT_ONCE },
    ).catch(() => ({ items: [] }));
    for (const device of items) known.set(device.device, device);
  }
  return known;
}
