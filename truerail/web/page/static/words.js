// The words and marks of the page.

/** The marks of cable states, as in every report. */
export const GLYPHS = Object.freeze({ none: "", right: "·", wrong: "✗", missing: "○", unknown: "?" });
export const STATES = Object.freeze(["none", "right", "wrong", "missing", "unknown"]);
export const SEVERITIES = Object.freeze(["", "info", "warning", "critical"]);
export const TONES = Object.freeze({ good: "✓", doubt: "?", bad: "✗" });

const numbers = new Intl.NumberFormat("en");

/** @param {number} number @returns {string} */
export function figure(number) {
  return numbers.format(number);
}

/** @param {number} number @param {string} one @param {string} [many] */
export function count(number, one, many) {
  return `${figure(number)} ${number === 1 ? one : many ?? `${one}s`}`;
}

/** A kind of cause or step as words: `pfc-storm` is a PFC storm. @param {string} kind */
export function kindWords(kind) {
  return kind.replaceAll("-", " ").replace(/\b(ecmp|gpu|nic|pfc)\b/g, (word) => word.toUpperCase());
}

/** A confidence or share, never rounded up to certainty. @param {number | null} share */
export function percent(share) {
  if (share === null || share === undefined) return "unknown";
  const floored = Math.floor(share * 1000) / 10;
  return `${floored >= 99 && floored < 100 ? floored : Math.floor(floored)} %`;
}

/** A share of something, to a tenth of a percent. @param {number} share */
export function portion(share) {
  return `${Math.round(share * 1000) / 10} %`;
}

/** With a capital in front, never on a name, and a full stop. @param {string} text */
export function sentence(text) {
  const first = text.split(" ", 1)[0];
  const begun = /^[a-z]+$/.test(first) ? text[0].toUpperCase() + text.slice(1) : text;
  return !begun || ".!?…:".includes(begun[begun.length - 1]) ? begun : `${begun}.`;
}

/** The first sentence, and the others. @param {string} text @returns {[string, string]} */
export function firstSentence(text) {
  const end = text.search(/[.!?] [A-Z]/);
  return end < 0 ? [text, ""] : [text.slice(0, end + 1), text.slice(end + 2)];
}
