// A storm as a tree of devices: the culprit, who waits for it, who waits for them; many alike are folded.

/**
 * A device in the tree, or several alike folded into one place (`many`), with the waits that lead to it.
 * @typedef {object} Branch
 * @property {string} device
 * @property {string | null} role
 * @property {"culprit" | "between" | "victim" | "more"} kind
 * @property {number} hops
 * @property {any[]} waits StormEdge
 * @property {string[]} many
 * @property {Branch[]} children
 */

/** How many are drawn at one place, by hops of the waits: those that wait, and those that pass the pause on. */
const ROOM = [{ ends: 8, passing: 6 }, { ends: 6, passing: 4 }, { ends: 3, passing: 3 }, { ends: 2, passing: 2 }];

/** The device of a port; empty where it is unknown. @param {string} port */
export const deviceOf = (port) => port.split("/", 1)[0];

/** The port's own name. @param {string} port */
export const portOf = (port) => port.slice(deviceOf(port).length + 1);

/** @param {any} tree StormTree @returns {Branch} */
export function branches(tree) {
  /** @type {Map<string, any[]>} */ const under = new Map();
  for (const edge of tree.edges) {
    const key = `${edge.hops} ${deviceOf(edge.on)}`;
    const same = under.get(key) ?? [];
    under.set(key, same);
    same.push(edge);
  }
  const nodes = new Map(tree.nodes.map((/** @type {any} */ node) => [node.device, node]));
  const first = tree.edges.find((/** @type {any} */ edge) => edge.hops === 1);
  const device = first ? deviceOf(first.on) : deviceOf(tree.culprit);
  /** @type {Branch} */
  const root = {
    device,
    role: nodes.get(device)?.role ?? null,
    kind: "culprit",
    hops: 0,
    waits: [],
    many: [],
    children: [],
  };
  grow(root, under, nodes, new Set([device]));
  return root;
}

/**
 * Puts under a device those that wait for it. One that was drawn already is named again, without what is under it.
 * @param {Branch} branch
 * @param {Map<string, any[]>} under
 * @param {Map<string, any>} nodes
 * @param {Set<string>} drawn
 */
function grow(branch, under, nodes, drawn) {
  /** @type {Map<string, any[]>} */ const groups = new Map();
  for (const edge of under.get(`${branch.hops + 1} ${branch.device}`) ?? []) {
    const device = deviceOf(edge.waiting);
    groups.set(device, [...(groups.get(device) ?? []), edge]);
  }
  const found = [...groups].map(([device, waits]) => ({ ...made(device, waits, nodes), fresh: !drawn.has(device) }));
  const passes = (/** @type {Branch} */ one) => under.has(`${one.hops + 1} ${one.device}`);
  const passing = found.filter((one) => one.fresh && passes(one));
  const ends = found.filter((one) => !passing.includes(one));
  const room = ROOM[Math.min(branch.hops, ROOM.length - 1)];
  const shown = loudest(passing, room.passing);
  for (const one of shown) drawn.add(one.device);
  for (const one of shown) grow(one, under, nodes, drawn);
  branch.children = [...folding(ends, room.ends), ...shown, ...rest(passing, shown)];
}

/** @param {string} device @param {any[]} waits @param {Map<string, any>} nodes @returns {Branch} */
function made(device, waits, nodes) {
  const node = nodes.get(device);
  return {
    device,
    role: node?.role ?? null,
    kind: node?.kind ?? "victim",
    hops: waits[0].hops,
    waits,
    many: [],
    children: [],
  };
}

/** @template {Branch} T @param {T[]} all @param {number} most @returns {T[]} */
function loudest(all, most) {
  if (all.length <= most) return all;
  const share = (/** @type {Branch} */ one) => Math.max(...one.waits.map((wait) => wait.share));
  const chosen = new Set([...all].sort((one, other) => share(other) - share(one)).slice(0, most));
  return all.filter((one) => chosen.has(one));
}

/** @param {Branch[]} ends @param {number} most @returns {Branch[]} */
function folding(ends, most) {
  const shown = ends.length <= most ? ends : loudest(ends, most - 1);
  return [...shown, ...rest(ends, shown)];
}

/** What is not shown, in one place. @param {Branch[]} all @param {Branch[]} shown @returns {Branch[]} */
function rest(all, shown) {
  const left = all.filter((one) => !shown.includes(one));
  if (!left.length) return [];
  const roles = new Set(left.map((one) => one.role));
  return [{
    device: "",
    role: roles.size === 1 ? left[0].role : null,
    kind: "more",
    hops: left[0].hops,
    waits: left.flatMap((one) => one.waits),
    many: left.map((one) => one.device),
    children: [],
  }];
}
