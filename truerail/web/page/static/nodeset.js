// Names folded as node sets: gpu-[001-004,009].

/**
 * Names in order, with runs of numbers folded.
 * @param {string[]} names
 * @returns {string}
 */
export function folded(names) {
  /** @type {Map<string, {head: string, tail: string, numbers: string[]}>} */ const kinds = new Map();
  for (const name of new Set(names)) {
    const [, head, digits, tail] = /^(.*?)(\d*)(\D*)$/s.exec(name) ?? ["", name, "", ""];
    const key = `${head}\0${tail}\0${digits.length}`;
    const kind = kinds.get(key) ?? { head, tail, numbers: [] };
    kinds.set(key, kind);
    kind.numbers.push(digits);
  }
  return [...kinds.values()].map(kindOf).join(",");
}

/** @param {{head: string, tail: string, numbers: string[]}} kind */
function kindOf({ head, tail, numbers }) {
  if (numbers.length === 1) return `${head}${numbers[0]}${tail}`;
  const sorted = numbers.sort((one, other) => Number(one) - Number(other));
  /** @type {string[][]} */ const runs = [];
  for (const number of sorted) {
    const run = runs[runs.length - 1];
    if (run && Number(run[run.length - 1]) + 1 === Number(number)) run.push(number);
    else runs.push([number]);
  }
  const reported = runs.map((run) => (run.length > 1 ? `${run[0]}-${run[run.length - 1]}` : run[0]));
  return `${head}[${reported.join(",")}]${tail}`;
}
