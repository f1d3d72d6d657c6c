"""Announced work explains its effects on others: a drained spine leaves uplinks idle, a drained host NICs.

Nothing else may show the work: the links are up, and drained devices have no finding. A switch explains only what a
link without traffic explains: one that is not drained yet carries its usual traffic.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from truerail.analysis.counters.carried import overall
from truerail.causes.candidate import CauseCandidate
from truerail.causes.telemetry.cause_words import listed
from truerail.causes.telemetry.found import FabricContext
from truerail.causes.telemetry.precedence import MAINTAINED_HOST, MAINTAINED_SWITCH
from truerail.causes.telemetry.roots import RootCandidate, root_of_device
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import Codes, distinct
from truerail.model.maintained import Maintained

DRAINED = 0.001
"""Share of its speed below which a link carries only control traffic (`truerail.analysis.ecmp.tiers.SILENT`)."""
SURE = 0.8
"""Confidence: the window shows that work goes on there, not which. Chosen by judgement."""


def maintenance_roots(
    ground: FabricContext, work: Iterable[Maintained]
) -> Iterator[tuple[CauseCandidate, RootCandidate]]:
    """One cause for each window, with a root for each of its devices."""
    for window in work:
        codes, _ = ground.places(window.devices)
        draft = CauseCandidate(CauseKind.MAINTENANCE, window.devices, _says(window), _do(window), confidence=SURE)
        for code in dict.fromkeys(codes[codes >= 0].tolist()):
            yield draft, _root(ground, code)


def _says(window: Maintained) -> str:
    what = f"{listed(window.devices)} {'are' if len(window.devices) > 1 else 'is'} in maintenance"
    why = f": {window.reason}" if window.reason else ""
    return f"{what} until {window.until:%Y-%m-%d %H:%M} UTC ({window.author}){why}"


def _do(window: Maintained) -> str:
    return f"Nothing now: check again when the maintenance of {listed(window.devices)} ends."


def _root(ground: FabricContext, device: int) -> RootCandidate:
    links = _links(ground, device)
    if ground.is_host(device):
        return root_of_device(ground, device, MAINTAINED_HOST, links)
    return root_of_device(ground, device, MAINTAINED_SWITCH, links[_drained(ground, links)])


def _links(ground: FabricContext, device: int) -> Codes:
    index = ground.wiring.index
    ports = np.arange(index.planned_ports)
    return distinct(ground.link_of(ports[index.ports.device_of(ports) == device]))


def _drained(ground: FabricContext, links: Codes) -> "np.typing.NDArray[np.bool_]":
    """Links that are down or carry nothing, as far as counters show; without counters those that are down."""
    down = ground.wiring.states.down(links)
    carried, speed = ground.round.carried, ground.reported.speed()[links]
    if not carried.enough:
        return down
    busiest = np.fmax(overall(carried.tx[links]), overall(carried.rx[links]))
    with np.errstate(invalid="ignore"):
        return np.asarray(down | (busiest < DRAINED * speed), dtype=bool)
