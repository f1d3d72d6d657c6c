"""What the service probes in the background: a share of the pairs at a time, and the results of each share until they
are probed again, or are too old to count.
"""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import ceil
from typing import NamedTuple

from collector import collectors
from truerail.analysis.round import Round
from truerail.errors import CommandError
from truerail.model import Device, Fact, Plan, Reading
from truerail.model.names import natural_key
from truerail.model.probe_facts import PROBE_COLLECTOR, PROBE_FACTS
from truerail.probe.host_tasks import ProbePlan, Settings, plan_run
from truerail.probe.path_sweep import sweep_of
from truerail.probe.pinglists import SWEPT, USUAL, Nic, Share, pairs_of, usual_mtu

NEAR, FAR = ("A", "B"), ("C", "E")
"""Each run has its share of both; that of `FAR` grows with the fabric."""
MOST_PAIRS = 100_000
"""Pairs in one run: about 200 MB while it is planned."""
RUN_SHARE = 0.25
"""Of the interval, that a run may take: the others are for hosts that answer late, and for jobs."""
_JUMBO_BYTES, _LARGE_BYTES = 2000, 9000
"""An MTU that NICs have on purpose is at least the one: 1500 is the kernel's default, RDMA packets of 2048 bytes need
more than 2000. The other one is sent where nothing says what they should have.
"""
MOST_SWEEP_SECONDS = 600.0
"""How long a path sweep may take: whether hosts are idle is looked at before it begins."""
_PACKETS_OF_PAIR = {NEAR: 16, FAR: 4}
"""A little above what `tasks` sends for one pair."""
_PLACE: dict[type[object], int] = {kind: place for place, kind in enumerate(PROBE_FACTS)}


class Turn(NamedTuple):
    """Which lists a run has, and which share of them. A path sweep is one of the list `P`."""

    lists: tuple[str, ...]
    share: Share


def of_round(settings: Settings, round: Round) -> Settings:
    """Settings with the MTU and the class that the plan declares. Without a declared MTU large packets have that of
    most NICs, such as 4200 or 9216; where most have a small one, that is no intention, and it is shown.
    """
    qos, usual = round.plan.qos, usual_mtu(round) or 0
    lossless = [dscp for dscp, of in (qos.dscp_to_priority if qos else ()) if qos and of in (qos.pfc_priorities or ())]
    return replace(
        settings,
        mtu=settings.mtu or (qos and qos.mtu) or (usual if usual >= _JUMBO_BYTES else _LARGE_BYTES),
        dscp=lossless[0] if lossless else settings.dscp,
    )


def turns_of(nics: Iterable[Nic], every: timedelta, settings: Settings, number: int) -> tuple[Turn, ...]:
    """The turns of the run with this number: one of all pairs where they fit, else a share of the near ones and a
    share of the far ones.
    """
    leaves: dict[tuple[int, int], dict[str, int]] = {}
    hosts: dict[str, int] = {}
    for nic in nics:
        of_group = leaves.setdefault(nic.group, {})
        of_group[nic.leaf] = of_group.get(nic.leaf, 0) + 1
        hosts[nic.host] = hosts.get(nic.host, 0) + 1
    others = max((len(of_group) - 1 for of_group in leaves.values()), default=0)
    far = sum(sum(of_group.values()) * (len(of_group) - 1) for of_group in leaves.values())
    near = sum(3 * sum(of_group.values()) + 2 * len(of_group) * (len(of_group) - 1) for of_group in leaves.values())
    most = max(hosts.values(), default=0)
    packets = every.total_seconds() * RUN_SHARE * settings.packets_per_second
    shares = {
        NEAR: max(ceil(near / MOST_PAIRS), ceil(most * 3 * _PACKETS_OF_PAIR[NEAR] / packets)),
        FAR: max(ceil(far / MOST_PAIRS), ceil(most * others * _PACKETS_OF_PAIR[FAR] / packets)),
    }
    if all(share <= 1 for share in shares.values()):
        return (Turn(USUAL, Share()),)
    return tuple(Turn(lists, Share(number % max(of, 1), max(of, 1))) for lists, of in shares.items())


def turn_of_paths(nics: Iterable[Nic], number: int) -> Turn | None:
    """The sweep with this number: the paths of one rail and plane after the other. None without NICs."""
    groups = sorted({nic.group for nic in nics})
    return Turn((SWEPT,), Share(number % len(groups), len(groups))) if groups else None


def plan_paths(
    turn: Turn,
    plan: Plan,
    nics: tuple[Nic, ...],
    settings: Settings,
    at: datetime,
    left_out: Mapping[str, str],
    every: timedelta,
) -> ProbePlan:
    """The flows of a path sweep of one rail and plane, between two runs that are `every` apart. Raises CommandError
    where it would take too long.
    """
    group = sorted({nic.group for nic in nics})[turn.share.number]
    of_rail = [nic for nic in nics if nic.group == group]
    sweep = sweep_of(plan, of_rail, left_out, settings.budget, across_rails=False)
    hosts = {nic.host for nic in of_rail}
    planned = plan_run([], settings, at, {host: why for host, why in left_out.items() if host in hosts}, sweep)
    most = min(MOST_SWEEP_SECONDS, every.total_seconds())
    if planned.seconds > most:
        raise CommandError(
            f"the paths of rail {group[0]} are not swept: that takes {planned.seconds:,.0f} s at this rate, "
            f"and at most {most:,.0f} s are allowed in the background"
        )
    return planned


def plan_turn(
    turn: Turn, plan: Plan, nics: tuple[Nic, ...], settings: Settings, at: datetime, left_out: Mapping[str, str]
) -> ProbePlan:
    """The flows of a turn. Raises CommandError where a NIC has more flows than source ports."""
    pairs = pairs_of(plan, nics, turn.lists, turn.share)
    return plan_run(pairs, settings, at, dict(sorted(left_out.items(), key=lambda one: natural_key(one[0]))))


@dataclass(frozen=True)
class _Result:
    at: datetime
    since: datetime
    until: datetime
    facts: dict[str, tuple[Fact, ...]]

    def counts(self, now: datetime) -> bool:
        """Whether it is neither too old nor, because the clock was set back, of a time to come: how old is it then?"""
        return self.since <= now <= self.until


class Results:
    """The newest facts of each turn, by host. For any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: dict[Turn, _Result] = {}
        self._hosts: set[str] = set()

    def put(self, turn: Turn, at: datetime, every: timedelta, recordings: Mapping[str, str]) -> None:
        """Takes what a run brought. It counts until its turn should have come twice more. Other turns of the same lists
        that are cut in another way are forgotten.
        """
        collector = collectors()[PROBE_COLLECTOR]
        facts = {host: tuple(collector.read(text, Device(host))) for host, text in recordings.items()}
        with self._lock:
            self._of = {one: result for one, result in self._of.items() if not _supersedes(turn, one)}
            self._of[turn] = _Result(at, at - every, at + every * (turn.share.of + 1), facts)

    def any_old(self, now: datetime) -> bool:
        """Whether a result counts no longer."""
        with self._lock:
            return not all(result.counts(now) for result in self._of.values())

    def readings(self, now: datetime) -> list[Reading]:
        """The reading of each host that was ever probed: what is too old is left out, down to nothing."""
        with self._lock:
            self._of = {turn: result for turn, result in self._of.items() if result.counts(now)}
            kept = list(self._of.values())
        found: dict[str, list[Fact]] = {}
        oldest: dict[str, datetime] = {}
        for result in kept:
            for host, facts in result.facts.items():
                found.setdefault(host, []).extend(facts)
                oldest[host] = min(oldest.get(host, result.at), result.at)
        self._hosts |= found.keys()
        return [
            Reading(
                host,
                PROBE_COLLECTOR,
                oldest.get(host, now),
                tuple(sorted(found.get(host, ()), key=lambda fact: _PLACE[type(fact)])),
                source="truerail-probe",
            )
            for host in sorted(self._hosts)
        ]


def _supersedes(new: Turn, old: Turn) -> bool:
    """Whether the same lists are cut in another way now."""
    alike = new.lists == old.lists and new.share.of == old.share.of
    return not alike and bool(set(new.lists) & set(old.lists))
