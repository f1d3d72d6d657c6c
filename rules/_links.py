"""Links for rules: their ends, and what could not be evaluated, with its devices."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeVar

import numpy as np

from truerail.analysis.cabling import State, Why, Wiring
from truerail.analysis.counters import Quantity, Telemetry
from truerail.analysis.rule import InsufficientDataError, Round, report_not_evaluated
from truerail.model import NotEvaluated
from truerail.model.columns import NONE, Codes, Mask, distinct, grouped
from truerail.model.finding import MOST_EXAMPLES
from truerail.model.index import PlanIndex
from truerail.model.names import folded, natural_key, printable, some

T = TypeVar("T")


def other_ends(wiring: Wiring) -> Codes:
    """The port at the other end of each planned port, shape (planned ports,): the actual one, else the planned one
    unless that is found elsewhere, else -1.
    """
    index = wiring.index
    other = np.full(index.planned_ports, NONE, dtype=np.int64)
    for here, there in ((index.b, index.a), (index.a, index.b)):
        other[here[here >= 0]] = there[here >= 0]
    actual = wiring.partner[: index.planned_ports]
    elsewhere = (wiring.partner[other] >= 0) & (wiring.partner[other] != np.arange(len(other)))
    return np.where(actual >= 0, actual, np.where(elsewhere, NONE, other))


def subject_of(index: PlanIndex, port: int, other: int) -> int:
    """The end that represents a link: the one nearer to the GPUs, if it is in the plan."""
    if not 0 <= other < index.planned_ports:
        return port
    tiers = [index.devices.tier[int(code)] for code in index.ports.device_of(np.array([port, other]))]
    return min(((tiers[0], port), (tiers[1], other)))[1]


def rail_at(index: PlanIndex, port: int) -> int | None:
    """The rail of the cable planned at a port."""
    cable = index.cable_at(port)
    return index.plan.cables[cable].rail if cable >= 0 else None


def ports_of_hosts(telemetry: Telemetry) -> Mask:
    """Which planned ports belong to hosts, shape (planned ports,)."""
    index = telemetry.wiring.index
    tier = np.array([*index.devices.tier, NONE], dtype=np.int64)
    device: Codes = index.ports.device_of(np.arange(telemetry.ports))
    return np.asarray(tier[device] == 0, dtype=bool)


def majority(votes: Counter[T], least: int) -> T | None:
    """What more than half of all voters say; None without such a majority, or of fewer than so many voters."""
    (most, count) = votes.most_common(1)[0]
    return most if 2 * count > votes.total() >= least else None


def report_uncounted_links(
    telemetry: Telemetry,
    what: str,
    *quantities: Quantity,
    last: int | None = None,
    least: int = 1,
    switches: bool = False,
) -> None:
    """Raises InsufficientDataError where neither end of a planned link counts any of these quantities, with the number
    of such links and their devices once each. A port counts them with `least` samples in the window, or one among the
    `last` ones; with `switches`, only links between switches matter.
    """
    wiring, seen = telemetry.wiring, np.zeros(telemetry.ports, dtype=bool)
    for counting in ports_counting(telemetry, quantities, last, least):
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
    hosts = np.setdiff1d(distinct(index.a_device[index.from_host]), index.a_device[off])
    blind = hosts[~np.isin(hosts, list(seen))]
    if blind.size:
        names = tuple(index.devices.names[code] for code in blind.tolist())
        why = f"{blind.size:,} of {hosts.size:,} hosts {does}: {folded(names)}"
        yield NotEvaluated(why, "host", int(blind.size), int(hosts.size), names, rest_evaluated=True)


def _devices_at(wiring: Wiring, ports: Codes) -> tuple[str, ...]:
    devices = distinct(wiring.index.ports.device_of(ports)).tolist()
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


def devices_counting(telemetry: Telemetry, *quantities: Quantity) -> Codes:
    """The devices of which a port counts one of these."""
    counting = np.logical_or.reduce([np.zeros(telemetry.ports, dtype=bool), *ports_counting(telemetry, quantities)])
    return distinct(telemetry.wiring.index.ports.device_of(np.flatnonzero(counting)))


def ports_counting(
    telemetry: Telemetry, quantities: Iterable[Quantity], last: int | None = None, least: int = 1
) -> Iterator[Mask]:
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


def unpolled(round: Round, question: str = "") -> dict[int, str]:
    """Why planned devices are not polled, by code: for collectors whose names begin with `question`."""
    devices = round.cabling.index.devices
    why = {
        reading.device: reading.error
        for reading in round.snapshot.readings
        if not reading.polled and reading.collector.startswith(question)
    }
    by_code = {devices.find(name): printable(error, 120) for name, error in why.items()}
    return {code: error for code, error in by_code.items() if 0 <= code < devices.planned}


def not_polled(round: Round, codes: Mapping[int, str]) -> Iterator[NotEvaluated]:
    """The parts of the fabric that these devices are, one for each reason."""
    devices = round.cabling.index.devices
    for why, unpolled_codes in grouped((why, code) for code, why in sorted(codes.items())).items():
        names = tuple(devices.names[code] for code in unpolled_codes)
        many = f"{len(names):,} {'device is' if len(names) == 1 else 'devices are'} not polled"
        shown = some(names, MOST_EXAMPLES, ", ...")
        yield NotEvaluated(
            f"{many}: {why} ({shown})", "device", len(names), devices.planned, subjects=names, rest_evaluated=True
        )


def blind_bonds(wiring: Wiring) -> tuple[NotEvaluated, ...]:
    """The planned hosts that have RDMA devices on bonds whose members were not read; empty where none has."""
    planned = distinct(wiring.index.a_device[wiring.index.from_host])
    names = tuple(wiring.index.devices.names[code] for code in planned[wiring.blind_bonds[planned]].tolist())
    if not names:
        return ()
    hosts = f"{len(names)} host{'s' if len(names) > 1 else ''} ({some(names, more=', ...')})"
    why = f"the members of the bonds of {hosts} were not read: `ip -j -d link` lists them"
    return (NotEvaluated(why, what="host", count=len(names), of=len(planned), subjects=names, rest_evaluated=True),)
