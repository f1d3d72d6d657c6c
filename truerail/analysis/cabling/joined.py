"""Joins what both ends report into port pairs, once per round, and derives the state of every planned cable.

Each end of a cable may name the other. A pair that both ends name is certain. A pair that one end names is accepted if
nothing contradicts it: the other end may be unread, or its LLDP silent. Where claims contradict each other, a pair that
both ends name decides; if there is none, the ports are *ambiguous*: never right, never wrong. Two neighbours on one
port are normal for up to two minutes after a re-cabling (the old one has not expired; only where the younger one is the
planned one does age show which is true), so this is not an error but a reason to look again.

On InfiniBand a discovery names both ends of a link: that is one witness, and the devices it met count as read. A port
of a switch that it met, and where it found no link, has none.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from truerail.analysis.cabling.corroborated import Corroborated, corroborate
from truerail.analysis.cabling.identity import Identity, identify, who_answered
from truerail.analysis.cabling.links import PortStates, port_states
from truerail.analysis.cabling.paths import GpuRails, gpu_rails, nic_places
from truerail.analysis.cabling.peers import Peers, peers_of
from truerail.analysis.cabling.port_pairs import DEVICE_ONLY, current_claims, heard_devices, may_be_other_nic, partners
from truerail.analysis.cabling.witnesses import Testimony, testimony
from truerail.model.columns import NONE, Codes, Mask, Numbers, RowsBy
from truerail.model.facts import Fact, Neighbor, NetLink, Optic, RdmaLink
from truerail.model.finding import Evidence
from truerail.model.index import PlanIndex
from truerail.model.plan import Plan, Transport
from truerail.model.snapshot import Snapshot

Derived = TypeVar("Derived")


class State(IntEnum):
    """The known state of a planned cable."""

    RIGHT = 0
    WRONG = 1
    MISSING = 2
    UNKNOWN = 3


class Why(IntEnum):
    """Why a cable is missing or unknown."""

    SEEN = 0
    LINK_DOWN = 1
    DISABLED = 2
    """No link, and the operator disabled the port at one end."""
    SILENT = 3
    """Both ends listened and heard nothing: missing where no end reports link, or where another cable is in its place;
    unknown where an end has link, also where only one end listened and the other is heard on other cables.
    """
    NOT_READ = 4
    AMBIGUOUS = 5
    DEVICE_SILENT = 6
    """The device hears nothing on any port and is not heard: its LLDP is off, which shows nothing about its cables."""
    PENDING = 7
    """Host down: all of its ports are without link, and it does not answer."""
    NIC_ABSENT = 8
    """The host answers and has no such NIC."""
    UNDECIDED = 9
    """It is seen, but its place in an inferred plan is undecided."""
    UNNUMBERED = 10
    """One of its switches is discovered as several nodes, whose ports the plan does not number: it may be on these."""
    UNNAMED = 12
    """What the planned name of a port means is a question."""
    CONTRADICTED = 13
    """The plan itself excludes it: `truerail plan lint` has it as critical."""
    NIC_OPEN = 14
    """The planned host is there by its name alone, and another of its NICs may be in this place as well."""
    NOT_KEPT = 11
    """A state of the past, whose reason the journal does not keep."""


@dataclass(frozen=True)
class Wiring:
    """The joined cabling. Port columns have shape (ports,), cable columns (cables,).

    `partner[port]` is the port at the other end as seen (-1 unknown), `sure[port]` the confidence in that,
    `ambiguous[port]` whether claims contradict each other there, `heard[port]` the device heard where its port is
    unknown. `state[cable]` and `why[cable]` are `State` and `Why`; `place[cable]` is the port where the cable's `a` end
    is seen.
    """

    index: PlanIndex
    identity: Identity
    states: PortStates
    partner: Codes
    sure: Numbers
    ambiguous: Mask
    heard: Codes
    state: Codes
    why: Codes
    place: Codes
    listened: Mask
    """Per device code: whether it returned its LLDP neighbours."""
    read: Mask
    """Per device code: whether it returned any data."""
    testimony: Testimony
    """What other witnesses than LLDP name."""
    corroborated: Corroborated
    seen: Snapshot
    """The snapshot that it is the wiring of: a later one than the one that was joined, where it is carried over."""
    _follows: dict[Callable[["Wiring"], Any], Any] = field(default_factory=dict, repr=False, compare=False)
    """What follows from it, by the function: shared by all rounds that carry it over."""

    def once(self, derive: Callable[["Wiring"], Derived]) -> Derived:
        """What a function derives from this wiring, computed once for all rounds that carry it over: from facts that
        `snapshot.MEASURED` does not name, never from times or counters. It must not hold the wiring.
        """
        if derive not in self._follows:
            self._follows.setdefault(derive, derive(self))
        found: Derived = self._follows[derive]
        return found

    def of(self, plan: Plan, snapshot: Snapshot) -> "Wiring | None":
        """The same for another snapshot, if the plan and all facts are the same but for measured ones; None if not."""
        if self.index.plan is not plan or not snapshot.continues(self.seen):
            return None
        return replace(self, seen=snapshot)

    @property
    def ports(self) -> int:
        """The number of ports that were joined: rules and causes may give further ones a code."""
        return len(self.partner) - 1

    @property
    def peers(self) -> Peers:
        """The other end of every planned port."""
        return self.once(peers_of)

    @property
    def gpu_rails(self) -> GpuRails:
        """The rails that GPUs and NICs serve by the hosts' own topology."""
        return self.once(gpu_rails)

    @property
    def nic_places(self) -> Mapping[int, str]:
        """Where each planned NIC is plugged into its host, by its port."""
        return self.once(nic_places)

    @cached_property
    def met(self) -> frozenset[int]:
        """Codes of the devices that the discovery of an InfiniBand fabric met: their cabling is known, even without a
        login to them.
        """
        found = self.identity.discovery
        return frozenset() if found is None else frozenset(found.devices.tolist())

    @cached_property
    def unnumbered(self) -> Mask:
        """Per device code: whether it is a switch that has links, by the discovery of an InfiniBand fabric, at unknown
        ports.
        """
        found = self.identity.discovery
        unnumbered = self.index.devices.marked([] if found is None else list(found.unnumbered))
        return np.asarray(unnumbered & (self.index.devices.tiers > 0), dtype=bool)

    @cached_property
    def hears(self) -> Mask:
        """Per device code: whether it hears a neighbour on a planned port."""
        reported = self.identity.claims.u
        return self.index.devices.marked(self.index.ports.device_of(reported[reported < self.index.planned_ports]))

    @cached_property
    def blind_bonds(self) -> Mask:
        """Per device code: whether one of its RDMA devices is that of a bond whose members were not read."""
        return self.identity.names.blind()

    def cables(self, state: State) -> Codes:
        """Numbers of the cables in a state."""
        return np.flatnonzero(self.state == state)

    def confidence(self, cable: int) -> float:
        """Confidence in the observation of this cable."""
        a, b = int(self.index.a[cable]), int(self.index.b[cable])
        return float(max(self.sure[a], self.sure[b] if self.partner[b] == a else 0.0))

    def evidence(self, *ports: int) -> tuple[Evidence, ...]:
        """Evidence for these ports: LLDP heard there, LLDP that names them, their link states."""
        return tuple(self._evidence(ports))

    def _evidence(self, ports: tuple[int, ...]) -> Iterator[Evidence]:
        seen, row_of = self.seen, self.identity.claims.row
        given: set[tuple[type[Fact], int]] = set()
        for port in ports:
            if port < 0:
                continue
            rows: list[tuple[type[Fact], int]] = []
            for claims in self.once(_claims_by_port):
                rows += [(Neighbor, int(row_of[claim])) for claim in claims.at(port)[:4]]
            rows += self.testimony.facts_at(port)
            rows += [(NetLink, int(self.states.link_row[port])), (RdmaLink, int(self.states.rdma_row[port]))]
            for kind, row in rows:
                if row >= 0 and (kind, row) not in given:
                    given.add((kind, row))
                    yield evidence_of(seen, kind, row)


def _claims_by_port(wiring: Wiring) -> tuple[RowsBy, RowsBy]:
    return RowsBy(wiring.identity.claims.u), RowsBy(wiring.identity.claims.v)


def evidence_of(snapshot: Snapshot, kind: type[Fact], row: int) -> Evidence:
    """A row of a table as evidence: the fact, its source and its time."""
    table = snapshot.table(kind)
    reading = snapshot.readings[int(table.reading[row])]
    return Evidence(reading.device, reading.collector, reading.at, reading.aged(table.rows[row]))


def join(plan: Plan, snapshot: Snapshot, earlier: Snapshot | None = None) -> Wiring:
    """The wiring of a snapshot under a plan. What an `earlier` one has as columns is not read again."""
    if earlier is not None:
        snapshot.follow(earlier)
    joined = snapshot.unmeasured()
    joined.take_tables(snapshot)
    identity = identify(plan, joined)
    index = identity.index
    snapshot.take_tables(joined)
    beside = testimony(identity.names, snapshot.table(Optic))  # may add ports: sizes come after
    states = port_states(identity)
    size = len(index.ports)
    read, listened = who_answered(identity)
    current = current_claims(index, identity.claims, states, read)
    partner, sure, ambiguous = partners(index, current, size)
    heard = heard_devices(current, index.devices.planned, ambiguous)
    heard[heard == index.ports.device_of(partner)] = NONE  # its port is known from the other end
    corroborated = corroborate(index, beside, states, partner, sure, ambiguous, heard)
    wiring = Wiring(
        index, identity, states, partner, sure, ambiguous, heard,
        state=np.full(len(plan.cables), State.UNKNOWN, dtype=np.int64),
        why=np.full(len(plan.cables), Why.NOT_READ, dtype=np.int64),
        place=np.full(len(plan.cables), NONE, dtype=np.int64),
        listened=listened, read=read, testimony=beside, corroborated=corroborated, seen=snapshot,
    )  # fmt: skip
    _evaluate_cables(wiring)
    return wiring


def _evaluate_cables(wiring: Wiring) -> None:
    """Fills `state`, `why` and `place`: every planned cable is right, wrong, missing or unknown, with the reason."""
    index = wiring.index
    a, b = index.a, index.b
    seen_at = wiring.partner[a]
    wiring.place[:] = seen_at
    wrong = (seen_at >= 0) & (seen_at != b)
    right = (seen_at == b) & (b >= 0)
    taken = wiring.partner[b] >= 0  # by the cable of another port
    at_b = np.where(taken, NONE, wiring.heard[b])
    vague = (seen_at < 0) & ((wiring.heard[a] >= 0) | (at_b >= 0)) & ~(wiring.ambiguous[a] | wiring.ambiguous[b])
    agrees = ((wiring.heard[a] < 0) | (wiring.heard[a] == index.b_device)) & ((at_b < 0) | (at_b == index.a_device))
    astray = vague & agrees & (taken | _heard_elsewhere(wiring))
    right |= vague & agrees & ~astray
    astray |= vague & ~agrees & _heard_too_often(wiring)
    wrong |= vague & ~agrees & ~astray
    wiring.sure[a[vague]] = DEVICE_ONLY
    wiring.state[right], wiring.why[right] = State.RIGHT, Why.SEEN
    wiring.state[wrong], wiring.why[wrong] = State.WRONG, Why.SEEN
    if index.plan.undecided:
        undecided = np.array([cable.a in index.plan.undecided for cable in index.plan.cables], dtype=bool)
        undecided &= right | wrong
        wiring.state[undecided], wiring.why[undecided] = State.UNKNOWN, Why.UNDECIDED
    open_ = right & vague & (wiring.heard[a] < 0) & may_be_other_nic(index, wiring.heard, wiring.partner)
    wiring.state[open_], wiring.why[open_] = State.UNKNOWN, Why.NIC_OPEN
    wiring.why[astray] = Why.AMBIGUOUS  # unknown: the device is right and the port likely another, or it is a namesake
    _evaluate_unseen(wiring, np.flatnonzero(~(right | wrong | astray)))
    unnamed = wiring.identity.unnamed
    if unnamed.any():  # of a device most of whose ports are open the others do not show which device it is
        ends, more = 1 + np.concatenate([index.a_device, index.b_device]), np.tile(np.where(unnamed, 1, -1), 2)
        most = np.bincount(ends, more, len(index.devices.names) + 2)[1:] > 0
        unnamed |= (most[index.a_device] | most[index.b_device]) & (wiring.state == State.WRONG)
    for doubted, why in ((index.contradicted, Why.CONTRADICTED), (unnamed, Why.UNNAMED)):
        wiring.state[doubted], wiring.why[doubted] = State.UNKNOWN, why


def _heard_too_often(wiring: Wiring) -> Mask:
    """Cables whose planned upper port hears another host, without its port, all of whose own places hear it as well: it
    has no NIC left for this place. The device heard is a machine that sends the same name, or an old neighbour.
    """
    index = wiring.index
    away = index.from_host & (wiring.heard[index.b] != index.a_device) & (wiring.partner[index.a] != index.b)
    all_home = np.ones(len(index.devices.names) + 1, dtype=bool)
    all_home[index.a_device[away]] = False
    host = np.isin(np.arange(len(all_home)), index.a_device[index.from_host])
    heard = wiring.heard[index.b]
    other = index.from_host & (heard >= 0) & (heard != index.a_device)
    return np.asarray(other & (all_home & host)[heard], dtype=bool)


def _heard_elsewhere(wiring: Wiring) -> Mask:
    """Cables whose planned upper port hears nothing, where another port of its switch hears the cable's lower device
    and is not planned for it.
    """
    index, planned = wiring.index, np.full(len(wiring.heard), NONE, dtype=np.int64)
    planned[index.b], planned[index.a] = index.a_device, index.b_device
    ports = np.flatnonzero((wiring.heard >= 0) & (wiring.heard != planned))
    ports = ports[ports < len(index.ports)]
    strays = index.ports.device_of(ports) << 32 | wiring.heard[ports]
    quiet = (wiring.heard[index.b] < 0) & wiring.listened[index.b_device]
    return np.asarray(quiet & np.isin(index.b_device << 32 | index.a_device, strays), dtype=bool)


def _evaluate_unseen(wiring: Wiring, cables: Codes) -> None:
    """Determines why these cables are not seen. The order matters: evidence first, missing data last."""
    index, states = wiring.index, wiring.states
    a, b, a_device, b_device = index.a[cables], index.b[cables], index.a_device[cables], index.b_device[cables]
    a_hears, b_hears = _hears_anything(wiring, a_device), _hears_anything(wiring, b_device)
    a_listened = wiring.listened[a_device]
    elsewhere = states.unlinked(b) & states.lit(a) & ~states.linked(a)  # beyond the fabric that was discovered
    down_at_b = states.down(b) & (wiring.partner[b] < 0) & ~elsewhere & ~(states.unlinked(b) & states.linked(a))
    down = states.down(a) | down_at_b
    nameless = _has_links(wiring, a_device) & (states.link_row[a] < 0) & (states.rdma_row[a] < 0)
    nameless &= ~wiring.blind_bonds[a_device]
    rest = np.ones(len(cables), dtype=bool)

    def settle(which: Mask, state: State, why: Why) -> None:
        nonlocal rest
        wiring.state[cables[rest & which]], wiring.why[cables[rest & which]] = state, why
        rest = rest & ~which

    apart = states.lit(a) & states.dark(b) & (wiring.partner[b] < 0)  # in another port, or light in one direction only
    settle(apart & wiring.ambiguous[a], State.UNKNOWN, Why.AMBIGUOUS)
    settle(elsewhere | apart, State.MISSING, Why.SILENT)
    off = (states.disabled(a) | states.disabled(b)) & ~(states.empty(a) | states.empty(b))
    settle(down & off, State.MISSING, Why.DISABLED)
    settle(wiring.read[a_device] & nameless & index.from_host[cables], State.MISSING, Why.NIC_ABSENT)
    settle(down & wiring.read[a_device], State.MISSING, Why.LINK_DOWN)
    settle(_pending(wiring, cables, down_at_b) & index.from_host[cables], State.UNKNOWN, Why.PENDING)
    settle(down & (index.from_host[cables] | wiring.read[b_device]), State.MISSING, Why.LINK_DOWN)
    settle(wiring.ambiguous[a] | wiring.ambiguous[b], State.UNKNOWN, Why.AMBIGUOUS)
    settle(~wiring.read[a_device] & ~wiring.read[b_device], State.UNKNOWN, Why.NOT_READ)
    settle(wiring.corroborated.by_lldp[b] & (wiring.partner[b] >= 0) & a_listened & a_hears, State.MISSING, Why.SILENT)
    settle(wiring.unnumbered[a_device] | wiring.unnumbered[b_device], State.UNKNOWN, Why.UNNUMBERED)
    silent = a_listened & wiring.listened[b_device] & a_hears & b_hears
    settle(silent & (states.up(a) | states.up(b)), State.UNKNOWN, Why.SILENT)  # light, and perhaps no frame yet
    settle(silent, State.MISSING, Why.SILENT)
    reported = a_listened | wiring.listened[b_device]
    half = reported & wiring.read[a_device] & wiring.read[b_device]
    half &= _is_reported_of(wiring, a_device) & _is_reported_of(wiring, b_device)
    settle(half & (states.up(a) | states.up(b)), State.UNKNOWN, Why.SILENT)
    quiet = (wiring.read[a_device] & ~a_hears) | (wiring.read[b_device] & ~b_hears)
    settle(quiet & ~(a_hears & b_hears), State.UNKNOWN, Why.DEVICE_SILENT)


def _hears_anything(wiring: Wiring, device: Codes) -> Mask:
    """Whether a device hears a neighbour, or is heard by one, over LLDP on planned ports."""
    ports = np.arange(wiring.index.planned_ports)
    active = wiring.corroborated.by_lldp[ports] | wiring.corroborated.torn[ports]
    return wiring.index.devices.marked(wiring.index.ports.device_of(ports[active]))[device]


def _is_reported_of(wiring: Wiring, device: Codes) -> Mask:
    """The same, also where it is heard without its port."""
    ports = np.flatnonzero(wiring.heard[: wiring.index.planned_ports] >= 0)
    both = np.concatenate([wiring.heard[ports], wiring.index.ports.device_of(ports)])
    return np.asarray(wiring.index.devices.marked(both)[device] | _hears_anything(wiring, device), dtype=bool)


def _has_links(wiring: Wiring, device: Codes) -> Mask:
    """Whether a device reported its interfaces at all, so that one not among them is absent.

    An InfiniBand adapter does not report the interface above it: only a host that reported one planned port names ports
    as the plan does.
    """
    rows = np.flatnonzero((wiring.states.link_row[:-1] >= 0) | (wiring.states.rdma_row[:-1] >= 0))
    if wiring.index.plan.transport is Transport.INFINIBAND:
        rows = rows[rows < wiring.index.planned_ports]
    return wiring.index.devices.marked(wiring.index.ports.device_of(rows))[device]


def _pending(wiring: Wiring, cables: Codes, down: Mask) -> Mask:
    """Cables of hosts that do not answer and are not heard, and whose switches see no link on any cable and see it
    missing on two or more (on one, if it has no second): the host is down.
    """
    device, size = wiring.index.a_device, len(wiring.index.devices.names) + 1

    def per_device(codes: Codes) -> Codes:
        return np.bincount(codes[codes >= 0], minlength=size)

    lit = wiring.states.up(wiring.index.b[cables]) & (wiring.partner[wiring.index.b[cables]] < 0)
    alive = per_device(device[wiring.partner[wiring.index.a] >= 0]) + per_device(device[cables[lit]])
    dark, total = per_device(device[cables[down]]), per_device(device)
    whole = (dark >= np.minimum(total, 2)) & (total > 0) & (alive == 0) & ~wiring.read
    return np.asarray(whole[device[cables]], dtype=bool)
