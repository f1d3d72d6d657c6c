"""The rounds of a path sweep after its first one: what that left open is asked within the same limits."""

import json
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from math import ceil, floor
from operator import itemgetter
from typing import Any

import numpy as np

from collector import collectors
from truerail.analysis.sweep.flow_paths import FlowPaths
from truerail.analysis.sweep.losses import Losses
from truerail.analysis.sweep.silent_ties import PROBES
from truerail.analysis.sweep.swept import Swept
from truerail.errors import UnreadableError
from truerail.model.columns import NONE, Codes, Mask, distinct
from truerail.model.plan import Device, Port
from truerail.model.probe_facts import BUFFER_FULL, FULL_TTL, PROBE_COLLECTOR, STARTED_LATE
from truerail.probe.flow_columns import WAIT_SECONDS, Paced
from truerail.probe.host_tasks import ProbePlan, Settings
from truerail.probe.path_sweep import LEAST_PACKETS

# ----------------------------------------------------------------------------------------------------------------------
# Recordings of several rounds of one run as one: the counts of each flow, source port, TTL and size added up.

_TABLES = ("sent", "heard", "hops")
_NOISE = (BUFFER_FULL, STARTED_LATE)
Recording = dict[str, Any]


def unfit(plan: ProbePlan, answers: Mapping[str, str]) -> dict[str, str]:
    """The hosts whose answers are not understood, or are of other flows than their own, and why: a host speaks for its
    own ends alone.
    """
    found, collector, flows = {}, collectors()[PROBE_COLLECTOR], plan.flows
    for host, text in answers.items():
        try:
            collector.read(text, Device(host))
        except UnreadableError as error:
            found[host] = f"its answer is not understood: {error}"
            continue
        one = json.loads(text)
        sends, hears = flows.sent_by(host).tolist(), flows.heard_by(host).tolist()
        own = _among(one["sends"], sends, flows.about) and _among(one["hears"], hears, flows.expected)
        if (one["run"], one.get("host")) != (plan.run, host) or not own:
            found[host] = "its answer is of other flows than those that it was given"
    return found


def _among(reported: Iterable[Recording], places: Iterable[int], given: Callable[[int], Recording]) -> bool:
    """Whether flows are among those that a host was given, and as they were given."""
    known = {flow["flow"]: flow for flow in map(given, places)}
    return all(
        one["flow"] in known and {name: one.get(name) for name in known[one["flow"]]} == known[one["flow"]]
        for one in reported
    )


def merged(first: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    """The recordings of a run by host, with those of a later round. Of the later round, packets that shall arrive count
    only where both ends of their flow answered, and the listener began in time and dropped nothing itself. The later
    recordings are known to be understood; a first one that is not stays as it is.
    """
    new = {host: json.loads(text) for host, text in more.items()}
    noisy = {host for host, one in new.items() if any(row[0] in _NOISE for row in one["trouble"])}
    sent = {flow["flow"] for one in new.values() for flow in one["sends"]}
    heard = {flow["flow"] for host, one in new.items() if host not in noisy for flow in one["hears"]}
    both, found = sent & heard, dict(first)
    for host, one in new.items():
        with suppress(KeyError, TypeError, ValueError, IndexError):
            found[host] = json.dumps(_added(json.loads(first[host]), one, both), separators=(",", ":")) + "\n"
    return found


def _added(old: Recording, new: Recording, both: set[int]) -> Recording:
    """One host's recording with that of a later round."""
    tables = {name: Counter({tuple(row[:-1]): row[-1] for row in old[name]}) for name in _TABLES}
    for name in _TABLES:
        for *key, count in new[name]:
            if name == "hops" or key[2] != FULL_TTL or key[0] in both:
                tables[name][tuple(key)] += count
    trouble = Counter({(*row[:3], row[4]): row[3] for row in old["trouble"]})
    for what, port, flow, count, detail in new["trouble"]:
        if what not in _NOISE:
            trouble[what, port, flow, detail] += count
    return {
        **old,
        **{name: [[*key, count] for key, count in of.items()] for name, of in tables.items()},
        "trouble": [[what, port, flow, count, detail] for (what, port, flow, detail), count in trouble.items()],
        **{name: old.get(name, 0) + new.get(name, 0) for name in ("seconds", "cpu_seconds")},
    }


# ----------------------------------------------------------------------------------------------------------------------
# What a sweep sends after its first part: what did not answer, links that few packets passed, links of a tie.
#
# Paths are known by then, so few packets are enough. Their counts are added to those of the first part.

FOR_EACH_LOSS = 8
"""Packets that a loss expected once in so many is asked with: 8 / rate of them behind each link of a tie."""
MOST_FLOWS = 24
"""Flows over which these are spread."""
MOST_PACKETS = 20_000
"""Packets behind one link."""
MOST_CUT, BESIDE = 512, 16
"""Flows of which large probes are sent to each hop: of those that lose large packets, and beside them at a switch."""


@dataclass(frozen=True)
class HopProbes:
    """Probes of one flow that end at a TTL, or arrive with `FULL_TTL`; small ones, or `large` ones. `device` is the
    code of the switch where they end, -1 if that is not known.
    """

    source: Port
    target: Port
    source_port: int
    ttl: int
    packets: int
    device: int = NONE
    large: bool = False


def unanswered(paths: FlowPaths) -> Iterator[HopProbes]:
    """The hops of flows that arrived that nothing answered: each once more."""
    hops = paths.hops
    asked = np.flatnonzero(~hops.large & (paths.flows.heard[hops.flow] > 0) & (hops.ttl <= paths.length[hops.flow]))
    key = hops.flow[asked] << 8 | hops.ttl[asked]
    keys, inverse = np.unique(key, return_inverse=True)
    answers = np.bincount(inverse, weights=hops.answered[asked], minlength=len(keys))
    for one in keys[answers == 0].tolist():
        yield _probes(paths, one >> 8, one & 0xFF, 1)


def large_hops(paths: FlowPaths) -> Iterator[HopProbes]:
    """Large probes to every hop of the flows whose large packets are lost without a router that reports it: the last
    hop that they reach shows the link that is too small. Other flows over the same switches show what share these
    answer.
    """
    flows, hops = paths.flows, paths.hops
    reported = np.zeros(len(flows), dtype=bool)
    reported[hops.flow[hops.large & (hops.mtu >= 0)]] = True
    tried = paths.whole & (flows.large_sent > 0) & ~reported
    cut, passing = (np.flatnonzero(tried & heard) for heard in (flows.large_heard == 0, flows.large_heard > 0))
    wanted = {
        (flow, ttl)
        for flow in _one_of_each(flows.source, cut)[:MOST_CUT]
        for ttl in range(1, int(paths.length[flow]) + 1)
    }
    devices = distinct(np.array([paths.node[flow, ttl - 1] for flow, ttl in wanted], dtype=np.int64))
    row, place = np.nonzero(np.isin(paths.node[passing], devices[devices >= 0]))
    for device in devices[devices >= 0].tolist():
        here = paths.node[passing[row], place] == device
        at = dict(zip(passing[row[here]].tolist(), place[here].tolist(), strict=True))
        beside = _one_of_each(flows.source, passing[distinct(row[here])])[:BESIDE]
        wanted |= {(flow, at[flow] + 1) for flow in beside}
    for flow, ttl in sorted(wanted):
        yield _probes(paths, flow, ttl, 1, large=True)


def _one_of_each(source: Codes, rows: Codes) -> list[int]:
    """Flows so that each of the first ones has a NIC of its own: many NICs may ask more in a second than one."""
    order = np.argsort(source[rows], kind="stable")
    of = source[rows][order]
    turn = np.arange(len(of)) - np.searchsorted(of, of)
    found: list[int] = rows[order][np.argsort(turn, kind="stable")].tolist()
    return found


def confirming(paths: FlowPaths, losses: Losses) -> Iterator[HopProbes]:
    """Probes that end just behind each link of a tie: where the loss begins, fewer are answered."""
    for seat in losses.lossy_seats:
        if len(seat.segments) < 2 or paths.graph.is_device(np.array(seat.segments)).any():
            continue
        inside = np.isin(paths.segment, seat.segments) & paths.whole[:, None]
        flows = _one_of_each(paths.flows.source, np.flatnonzero(inside.any(axis=1)))[:MOST_FLOWS]
        behind = {(flow, ttl) for flow in flows for ttl in _ttls(inside[flow], int(paths.length[flow]))}
        packets = min(MOST_PACKETS, ceil(FOR_EACH_LOSS / seat.rate))
        each = ceil(packets / max(1, len(flows)))
        yield from (_probes(paths, flow, ttl, each) for flow, ttl in sorted(behind))
        for device in sorted({int(paths.node[flow, ttl - 1]) for flow, ttl in behind}):
            yield from _controls(paths, device, np.asarray(inside.any(axis=1), dtype=bool), packets)


def beyond(paths: FlowPaths, losses: Losses) -> Iterator[HopProbes]:
    """Of silent links that explain a loss alike: probes of the lost flows that end behind the last switch that
    answered, and as many of other flows that end at the switches there, which show that these answer.
    """
    for seat in losses.silent_seats:
        if len(seat.segments) < 2 or paths.graph.is_device(np.array(seat.segments)).any():
            continue
        lost = losses.flows_of(seat)
        flows = _one_of_each(paths.flows.source, lost[paths.flows.heard[lost] == 0])[:MOST_FLOWS]
        each = ceil(PROBES / max(1, len(flows)))
        for flow in flows:
            deepest = max(int(paths.deepest[flow]), 1)
            yield from (_probes(paths, flow, ttl, each) for ttl in range(deepest + 1, int(paths.length[flow])))
        arrived = paths.flows.heard > 0
        for device in distinct(paths.graph.tails(np.array(seat.segments))).tolist():
            yield from _controls(paths, device, ~arrived, PROBES)


def _controls(paths: FlowPaths, device: int, passing: Mask, packets: int) -> Iterator[HopProbes]:
    """As many probes that end at a switch, of flows that do not pass a tie: they show what share it answers."""
    row, place = np.nonzero((paths.node == device) & (paths.whole & ~passing)[:, None])
    each = ceil(packets / max(1, min(MOST_FLOWS, len(row))))
    at = dict(zip(row.tolist(), place.tolist(), strict=True))
    for flow in _one_of_each(paths.flows.source, distinct(row))[:MOST_FLOWS]:
        yield _probes(paths, flow, at[flow] + 1, each)


def more_packets(paths: FlowPaths, least: int = LEAST_PACKETS) -> Iterator[HopProbes]:
    """Packets that arrive, for the links of known paths that fewer than `least` have passed."""
    whole = np.flatnonzero(paths.whole)
    row, place = np.nonzero(paths.segment[whole] >= 0)
    segment = paths.segment[whole][row, place]
    size = int(segment.max(initial=0)) + 1
    passed = np.bincount(segment, weights=paths.flows.sent[whole][row], minlength=size)
    flows = np.maximum(np.bincount(segment, minlength=size), 1)
    each = np.ceil(np.maximum(least - passed, 0) / flows)
    wanted = np.zeros(len(whole))
    np.maximum.at(wanted, row, each[segment])
    for flow in np.flatnonzero(wanted).tolist():
        yield _probes(paths, int(whole[flow]), FULL_TTL, min(MOST_PACKETS, int(wanted[flow])))


def _ttls(inside: Codes, length: int) -> list[int]:
    """The TTLs that end behind the links of a tie; behind the last leaf there is the NIC, which is not asked."""
    return [place + 1 for place in np.flatnonzero(inside).tolist() if place < length]


def _probes(paths: FlowPaths, flow: int, ttl: int, packets: int, *, large: bool = False) -> HopProbes:
    flows, spell = paths.flows, paths.graph.index.spell
    source, target = spell(int(flows.source[flow])), spell(int(flows.target[flow]))
    device = int(paths.node[flow, ttl - 1]) if ttl <= paths.node.shape[1] else NONE
    return HopProbes(source, target, int(flows.source_port[flow]), ttl, packets, device, large)


# ----------------------------------------------------------------------------------------------------------------------
# The rounds.

MOST_ROUNDS = 2
"""What did not answer or got few packets; then the links of ties."""
MOST_SECONDS = 240.0
"""How long one of these rounds may send: what does not fit stays open, and is counted as not covered."""

Send = Callable[[ProbePlan], Awaitable[Mapping[str, str]]]
"""Sends what a plan says, and returns the recordings by host; none where the run was ended."""
Look = Callable[[Mapping[str, str]], Swept]


async def follow_up(plan: ProbePlan, recordings: Mapping[str, str], send: Send, look: Look) -> dict[str, str]:
    """The recordings of a plan's sweep with those of the rounds that follow from it. `look` evaluates recordings."""
    found = dict(recordings)
    for questions in (_open, _ties) if plan.sweep is not None else ():
        next_round = round_of(plan, questions(look(found), plan.settings))
        if next_round is None:
            continue
        answers = await send(next_round)
        if not answers:
            break
        found = merged(found, answers)
    return found


def _open(swept: Swept, asked: Settings) -> list[HopProbes]:
    more = more_packets(swept.paths) if "loss" in asked.what else ()
    return [*unanswered(swept.paths), *large_hops(swept.paths), *more]


def _ties(swept: Swept, _: Settings) -> list[HopProbes]:
    return [*confirming(swept.paths, swept.losses), *beyond(swept.paths, swept.losses)]


def round_of(plan: ProbePlan, questions: Iterable[HopProbes]) -> ProbePlan | None:
    """The questions as a plan of the same run; None if there is nothing to send. Packets that shall arrive are spread
    over their host's rate, those that end at switches are paced: so many a second for each NIC and TTL, and fewer where
    more NICs ask one switch than it may be asked.
    """
    questions = list(questions)
    nic_of = plan.sweep.nic_of if plan.sweep else {}
    cables = [nic_of[one.source].cable if one.source in nic_of else NONE for one in questions]
    ports = np.array([one.source_port for one in questions], dtype=np.int64)
    places = plan.flows.at(np.array(cables, dtype=np.int64), ports)
    arriving: dict[str, list[tuple[HopProbes, int]]] = defaultdict(list)
    ending: dict[tuple[Port, int], list[tuple[HopProbes, int]]] = defaultdict(list)
    for one, place in zip(questions, places.tolist(), strict=True):
        if place != NONE and plan.tried[place]:
            of = arriving[one.source.device] if one.ttl == FULL_TTL else ending[one.source, one.ttl]
            of.append((one, place))
    made: list[tuple[int, HopProbes, int, float, float]] = []

    def add(one: HopProbes, place: int, first: float, every: float) -> None:
        count = min(one.packets, floor(max(0.0, MOST_SECONDS - first) / every) + 1)
        if first <= MOST_SECONDS:
            made.append((place, one, count, first, every))

    apart = 1 / plan.settings.packets_per_second
    for probes in arriving.values():
        for number, (one, place) in enumerate(probes):
            add(one, place, number * apart, len(probes) * apart)
    every = _every(plan, (one for probes in ending.values() for one, _ in probes))
    step = max(every, WAIT_SECONDS + 0.05)
    for (_, ttl), probes in ending.items():
        for number, (one, place) in enumerate(probes):
            add(one, place, number * every + ttl * step, max(len(probes) * every, step))
    return replace(plan, flows=plan.flows.only_paced(_rows(plan, made)), sweep=None) if made else None


def _rows(plan: ProbePlan, made: list[tuple[int, HopProbes, int, float, float]]) -> Paced:
    """Probes with the flows that they belong to, their counts and their times."""
    made.sort(key=itemgetter(0))
    sizes = (plan.settings.small, plan.settings.mtu)
    whole = [(place, one.source_port, one.ttl, sizes[one.large], count) for place, one, count, _, _ in made]
    flow, source_port, ttl, size, count = np.array(whole, dtype=np.int64).T
    first, every = np.array([row[3:] for row in made], dtype=np.float64).T
    return Paced(flow, source_port, ttl, ttl, size, count, first, np.zeros(len(made)), every)


def _every(plan: ProbePlan, asked: Iterable[HopProbes]) -> float:
    """Seconds between two probes of a NIC with one TTL, so that no switch is asked too often. Where it is not known
    at which switch probes end, it is taken to be one.
    """
    nics: dict[int, set[Port]] = defaultdict(set)
    for one in asked:
        nics[one.device].add(one.source)
    busiest = max(map(len, nics.values()), default=0)
    budget = plan.settings.budget
    return max(1 / budget.per_nic, busiest / budget.mean_of(len(nics)))
