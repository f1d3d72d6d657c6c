// What is a switch's own: its front panel, and the ports behind it as a table.

import { el } from "./dom.js";
import { card, stateChip, table } from "./lines.js";
import { finding, portLink } from "./links.js";
import { wide } from "./wide.js";
import { count, GLYPHS } from "./words.js";

const IN_A_ROW = 32;

/** @param {any} view DeviceView */
export function switchBody({ panel, uplinks, device }) {
  const ups = uplinks.filter((/** @type {any} */ up) => up.planned);
  return [
    el("section.card", { "aria-label": "Front panel" },
      el(
        "header",
        null,
        el("h2", null, "Front panel"),
        el(
          "p.legend",
          null,
          el("span.jack.key.right.up"),
          "uplink",
          el("span.jack.key.free"),
          "nothing planned",
          ["right", "wrong", "missing", "unknown"].map((state) => stateChip(state)),
        ),
      ),
      wide("Front panel", "", lines(panel).map((line) => el("div.panel", null, line.map(jack)))),
      ups.length ? el("p.pad.soft", null, `Uplinks right: `, ups.map((/** @type {any} */ up) => el("span.above", null, portLink(up.switch, "spine"), ` ${up.right} of ${up.planned}`))) : null),
    card(`Ports of ${device.device}`, portTable(panel)),
  ];
}

/**
 * Ports as on the box, in lines of two rows: those with the commonest name first, management and others behind.
 * @param {any[]} panel
 */
function lines(panel) {
  /** @type {Map<string, any[]>} */ const kinds = new Map();
  for (const port of panel) {
    const kind = port.port.slice(0, Math.max(0, port.port.search(/\d/)));
    const same = kinds.get(kind) ?? [];
    kinds.set(kind, same);
    same.push({ ...port, short: port.port.slice(kind.length) });
  }
  const [most = [], ...others] = [...kinds.values()].sort((one, other) => other.length - one.length);
  const rest = others.flat().map((port) => ({ ...port, short: port.port }));
  return [...chunks(most), ...chunks(rest)];
}

/** @param {any[]} ports */
function chunks(ports) {
  return Array.from(
    { length: Math.ceil(ports.length / (2 * IN_A_ROW)) },
    (_, i) => ports.slice(2 * IN_A_ROW * i, 2 * IN_A_ROW * (i + 1)),
  );
}

/** @param {any} port PanelPort with `short` */
function jack(port) {
  const state = port.state ?? (port.facing === "free" && !port.peer_actual ? "free" : "wrong");
  const peer = port.peer_actual ?? port.peer_planned;
  const summary = `${port.port}: ${port.state ?? "nothing planned"}${port.rail === null ? "" : `, rail ${port.rail}`}${peer ? `, ${peer}` : ""}`;
  return el(`a.jack.${state}${port.facing === "up" ? ".up" : ""}`, {
    href: `#${encodeURIComponent(port.port)}`,
    title: summary,
    "aria-label": summary,
  },
    el("small", null, port.short), el("b", { "aria-hidden": "true" }, GLYPHS[/** @type {"right"} */ (state)] ?? ""));
}

/** @param {any[]} panel */
function portTable(panel) {
  const loud = panel.filter((port) => port.state !== "right" && (port.state || port.peer_actual));
  const quiet = panel.filter((port) => !loud.includes(port));
  return [
    loud.length ? rows(loud) : el("p.soft.pad", null, "All planned cables of this switch are right."),
    quiet.length ? el(
      "details.folded",
      { "data-key": "quiet", open: panel.length <= 40 || location.hash.length > 1 },
      el("summary", null, `${count(quiet.length, "other port")}`),
      rows(quiet),
    ) : null,
  ];
}

/** @param {any[]} ports */
function rows(ports) {
  return table(["Port", "Faces", "Rail", "State", "Planned", "Actual", "Link", "Findings"], ports.map((port) => [
    el("span.port", { id: port.port }, port.port), { down: "hosts", up: "up", free: "" }[/** @type {"up"} */ (port.facing)] ?? port.facing, port.rail ?? "", stateChip(port.state),
    port.peer_planned ? portLink(
      port.peer_planned,
      port.facing === "down" ? "host" : "spine",
    ) : el("span.soft", null, "nothing"),
    port.peer_actual ? portLink(port.peer_actual) : el("span.soft", null, "nothing"), port.link ?? el("span.soft", null, "not reported"),
    port.findings.map((/** @type {string} */ id, /** @type {number} */ i) => [i ? ", " : "", el(`a.${port.severity ?? "info"}`, { href: finding(id) }, id)])]));
}
