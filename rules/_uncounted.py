"""What counter rules cannot evaluate: links that neither end counts, and hosts that carry too little to compare.

A rule passes only where it evaluated every link, and lists beside its findings the links that it did not evaluate. A
link without carrier carries nothing that could be wrong: it counts as evaluated.
"""

from collections.abc import Iterator

import numpy as np

from rules._counted import other_ends
from truerail.analysis.cabling import State
from truerail.analysis.counters import Quantity
from truerail.analysis.counters.rails import rails_of
from truerail.analysis.counters.telemetry import Telemetry
from truerail.analysis.coverage import folded
from truerail.analysis.rule import InsufficientDataError, NotEvaluated
from truerail.model.columns import Mask
from truerail.model.names import natural_key


def every_link(
    telemetry: Telemetry,
    what: str,
    *quantities: Quantity,
    last: int | None = None,
    least: int = 1,
    switches: bool = False,
) -> None:
    """Raises InsufficientDataError where neither end of a planned link counts any of these, with the number of such
    links and their devices once each. A port counts them with `least` samples in the window, or one among the `last`
    ones; with `switches`, only links between switches matter.
    """
    index, wiring = telemetry.wiring.index, telemetry.wiring
    seen, other = np.zeros(telemetry.ports, dtype=bool), other_ends(wiring)
    there = (other >= 0) & (other < telemetry.ports)
    for counting in _counting(telemetry, quantities, last, least):
        seen |= counting | (there & counting[np.where(there, other, 0)])
        if seen.all():
            return
    links = (index.a >= 0) & (index.b >= 0) & (wiring.state != State.MISSING)
    if switches:
        links &= ~index.from_host
    rows = np.flatnonzero(links)
    a, b = index.a[rows], index.b[rows]
    dark = wiring.states.down(a) | wiring.states.down(b)
    blind = ~dark & ~(seen[a] & seen[b])
    if not blind.any():
        return
    if not seen.any():
        raise InsufficientDataError(f"no port counts {what} {'lately' if last else f'in {least} samples'}")
    ports = np.concatenate([a[blind], b[blind]])
    devices = np.unique(index.ports.device_of(ports[~seen[ports]]))
    subjects = sorted((index.devices.names[device] for device in devices.tolist()), key=natural_key)
    links_of = f"{np.count_nonzero(blind):,} of {np.count_nonzero(~dark):,} links{' between switches' * switches}"
    raise InsufficientDataError(
        NotEvaluated(
            f"neither end of {links_of} counts {what}: {folded(subjects)}",
            what="link",
            count=int(np.count_nonzero(blind)),
            of=int(np.count_nonzero(~dark)),
            subjects=tuple(subjects),
            rest_evaluated=True,
        )
    )


def _counting(telemetry: Telemetry, quantities: tuple[Quantity, ...], last: int | None, least: int) -> Iterator[Mask]:
    """Ports that count each of these, one quantity at a time: usually the first is enough."""
    for quantity in quantities:
        for priority in telemetry.priorities(quantity):
            if last is None:
                yield telemetry.summed(quantity, priority).samples >= least
            else:
                yield telemetry.tells(quantity, priority, last)


def hosts_not_evaluated(telemetry: Telemetry) -> Iterator[NotEvaluated]:
    """The hosts with traffic whose NICs cannot be compared with each other."""
    rails = rails_of(telemetry)
    codes = rails.host[rails.active & ~rails.busy].tolist()
    if codes:
        why = f"{len(codes)} hosts with traffic: not all their NICs are reported, or they carry too little"
        names = tuple(telemetry.wiring.index.devices.names[code] for code in codes)
        yield NotEvaluated(why, what="host", count=len(codes), of=int(np.count_nonzero(rails.active)), subjects=names)
