"""The past in the journal: events of causes, resolved entries with their evidence, and the state of any time."""

from datetime import timedelta
from pathlib import Path

from sqlalchemy import text

from tests.journal_helpers import ROUND, Fabric, Settings, record, swapped
from tests.real_postgres import each_journal, one_postgres
from tests.small_fabric import AT
from truerail.journal import Changes, Journal
from truerail.model import Port
from truerail.model.history import EventKind, LinkPlace, RowRange
from truerail.model.life import LifeState

server = one_postgres
journal = each_journal


def keep(journal: Journal, *rounds: Changes) -> None:
    for number, changes in enumerate(rounds, 1):
        journal.record(record(number, changes), changes)


def lived(fabric: Fabric) -> list[Changes]:
    """Two right rounds, two with swapped cables, and right ones until everything is resolved."""
    return [*fabric.rounds(2), *fabric.rounds(2, swapped), *fabric.rounds(6)]


def test_causes_begin_and_end_with_what_they_explain(journal: Journal) -> None:
    fabric = Fabric()
    rounds = lived(fabric)
    keep(journal, *rounds)
    ended, begun = journal.cause_events(AT, fabric.at)
    assert (begun.kind, begun.at, begun.happened_at) == (EventKind.APPEARED, rounds[2].at, rounds[2].at)
    assert ended.kind is EventKind.RESOLVED
    assert ended.at > ended.happened_at == rounds[4].at, "gone at once, resolved after the recovery window"
    found = {event.finding for event in journal.finding_events(AT, fabric.at)}
    assert set(begun.explains) == set(ended.explains) == found
    assert begun.summary == ended.summary == next(iter(rounds[2].causes.values())).value.summary
    assert [event.cause for event in journal.finding_events(AT, fabric.at)] == [begun.cause] * 2 * len(found)
    assert journal.cause_events(AT, fabric.at, page=RowRange(5, before=ended.seq)) == [begun]
    assert journal.cause_events(AT, rounds[1].at) == []


def test_what_is_resolved_keeps_its_evidence(journal: Journal) -> None:
    rounds = lived(Fabric())
    keep(journal, *rounds)
    for key, row in rounds[2].findings.items():
        kept = journal.kept_finding(key)
        assert kept is not None
        assert kept.finding.evidence
        assert {one.fact for one in kept.finding.evidence} == {one.fact for one in row.value[0].evidence}
        assert kept.life.state is LifeState.RESOLVED
    for key, caused in rounds[2].causes.items():
        of = journal.kept_cause(key)
        assert of is not None
        assert (of.cause.moves, of.cause.explains) == (caused.value.moves, caused.value.explains)
    assert journal.kept_finding("0" * 12) is None
    assert journal.kept_finding("not an id") is journal.kept_cause("not an id") is journal.kept_cause("0" * 12) is None


def test_the_state_of_each_time(journal: Journal) -> None:
    fabric = Fabric()
    rounds = lived(fabric)
    journal_is_empty = journal.as_of(AT)
    assert (journal_is_empty.links, journal_is_empty.round_at, journal.kept_since()) == ({}, None, None)
    keep(journal, *rounds)
    before, during, after = (journal.as_of(rounds[n].at + timedelta(seconds=1)) for n in (1, 3, 5))
    places = {cable.a: str(cable.b) for cable in fabric.plan.cables}
    a, b = Port("h1", "nica"), Port("h1", "nicb")
    assert {port: one.place for port, one in before.links.items()} == {str(p): place for p, place in places.items()}
    assert before.findings == before.causes == ()
    assert during.links[str(a)] == LinkPlace(places[b], "wrong", rounds[2].at)
    assert during.links[str(b)] == LinkPlace(places[a], "wrong", rounds[2].at)
    assert {one.life.id for one in during.findings} == rounds[2].findings.keys()
    assert {one.cause.key for one in during.causes} == rounds[2].causes.keys()
    assert {one.life.since for one in during.findings} == {rounds[2].at}
    assert all(one.finding.evidence for one in during.findings)
    assert after.links[str(a)] == LinkPlace(places[a], "right", rounds[4].at)
    assert after.findings == after.causes == (), "gone, though only resolved later"
    assert (during.round_at, during.next_at) == (rounds[3].at, rounds[4].at)
    assert journal.as_of(AT).links == {}, "nothing is known of the time before the first round"
    assert journal.kept_since() == rounds[0].at


def test_an_earlier_episode_is_found_again(journal: Journal) -> None:
    fabric = Fabric()
    rounds = [*lived(fabric), *fabric.rounds(2, swapped)]
    keep(journal, *rounds)
    first, between, again = (journal.as_of(rounds[n].at) for n in (3, 9, 11))
    assert {one.life.id for one in first.findings} == {one.life.id for one in again.findings}
    assert {one.life.since for one in first.findings} == {rounds[2].at}
    assert between.findings == between.causes == ()
    assert {one.life.state for one in again.findings} == {LifeState.REGRESSED}
    assert len(first.causes) == len(again.causes) == 1


def test_without_events_the_life_decides(journal: Journal, tmp_path: Path) -> None:
    """Events of long-lived entries are deleted after the retention."""
    fabric = Fabric()
    rounds = [*fabric.rounds(1), *fabric.rounds(3, swapped)]
    keep(journal, *rounds)
    with journal.writing() as connection:
        connection.execute(text("DELETE FROM cause_events"))
        connection.execute(text("DELETE FROM finding_events"))
    state = journal.as_of(rounds[2].at)
    assert {one.life.id for one in state.findings} == rounds[1].findings.keys()
    assert [one.life.id for one in state.causes] == [*rounds[1].causes]
    assert journal.as_of(rounds[0].at).findings == ()


def test_old_events_of_causes_are_deleted(journal: Journal) -> None:
    fabric = Fabric()
    rounds = lived(fabric)
    keep(journal, *rounds)
    journal.retain(fabric.at + Settings("").retention + ROUND)
    assert journal.cause_events(AT, fabric.at) == []
    assert journal.kept_cause(next(iter(rounds[2].causes))) is None


def test_a_grown_cause_ends_with_all_that_it_explained() -> None:
    """What it explained while it lasted, not only what was left of it at the end."""
    fabric = Fabric()
    first = fabric.round(swapped)
    key = next(iter(first.causes))
    cause = first.causes[key].value
    fabric.lives._explained[key].add("0123456789ab")
    ended = [event for changes in fabric.rounds(8) for event in changes.cause_events]
    assert [set(event.explains) for event in ended] == [{*cause.explains, "0123456789ab"}]
    assert fabric.lives._explained == {}
