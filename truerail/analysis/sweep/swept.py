"""A round's path sweep: both ends of every flow and source port joined, its hops named, and what follows from them."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from truerail.analysis.probes.reached import Reached, is_rewritten, numbers, reached_by
from truerail.analysis.sweep.choices import Choices, choices_of
from truerail.analysis.sweep.flow_paths import FlowPaths, paths_of
from truerail.analysis.sweep.flow_tables import Flows, Hops, by_row
from truerail.analysis.sweep.hop_addresses import HopAddresses
from truerail.analysis.sweep.losses import Losses, losses_of
from truerail.analysis.sweep.packet_seats import CutOff, Rewriter, cut_offs, rewriters
from truerail.analysis.sweep.plan_graph import PlanGraph
from truerail.model.columns import NONE, Codes, Mask, distinct, found
from truerail.model.probe_facts import PROBE_FACTS, ProbeHop, ProbeReach
from truerail.model.snapshot import Table

if TYPE_CHECKING:
    from truerail.analysis.cabling.joined import Wiring
    from truerail.analysis.round import Round
    from truerail.model.plan import Plan

# ----------------------------------------------------------------------------------------------------------------------
# What a sweep covered: links with enough packets, paths seen of those planned, hops known by name.


@dataclass(frozen=True)
class Coverage:
    """Packets that passed each directed link between switches, and counts of paths and hops.

    `segment` are the links as paths name them, each once; `packets` those of flows whose path is known.
    """

    segment: Codes
    packets: Codes
    paths_seen: int
    paths_planned: int
    """Shortest ways between the leaves that flows were sent between."""
    hops_asked: int
    hops_named: int
    """Answered by a planned switch."""

    def short_of(self, packets: int) -> Mask:
        """The links that fewer packets have passed."""
        return np.asarray(self.packets < packets, dtype=bool)

    @property
    def words(self) -> str:
        """In words, as the end of a sentence."""
        return (
            f"{self.paths_seen:,} of {self.paths_planned:,} planned paths were seen, "
            f"{self.hops_named:,} of {self.hops_asked:,} hops are known by name"
        )


def coverage_of(paths: FlowPaths) -> Coverage:
    """The coverage of a sweep."""
    segment = distinct(paths.edge_segments())
    whole = np.flatnonzero(paths.whole)
    inner = paths.segment[whole]
    row, place = np.nonzero(inner >= 0)
    size = int(max(segment.max(initial=0), inner.max(initial=0))) + 1
    packets = np.bincount(inner[row, place], weights=paths.flows.sent[whole][row], minlength=size).astype(np.int64)
    own = inner.copy()
    own[:, 0] = NONE
    own[np.arange(len(own)), paths.length[whole]] = NONE
    seen = len(np.unique(np.concatenate([paths.leaf[0][whole][:, None], own], axis=1), axis=0))
    hops = paths.hops
    key = hops.flow << 8 | hops.ttl
    small = ~hops.large
    asked = distinct(key[small])
    named = distinct(key[small & hops.expired & (hops.device >= 0)])
    return Coverage(segment, packets[segment], seen, _planned(paths), len(asked), len(named))


def _planned(paths: FlowPaths) -> int:
    """The number of shortest ways between the leaves of flows."""
    graph = paths.graph
    tail, head, _ = graph.edges
    sources, targets = paths.leaf
    total = 0.0
    size = len(graph.index.devices.names)
    for leaf in distinct(targets[targets >= 0]).tolist():
        onward, hops = graph.onward(leaf), graph.hops_to(leaf)
        ways = np.zeros(size)
        ways[leaf] = 1
        for far in range(1, int(hops.max()) + 1):
            step = onward & (hops[tail] == far)
            ways[hops == far] = np.bincount(tail[step], weights=ways[head[step]], minlength=size)[hops == far]
        total += ways[distinct(sources[(targets == leaf) & (sources >= 0)])].sum()
    return int(total)


# ----------------------------------------------------------------------------------------------------------------------
# A round's path sweep: both ends of every flow and source port joined, its hops named, and what follows from them.


SMALL_MOST_BYTES = 1500
"""Packets up to this size pass everywhere."""
_PORT_BITS = 16


@dataclass(frozen=True)
class Swept:
    """What a sweep shows. `rows` are rows of the snapshot's `ProbeReach`, the sender's one of each flow; `strangers`
    the addresses that answered and that no planned device has.
    """

    paths: FlowPaths
    rows: Codes
    strangers: tuple[str, ...] = ()

    @cached_property
    def over_paths(self) -> bool:
        """Whether hops behind the first one were asked: else it is a run of probes without a sweep."""
        hops = self.paths.hops
        return bool((hops.expired & ~hops.large & (hops.ttl > 1)).any())

    @cached_property
    def losses(self) -> Losses:
        """Where packets are lost."""
        return losses_of(self.paths)

    @cached_property
    def choices(self) -> Choices:
        """How switches spread flows."""
        return choices_of(self.paths, self.losses)

    @cached_property
    def coverage(self) -> Coverage:
        """What it covered."""
        return coverage_of(self.paths)

    @cached_property
    def cut_offs(self) -> list[CutOff]:
        """Where large packets end."""
        return cut_offs(self.paths, self.losses)

    @cached_property
    def large_passed(self) -> Codes:
        """The segments of known paths that large packets have passed, ascending."""
        return distinct(self.paths.segment[self.paths.whole & (self.paths.flows.large_heard > 0)])

    @cached_property
    def rewriters(self) -> list[Rewriter]:
        """What rewrites the class of packets."""
        return rewriters(self.paths)


def swept(round: "Round") -> Swept:
    """The sweep of a round, of all its runs together: evaluated once for all rounds with the same results of probes,
    whatever else is polled. Without probes it has no flows.
    """
    return round.cabling.once(_swept)


def _swept(wiring: "Wiring") -> Swept:
    return wiring.index.plan.once(_Newest).of(wiring)


class _Newest:
    """The newest sweep of a plan, and all that it follows from."""

    def __init__(self, plan: "Plan") -> None:
        self._last: tuple[_Results, Swept] | None = None

    def of(self, wiring: "Wiring") -> Swept:
        """The sweep of a wiring; the newest one if its results are the same."""
        results, last = _results(wiring), self._last
        if last is not None and results.same(last[0]):
            return last[1]
        table, graph = wiring.seen.table(ProbeReach), PlanGraph(wiring.index)
        joined = reached_by(wiring)
        flows, rows, keys = _flows(graph, joined, table)
        hops, strangers = _hops(wiring, joined, keys, results.device, results.port)
        made = Swept(paths_of(graph, flows, hops), rows, strangers)
        self._last = results, made
        return made


@dataclass(frozen=True, eq=False)
class _Results:
    """What a sweep follows from, beside its plan: the hosts' facts, the NICs of their flows, and who answered them."""

    facts: list[tuple[str, Any]]
    cable: Codes
    peer_cable: Codes
    witnessed: Mask
    device: Codes
    """By rows of `ProbeHop`."""
    port: Codes

    def same(self, other: "_Results") -> bool:
        """Whether the same follows from others."""
        names = ("cable", "peer_cable", "witnessed", "device", "port")
        return self.facts == other.facts and all(np.array_equal(getattr(self, n), getattr(other, n)) for n in names)


def _results(wiring: "Wiring") -> _Results:
    readings = wiring.seen.readings
    facts = [(one.device, one.facts) for one in readings if one.facts and type(one.facts[0]) in PROBE_FACTS]
    joined, addresses = reached_by(wiring), wiring.seen.table(ProbeHop).column("address").tolist()
    device, port = HopAddresses(wiring).find(addresses)
    return _Results(facts, joined.cable, joined.peer_cable, joined.witnessed, device, port)


def _flows(graph: PlanGraph, joined: Reached, table: Table[ProbeReach]) -> tuple[Flows, Codes, Codes]:
    """The flows, the sender's rows of the table, and flow and source port of each in one number, ascending."""
    columns = ("flow", "source_port", "size", "sent", "heard", "tos", "tos_heard")
    number = {name: numbers(table.column(name)) for name in columns}
    one_of = joined.find(table.column("run"), number["flow"])
    key = _key(one_of, number["source_port"])
    sender = np.flatnonzero((number["sent"] > 0) & (one_of >= 0))
    sender = sender[_known(graph, joined, table)[one_of[sender]]]
    keys, first, of = np.unique(key[sender], return_index=True, return_inverse=True)
    rows, size = sender[first], len(first)
    heard = np.flatnonzero(number["heard"] > 0)
    at = found(keys, key[heard])
    heard, at = heard[at >= 0], at[at >= 0]
    small, small_heard = number["size"][sender] <= SMALL_MOST_BYTES, number["size"][heard] <= SMALL_MOST_BYTES
    changed = is_rewritten(number["tos"][heard], number["tos_heard"][heard]) & small_heard
    flow = one_of[rows]
    count, arrived = number["sent"][sender], number["heard"][heard]
    flows = Flows(
        graph.index.a[joined.cable[flow]],
        graph.index.a[joined.peer_cable[flow]],
        number["source_port"][rows],
        by_row(of[small], count[small], size),
        by_row(at[small_heard], arrived[small_heard], size),
        by_row(of[~small], count[~small], size),
        by_row(at[~small_heard], arrived[~small_heard], size),
        by_row(at[changed], arrived[changed], size),
        _astray(joined, table)[flow],
    )
    return flows, rows, keys


def _key(flow: Codes, source_port: Codes) -> Codes:
    """A flow and a source port in one number; negative where there is no such flow."""
    return np.asarray(flow << _PORT_BITS | np.maximum(source_port, 0), dtype=np.int64)


def _known(graph: PlanGraph, joined: Reached, table: Table[ProbeReach]) -> Mask:
    """Flows between planned NICs that a listener witnessed, shape (flows,). Rails of which no packet of list E reaches
    the other have no way to each other: what is sent between them is no loss.
    """
    known = (joined.cable >= 0) & (joined.peer_cable >= 0) & joined.witnessed
    between = known & (table.column("pinglist")[joined.row] == "E")
    if between.any():
        rail = graph.index.rail
        pair = rail[joined.cable] * (int(rail.max()) + 1) + rail[joined.peer_cable]
        known &= ~between | np.isin(pair, pair[between & joined.arrived])
    return np.asarray(known, dtype=bool)


def _astray(joined: Reached, table: Table[ProbeReach]) -> Mask:
    """Flows that took another NIC than the planned one, shape (flows,): heard on another, or sent by another. Where the
    host's routes send what has a NIC's address by another one, flows that are bound to that NIC have no route of their
    own and are no witnesses either.
    """
    left_by, port = (table.column(name)[joined.row] for name in ("left_by", "port"))
    away = np.array([by is not None and by != own for by, own in zip(left_by, port, strict=True)], dtype=bool)
    away &= ~joined.wired
    bound = joined.wired & np.isin(joined.cable, joined.cable[away])
    return np.asarray(away | bound | (joined.stray.sum(axis=1) > 0), dtype=bool)


def _hops(wiring: "Wiring", joined: Reached, keys: Codes, device: Codes, port: Codes) -> tuple[Hops, tuple[str, ...]]:
    """The answers of hops, and the addresses among them that no planned device has."""
    table = wiring.seen.table(ProbeHop)
    number = {name: numbers(table.column(name)) for name in ("flow", "source_port", "ttl", "size", "sent", "answered")}
    flow = found(keys, _key(joined.find(table.column("run"), number["flow"]), number["source_port"]))
    kind = table.column("kind")
    expired, too_big = kind == "time exceeded", kind == "too big"
    rows = np.flatnonzero(flow >= 0)
    addresses, device, port = table.column("address")[rows].tolist(), device[rows], port[rows]
    answers = np.asarray((expired | too_big)[rows], dtype=bool)
    mtu = np.where(too_big[rows], np.maximum(numbers(table.column("mtu")[rows]), 0), NONE)
    given = zip(addresses, device, answers, strict=True)
    strangers = {one for one, code, answer in given if one and answer and code < 0}
    large = np.asarray(number["size"][rows] > SMALL_MOST_BYTES, dtype=bool)
    sent, answered = number["sent"][rows], np.where(answers, number["answered"][rows], 0)
    hops = Hops(flow[rows], number["ttl"][rows], large, sent, answered, device, port, mtu)
    return hops, tuple(sorted(strangers))
