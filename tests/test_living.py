"""A living fabric, asked and evaluated by the real code at every step: what is said at rest is the truth, and what is
said while LLDP still remembers is never an invention.
"""

import pytest

from benchmarks.accuracy.scoring import score
from collector import at_once
from tests.draws import draws
from tests.living_site import Site
from truerail.model import CableState, Cause, CauseKind
from truerail.simulator import VARIANTS, Fault, Shape, TrueCause
from truerail.simulator.live import Pace

EVERY_FAULT = [Fault(kind, variant) for kind, variants in VARIANTS.items() for variant in variants]
SMALL = Shape(hosts=draws(6, 12), rails=4, spines=2, uplinks=draws(2, 4))
BUSY = Pace(fault_seconds=(30.0, 70.0), repair_seconds=(35.0, 60.0), most=3, seen_seconds=30.0)

LOOKS = draws(2, 6)
"""Times that a fabric is evaluated in 24 s after a change, which LLDP remembers for 20 s."""
ROUNDS = draws(70, 400)

PARTS = (CauseKind.CABLE_MOVE, CauseKind.CABLE_SWAP, CauseKind.CABLE_ROTATION)


def _id(fault: Fault) -> str:
    return f"{fault.kind}-{fault.variant}"


def _quiet() -> Site:
    """A fabric on which nothing is wrong."""
    site = Site([Fault(CauseKind.LINK_DOWN)], shape=SMALL)
    site.director.fix(1)
    site.settle()
    return site


def _explanations(truth: TrueCause) -> set[tuple[CauseKind, frozenset[str]]]:
    """What may be said of a cause: itself, and what the same answers bear out."""
    subjects = frozenset(truth.subjects)
    hosts = frozenset(port.device for port in truth.cables)
    kinds = [truth.kind, *(other.kind for other in truth.alternatives)]
    return {(kind, names) for kind in kinds for names in (subjects, hosts)}


def _invented(site: Site, truths: list[TrueCause]) -> list[str]:
    """Causes that are neither true, nor were, nor say that they do not know.

    While some ports of a fault are still ambiguous, it may be reported in part: of cables of that fault and of no
    others. A port that a cable has just left has no link; until its new place is heard of, that is what there is to
    say.
    """
    known = {explanation for truth in truths for explanation in _explanations(truth)}
    of_one = [set(map(str, truth.cables)) for truth in truths]
    found = []
    for cause in site.evaluated(at_once()).causes:
        part = cause.kind in PARTS and any(cables.issuperset(cause.subjects) for cables in of_one)
        unplugged = cause.kind is CauseKind.LINK_DOWN and _has_no_link(site, cause)
        true = (cause.kind, frozenset(cause.subjects)) in known
        if not (true or part or unplugged or cause.kind is CauseKind.UNKNOWN):
            found.append(f"{cause.kind} {' '.join(cause.subjects)}")
    return found


def _has_no_link(site: Site, cause: Cause) -> bool:
    planned = next(cable for cable in site.fabric.plan.cables if str(cable.a) == cause.subjects[0])
    return not site.fabric.living.world.carrier(planned.b)


def test_nothing_is_said_of_a_fabric_on_which_nothing_is_wrong() -> None:
    site = _quiet()
    evaluation = site.evaluated()
    assert not evaluation.findings
    assert not evaluation.causes
    assert {*evaluation.cable_states.values()} == {CableState.RIGHT}
    assert not evaluation.collection_errors


@pytest.mark.parametrize("fault", EVERY_FAULT, ids=_id)
def test_each_fault_is_named_at_rest_never_wrongly_before_and_is_gone_when_repaired(fault: Fault) -> None:
    site = _quiet()
    standing = site.director.plant(fault)
    truths = list(site.director.truth.causes)
    for _ in range(LOOKS):
        assert _invented(site, truths) == []
        site.wait(24.0 / LOOKS)
    assert score(site.director.truth, site.evaluated()).mistakes == []
    site.director.fix(standing)
    for _ in range(LOOKS):
        assert _invented(site, truths) == []
        site.wait(24.0 / LOOKS)
    evaluation = site.evaluated()
    assert not evaluation.findings
    assert {*evaluation.cable_states.values()} == {CableState.RIGHT}


@pytest.mark.timeout(180)  # hundreds of evaluations
def test_the_script_is_evaluated_rightly_at_every_rest() -> None:
    site = Site([], shape=SMALL, seed=3, pace=BUSY)
    rests, truths = 0, [site.director.truth.causes] * 5
    for _ in range(ROUNDS):
        truths = [*truths[1:], site.director.truth.causes]
        if site.at_rest:
            rests += 1
            mistakes = score(site.director.truth, site.evaluated(at_once())).mistakes
            assert mistakes == [], [e.summary for e in site.director.log]
        else:
            assert _invented(site, [cause for causes in truths for cause in causes]) == []
        site.wait(9.0)
    assert rests > ROUNDS / 4
    assert len(site.director.log) > 0.3 * ROUNDS
    assert len({entry.standing.kind for entry in site.director.log}) >= 7
    assert sum(entry.repaired for entry in site.director.log) > ROUNDS / 8


def test_faults_stand_and_go_in_any_order() -> None:
    site = _quiet()
    kinds = (
        Fault(CauseKind.HOST_SWAP, "labels"),
        Fault(CauseKind.CABLE_SWAP, "one-host"),
        Fault(CauseKind.LEAF_SWAP),
        Fault(CauseKind.UNREACHABLE, "hung"),
        Fault(CauseKind.LINK_DOWN, "uplink"),
    )
    planted = []
    for fault in (kinds[2], kinds[0], kinds[1], kinds[3], kinds[4]):
        planted.append(site.director.plant(fault))
        site.wait(1.0)
    for standing in (planted[2], planted[0], planted[4], planted[1], planted[3]):
        site.settle()
        assert score(site.director.truth, site.evaluated()).mistakes == []
        site.director.fix(standing)
    site.settle()
    assert not site.evaluated().findings


def test_the_same_seed_tells_the_same_story_and_another_one_another() -> None:
    def story(seed: int) -> list[tuple[float, str]]:
        site = Site([], shape=SMALL, seed=seed, pace=BUSY)
        for _ in range(300):
            site.wait(5.0)
        return [(entry.at, entry.summary) for entry in site.director.log]

    once = story(5)
    assert once == story(5)
    assert once != story(6)
    assert len(once) > 20


def test_no_more_faults_stand_than_the_pace_allows() -> None:
    site = Site([Fault(CauseKind.LINK_DOWN)], pace=Pace(fault_seconds=(5.0, 5.0), repair_seconds=(1e9, 1e9), most=3))
    for _ in range(30):
        site.wait(5.0)
    assert len(site.director.standing) == 3
    assert {standing.kind for standing in site.director.standing} == {CauseKind.LINK_DOWN}


def test_a_paused_script_does_nothing() -> None:
    site = Site([Fault(CauseKind.LINK_DOWN)], pace=BUSY)
    site.director.paused = True
    for _ in range(50):
        site.wait(10.0)
    assert site.director.log == []
    site.director.paused = False
    site.wait(1.0)
    assert len(site.director.log) == 2


def test_a_fault_is_repaired_by_its_number_or_by_what_it_is_about() -> None:
    site = _quiet()
    swap = site.director.plant(Fault(CauseKind.CABLE_SWAP, "one-host"))
    port = swap.cause.subjects[0]
    host = port.partition("/")[0]
    assert site.director.find(port) is site.director.find(host) is site.director.find(f"#{swap.number}") is swap
    assert site.director.fix(host) is swap
    with pytest.raises(LookupError, match="no active fault includes 'gpu-999'"):
        site.director.fix("gpu-999")
    with pytest.raises(LookupError):
        site.director.fix(swap.number)


def test_of_the_faults_of_the_first_day_the_cause_of_the_day_is_repaired_last() -> None:
    site = Site([], pace=Pace(fault_seconds=(1e9, 1e9), repair_seconds=(40.0, 40.0)))
    for _ in range(20):
        site.wait(20.0)
    repaired = [entry.standing.kind for entry in site.director.log]
    assert repaired == ["link-down", "link-down", "cable-swap", "port-shift", "host-swap", "leaf-swap"]
    assert site.director.standing == ()
