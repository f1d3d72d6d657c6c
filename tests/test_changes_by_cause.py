"""What changed, one line for each cause, on a fabric of 1,024 hosts with two leaves in each other's place."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from msgspec import structs

from tests.journal_helpers import Settings, record
from truerail.analysis.published import EvaluatedRound, Published
from truerail.analysis.round import Round
from truerail.errors import NotFoundError
from truerail.journal import Journal, Lives, open_journal
from truerail.model import CauseKind, Snapshot
from truerail.model.facts import Neighbor
from truerail.model.history import CauseEvent, EventKind, FindingEvent, LinkChange
from truerail.outputs.options import Options
from truerail.questions.answer_text import answer_text
from truerail.questions.changes import MOST_EXPLAINED, CausesOfChanges
from truerail.questions.diff import diff, diff_plan
from truerail.questions.diff_answer import Counts, Diff, in_short
from truerail.questions.timeline import timeline
from truerail.questions.why import why
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, simulate

START = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)
EVERY = timedelta(seconds=30)
TEXT = Options(110, False, False, False)
BIG = Shape(hosts=1024, pods=16, rails=2, spines=2, superspines=2)


@dataclass
class Past:
    """A journal of a fault that came and was repaired, each in several rounds, and evaluations during and after it."""

    journal: Journal
    during: Published
    now: Published
    times: list[datetime]

    def changed(self, first: int, last: int) -> Diff:
        """What changed after one round, up to another."""
        return diff(self.now, self.journal, self.times[first] + timedelta(seconds=1), self.times[last])


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Past]:
    """Right, broken with the hosts read first, broken, and repaired."""
    broken = simulate(BIG, (Fault(CauseKind.LEAF_SWAP, "labels"), Fault(CauseKind.LINK_DOWN, "host")), seed=3)
    right = replace(simulate(BIG, seed=3), plan=broken.plan).snapshot().readings
    wrong = broken.snapshot().readings
    half = [new if new.device.startswith("gpu") else old for old, new in zip(right, wrong, strict=True)]
    lives = Lives(EVERY, 4, timedelta(hours=1))
    journal = open_journal(Settings(f"sqlite:///{tmp_path_factory.mktemp('past')}/journal.db"))
    seen: list[Published] = []
    for number, readings in enumerate((right, half, wrong, right, right), 1):
        at = START + number * EVERY
        round = Round(broken.plan, Snapshot(at, [structs.replace(one, at=at) for one in readings]))
        evaluation = evaluate(round)
        changes = lives.update(evaluation, round.cabling)
        journal.record(record(number, changes), changes)
        lived = {"lives": changes.lives, "cause_lives": changes.cause_lives}
        seen.append(Published(number, "lab", EvaluatedRound(round, evaluation), **lived))
    yield Past(journal, seen[2], seen[-1], [START, *(one.at for one in seen)])
    journal.close()


def sum_of(answer: Diff) -> Counts:
    """Everything that is folded, and what belongs to no cause."""
    parts = [answer.no_cause, *(cause.counts for cause in answer.causes)]
    return Counts(*(sum(getattr(one, word) for one in parts) for word in ("nics", "uplinks", "links", "findings")))


def test_a_leaf_swap_is_one_line_and_nothing_is_lost(past: Past) -> None:
    answer = past.changed(1, 3)
    swap = next(one for one in answer.causes if one.kind == "leaf-swap")
    assert (swap.counts.nics, swap.counts.uplinks) == (128, 16)
    assert (swap.ended, swap.state) == (None, "ongoing")
    assert swap.began in past.times[2:4], "named as soon as enough of it was read"
    assert {one.kind for one in answer.causes} == {"leaf-swap", "link-down"}
    assert answer.total == sum_of(answer)
    assert answer.total.nics == len([one for one in answer.links if one.port.startswith("gpu")])
    assert answer.total.findings == len(answer.findings) > 100
    assert answer.no_cause == Counts()
    assert answer.complete
    assert not past.changed(0, 3).complete, "the journal begins at the first round"
    lines = answer_text(answer, TEXT).splitlines()
    assert len(lines) < 12
    assert len(answer_text(answer, replace(TEXT, details=True)).splitlines()) > 200


def test_its_repair_is_the_same_line(past: Past) -> None:
    for first in (0, 3):
        answer = past.changed(first, 5)
        swap = next(one for one in answer.causes if one.kind == "leaf-swap")
        assert (swap.began is None, swap.ended) == (first == 3, past.times[4])
        assert swap.state == "resolved"
        assert (swap.counts.nics, swap.counts.uplinks) == (128, 16)
        assert answer.total == sum_of(answer)
        assert answer.no_cause == Counts()
        assert len(answer.links) == (0 if first == 0 else 145), "what changed back is counted, not listed"


def test_the_current_differences_are_folded_alike(past: Past) -> None:
    answer = diff_plan(past.during)
    assert {one.kind: (one.counts.nics, one.counts.uplinks) for one in answer.causes} == {
        "leaf-swap": (128, 16), "link-down": (1, 0),
    }  # fmt: skip
    assert answer.total == sum_of(answer)
    assert answer.no_cause == Counts()


def test_a_timeline_folds_the_links_of_its_causes(past: Past) -> None:
    leaf = next(one for one in past.changed(0, 3).causes if one.kind == "leaf-swap").subjects[0]
    answer = timeline(past.now, past.journal, leaf)
    assert [one.kind for one in answer.events if one.cause] == ["resolved", "appeared"]
    ended, begun = answer.events[:2]
    assert min(begun.links, ended.links) >= 128
    assert begun.links + begun.findings + ended.links + ended.findings == len(answer.folded)
    assert {one.cause for one in answer.folded} == {begun.cause}
    assert len(answer_text(answer, TEXT).splitlines()) < 10


def test_a_resolved_cause_keeps_what_it_was(past: Past) -> None:
    swap = next(one for one in past.changed(0, 5).causes if one.kind == "leaf-swap")
    answer = why(past.now, past.journal, swap.cause)
    assert answer.finding is None
    assert answer.cause is not None
    assert (answer.state, answer.cause.since, answer.ended) == ("resolved", swap.began, past.times[4])
    assert answer.cause.action == ""
    assert len(answer.cause.explains) > 100
    assert len(answer.explained) == MOST_EXPLAINED or len(answer.explained) == len(answer.cause.explains)
    assert not [one for one in answer.explained if one.action]
    assert "144 cables" in answer.repair
    text = answer_text(answer, TEXT)
    assert "Swap the names" not in text
    assert "repaired" in text


def test_a_resolved_finding_keeps_its_evidence_and_its_repair(past: Past) -> None:
    then = next(one for one in past.during.evaluation.findings if one.rule == "CAB001")
    answer = why(past.now, past.journal, then.id)
    assert answer.finding is not None
    assert (answer.finding.state, answer.finding.action) == ("resolved", "")
    assert {one.fact["port_id"] for one in answer.evidence if one.kind == "Neighbor"} == {
        one.fact.port_id for one in then.evidence if isinstance(one.fact, Neighbor)
    }
    assert answer.ended == past.times[4]
    assert answer.repair.startswith(f"{then.subject} moved from {then.observed} to {then.expected} (as planned)")
    assert answer.cause is not None
    assert (answer.cause.kind, answer.cause.state, answer.cause.action) == ("leaf-swap", "resolved", "")


def test_an_unknown_id_says_since_when_the_journal_has_any(past: Past) -> None:
    with pytest.raises(NotFoundError, match=f"since {past.times[1]:%Y-%m-%d %H:%M}"):
        why(past.now, past.journal, "feedfeedfeed")
    now = why(past.during, past.journal, past.during.evaluation.causes[0].key)
    assert now.cause is not None
    assert (now.finding, bool(now.cause.action), bool(now.explained), now.ended) == (None, True, True, None)


def test_a_cause_in_short() -> None:
    assert in_short("the switches a and b are swapped: each is") == "the switches a and b are swapped"
    assert in_short("leaf-0/swp28: sends 203 Gb/s") == "leaf-0/swp28: sends 203 Gb/s"


def link(seq: int, port: str, now: str | None, minutes: int) -> LinkChange:
    at = START + timedelta(minutes=minutes)
    return LinkChange(seq, at, port, "leaf-1/p1", now, "right", "wrong" if now else "missing")


def caused(seq: int, kind: EventKind, minutes: int, subjects: tuple[str, ...], *explains: str) -> CauseEvent:
    at = START + timedelta(minutes=minutes)
    return CauseEvent(seq, at, kind, at, f"cause {subjects[0]}", "leaf-swap", subjects, "swapped", explains)


def test_a_link_belongs_to_a_cause_only_while_it_lasts() -> None:
    events = [
        caused(2, EventKind.RESOLVED, 20, ("leaf-1", "leaf-2")),
        caused(1, EventKind.APPEARED, 5, ("leaf-1", "leaf-2")),
    ]
    links = [link(3, "gpu-3/a", None, 40), link(2, "gpu-2/a", "leaf-2/p1", 19), link(1, "gpu-1/a", "leaf-9/p1", 1)]
    causes = CausesOfChanges(events, [], links)
    assert [causes.of_link(one) for one in links] == [None, "cause leaf-1", "cause leaf-1"]


def test_a_finding_belongs_to_the_cause_of_its_time() -> None:
    events = [
        caused(4, EventKind.APPEARED, 60, ("gpu-1/a",), "f"),
        caused(3, EventKind.RESOLVED, 30, ("leaf-1",), "f", "g", "h"),
        caused(2, EventKind.APPEARED, 10, ("leaf-1",), "f", "g", "h"),
    ]

    def event(minutes: int, finding: str = "f", rule: str = "CAB001", subject: str = "gpu-1/a") -> FindingEvent:
        at = START + timedelta(minutes=minutes)
        return FindingEvent(1, at, EventKind.APPEARED, finding, rule, "info", subject, "s", "last")

    causes = CausesOfChanges(events, [], [])
    assert causes.of_finding(event(10)) == "cause leaf-1"
    assert causes.of_finding(event(60)) == "cause gpu-1/a"
    assert causes.of_finding(event(60, "other")) == "last", "a cause that neither began nor ended"
    causes = CausesOfChanges(events, [], [link(1, "gpu-7/a", "leaf-1/p7", 12)])
    alone = replace(event(12, "x", "CAB005", "gpu-7/a"), cause=None)
    assert causes.of_finding(alone) == "cause leaf-1", "its link is part of it"
    assert causes.of_finding(replace(alone, rule="PFC001")) is None
