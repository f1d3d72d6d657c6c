// A cause that the reader looks at is pointed out on the map.

import { get } from "./api.js";

const PAUSE = 120;
const MOST = 1000;

/** @param {import("./map.js").FabricMap} map @returns {(cause: any | null) => void} */
export function pointing(map) {
  let timer = 0;
  /** @type {Map<string, number[]>} */ const known = new Map();

  const cellsOf = async (/** @type {any} */ cause) => {
    const key = `${cause.key}:${cause.explains.length}`;
    const found = known.get(key) ?? (
      await get("findings", { cause: cause.key, limit: MOST })
    ).items.flatMap((/** @type {any} */ finding) => at(finding));
    known.set(key, found);
    return found;
  };
  const at = (/** @type {any} */ { subject, rail }) => {
    const [device] = subject.split("/", 1);
    return rail === null && subject !== device ? [] : map.cells?.of(device, rail) ?? [];
  };
  return (cause) => {
    clearTimeout(timer);
    timer = window.setTimeout(async () => {
      const cells = cause ? await cellsOf(cause).catch(() => []) : [];
      map.lit = cells.length ? new Set(cells) : null;
      map.draw();
    }, PAUSE);
  };
}
