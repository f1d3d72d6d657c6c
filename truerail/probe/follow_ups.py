"""The rounds of a path sweep after its first one: what that left open is asked within the same limits."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from math import floor
from operator import itemgetter

import numpy as np

from truerail.analysis.sweep.swept import Swept
from truerail.model.columns import NONE
from truerail.model.plan import Port
from truerail.probe.flow_columns import Paced
from truerail.probe.path_questions import HopProbes, beyond, confirming, large_hops, more_packets, unanswered
from truerail.probe.recordings import merged
from truerail.probe.schedule import FULL_TTL, WAIT_SECONDS
from truerail.probe.tasks import ProbePlan, Settings

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
    if not made:
        return None
    return replace(plan, flows=plan.flows.only_paced(_rows(plan, made)), sweep=None)


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
