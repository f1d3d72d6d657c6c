"""The connections of a job, both ends of each where the log has them.

The two ends of a connection print a line each. Only where both are there is it known that a connection crosses rails.
Where a log has one of them, the other one follows by symmetry if a rank with the same GPU, on another host, uses one
NIC at the same end of the same channel: rings are the same on all hosts that are alike. That is no observation.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

from truerail.analysis.cabling.joined import Wiring
from truerail.analysis.nccl.ends import SOCKET, End, HostNics, Nic, NicFinder, host_nics
from truerail.model.columns import NONE, grouped
from truerail.model.facts import Fact
from truerail.model.nccl_facts import NcclHop, NcclNetwork, NcclNic, NcclOverride, NcclRank, NcclSetting
from truerail.model.reading import Reading
from truerail.model.snapshot import Snapshot

F = TypeVar("F", bound=Fact)
LOG = "nccl_log"


@dataclass(frozen=True, slots=True)
class Crossing:
    """A connection whose ends are on different rails. `by_symmetry`: the receiving or sending end is not in the log."""

    send: End
    rails: tuple[int, ...]
    other_rails: tuple[int, ...]
    other: End | None
    by_symmetry: bool = False


@dataclass(frozen=True)
class NcclJob:
    """What the logs of jobs show, in the plan's terms."""

    wiring: Wiring
    nics: HostNics
    host_of: Mapping[str | None, int]
    """Host as printed to its code; -1 for a host that is not in the plan."""
    facts: Mapping[type[Any], Sequence[Any]]
    """What the lines say, by kind, each once."""
    reading_of: Mapping[str | None, int]
    """Host as printed to the index of a reading that has its lines."""

    def all(self, kind: type[F]) -> Sequence[F]:
        """The facts of a kind."""
        found: Sequence[F] = self.facts.get(kind, ())
        return found

    @cached_property
    def finder(self) -> NicFinder:
        """Finds the NICs of ends."""
        return NicFinder(self.nics, self.host_of, self.all(NcclNic), self.all(NcclOverride), self.all(NcclRank))

    @cached_property
    def ends(self) -> tuple[End, ...]:
        """The ends of all connections."""
        return tuple(self.finder.ends(self.all(NcclHop)))

    @cached_property
    def hosts(self) -> tuple[int, ...]:
        """Codes of the planned hosts that the logs have lines of."""
        return tuple(sorted({code for code in self.host_of.values() if code >= 0}))

    @cached_property
    def pairs(self) -> tuple[tuple[End, End], ...]:
        """Sending and receiving end of each connection that has one of each."""
        sends, receives = self._by_key("send"), self._by_key("receive")
        return tuple((end, receives[key]) for key, end in sends.items() if key in receives)

    def _by_key(self, direction: str) -> dict[object, End]:
        """Ends of a direction; without those of which there are several that differ, in several communicators."""
        found: dict[object, End] = {}
        unclear = set()
        for end in self.ends:
            if end.hop.direction == direction:
                known = found.setdefault(end.key, end)
                if known.nic != end.nic or known.hop.host != end.hop.host:
                    unclear.add(end.key)
        return {key: end for key, end in found.items() if key not in unclear}

    @cached_property
    def crossings(self) -> tuple[Crossing, ...]:
        """Connections of which both ends are there, on different rails and leaves."""
        return tuple(
            Crossing(send, tuple(sorted(send.nic.rails)), tuple(sorted(receive.nic.rails)), receive)
            for send, receive in self.pairs
            if self._apart(send.nic, receive.nic)
        )

    @cached_property
    def symmetric_crossings(self) -> tuple[Crossing, ...]:
        """Connections of which one end is there, and the other one follows by symmetry, on another rail."""
        return tuple(self._symmetric())

    def _symmetric(self) -> Iterator[Crossing]:
        both = {send.key for send, _ in self.pairs}
        alike = grouped({(_place(end, other=False), end.nic) for end in self.ends})
        for end in self.ends:
            if end.key in both:
                continue
            nics = alike.get(_place(end, other=True), [])
            rails = {nic.rails for nic in nics}
            if len(rails) == 1 and self._apart(end.nic, nics[0]):
                yield Crossing(end, tuple(sorted(end.nic.rails)), tuple(sorted(rails.pop())), None, True)

    def crosses(self, send: End | None, receive: End | None) -> bool | None:
        """Whether a connection crosses rails; None unless both ends are there and the rails of both are known."""
        if send is None or receive is None or not send.nic.rails or not receive.nic.rails:
            return None
        return self._apart(send.nic, receive.nic)

    def _apart(self, one: Nic, other: Nic) -> bool:
        if not one.rails or not other.rails or one.rails & other.rails:
            return False
        return not self._leaves(one.rails) & self._leaves(other.rails)

    def _leaves(self, rails: Iterable[int]) -> frozenset[int]:
        return frozenset(chain.from_iterable(self._leaves_of.get(rail, frozenset()) for rail in rails))

    @cached_property
    def _leaves_of(self) -> Mapping[int, frozenset[int]]:
        """Rail to the codes of its leaves."""
        index = self.wiring.index
        rails, leaves = (column[index.from_host].tolist() for column in (index.rail, index.b_device))
        found = grouped(set(zip(rails, leaves, strict=True)))
        return {rail: frozenset(of_rail) for rail, of_rail in found.items() if rail >= 0}

    @cached_property
    def used(self) -> Mapping[Nic, tuple[int, int]]:
        """By NIC the number of ends that use it, and of those with GPUDirect RDMA."""
        ends = Counter(end.nic for end in self.ends)
        direct = Counter(end.nic for end in self.ends if end.hop.gdr)
        return {nic: (count, direct[nic]) for nic, count in ends.items()}

    @cached_property
    def used_ports(self) -> Mapping[int, int]:
        """Planned host port to the number of ends that use it."""
        found: Counter[int] = Counter()
        for nic, (count, _) in self.used.items():
            for port in nic.ports:
                found[port] += count
        return found

    @cached_property
    def unknown_nics(self) -> tuple[Nic, ...]:
        """NICs in use whose planned port is unknown."""
        return tuple(nic for nic in self.used if not nic.ports)

    @cached_property
    def ranks_on(self) -> Mapping[int, int]:
        """Host code to the number of its ranks, in the largest communicator that it has ranks of."""
        found: dict[tuple[int, str | None], set[int]] = {}
        for rank in self.all(NcclRank):
            found.setdefault((self.host_of.get(rank.host, NONE), rank.comm), set()).add(rank.rank)
        for end in self.ends:
            found.setdefault((end.nic.host, end.hop.comm), set()).add(end.rank)
        most: dict[int, int] = {}
        for (host, _), own in found.items():
            most[host] = max(most.get(host, 0), len(own))
        return most

    def values(self, name: str) -> frozenset[str]:
        """The values of a setting, over all processes; without its prefix NCCL_ or RCCL_."""
        return frozenset(one.value for one in self.all(NcclSetting) if one.name.partition("_")[2] == name)

    def names(self, code: int) -> str:
        """The name of a host."""
        return self.wiring.index.devices.names[code]

    @cached_property
    def over_sockets(self) -> Mapping[int, str]:
        """Host code to what shows that it uses TCP: the network's name."""
        networks = self.all(NcclNetwork)
        found = {self.host_of.get(one.host, NONE): one.network for one in networks if one.network == SOCKET}
        found |= {end.nic.host: end.hop.net for end in self.ends if end.hop.net == SOCKET}
        return {host: net for host, net in found.items() if host >= 0}


def _place(end: End, *, other: bool) -> tuple[object, ...]:
    """Communicator, channel, connection, side and GPU of an end, or of the other one."""
    hop = end.hop
    sends = (hop.direction == "send") is not other
    return hop.comm, hop.channel, hop.connection, sends, hop.from_gpu if sends else hop.to_gpu


def nccl_job(wiring: Wiring, snapshot: Snapshot) -> NcclJob | None:
    """The jobs whose logs a snapshot has; None without any."""
    readings = [reading for reading in snapshot.readings if reading.collector == LOG and reading.facts]
    if not readings:
        return None
    facts = dict.fromkeys(fact for reading in readings for fact in _of_host(reading, wiring))
    numbers = {id(reading): number for number, reading in enumerate(snapshot.readings)}
    reading_of: dict[str | None, int] = {}
    for reading in readings:
        for host in {getattr(fact, "host", None) for fact in _of_host(reading, wiring)}:
            reading_of.setdefault(host, numbers[id(reading)])
    host_of = {host: NONE if host is None else _code(wiring, host) for host in reading_of}
    by_kind = grouped((type(fact), fact) for fact in facts)
    return NcclJob(wiring, wiring.once(host_nics), host_of, by_kind, reading_of)


def _code(wiring: Wiring, host: str) -> int:
    code = wiring.index.devices.find(host)
    return code if code >= 0 and wiring.index.devices.is_host(code) else NONE


def _of_host(reading: Reading, wiring: Wiring) -> Iterable[Fact]:
    """The facts; lines without a host are of the planned host in whose name they were given."""
    if _code(wiring, reading.device) < 0:
        return reading.facts
    return [
        fact._replace(host=reading.device) if getattr(fact, "host", "") is None else fact  # type: ignore[call-arg]
        for fact in reading.facts
    ]
