"""Polarization in the real kernel: counters of real interfaces, read from real agents, evaluated as in a fabric."""

import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import numpy as np
import pytest

from collector import collectors
from tests.draws import draws
from tests.ecmp_fabric import SEED_FILE, SPINES, SUPERSPINES, Fabric, running
from tests.lab.system import LabError, namespaces
from tests.real import give_up, require
from truerail.analysis.counters.window import Window
from truerail.analysis.round import Round
from truerail.model import Evaluation, Reading, Snapshot, Status
from truerail.rounds import evaluate

STEP_SECONDS = 1.5
"""More than an agent keeps its counters, so that every poll sees new ones, and enough for a round on a busy machine."""
DEADLINE_SECONDS = 75.0
"""Twelve samples take 18 s; a busy machine may miss polls, which then count for nothing."""
SPINE_NAMES = [f"spine-{n}" for n in range(SPINES)]
COLLECTORS = ("if_snmp", "if_counters_snmp")


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fabric]:
    require("ip", "snmpd", "snmpbulkwalk", "snmpset", root=True)
    if not SEED_FILE.exists():
        give_up(f"this kernel has no {SEED_FILE}")
    started = running(tmp_path_factory.mktemp("ecmp"))
    try:
        up = started.__enter__()
    except (LabError, subprocess.SubprocessError) as error:
        give_up(f"no fabric here: {error}")
    try:
        yield up
    finally:
        started.__exit__(None, None, None)
    assert namespaces(up.prefix) == []


def poll(fabric: Fabric) -> list[Reading]:
    """One round: every switch is walked once and both readers of IF-MIB read the answer."""
    with ThreadPoolExecutor(4) as pool:
        return [reading for of in pool.map(lambda name: readings(fabric, name), fabric.switches) for reading in of]


def readings(fabric: Fabric, switch: str) -> list[Reading]:
    text, at, device = fabric.walk(switch), time.time(), fabric.plan.devices[switch]
    return [
        Reading(switch, name, datetime.fromtimestamp(at, UTC), tuple(collectors()[name].read(text, device)), read_at=at)
        for name in COLLECTORS
    ]


def evaluated(fabric: Fabric, wanted: Status) -> tuple[Evaluation, list[str]]:
    """Polls until every spine has samples enough to be evaluated and LBL001 says what is wanted, or time is up; what it
    says then, and the spines it evaluates.
    """
    time.sleep(STEP_SECONDS)  # before that an agent may tell what it had counted before the seeds were set
    window, end = Window(step_seconds=STEP_SECONDS), time.monotonic() + DEADLINE_SECONDS
    due = time.monotonic()
    while True:
        round_ = poll(fabric)
        window.put(round_)
        seen = Round(fabric.plan, Snapshot(datetime.now(UTC), round_), window.view())
        balance = seen.balance
        spines = sorted(set(balance.names(np.flatnonzero(balance.evaluated))) & set(SPINE_NAMES))
        late = time.monotonic() > end
        if spines == SPINE_NAMES or late:
            found = evaluate(seen, only={"LBL001"})
            if late or [verdict.status for verdict in found.verdicts] == [wanted]:
                return found, spines
        due = max(due + STEP_SECONDS, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))


def each(fabric: Fabric) -> dict[str, int]:
    return {name: 101 + number for number, name in enumerate(fabric.switches)}


def each_tier(fabric: Fabric) -> dict[str, int]:
    return {name: 7 + fabric.plan.devices[name].role.tier for name in fabric.switches}


def test_spines_with_the_seed_of_the_leaves_are_polarized(fabric: Fabric) -> None:
    fabric.seed(dict.fromkeys(fabric.switches, 0))
    found, spines = evaluated(fabric, Status.FAIL)
    assert spines == SPINE_NAMES
    assert [verdict.status for verdict in found.verdicts] == [Status.FAIL], found.verdicts
    assert sorted(f.subject for f in found.findings) == SPINE_NAMES
    for finding in found.findings:
        detail = dict(finding.detail)
        assert (detail["idle"], detail["members"]) == (SUPERSPINES - 1, SUPERSPINES)
        assert finding.confidence == 0.99


@pytest.mark.parametrize("seeds", [each_tier, each][: draws(1, 2)])
def test_seeds_that_differ_from_tier_to_tier_are_not_polarized(
    fabric: Fabric, seeds: Callable[[Fabric], dict[str, int]]
) -> None:
    fabric.seed(seeds(fabric))
    found, spines = evaluated(fabric, Status.PASS)
    assert spines == SPINE_NAMES
    assert [verdict.status for verdict in found.verdicts] == [Status.PASS], found.verdicts
    assert found.findings == ()
