"""What rules cannot evaluate: links neither end of which counts or reports, silent ports and hosts, and hosts that
carry too little to compare.

A rule passes only where it evaluated everything, and lists beside its findings what it did not evaluate. A link without
carrier carries nothing that could be wrong, and an unpowered host neither: they count as evaluated.
"""

from collections.abc import Collection, Iterator

import numpy as np

from rules._counter_evidence import other_ends
from truerail.analysis.cabling import State, Why, Wiring
from truerail.analysis.counters import Quantity
from truerail.analysis.counters.telemetry import Telemetry
from truerail.analysis.round import Round
from truerail.analysis.rule import InsufficientDataError, NotEvaluated, report_not_evaluated
from truerail.model.columns import Codes, Mask
from truerail.model.names import folded, natural_key


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
    wiring, seen = telemetry.wiring, np.zeros(telemetry.ports, dtype=bool)
    for counting in _counting(telemetry, quantities, last, least):
        seen |= with_other_ends(wiring, counting)
        if seen.all():
            return
    if not seen.any() and _lit_links(wiring, switches=switches).any():
        raise InsufficientDataError(f"no port counts {what} {'lately' if last else f'in {least} samples'}")
    report_not_evaluated(blind_links(wiring, seen, f"counts {what}", switches=switches))


def blind_links(wiring: Wiring, seen: Mask, does: str, *, switches: bool = False) -> Iterator[NotEvaluated]:
    """The links neither end of which `does` what is needed, in number, and their devices. `seen` are the planned ports
    that do, or whose other end does; links without carrier do not count.
    """
    index = wiring.index
    lit = _lit_links(wiring, switches=switches)
    blind = lit & ~(seen[index.a] & seen[index.b])
    if not blind.any():
        return
    ports = np.concatenate([index.a[blind], index.b[blind]])
    devices = _devices_at(wiring, ports[~seen[ports]])
    count, of = int(np.count_nonzero(blind)), int(np.count_nonzero(lit))
    why = f"neither end of {count:,} of {of:,} links{' between switches' * switches} {does}: {folded(devices)}"
    yield NotEvaluated(why, "link", count, of, devices, rest_evaluated=True)


def blind_ports(wiring: Wiring, seen: Mask, does: str, *, hosts: bool = False) -> Iterator[NotEvaluated]:
    """The planned ports that `does` nothing of what is needed (all but those of `seen`), in number, and their devices;
    with `hosts`, only ports of hosts matter. Ports without carrier do not count.
    """
    index, lit = wiring.index, _lit_links(wiring, switches=False)
    lower, upper = index.a[lit & (index.from_host | (not hosts))], index.b[lit & (not hosts)]
    ports = np.concatenate([lower, upper])
    blind = ports[~seen[ports]]
    if blind.size:
        devices = _devices_at(wiring, blind)
        why = f"{blind.size:,} of {ports.size:,} {'NICs' if hosts else 'ports'} {does}: {folded(devices)}"
        yield NotEvaluated(why, "port", int(blind.size), int(ports.size), devices, rest_evaluated=True)


def blind_hosts(wiring: Wiring, seen: Collection[int], does: str) -> Iterator[NotEvaluated]:
    """The planned hosts, not by their codes in `seen`, that `does` nothing of what is needed. Unpowered ones do not
    count.
    """
    index = wiring.index
    off = wiring.why == Why.PENDING
    hosts = np.setdiff1d(np.unique(index.a_device[index.from_host]), index.a_device[off])
    blind = hosts[~np.isin(hosts, list(seen))]
    if blind.size:
        names = tuple(index.devices.names[code] for code in blind.tolist())
        why = f"{blind.size:,} of {hosts.size:,} hosts {does}: {folded(names)}"
        yield NotEvaluated(why, "host", int(blind.size), int(hosts.size), names, rest_evaluated=True)


def _devices_at(wiring: Wiring, ports: Codes) -> tuple[str, ...]:
    devices = np.unique(wiring.index.ports.device_of(ports)).tolist()
    return tuple(sorted((wiring.index.devices.names[device] for device in devices), key=natural_key))


def _lit_links(wiring: Wiring, *, switches: bool) -> Mask:
    """Planned links that are not known to be without carrier, shape (cables,)."""
    index = wiring.index
    links = (index.a >= 0) & (index.b >= 0) & (wiring.state != State.MISSING)
    if switches:
        links &= ~index.from_host
    return np.asarray(links & ~wiring.states.down(index.a) & ~wiring.states.down(index.b), dtype=bool)


def with_other_ends(wiring: Wiring, seen: Mask) -> Mask:
    """The planned ports of `seen`, and those whose other end is one of them."""
    other = other_ends(wiring)
    there = (other >= 0) & (other < len(seen))
    return np.asarray(seen | (there & seen[np.where(there, other, 0)]), dtype=bool)


def _counting(telemetry: Telemetry, quantities: tuple[Quantity, ...], last: int | None, least: int) -> Iterator[Mask]:
    """Ports that count each of these, one quantity at a time: usually the first is enough."""
    for quantity in quantities:
        for priority in telemetry.priorities(quantity):
            if last is None:
                yield telemetry.summed(quantity, priority).samples >= least
            else:
                yield telemetry.tells(quantity, priority, last)


def hosts_not_evaluated(round: Round) -> Iterator[NotEvaluated]:
    """The hosts with traffic whose NICs cannot be compared with each other."""
    rails = round.rails
    codes = rails.host[rails.active & ~rails.busy].tolist()
    if codes:
        why = f"{len(codes)} hosts with traffic: not all their NICs are reported, or they carry too little"
        names = tuple(round.cabling.index.devices.names[code] for code in codes)
        yield NotEvaluated(why, what="host", count=len(codes), of=int(np.count_nonzero(rails.active)), subjects=names)
