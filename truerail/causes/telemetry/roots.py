"""Roots: causes, and findings that may cause others, with the part of the fabric that they affect.

A root may pause switches over other switches, through a hop where back-pressure is too weak for a finding. An incast
behind one leaf pauses spines, these pause the spines of another pod, and those the leaf of the senders. In between,
where the load comes over many links, each is paused for a few hundredths of the time: less than joins two ports to one
pause tree. At the far end, where the links are few again, the pause is a finding whose switch shows no full port.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.quantities import Quantity
from truerail.causes.candidate import CauseCandidate
from truerail.causes.telemetry import precedence
from truerail.causes.telemetry.crossing import Crossing
from truerail.causes.telemetry.found import FabricContext, Found
from truerail.causes.telemetry.precedence import ROWS, Row, Scope
from truerail.model.cause_kinds import CAUSE_KINDS, CauseKind
from truerail.model.columns import NONE, Codes, Mask, grouped

DOWN = (CauseKind.UNREACHABLE, CauseKind.LINK_DOWN)
_OF_SEVERAL = {"PFC003": "cycle", "PRB004": "switches"}
"""Findings about several devices, and the detail that names these."""


@dataclass(frozen=True)
class RootCandidate:
    """A possible explanation of findings. `number` is that of its own finding, -1 for a cable's cause."""

    number: int
    rows: tuple[Row, ...]
    links: tuple[int, ...] = ()
    hosts: tuple[int, ...] = ()
    """Hosts at the ends of its links."""
    switches: tuple[int, ...] = ()
    """Switches whose uplinks it concerns: a link concerns only the uplinks of the switch at its lower end."""
    whole: tuple[int, ...] = ()
    """Devices that it concerns with all their ports."""
    paused: Sequence[tuple[int, int]] = ()
    """Ports that it pauses, with their distance in links."""


def root_of_finding(found: Found, number: int) -> RootCandidate:
    """A finding as a root."""
    ground, finding = found.ground, found.findings[number]
    detail = found.details[number]
    port, device = int(found.port[number]), int(found.device[number])
    links = (int(found.link[number]),) if port >= 0 else ()
    whole = [device] if port < 0 else []
    if finding.rule in _OF_SEVERAL:
        owners, _ = ground.places([str(name) for name in detail.get(_OF_SEVERAL[finding.rule], ())])
        whole = owners.tolist()
    return _root(ground, number, ROWS[finding.rule], links, _known(whole), found.paused.get(number, ()))


def _root(
    ground: FabricContext, number: int, rows: tuple[Row, ...], links: tuple[int, ...], whole: tuple[int, ...] = (),
    paused: Sequence[tuple[int, int]] = (),
) -> RootCandidate:  # fmt: skip
    if not rows:
        return RootCandidate(number, rows, links, whole=whole, paused=paused)
    ends = [end for link in links for end in ground.ends(link)]
    hosts = [device for device in (*(ground.owner[end] for end in ends), *whole) if ground.is_host(device)]
    above = [*(int(ground.uplink[end]) for end in ends), *whole]
    switches = [device for device in above if device >= 0 and not ground.is_host(device)]
    return RootCandidate(number, rows, links, _known(hosts), _known(switches), whole, paused)


def root_of_device(ground: FabricContext, device: int, rows: tuple[Row, ...], links: Codes) -> RootCandidate:
    """A device with some of its links (numbers as in `FabricContext.link_of`) as a root; a switch without links affects
    nothing.
    """
    if not len(links) and not ground.is_host(device):
        return RootCandidate(-1, ())
    return _root(ground, -1, rows, tuple(links.tolist()), (device,))


def root_of_draft(ground: FabricContext, draft: CauseCandidate, crossing: Crossing | None) -> RootCandidate | None:
    """A cause of the cabling as a root; None if it has no effect on traffic (two cables on the same leaf)."""
    if draft.kind is CauseKind.GPU_NIC_ORDER:
        devices, _ = ground.places(draft.subjects)
        return RootCandidate(-1, precedence.HOST_ORDER, whole=_known(devices.tolist()))
    if draft.kind in DOWN:
        return _down(ground, draft)
    return _moved(ground, draft, crossing) if CAUSE_KINDS[draft.kind].strays and draft.cables else None


def _down(ground: FabricContext, draft: CauseCandidate) -> RootCandidate:
    index = ground.wiring.index
    cables = np.array(list(draft.cables), dtype=np.int64)
    links = tuple(ground.link_of(index.a[cables]).tolist())
    if draft.kind is CauseKind.UNREACHABLE:
        device, _ = ground.places(draft.subjects)
        if any(not ground.is_host(one) for one in device.tolist()):
            return _root(ground, -1, precedence.SWITCH_OFF if links else (), links, _known(device.tolist()))
        return RootCandidate(-1, precedence.OFF if links else (), links, whole=_known(device.tolist()))
    rows = precedence.LINK_DOWN_HOST if index.from_host[cables].all() else precedence.LINK_DOWN_UPLINK
    return _root(ground, -1, rows, links)


def _moved(ground: FabricContext, draft: CauseCandidate, crossing: Crossing | None) -> RootCandidate | None:
    index, place = ground.wiring.index, ground.wiring.place
    cables = np.array(list(draft.cables), dtype=np.int64)
    stands = index.ports.device_of(place[cables])
    away = cables[(stands >= 0) & (stands != index.b_device[cables])]
    if not len(away):
        return None
    links = tuple(ground.link_of(index.a[away]).tolist())
    if not index.from_host[away].all():
        return _root(ground, -1, precedence.WRONG_UPLINK, links)
    rows = [*precedence.WRONG_RAIL, *(precedence.WRONG_NETWORK if _wrong_network(ground, away) else ())]
    root = _root(ground, -1, tuple(rows), links)
    if crossing is None or not crossing.mostly:
        return root
    return replace(root, rows=(*rows, *precedence.CROSSES_SPINES), switches=crossing.mostly)


def _wrong_network(ground: FabricContext, cables: Codes) -> bool:
    """Whether a cable without a rail (storage, say) sits in the place of one with a rail, or vice versa."""
    index = ground.wiring.index
    there = index.cables_at(ground.wiring.place[cables])
    known = there >= 0
    return bool(((index.rail[cables[known]] < 0) != (index.rail[there[known]] < 0)).any())


def reached(found: Found, root: RootCandidate) -> Iterator[tuple[int, int, Row]]:
    """The findings within a root's rows: their numbers, their distance in links, and the row. A finding may occur more
    than once, the nearest first within a row.
    """
    near: dict[Scope, list[tuple[int, int]]] = {}
    rules, there = found.rules, found.by_rule.keys()
    for row in root.rows:
        if there.isdisjoint(row.rules):
            continue
        if row.scope not in near:
            near[row.scope] = list(_within(found, root, row.scope))
        for number, far in near[row.scope]:
            if rules[number] in row.rules and number != root.number:
                yield number, far, row


def _within(found: Found, root: RootCandidate, scope: Scope) -> Iterator[tuple[int, int]]:
    match scope:
        case Scope.LINK:
            yield from ((number, 0) for link in root.links for number in found.on_link.get(link, ()))
        case Scope.HOST:
            for number in (number for device in root.hosts for number in found.of_device.get(device, ())):
                if found.links[number] in (NONE, *root.links):
                    yield number, 0
        case Scope.SWITCH:
            yield from ((number, 0) for device in root.switches for number in found.of_device.get(device, ()))
        case Scope.UPLINKS:
            yield from ((number, 0) for device in root.switches for number in found.on_uplinks.get(device, ()))
        case Scope.DEVICE:
            yield from ((number, 0) for device in root.whole for number in found.in_device.get(device, ()))
        case Scope.ABOVE:
            yield from ((number, 1) for device in root.switches for number in found.pausing_uplinks.get(device, ()))
        case Scope.OTHER_END:
            yield from ((number, 1) for link in root.links for number in found.pointing_at.get(link, ()))
        case Scope.UPSTREAM | Scope.OWN_SWITCH:
            yield from _beyond(found, root, scope)
        case Scope.PAUSED:
            yield from _paused(found, root)


def _beyond(found: Found, root: RootCandidate, scope: Scope) -> Iterator[tuple[int, int]]:
    """Findings at the switches of the root's links, or at switches that these pause."""
    for switch in found.ground.switches_of(root.links):
        if scope is Scope.OWN_SWITCH:
            yield from ((number, 0) for number in found.of_device.get(switch, ()))
            continue
        for device, far in upstream(found.ground, switch).items():
            yield from ((number, far) for number in found.in_device.get(device, ()))


def _paused(found: Found, root: RootCandidate) -> Iterator[tuple[int, int]]:
    seen: set[int] = set()
    for port, hops in root.paused:
        link, device = found.ground.at(port)
        yield from ((number, hops) for number in found.on_link.get(link, ()))
        if device not in seen:
            seen.add(device)
            yield from ((number, hops) for number in found.of_device.get(device, ()) if found.links[number] < 0)


def _known(devices: Sequence[int]) -> tuple[int, ...]:
    return tuple(device for device in dict.fromkeys(devices) if device >= 0)


HELD_UP = 0.01
"""Share of the time for which a port must be paused to propagate it, a fifth of the share for an edge of a pause tree
(`truerail.analysis.pfc.edges.LEAST_SHARE`). Measured in the simulator: 0.026 to 0.1 between spines behind an incast,
0.006 at most if the same fabric carries other jobs. Chosen by judgement.
"""
FRAMES = 100.0
"""Equivalent pause frames per second where the time is not reported (`rules.incast.PAUSE_FRAMES`)."""


def upstream(ground: FabricContext, switch: int) -> Mapping[int, int]:
    """The switches that a switch pauses, directly or over others, with their distance in links; without itself."""
    peer, owner = ground.peer, ground.owner
    ports = np.flatnonzero(_pausing(ground) & (peer >= 0) & (peer < len(owner))).tolist()
    pausing = grouped((owner[port], owner[int(peer[port])]) for port in ports)
    found, edge = {switch: 0}, [switch]
    while edge:
        reached = dict.fromkeys(other for device in edge for other in pausing.get(device, ()))
        far = found[edge[0]] + 1
        edge = [other for other in reached if other not in found and not ground.is_host(other)]
        found.update(dict.fromkeys(edge, far))
    del found[switch]
    return found


def _pausing(ground: FabricContext) -> Mask:
    """Planned ports that pause the other end long enough to propagate, counted at either end."""
    by_time = _rate(ground, Quantity.TX_PAUSE_US, Quantity.RX_PAUSE_US)
    by_frames = _rate(ground, Quantity.TX_PAUSE_FRAMES, Quantity.RX_PAUSE_FRAMES)
    with np.errstate(invalid="ignore"):
        return np.asarray((by_time >= HELD_UP * 1e6) | (np.isnan(by_time) & (by_frames >= FRAMES)), dtype=bool)


def _rate(ground: FabricContext, sent: Quantity, received: Quantity) -> npt.NDArray[np.float64]:
    """Rate per second of each planned port on its highest priority, counted at the port or at the other end; NaN if
    neither reports it.
    """
    reported, peer = ground.reported, ground.peer
    there = (peer >= 0) & (peer < reported.ports)
    most = np.full(reported.ports, np.nan)
    for priority in reported.priorities(sent, received):
        own, other = (reported.summed(quantity, priority).rate for quantity in (sent, received))
        most = np.fmax(most, np.fmax(own, np.where(there, other[np.where(there, peer, 0)], np.nan)))
    return most
