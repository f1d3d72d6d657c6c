// What is a host's own: its rails, drawn from GPU to uplinks, and its NICs in figures.

import { el } from "./dom.js";
import { card, stateChip, table } from "./lines.js";
import { endLink, nameOf, pathText } from "./links.js";
import { railsDrawing } from "./rails.js";
import { agoOf } from "./times.js";
import { wide } from "./wide.js";

/** @param {any} view DeviceView */
export function hostBody({ paths }) {
  if (!paths.length) return card("Rails", el("p.soft.pad", null, "The plan has no cables for this host."));
  return [
    el("section.card", { "aria-label": "Rails" },
      el("header", null, el("h2", null, "Rails"),
        el("p.legend", null, el("span.key.planned"), "planned", el("span.key.now"), "actual", el("span.key.gap"), "missing", el("span.key.doubt"), "unknown")),
      wide("Rails", ".drawing", railsDrawing(paths))),
    el(
      "details.card.folded",
      { "data-key": "nics", open: paths.length <= 0 },
      el("summary", null, "NICs and cables"),
      pathTable(paths),
    ),
  ];
}

/** Every cable of some paths in figures. @param {any[]} paths CablePath */
export function pathTable(paths) {
  const rows = paths.map((path) => [
    path.rail === null ? "–" : `${path.rail}${path.plane === null ? "" : `.${path.plane}`}`,
    el("span.port", null, nameOf(path.a)), nic(path.nic),
    stateChip(path.state), el("span", null, endLink(path.planned), path.via.length ? el("small.soft.block", null, "via ", pathText(path.via)) : null),
    path.actual ? endLink(path.actual) : el("span.soft", null, "nothing"),
    el(
      "span",
      null,
      path.witnesses.length > 1 || path.verified === "other sources" ? path.witnesses.join(", ") : path.verified,
      el("small.soft.block", null, path.why),
    ), agoOf(path.since) ?? el("span.soft", null, "–"),
  ]);
  return table(["Rail", "Port", "NIC", "State", "Planned", "Actual", "Confirmed by", "Changed"], rows);
}

/** @param {any} nic Nic or null */
function nic(nic) {
  if (!nic) return el("span.soft", null, "not reported");
  const small = [
    nic.pci,
    nic.mac,
    nic.mtu ? `MTU ${nic.mtu}` : "",
    nic.speed_gbps ? `${nic.speed_gbps} Gb/s` : "",
  ].filter(Boolean).join(" · ");
  return el(
    "span",
    null,
    el("span.port", null, [nic.netdev, nic.rdma].filter(Boolean).join(" · ") || "–"),
    nic.link ? ` ${nic.link}` : "",
    el("small.soft.block", null, small),
  );
}
