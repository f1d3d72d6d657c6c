"""What probes show: hosts by rails as one byte for each cell, figures by rail, and a list of NICs."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial

import numpy as np
import numpy.typing as npt

from truerail.analysis.probes.results import (
    LOST,
    NIC_STATES,
    NO_NIC,
    PARTLY,
    REACHED,
    UNTRIED,
    ProbeResults,
    coverage,
    pairs_of,
    probe_results,
    troubles,
)
from truerail.analysis.published import Published
from truerail.model.columns import Codes, distinct
from truerail.model.names import natural_key, printable
from truerail.views.fabric_map import CellMap, Grid, grid_of
from truerail.views.list_rows import RowList, of_device, on_nodes, on_rail, on_words
from truerail.views.view import View, view_of

MOST_LEFT_OUT = 200
_BADNESS = np.zeros(len(NIC_STATES), dtype=np.int64)
_BADNESS[[NO_NIC, REACHED, UNTRIED, PARTLY, LOST]] = range(5)
"""By state. If several NICs of a host share a rail and plane, the worst shows."""
_FLOWS = ("sent", "sent_lost", "received", "received_lost", "faulty")
NOT_PROBED = "no probe has been sent, or none of its results is recent: every NIC is untried"


@dataclass(frozen=True, slots=True)
class ProbedRail:
    """Figures of one rail. `packets` are those that had a witness; None where none had."""

    rail: int
    nics: int
    reached: int
    partly: int
    lost: int
    untried: int
    pairs_reached: int
    pairs_lost: int
    pairs_wrong_nic: int
    pairs_implied: int
    pairs_untried: int
    packets: int | None
    packets_lost: int | None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A host that took no part, and why."""

    host: str
    why: str


@dataclass(frozen=True, slots=True)
class ProbeMatrix(CellMap):
    """The cell of a NIC: 0 none planned, 1 reached, 2 lost, 3 partly lost, 4 untried."""

    probed_at: datetime | None
    """When the oldest part was probed; None without probes."""
    summary: str
    by_rail: tuple[ProbedRail, ...]
    left_out: tuple[LeftOut, ...]
    """The first 200 of `left_out_total`."""
    left_out_total: int


@dataclass(frozen=True, slots=True)
class ProbedNic:
    """A planned NIC as a row of a list. Flows count where a witness can say what became of them."""

    nic: str
    host: str
    rail: int
    plane: int | None
    leaf: str
    state: str
    """`reached`, `lost`, `partly` or `untried`."""
    sent: int
    """Flows that it sent."""
    sent_lost: int
    """Those of them of which nothing arrived."""
    received: int
    received_lost: int
    faulty: int
    """Flows with anything wrong: lost, not whole, on another NIC, in another class."""
    why_untried: str


def probe_matrix(publication: Published) -> ProbeMatrix:
    """The matrix of a publication, which owns it."""
    return publication.once(_matrix)


def _matrix(publication: Published) -> ProbeMatrix:
    view, grid = view_of(publication), grid_of(publication.plan)
    results = probe_results(publication.round)
    found = coverage(publication.round)
    left_out = sorted(results.left_out.items(), key=lambda one: natural_key(one[0])) if results else []
    return ProbeMatrix(
        **grid.of(publication, _cells(grid, states_of(view))),
        probed_at=results.at if results else None,
        summary=found.words.removeprefix("Probes: ") if found else NOT_PROBED,
        by_rail=_by_rail(view, results),
        left_out=tuple(LeftOut(printable(host), printable(why, 300)) for host, why in left_out[:MOST_LEFT_OUT]),
        left_out_total=len(left_out),
    )


def states_of(view: View) -> Codes:
    """The state of the NIC of each cable, as indices of `NIC_STATES`. Without probes all NICs are untried."""
    results = probe_results(view.round)
    if results is not None:
        return results.state
    index = view.index
    return np.where(index.from_host & (index.rail >= 0), UNTRIED, NO_NIC)


def _cells(grid: Grid, state: Codes) -> npt.NDArray[np.uint8]:
    use = (grid.cell >= 0) & (state != NO_NIC)
    worst = np.zeros(grid.size, dtype=np.int64)
    np.maximum.at(worst, grid.cell[use], _BADNESS[state[use]])
    return np.argsort(_BADNESS)[worst].astype(np.uint8)


def _by_rail(view: View, results: ProbeResults | None) -> tuple[ProbedRail, ...]:
    state, rail = states_of(view), view.index.rail
    rest = view.round.once(pairs_of).rest_by_rail
    found = []
    for number in distinct(rail[state != NO_NIC]).tolist():
        count = np.bincount(state[(rail == number) & (state != NO_NIC)], minlength=len(NIC_STATES))
        pairs = results.pairs[number] if results else (0, 0, 0, *rest[number])
        packets = results.packets.get(number) if results else None
        states = (int(count[code]) for code in (REACHED, PARTLY, LOST, UNTRIED))
        found.append(ProbedRail(number, int(count.sum()), *states, *pairs, *(packets or (None, None))))
    return tuple(found)


def _flows(view: View, of: str) -> Codes:
    """A count of flows of each cable's NIC, shape (cables,)."""
    results = probe_results(view.round)
    if results is None:
        return np.zeros(len(view.index.rail), dtype=np.int64)
    return {
        "sent": results.out.tried,
        "sent_lost": results.out.lost,
        "received": results.into.tried,
        "received_lost": results.into.lost,
        "faulty": results.out.faulty + results.into.faulty,
    }[of]


def _line(view: View, cable: int) -> ProbedNic:
    planned = view.plan.cables[cable]
    state = NIC_STATES[int(states_of(view)[cable])]
    flows = {name: int(_flows(view, name)[cable]) for name in _FLOWS}
    why = "" if state != "untried" else _why(view, planned.a.device, flows["sent"], flows["received"])
    nic, host, leaf, rail = str(planned.a), planned.a.device, planned.b.device, int(view.index.rail[cable])
    return ProbedNic(nic, host, rail, planned.plane, leaf, state, why_untried=why, **flows)


def _why(view: View, host: str, sent: int, received: int) -> str:
    if probe_results(view.round) is None:
        return NOT_PROBED
    if why := view.round.once(troubles).get(host):
        return printable(why, 300)
    if sent or received:
        return f"tried in one direction alone: nothing that it {'received' if sent else 'sent'} has a witness"
    return "no address, no pair, or a peer without a witness"


def _worst_first(view: View) -> Codes:
    """The NICs, those with the worst state first."""
    states = states_of(view)
    rows = np.flatnonzero(states != NO_NIC)
    return np.asarray(rows[np.lexsort((view.layout.place[rows], -_BADNESS[states[rows]]))], dtype=np.int64)


probed_nics = RowList(
    order=_worst_first,
    filters={
        "nodes": lambda view, text: on_nodes(view, text, view.layout.a_device),
        "rail": lambda view, rail: on_rail(view, rail, view.layout.rail),
        "state": lambda view, text: on_words("state", text, NIC_STATES[1:], NIC_STATES, states_of(view)),
    },
    line=_line,
    keys={
        "nic": lambda view: view.layout.place,
        "host": lambda view: of_device(view.layout.rank, view.layout.a_device),
        "rail": lambda view: view.layout.rail,
        "plane": lambda view: view.layout.plane,
        "leaf": lambda view: of_device(view.layout.rank, view.layout.b_device),
        "state": lambda view: len(NIC_STATES) - _BADNESS[states_of(view)],
        **{name: partial(_flows, of=name) for name in _FLOWS},
    },
    words=lambda view: view.layout.cable_words,
)
"""Planned NICs on rails, worst first; sorted by state the worst is first."""
