// The marks of Markdown that the rules' own pages use, as elements: a test finds the same in each as markdown-it-py does.
// Rendered on the server they would have to come as markup, which no script here makes of text, or as a tree of 90 kB of
// all rules with each finding's page.

import { el } from "./dom.js";

/** @param {string} text @returns {any[]} */
export function prose(text) {
  return text.split(/\n{2,}/).map((block) => block.trim()).filter(Boolean).map(paragraph);
}

/** @param {string} block */
function paragraph(block) {
  const head = /^#{1,6} (.*)$/.exec(block);
  if (head) return el("h3", null, head[1]);
  const lines = block.split("\n");
  if (/^[-*] /.test(block)) return el("ul", null, block.split(/\n(?=[-*] )/).map((item) => el("li", null, inline(item.slice(2).replace(/\s*\n\s*/g, " ")))));
  if (block.startsWith("```")) return el("pre.raw", null, lines.filter((line) => !line.startsWith("```")).join("\n"));
  if (lines.length > 1 && /^#{1,6} /.test(lines[0])) return [paragraph(lines[0]), paragraph(lines.slice(1).join("\n"))];
  return el("p", null, inline(lines.join(" ")));
}

/** @param {string} text */
function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) =>
    part.startsWith("`") ? el("code", null, part.slice(1, -1)) : part.startsWith("**") ? el("b", null, part.slice(2, -2)) : part);
}
