"""As of a time everything reads as it was published then: words, severity, confidence, and what was shown at all."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from tests.draws import draws
from tests.each import each
from tests.journal_helpers import Fabric, Settings, record, swapped
from tests.small_fabric import World
from truerail.journal import Journal, open_journal
from truerail.model import Evaluation, Severity
from truerail.model.history import EventKind
from truerail.model.life import LifeState

SAID = ("looks crossed", "is crossed, as both ends show", "may be a stale neighbor")
ROUNDS = 24


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    opened = open_journal(Settings(f"sqlite:///{tmp_path}/journal.db"))
    yield opened
    opened.close()


def worded(rng: Random, kept: list[Evaluation]) -> Callable[[Evaluation], Evaluation]:
    """An evaluation whose causes and findings read in another way, which is `kept`."""
    said, sure, loud = rng.choice(SAID), rng.choice((0.5, 0.9)), rng.choice(list(Severity))

    def spoil(evaluation: Evaluation) -> Evaluation:
        causes = [
            replace(one, id=f"C{number}", summary=f"It {said}", action=f"Check: it {said}", confidence=sure)
            for number, one in enumerate(evaluation.causes, rng.randint(1, 3))
        ]
        findings = [replace(one, severity=loud, summary=f"Here it {said}") for one in evaluation.findings]
        kept.append(replace(evaluation, causes=tuple(causes), findings=tuple(findings)))
        return kept[0]

    return spoil


def silent(world: World) -> None:
    """The swapped host and its leaves do not answer."""
    swapped(world)
    world.unread = {"h1", "leaf-0", "leaf-1"}


@each("seed", range(draws(3, 60)))
def test_all_of_a_time_reads_as_it_did(tmp_path: Path, seed: int) -> None:
    rng, fabric, journal = Random(seed), Fabric(), open_journal(Settings(f"sqlite:///{tmp_path}/{seed}.db"))
    published: dict[datetime, Evaluation] = {}
    for number in range(1, ROUNDS + 1):
        changes = fabric.round(rng.choice((None, swapped, swapped, silent)), worded(rng, kept := []))
        journal.record(record(number, changes), changes)
        published[changes.at] = kept[0]
    for at, evaluation in published.items():
        state = journal.as_of(at + timedelta(seconds=1))
        shown = [one for one in state.causes if one.present and one.life.state is not LifeState.UNSEEN]
        assert {
            (one.cause.key, one.cause.id, one.cause.summary, one.cause.action, one.cause.confidence) for one in shown
        } == {(one.key, one.id, one.summary, one.action, one.confidence) for one in evaluation.causes}
        found = [one for one in state.findings if one.present and one.life.state is not LifeState.UNSEEN]
        assert {(one.finding.id, one.finding.severity, one.finding.summary) for one in found} == {
            (one.id, one.severity, one.summary) for one in evaluation.findings
        }
    journal.close()


def test_what_is_seen_again_has_an_event(journal: Journal) -> None:
    fabric = Fabric()
    rounds = [*fabric.rounds(2, swapped), *fabric.rounds(2, silent), *fabric.rounds(2, swapped)]
    for number, changes in enumerate(rounds, 1):
        journal.record(record(number, changes), changes)
    events = journal.cause_events(rounds[0].at, rounds[-1].at)[::-1]
    (swap,) = rounds[0].cause_lives
    kinds = [one.kind for one in events if one.cause == swap]
    assert kinds == [EventKind.APPEARED, EventKind.UNSEEN, EventKind.RETURNED]
