"""One device: a host with its rails from GPU to uplinks, or a switch with its front panel; and the list of ports."""

from dataclasses import dataclass, fields
from datetime import datetime

import numpy as np

from truerail.analysis.cabling import State
from truerail.analysis.published import Published
from truerail.errors import NotFoundError, QueryError
from truerail.model.columns import NONE, Codes, Mask
from truerail.model.finding import Finding
from truerail.model.history import History, NoHistory
from truerail.model.life import MuteKind
from truerail.model.names import printable
from truerail.views.commands import command_of
from truerail.views.findings import severity_of
from truerail.views.lines import (
    STATES,
    cable_paths,
    cause_lines,
    end_of_device,
    finding_lines_of,
    journal_or,
    place_of,
    state_count,
    uplinks_of,
)
from truerail.views.list_rows import RowList, findings_on_ports, on_nodes, on_words, severity_on_ports, states
from truerail.views.pieces import CablePath, CauseLine, End, FindingLine, StateCount, Uplinks
from truerail.views.view import View, view_of

_STATES = [*STATES.values(), ""]
FACING = ("down", "up", "free")


@dataclass(frozen=True, slots=True)
class ReadingLine:
    """The result of one collector on one device."""

    collector: str
    at: datetime
    took_seconds: float
    source: str
    """The command, or the file with the answer."""
    command: str
    """The command for which the file is named; empty for another file."""
    error: str


@dataclass(frozen=True, slots=True)
class PanelPort:
    """A port of a switch's front panel. `peer_planned` and `peer_seen` are `device/port`; `facing` is `down` (hosts),
    `up`, or `free`.
    """

    port: str
    facing: str
    rail: int | None
    plane: int | None
    peer_planned: str | None
    peer_actual: str | None
    state: str | None
    """A `CableState` word; None for a port without a planned cable."""
    link: str | None
    severity: str | None
    findings: tuple[str, ...]
    """Ids."""
    subject: str | None
    """The subject of the cable itself (its nearer end)."""


@dataclass(frozen=True, slots=True)
class DeviceView:
    """One device: a host with its rails from GPU to uplinks, or a switch with its front panel."""

    device: End
    platform: str
    address: str
    read: bool
    count: StateCount
    paths: tuple[CablePath, ...]
    """A host's cables, in order of rails and planes; empty for a switch."""
    panel: tuple[PanelPort, ...]
    """A switch's ports in their natural order; empty for a host."""
    uplinks: tuple[Uplinks, ...]
    findings: tuple[FindingLine, ...]
    causes: tuple[CauseLine, ...]
    readings: tuple[ReadingLine, ...]
    maintenance: str | None
    """Reason of an open maintenance window on the device."""


def device_view(publication: Published, name: str, history: History | None = None) -> DeviceView:
    """Everything about a planned device, by any spelling of its name. Raises `NotFoundError` with the nearest name."""
    view, history = view_of(publication), history or NoHistory()
    code = view.device(name.strip())
    if not view.is_planned(code):
        raise NotFoundError(f"the plan has no device {printable(name, 80)!r}{view.nearest.hint(name.strip())}")
    device, host = view.layout.devices[code], view.index.devices.is_host(code)
    findings = view.findings_of(code)
    ports, switch = view.sight.switch_ports
    cables = view.layout.host_cables_of(code) if host else view.layout.cables_of(code)[:0]
    return DeviceView(
        device=end_of_device(view, code),
        platform=device.platform,
        address=device.address,
        read=bool(view.wiring.read[code]),
        count=state_count(view.sight.counts[code]),
        paths=cable_paths(view, cables, history),
        panel=() if host else tuple(_panel_port(view, port) for port in ports[switch == code].tolist()),
        uplinks=uplinks_of(view, code),
        findings=finding_lines_of(view, findings),
        causes=cause_lines(view, view.causes_of(findings, (device.name,))),
        readings=_asked(view, code),
        maintenance=_maintenance(view, code, findings, history),
    )


def _asked(view: View, code: int) -> tuple[ReadingLine, ...]:
    """The result of each collector on the device, by the collector's name; none as of a time."""
    if view.hindsight is not None:
        return ()
    readings = sorted(view.sight.readings.get(code, ()), key=lambda reading: (reading.collector, reading.at))
    asked = ((one, command_of(one.collector, one.source), printable(one.error, 400)) for one in readings)
    return tuple(ReadingLine(r.collector, r.at, r.took_seconds, r.source, command, why) for r, command, why in asked)


def _maintenance(view: View, code: int, findings: list[Finding], history: History) -> str | None:
    """The reason of an open maintenance window on the device: from the history, or from a muted finding on it."""
    mutes = (view.mutes.get(finding.id) for finding in findings)
    reported = next((mute.reason for mute in mutes if mute and mute.kind is MuteKind.MAINTENANCE), None)
    if reported is not None:
        return reported
    windows = journal_or(history.windows, ())
    whole = (w for w in windows if w.covers(view.at) and w.scope in ("device", "nodes", "pod"))  # a rail is its cables
    return next((w.reason for w in whole if devices_covered(view, w.scope, w.what)[code]), None)


def devices_covered(view: View, scope: str, what: str) -> Mask:
    """The devices in a scope. Shape (devices + 1,): the last is for a cable end without a device."""
    found = np.zeros(len(view.index.devices.names) + 1, dtype=bool)
    if scope == "pod":
        found[: len(view.layout.devices)] = [device.pod == what for device in view.layout.devices]
        return found
    try:
        codes = [view.device(name) for name in view.expand(what)]
    except QueryError:
        codes = []
    found[[code for code in codes if view.is_planned(code)]] = True
    return found


@dataclass(frozen=True, slots=True)
class PortLine(PanelPort):
    """A switch's port as a row of a list."""

    device: str


def _of_cable(view: View, values: Codes) -> Codes:
    """A value of the cable planned at each port of `switch_ports`; -1 for a free port. Shape (ports,)."""
    return np.asarray(np.append(values, NONE)[view.index.cables_at(view.sight.switch_ports[0])], dtype=np.int64)


def _port_line(view: View, row: int) -> PortLine:
    port = int(view.sight.switch_ports[0][row])
    one = _panel_port(view, port)
    reported = {field.name: getattr(one, field.name) for field in fields(one)}
    return PortLine(**reported, device=view.index.spell(port).device)


def _panel_port(view: View, port: int) -> PanelPort:
    index, cable = view.index, int(view.index.cables_at(np.array([port]))[0])
    name = index.spell(port)
    subject = str(view.plan.cables[cable].a) if cable >= 0 else str(name)
    findings = view.findings_on((subject, str(name)))
    _, rail, plane, peer = place_of(view, port)
    return PanelPort(
        port=name.name,
        facing=FACING[int(facing_of(view, np.array([port]))[0])],
        rail=rail,
        plane=plane,
        peer_planned=peer,
        peer_actual=_peer_seen(view, port),
        state=STATES[State(int(view.wiring.state[cable]))] if cable >= 0 else None,
        link=view.nics.link_state(port),
        severity=severity_of(max((finding.severity.rank for finding in findings), default=NONE)),
        findings=tuple(finding.id for finding in findings),
        subject=subject if cable >= 0 else None,
    )


def facing_of(view: View, ports: Codes) -> Codes:
    """The direction of ports, as indices of `FACING`. Shape of `ports`."""
    cable = view.index.cables_at(ports)
    up = view.index.a_device[cable] == view.index.ports.device_of(ports)
    return np.where(cable < 0, 2, np.where(up, 1, 0))


def _peer_seen(view: View, port: int) -> str | None:
    """`device/port` at the other end; the device alone if its port is unknown; None if nothing is heard."""
    partner, heard = int(view.wiring.partner[port]), int(view.wiring.heard[port])
    if partner >= 0:
        return str(view.index.spell(partner))
    return view.index.devices.names[heard] if heard >= 0 else None


port_lines = RowList(
    order=lambda view: np.arange(len(view.sight.switch_ports[0])),
    filters={
        "nodes": lambda view, text: on_nodes(view, text, view.sight.switch_ports[1]),
        "facing": lambda view, text: on_words(
            "facing", text, FACING, FACING, facing_of(view, view.sight.switch_ports[0])
        ),
        "state": lambda view, text: on_words("state", text, _STATES, _STATES, _of_cable(view, view.wiring.state)),
    },
    line=_port_line,
    keys={
        "device": lambda view: view.layout.rank[view.sight.switch_ports[1]],
        "port": lambda view: np.arange(len(view.sight.switch_ports[0])),
        "facing": lambda view: facing_of(view, view.sight.switch_ports[0]),
        "rail": lambda view: _of_cable(view, view.layout.rail),
        "plane": lambda view: _of_cable(view, view.layout.plane),
        "state": lambda view: _of_cable(view, states(view)),
        "severity": severity_on_ports,
        "findings": findings_on_ports,
    },
    words=lambda view: view.sight.port_words,
)
"""Ports of switches, tier by tier, each switch in natural order. `facing` is `down` (hosts), `up` or `free`, `state`
that of the planned cable.
"""
