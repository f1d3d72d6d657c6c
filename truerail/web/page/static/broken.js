// The list behind the map: hosts with cables that are not right, as a table, for readers who cannot see the canvas.

import { el } from "./dom.js";
import * as links from "./links.js";
import { count, figure, GLYPHS, STATES } from "./words.js";

const MOST = 300;

/** @param {import("./cells.js").Cells} cells */
export function brokenHosts(cells) {
  const { hosts, all } = cells.broken(MOST);
  const caption = `${count(all, "host")} with cables not right`;
  if (!all) return {
    caption: "All cables of hosts are right",
    body: () => el("p.soft", null, "All planned cables of all hosts are right."),
  };
  const heads = cells.rails.flatMap(
    (rail) => Array.from(
      { length: cells.planes },
      (_, plane) => (cells.planes > 1 ? `${rail ?? "–"}.${plane}` : `${rail ?? "–"}`),
    )
  );
  const body = () => el("div.scroll", null, el("table.matrix", null, el("caption.hidden", null, `${caption}, by rail`),
    el(
      "thead",
      null,
      el(
        "tr",
        null,
        el("th", { scope: "col" }, "Host"),
        heads.map((head) => el("th", { scope: "col" }, el("span.hidden", null, "rail "), head)),
      ),
    ),
    el("tbody", null, hosts.map((host) => row(cells, host)))), all > hosts.length ? el("p.soft", null, `and ${figure(all - hosts.length)} more.`) : null);
  return { caption, body };
}

/** @param {import("./cells.js").Cells} cells @param {number} host */
function row(cells, host) {
  const name = cells.hosts[host];
  const first = host * cells.perHost;
  return el("tr", null, el(
    "th",
    { scope: "row" },
    el("a.port", { href: links.thing(name), "data-key": `broken-${name}` }, name),
  ),
    Array.from({ length: cells.perHost }, (_, at) => {
      const state = /** @type {"right"} */ (STATES[cells.state(first + at)]);
      return el(
        "td",
        null,
        el(
          `span.cell.${state}`,
          null,
          el("span", { "aria-hidden": "true" }, GLYPHS[state]),
          el("span.hidden", null, state),
        ),
      );
    }));
}
