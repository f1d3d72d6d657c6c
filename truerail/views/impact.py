"""The impact of a cause: the affected host cables, and the number of GPUs that lose their rail."""

from collections.abc import Collection, Iterator

import numpy as np

from truerail.analysis.cabling import State, Wiring
from truerail.model.columns import NONE, Codes, Mask
from truerail.model.finding import Cause, CauseKind
from truerail.model.plan import Port
from truerail.views.findings import Findings
from truerail.views.layout import Layout

STARVING = frozenset(
    (CauseKind.PFC_STORM, CauseKind.PFC_DEADLOCK, CauseKind.DEGRADED_LINK, CauseKind.FLAPPING_LINK, CauseKind.SLOW_HOST)
)
"""Kinds of causes where cables are right and their traffic suffers."""


def harm_of(wiring: Wiring, layout: Layout, cause: Cause, affected: Codes) -> int:
    """The number of GPUs with a cable affected by a cause. Each GPU counts once.

    A cause where only names are wrong affects no GPU. For hosts whose NICs are in another order than planned, the GPUs
    that are nearest to another rail's NIC count.
    """
    if cause.names_only:
        return 0
    harmed = layout.gpus_on(affected)
    return max(harmed, _misordered(wiring, layout, cause)) if cause.kind is CauseKind.GPU_NIC_ORDER else harmed


def affected_cables(
    wiring: Wiring, layout: Layout, findings: Findings, cause: Cause, hidden: Collection[Port] = ()
) -> Codes:
    """The cables that carry less traffic, none, or traffic to the wrong place while a cause lasts: those of its
    subjects (a leaf means all its cables), its moves and the findings it explains.

    A cable in another port of the same rail, or in a free port of its leaf, has no impact; nor has one that is in its
    leaf behind a wrong name (`hidden`). A cable in unknown state counts.
    """
    if cause.names_only:
        return np.empty(0, dtype=np.int64)
    if cause.kind in STARVING:
        return _starved(wiring, layout, findings, cause)
    touched = np.unique(np.fromiter(_cables(layout, wiring, findings, cause), dtype=np.int64))
    settled = {_number(layout, wiring, str(port)) for port in hidden}
    cables = touched[(touched >= 0) & ~np.isin(touched, list(settled))]
    return cables[_off_rail(wiring, cables)]


def _starved(wiring: Wiring, layout: Layout, findings: Findings, cause: Cause) -> Codes:
    """The cables of the cause's ports, and of the victims that its findings name."""
    ports = [subject for subject in cause.subjects if subject not in layout.code]
    for explained in cause.explains:
        number = findings.number.get(explained)
        if number is not None:
            ports += [str(victim["port"]) for victim in dict(findings.all[number].detail).get("victims", ())]
    cables = np.unique(np.array([NONE, *(_number(layout, wiring, port) for port in ports)], dtype=np.int64))
    return cables[cables >= 0]


def _cables(layout: Layout, wiring: Wiring, findings: Findings, cause: Cause) -> Iterator[int]:
    for subject in cause.subjects:
        yield from cables_at(layout, wiring, subject)
    for move in cause.moves:
        yield from cables_at(layout, wiring, str(move.cable))
    for finding in cause.explains:
        number = findings.number.get(finding)
        if number is not None:
            yield int(findings.cable[number])


def cables_at(layout: Layout, wiring: Wiring, subject: str) -> Iterator[int]:
    """The cables of a device, or the one at a port."""
    if subject in layout.code:
        yield from layout.cables_of(layout.code[subject]).tolist()
        return
    yield _number(layout, wiring, subject)


def _number(layout: Layout, wiring: Wiring, subject: str) -> int:
    device, _, name = subject.partition("/")
    index = wiring.index
    code = np.array([layout.code.get(device, NONE)])
    return int(index.cables_at(index.ports.find(code, index.ports.name_codes([name or None])))[0])


def _off_rail(wiring: Wiring, cables: Codes) -> Mask:
    """Which cables are not known to end on their rail and plane."""
    index, state = wiring.index, wiring.state[cables]
    place = wiring.place[cables]
    there = index.cables_at(place)
    free_port = (there < 0) & (index.ports.device_of(place) == index.b_device[cables])
    same_rail = (there >= 0) & (index.rail[there] == index.rail[cables]) & (index.plane[there] == index.plane[cables])
    stays = free_port | same_rail
    return np.asarray((state != State.RIGHT) & ~((state == State.WRONG) & stays), dtype=bool)


def _misordered(wiring: Wiring, layout: Layout, cause: Cause) -> int:
    misordered = wiring.gpu_rails.misordered
    return sum(len(misordered.get(layout.code.get(subject, NONE), ())) for subject in dict.fromkeys(cause.subjects))
