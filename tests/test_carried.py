"""A round whose wiring is carried over says the same as one that is joined from the beginning, whatever changes."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
from msgspec import structs

from collector import at_once, collectors
from tests.living_site import POD, Site
from truerail.analysis.cabling import Wiring
from truerail.analysis.counters import CounterView, Window
from truerail.analysis.round import Round
from truerail.model import BitErrorRate, CauseKind, Evaluation, Optic, Plan, Reading, Snapshot
from truerail.outputs.report import render
from truerail.poller import Poller
from truerail.rounds import evaluate
from truerail.simulator import Fault
from truerail.transport.kept_answers import KeptAnswers

ROUNDS = 14


def test_counters_alone_need_a_second_round() -> None:
    at_once.cache_clear()
    assert "lldp_host" in at_once()
    assert "nic_counters" in collectors().keys() - at_once()


class Carrier:
    """Evaluates each snapshot twice: carrying the wiring over, and fresh."""

    def __init__(self) -> None:
        self.cabled: Wiring | None = None
        self.carried = 0

    def __call__(self, plan: Plan, snapshot: Snapshot, counters: CounterView | None = None) -> Evaluation:
        before = self.cabled
        round = Round(plan, snapshot, counters, cabled=before)
        found = evaluate(round)
        self.cabled = round.cabling
        self.carried += before is not None and before.identity is self.cabled.identity
        fresh = evaluate(Round(plan, Snapshot(snapshot.at, snapshot.readings, None, snapshot.inventory), counters))
        assert render(found, "json") == render(fresh, "json")
        return found


def changed(reading: Reading, rng: Random) -> Iterator[Reading]:
    """What may become of a device's answer."""
    draw = rng.random()
    if draw < 0.5:
        yield structs.replace(reading, facts=(), error="no answer within 5 s")
    elif draw < 0.7:
        yield structs.replace(reading, facts=reading.facts[: len(reading.facts) // 2])
    elif draw < 0.9:
        yield structs.replace(reading, facts=tuple(reversed(reading.facts)))


@pytest.mark.parametrize("seed", range(4))
def test_random_rounds_carried_are_as_fresh_ones(seed: int) -> None:
    rng = Random(seed)
    faults = [Fault(CauseKind.CABLE_SWAP)] * (seed % 2)
    site = Site(faults, shape=replace(POD, hosts=4, platforms=(("cumulus", "sonic", "eos", "junos")[seed],)), seed=seed)
    site.wait(700)
    check, plan, base = Carrier(), site.fabric.plan, list(site.snapshot().readings)
    now, window = base, Window()
    for number in range(ROUNDS):
        site.wait(60)
        event = rng.random()
        if event < 0.2:  # some answers change, fail or are missing
            hit = {rng.randrange(len(base)) for _ in range(3)}
            now = [new for at, one in enumerate(base) for new in (changed(one, rng) if at in hit else (one,))]
        elif event < 0.35:
            now = base
        elif event < 0.5:  # the plan is read again
            plan = replace(plan)
        if event < 0.8:  # all answers come again, with the same facts
            now = [structs.replace(one, at=site.now) for one in now]
        window.put(now)
        check(plan, Snapshot(site.now, now), window.view() if number > 1 else None)
    assert 0 < check.carried < ROUNDS


def test_polled_rounds_carry_until_a_cable_is_swapped() -> None:
    site = Site(shape=replace(POD, hosts=4))
    poller = Poller(
        site.fabric.targets, site.fabric.transport, devices=site.fabric.plan.devices, kept=KeptAnswers(),
        ambient=site.gatherer._ambient,
    )  # fmt: skip
    check = Carrier()

    def rounds(number: int) -> list[bool]:
        found = []
        for _ in range(number):
            site.wait(60)
            snapshot = asyncio.run(poller.round(collectors=sorted(at_once()))).snapshot()
            causes = check(site.fabric.plan, snapshot).causes
            found.append(any(cause.kind is CauseKind.CABLE_SWAP for cause in causes))
        return found

    site.wait(700)
    assert not any(rounds(3))
    assert check.carried == 2
    site.director.plant(Fault(CauseKind.CABLE_SWAP))
    assert rounds(3)[-1]


def test_evidence_of_a_carried_round_has_the_time_of_its_own_readings() -> None:
    site = Site([Fault(CauseKind.CABLE_SWAP)], shape=replace(POD, hosts=4))
    snapshot = site.snapshot()
    later = [structs.replace(one, at=one.at + timedelta(seconds=60)) for one in snapshot.readings]
    check = Carrier()
    check(site.fabric.plan, snapshot)
    found = check(site.fabric.plan, Snapshot(snapshot.at + timedelta(seconds=60), later, None, snapshot.inventory))
    assert check.carried == 1
    times = {one.at for finding in found.findings for one in finding.evidence}
    assert times == {snapshot.at + timedelta(seconds=60)}


def of(readings: Sequence[Reading], collector: str) -> int:
    return next(at for at, one in enumerate(readings) if one.collector == collector and one.facts)


@pytest.mark.parametrize(
    ("collector", "error", "carries"),
    [
        pytest.param("optics", "", True, id="other light"),
        pytest.param("optics", "timed out", True, id="no light, and another answer of the same device"),
        pytest.param("lldp_host", "timed out", False, id="no neighbours"),
        pytest.param("net_link", "", False, id="other interfaces"),
    ],
)
def test_only_measured_facts_may_change(collector: str, error: str, carries: bool) -> None:
    site = Site(shape=replace(POD, hosts=2))
    base = list(site.snapshot().readings)
    if collector == "optics":
        base.append(Reading(base[0].device, "optics", site.now, (Optic("swp1", 1, -2.0), BitErrorRate("swp1", 1e-9))))
    at = of(base, collector)
    now = list(base)
    now[at] = structs.replace(base[at], facts=() if error else base[at].facts[:1], error=error)
    earlier, later = Snapshot(site.now, base), Snapshot(site.now, now)
    assert later.continues(earlier) is carries
    assert earlier.continues(later) is carries
    assert not Snapshot(site.now, now[1:]).continues(later)
    assert not Snapshot(site.now, [now[1], now[0], *now[2:]]).continues(later)
    assert not replace(later, inventory=frozenset({"x"})).continues(later)


def test_a_device_that_answers_nothing_any_more_is_joined_again() -> None:
    site = Site(shape=replace(POD, hosts=2))
    lone = Reading("gpu-x", "optics", site.now, (Optic("swp1", 1, -2.0),))
    base = [*site.snapshot().readings, lone]
    now = [*base[:-1], structs.replace(lone, facts=(), error="timed out")]
    assert not Snapshot(site.now, now).continues(Snapshot(site.now, base))


def test_what_is_held_for_long_holds_no_counters() -> None:
    site = Site(shape=replace(POD, hosts=2))
    round = Round(site.fabric.plan, site.snapshot())
    held = {type(fact) for one in round.cabling.identity.names.seen.readings for fact in one.facts}
    assert held
    assert held.isdisjoint({Optic, BitErrorRate})
