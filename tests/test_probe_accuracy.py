"""The path sweep's conclusions on drawn fabrics, as `make bench` measures them, on a few seeds."""

import pytest

from benchmarks.probe.drawn import draw
from benchmarks.probe.measure import outcome_of
from benchmarks.probe.report import report
from benchmarks.probe.scoring import Outcome

SEEDS = (3, 6, 9, 63)
"""Clean fabrics, one fault and two, of most kinds and fabrics; those of lessons learnt among them."""


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return [outcome_of(seed) for seed in SEEDS]


def test_faults_are_found_at_their_seats_and_nothing_else(outcomes: list[Outcome]) -> None:
    assert not [(outcome.trial.seed, outcome.false) for outcome in outcomes if outcome.false]
    wrong = [
        (outcome.trial.seed, fault)
        for outcome in outcomes
        for fault in outcome.faults
        if fault.used and (not fault.found or (fault.decidable and not fault.exact))
    ]
    assert not wrong
    assert sum(fault.decidable for outcome in outcomes for fault in outcome.faults) >= 3


def test_the_page_has_every_table(outcomes: list[Outcome]) -> None:
    page = report(outcomes)
    assert "## By fault" in page
    assert page.endswith("## Misses\n\nNone.\n")


def test_a_seed_is_one_trial() -> None:
    assert draw(17) == draw(17)
    assert len({draw(seed).kind for seed in range(60)}) > 8
