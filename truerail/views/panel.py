"""The front panels of switches: their ports, planned and actual."""

from dataclasses import dataclass, fields

import numpy as np

from truerail.analysis.cabling import State
from truerail.analysis.published import Published
from truerail.model.columns import NONE, Codes
from truerail.model.finding import Finding, Severity
from truerail.views.filters import Part, on_nodes, on_words, part, rows_of
from truerail.views.lines import STATES
from truerail.views.models import PanelPort
from truerail.views.sorting import (
    Keys,
    arranged,
    findings_on_ports,
    severity_on_ports,
    states,
    with_text,
)
from truerail.views.view import View, view_of

FACING = ("down", "up", "free")


@dataclass(frozen=True, slots=True)
class PortLine(PanelPort):
    """A switch's port as a row of a list."""

    device: str


PORT_KEYS: Keys = {
    "device": lambda view: view.layout.rank[view.sight.switch_ports[1]],
    "port": lambda view: np.arange(len(view.sight.switch_ports[0])),
    "facing": lambda view: facing_of(view, view.sight.switch_ports[0]),
    "rail": lambda view: _of_cable(view, view.layout.rail),
    "plane": lambda view: _of_cable(view, view.layout.plane),
    "state": lambda view: _of_cable(view, states(view)),
    "severity": severity_on_ports,
    "findings": findings_on_ports,
}
"""The columns that ports are sorted by."""


def port_lines(
    publication: Published,
    *,
    nodes: str | None = None,
    facing: str | None = None,
    state: str | None = None,
    text: str | None = None,
    sort: str | None = None,
    offset: int = 0,
    limit: int = 100,
) -> Part[PortLine]:
    """Ports of switches, tier by tier, each switch in natural order. `facing` is `down` (hosts), `up` or `free`,
    `state` that of the planned cable. Filters that are None are not set. Raises `QueryError` for an unknown value.
    """
    view = view_of(publication)
    ports, device = view.sight.switch_ports
    words = [*STATES.values(), ""]
    masks = (
        on_nodes(view, nodes, device),
        on_words("facing", facing, FACING, FACING, facing_of(view, ports)),
        on_words("state", state, words, words, _of_cable(view, view.wiring.state)),
        with_text(text, lambda: view.sight.port_words),
    )
    rows = arranged(view, rows_of(len(ports), masks), PORT_KEYS, sort)
    return part(ports[rows], offset, limit, lambda port: _port_line(view, port))


def _of_cable(view: View, values: Codes) -> Codes:
    """A value of the cable planned at each port of `switch_ports`; -1 for a free port. Shape (ports,)."""
    found: Codes = np.append(values, NONE)[view.index.cables_at(view.sight.switch_ports[0])]
    return found


def _port_line(view: View, port: int) -> PortLine:
    one = _panel_port(view, port)
    reported = {field.name: getattr(one, field.name) for field in fields(one)}
    return PortLine(**reported, device=view.index.spell(port).device)


def panel_of(view: View, switch: int) -> tuple[PanelPort, ...]:
    """The ports of a switch in natural order: those with a planned cable, and free ones found in the snapshot."""
    ports, device = view.sight.switch_ports
    return tuple(_panel_port(view, port) for port in ports[device == switch].tolist())


def _panel_port(view: View, port: int) -> PanelPort:
    index, cable = view.index, int(view.index.cables_at(np.array([port]))[0])
    name = index.spell(port)
    subject = str(view.plan.cables[cable].a) if cable >= 0 else str(name)
    findings = view.findings_on((subject, str(name)))
    planned = view.plan.cables[cable] if cable >= 0 else None
    peer = None if planned is None else planned.b if int(index.a[cable]) == port else planned.a
    return PanelPort(
        port=name.name,
        facing=FACING[int(facing_of(view, np.array([port]))[0])],
        rail=planned.rail if planned else None,
        plane=planned.plane if planned else None,
        peer_planned=str(peer) if peer else None,
        peer_actual=_peer_seen(view, port),
        state=STATES[State(int(view.wiring.state[cable]))] if cable >= 0 else None,
        link=view.nics.link_state(port),
        severity=loudest(findings),
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


def loudest(findings: list[Finding]) -> str | None:
    """The highest severity of findings; None without any."""
    rank = max((finding.severity.rank for finding in findings), default=None)
    return None if rank is None else list(Severity)[rank].value
