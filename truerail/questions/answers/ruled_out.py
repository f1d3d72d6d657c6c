"""Alternatives to a finding, and the evidence against them. Each sentence is derived from the snapshot; without
evidence against an alternative there is no sentence.
"""

from collections.abc import Iterator

import numpy as np

from truerail.analysis.cabling import BOTH_ENDS, State, Why
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import Codes
from truerail.model.finding import Cause
from truerail.questions.answers.rail_status import RailStatus
from truerail.views.view import View

_MOST_TELLS = 0.75
"""A device has the right name if at least this share of its other cables is where planned."""


def ruled_out(view: View, standing: RailStatus, cable: int, cause: Cause | None) -> tuple[str, ...]:
    """The sentences for a finding on a planned cable. `cause` explains it and is never ruled out."""
    state = view.wiring.state[cable]
    kind = cause.kind if cause else None
    reported: list[str] = []
    if state == State.WRONG:
        reported += [*_names(view, standing, cable, kind), *_nic_order(view, cable, kind), *_both_ends(view, cable)]
    if state == State.MISSING:
        reported += _no_link(view, cable)
    reported += _reading(view, cable)
    return tuple(reported)


def _names(view: View, standing: RailStatus, cable: int, kind: CauseKind | None) -> Iterator[str]:
    """Swapped labels of switches or hosts: distinguished by the other cables of the device."""
    index, names = view.index, view.index.devices.names
    at = int(standing.places.at[cable])
    planned = int(index.b_device[cable])
    if kind is not CauseKind.LEAF_SWAP:
        for switch in dict.fromkeys((planned, at)):
            if view.is_planned(switch) and not index.devices.is_host(switch):
                yield from _label(view, switch, cable)
    host = int(index.a_device[cable])
    if index.from_host[cable] and kind is not CauseKind.HOST_SWAP:
        right, total = _right(view, np.setdiff1d(view.layout.cables_of(host), [cable]))
        if total and right >= _MOST_TELLS * total:
            yield (
                f"{names[host]} does not have another host's name: its other cables are as planned "
                f"({right} of {total})."
            )


def _label(view: View, switch: int, cable: int) -> Iterator[str]:
    """Whether a switch has the right label: by its uplinks, else by its other cables."""
    name, uplinks = view.index.devices.names[switch], np.setdiff1d(view.layout.uplinks_of(switch), [cable])
    right, total = _right(view, uplinks)
    what = "uplinks are"
    if not total:
        right, total = _right(view, np.setdiff1d(view.layout.cables_of(switch), [cable]))
        what = "other cables are"
    if total and right >= _MOST_TELLS * total:
        yield f"The label of {name} is not swapped: its {what} as planned ({right} of {total})."


def _right(view: View, cables: Codes) -> tuple[int, int]:
    """How many of the cables in a known state are right, and how many are in a known state."""
    states = view.wiring.state[cables]
    return int(np.count_nonzero(states == State.RIGHT)), int(np.count_nonzero(states != State.UNKNOWN))


def _nic_order(view: View, cable: int, kind: CauseKind | None) -> Iterator[str]:
    """The NIC is the planned one: in its host's topology the rail's GPUs are nearest to it."""
    index, rail = view.index, int(view.index.rail[cable])
    host, port = int(index.a_device[cable]), int(index.a[cable])
    if (
        not index.from_host[cable]
        or rail < 0
        or kind is CauseKind.GPU_NIC_ORDER
        or host in view.wiring.gpu_rails.misordered
    ):
        return
    if rail < 62 and not int(view.wiring.gpu_rails.near[port]) >> rail & 1:
        return
    near = view.nics.gpus(host, index.a[view.layout.host_cables_of(host)], port)
    if near:
        gpus = ", ".join(f"GPU {link.gpu} ({link.level})" for link in near)
        yield f"It is not the order of NICs: topo -m shows {gpus} next to this NIC, as rail {rail} expects."


def _reading(view: View, cable: int) -> Iterator[str]:
    """Devices that answer are not unreachable."""
    index = view.index
    ends = (int(index.a_device[cable]), int(index.b_device[cable]))
    read = [index.devices.names[one] for one in ends if view.is_planned(one) and view.wiring.read[one]]
    if read:
        yield f"{' and '.join(read)} answer{'s' if len(read) == 1 else ''}, so it is not an unreachable device."


def _both_ends(view: View, cable: int) -> Iterator[str]:
    """A neighbour that has not expired yet is reported by one end only."""
    port = int(view.index.a[cable])
    if view.wiring.sure[port] >= BOTH_ENDS and not view.wiring.ambiguous[port]:
        yield "It is not a stale neighbor: both ends report each other, and neither port has another neighbor."


def _no_link(view: View, cable: int) -> Iterator[str]:
    """No link is reported by a port rather than concluded from no data; and it is not by design."""
    why = view.wiring.why[cable]
    if why == Why.LINK_DOWN:
        ends = np.array([view.index.a[cable], view.index.b[cable]])
        states = view.wiring.states
        if states.dark(ends).any():
            yield "It is not missing LLDP: an end that answered reports that the port has no link."
        else:
            yield "It is not a gap in the discovery: it found the switch, and no link at its port."
        known = ends[(states.link_row[ends] >= 0) | (states.rdma_row[ends] >= 0)]
        if len(known) and not states.disabled(known).any():
            yield f"It is not switched off: {view.index.spell(int(known[0]))} is enabled."
    if why == Why.SILENT and not view.wiring.met:
        yield "It is not LLDP switched off on a device: both devices see their other neighbors."
