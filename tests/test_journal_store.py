"""The journal on SQLite and on PostgreSQL, both for real: what is kept comes back, and both answer alike."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from tests.journal_helpers import ROUND, Fabric, Settings, lives, record, swapped
from tests.patience import ENOUGH
from tests.real_postgres import Postgres, one_postgres
from tests.small_fabric import AT
from truerail.analysis.running_jobs import Jobs, JobSource, RunningJob
from truerail.errors import JournalUnavailableError, JournalUnusableError
from truerail.journal import Journal, open_journal, tables
from truerail.journal import database as database_module
from truerail.journal.database import Database
from truerail.journal.job_memory import JobMemory
from truerail.journal.round_changes import Changes, EntryRow, LinkState
from truerail.journal.store import STEP_MARKS
from truerail.model import Evidence, Finding, NetLink, Port, Severity
from truerail.model.history import EventKind as Kind
from truerail.model.history import FindingEvent, LinkChange, PlanVersion, RowRange
from truerail.model.life import Life, LifeState
from truerail.service.evaluator import Evaluator
from truerail.service.settings import Settings as ServiceSettings

HOSTILE = ("plain", "", "nul \x00 inside", "lone \ud800 surrogate", "ünï ☃ 𝄞", "'; DROP TABLE findings; --", "x" * 5000)


server = one_postgres


@pytest.fixture(params=["sqlite", "postgresql"])
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """URLs of empty databases."""
    if request.param == "postgresql":
        running: Postgres = request.getfixturevalue("server")
        return running.url
    count = iter(range(1000))
    return lambda: f"sqlite:///{tmp_path}/journal{next(count)}.db"


@pytest.fixture
def journal(new_url: Callable[[], str]) -> Iterator[Journal]:
    """An empty journal."""
    opened = open_journal(Settings(new_url()))
    yield opened
    opened.close()


def keep(journal: Journal, fabric: Fabric, *rounds: Changes) -> None:
    """Records rounds, the last of which is the fabric's newest."""
    for number, changes in enumerate(rounds, fabric.number - len(rounds) + 1):
        journal.record(record(number, changes), changes)


def test_an_empty_journal_answers_with_nothing(journal: Journal) -> None:
    assert journal.restore().at is None
    assert journal.next_number() == 1
    assert [*journal.findings(), *journal.causes(), *journal.rounds(), *journal.plans(), *journal.audit()] == []
    assert journal.link_since(["h1/nica"]) == {}
    assert journal.kept_finding("0123456789ab") is None
    assert journal.kept_finding("no id") is None


def test_rounds_come_back(journal: Journal) -> None:
    fabric = Fabric()
    rounds = fabric.rounds(5)
    keep(journal, fabric, *rounds)
    assert journal.rounds() == [record(number, rounds[number - 1]) for number in (5, 4, 3, 2, 1)]
    assert [one.number for one in journal.rounds(RowRange(2, before=4))] == [3, 2]
    assert journal.next_number() == 6


@pytest.mark.parametrize(("last", "stored", "number"), [(0, 2, 3), (7, 2, 8), (3, 5, 6)])
def test_an_evaluation_has_no_number_that_readers_have_seen(
    journal: Journal, tmp_path: Path, last: int, stored: int, number: int
) -> None:
    """Whether the journal has it, or the service was killed before it was written; with one made beforehand."""
    fabric = Fabric()
    keep(journal, fabric, *fabric.rounds(stored))
    evaluator = Evaluator.begin(ServiceSettings(inventory=tmp_path / "inventory.yaml"), last=last)
    evaluator.resume(journal)
    assert evaluator.number == number
    early = Evaluator.begin(ServiceSettings(inventory=tmp_path / "inventory.yaml"), last=last)
    early.number += 1
    early.resume(journal)
    assert early.number == number + 1


def test_a_round_recorded_twice_changes_nothing(journal: Journal) -> None:
    fabric = Fabric()
    fabric.round()
    changes = fabric.round(swapped)
    keep(journal, fabric, changes)
    keep(journal, fabric, changes)
    assert len(journal.rounds()) == 1
    assert len(journal.link_changes(AT, changes.at)) == 2
    assert len(journal.finding_events(AT, changes.at)) == len(changes.events)


def test_a_number_that_is_taken_goes_behind_the_newest(journal: Journal) -> None:
    first, second = Fabric().rounds(2)
    journal.record(record(1, first), first)
    journal.record(record(1, second), second)
    assert [(one.number, one.at) for one in journal.rounds()] == [(2, second.at), (1, first.at)]


def test_findings_and_causes_come_back_with_their_lives(journal: Journal) -> None:
    fabric = Fabric()
    rounds = fabric.rounds(3, swapped)
    keep(journal, fabric, *rounds)
    found = {one.life.id: one for one in journal.findings()}
    assert {key: one.life for key, one in found.items()} == rounds[-1].lives, "last seen in the newest round"
    row = next(row for row in rounds[0].findings.values() if row.value[0].subject == "h1/nica")
    kept = journal.kept_finding(row.life.id)
    assert kept is not None
    assert (kept.life, kept.cause) == (found[row.life.id].life, found[row.life.id].cause)
    assert (replace(kept.finding, evidence=()), kept.cause) == (replace(row.value[0], evidence=()), row.value[1])
    assert {one.life.id: one.life for one in journal.causes()} == rounds[-1].cause_lives
    keep(journal, fabric, *fabric.rounds(5))
    assert list(journal.findings()) == []
    assert {one.life.id for one in journal.findings(resolved_since=AT)} == found.keys()
    assert list(journal.findings(resolved_since=fabric.at)) == []
    assert {one.life.state for one in journal.causes(resolved_since=AT)} == {LifeState.RESOLVED}
    every = [one.life.id for one in journal.findings(resolved_since=AT)]
    assert [one.life.id for one in journal.findings(resolved_since=AT, page=RowRange(1, before=1))] == every[1:2]


def test_a_restart_knows_everything_again(journal: Journal) -> None:
    fabric = Fabric()
    rounds = [*fabric.rounds(2, swapped), fabric.round()]
    keep(journal, fabric, *rounds)
    memory = journal.restore()
    kept = {row.life.id: row for row in memory.findings}
    assert {key: row.value[0] for key, row in kept.items()} == {f.id: f for f in rounds[-1].pending_resolution}
    assert all(row.value[0].evidence for row in kept.values() if row.value[0].rule == "CAB001")
    assert {row.life.id: row.value for row in memory.causes} == {
        key: row.value for key, row in rounds[0].causes.items()
    }
    assert {one.port: one for one in memory.links} == rounds[0].link_states | rounds[2].link_states
    fabric.lives = lives()
    fabric.lives.restore(memory)
    back = fabric.round(swapped)
    assert {life.first_seen for life in back.lives.values()} == {AT + ROUND}
    assert {life.state for life in back.lives.values()} == {LifeState.ONGOING}
    keep(journal, fabric, back, *fabric.rounds(6))
    fabric.lives = lives()
    fabric.lives.restore(journal.restore())
    assert {life.state for life in fabric.round(swapped).lives.values()} == {LifeState.REGRESSED}


def test_first_seen_survives_a_service_that_could_not_read(journal: Journal) -> None:
    fabric = Fabric()
    keep(journal, fabric, *fabric.rounds(2, swapped))
    fabric.lives = lives()
    again = fabric.round(swapped)
    assert {life.first_seen for life in again.lives.values()} == {fabric.at}
    keep(journal, fabric, again)
    assert {one.life.first_seen for one in journal.findings()} == {AT + ROUND}


def test_link_changes_by_time_device_and_page(journal: Journal) -> None:
    fabric = Fabric()
    rounds = [fabric.round(), fabric.round(swapped), fabric.round(), fabric.round(swapped)]
    keep(journal, fabric, *rounds)
    every = journal.link_changes(AT, fabric.at)
    assert [replace(one, seq=0) for one in reversed(every)] == [one for round_ in rounds for one in round_.links]
    assert [one.seq for one in every] == sorted((one.seq for one in every), reverse=True)
    assert journal.link_changes(rounds[1].at, rounds[1].at) == every[-2:]
    assert journal.link_changes(AT, rounds[0].at) == []
    assert journal.link_changes(AT, fabric.at, page=RowRange(2, before=every[1].seq)) == every[2:4]
    assert journal.link_changes(AT, fabric.at, page=RowRange(9, before=every[-1].seq)) == []
    assert journal.link_changes(AT, fabric.at, devices=["leaf-1"]) == every, "either end: it is there or was there"
    assert journal.link_changes(AT, fabric.at, devices=["h2", "leaf-3"]) == []
    many = ["h1", *(f"other-{number}" for number in range(200))]
    assert journal.link_changes(AT, fabric.at, devices=many) == every
    assert journal.link_changes(AT, fabric.at, devices=[]) == []
    assert journal.link_since(["h1/nica", "h2/nica", "no/such"]) == {"h1/nica": rounds[3].at}


def test_finding_events_by_time_device_and_page(journal: Journal) -> None:
    fabric = Fabric()
    rounds = [*fabric.rounds(2, swapped), *fabric.rounds(5)]
    keep(journal, fabric, *rounds)
    every = journal.finding_events(AT, fabric.at)
    reported = [one for round_ in rounds for one in round_.events]
    assert [replace(one, seq=0) for one in reversed(every)] == reported
    assert {one.kind for one in every} == {Kind.APPEARED, Kind.RESOLVED}
    on_host = [one for one in every if one.subject.startswith("h1/")]
    assert journal.finding_events(AT, fabric.at, devices=["h1"]) == on_host
    assert journal.finding_events(AT, fabric.at, devices=["h1", *map(str, range(200))]) == on_host
    assert journal.finding_events(AT, fabric.at, devices=["h7"]) == []
    assert journal.finding_events(AT, fabric.at, page=RowRange(1, before=every[0].seq)) == every[1:2]


def test_a_cable_that_leaves_the_plan_is_forgotten_and_its_changes_are_not(journal: Journal) -> None:
    fabric = Fabric()
    rounds = [fabric.round(), fabric.round(swapped)]
    fabric.plan = replace(fabric.plan, cables=tuple(c for c in fabric.plan.cables if c.a.device != "h1"))
    rounds.append(fabric.round())
    keep(journal, fabric, *rounds)
    assert not {one.port for one in journal.restore().links} & {"h1/nica", "h1/nicb"}
    assert len(journal.link_changes(AT, fabric.at)) == 2
    assert journal.link_since(["h1/nica"]) == {}


def test_what_people_write(journal: Journal) -> None:
    later = AT + timedelta(days=3650)
    note = journal.acknowledge("0123456789ab", "ann", "cable ordered", AT, later)
    forever = journal.acknowledge("ba9876543210", "ann", "known", AT)
    over = journal.acknowledge("aaaaaaaaaaaa", "ann", "until noon", AT - ROUND, AT)
    assert journal.acknowledgements() == [forever, note]
    assert journal.acknowledgements(open_only=False) == [over, forever, note]
    journal.withdraw(note.id, "bob", AT + ROUND)
    journal.withdraw(note.id, "eve", AT + 2 * ROUND)
    journal.withdraw(9999, "eve", AT)
    assert journal.acknowledgements() == [forever]
    assert replace(note, ended_at=AT + ROUND) in journal.acknowledgements(open_only=False)
    window = journal.open_window("pod", "pod-1", AT, later, "ann", "new optics", AT)
    assert journal.windows() == [window]
    journal.end_window(window.id, "ann", AT + ROUND)
    assert journal.windows() == []
    assert journal.windows(open_only=False) == [replace(window, ended_at=AT + ROUND)]
    journal.note("ann", "recheck", "h1", AT + 3 * ROUND)
    audit = journal.audit()
    assert [(one.who, one.action, one.detail) for one in audit] == [
        ("ann", "recheck", "h1"),
        ("ann", "end maintenance", str(window.id)),
        ("ann", "maintenance", "pod pod-1"),
        ("bob", "withdraw", str(note.id)),
        ("ann", "acknowledge", "aaaaaaaaaaaa"),
        ("ann", "acknowledge", "ba9876543210"),
        ("ann", "acknowledge", "0123456789ab"),
    ]
    assert journal.audit(RowRange(2, before=audit[1].seq)) == audit[2:4]


def test_an_acknowledgement_ends_when_what_it_is_about_is_resolved(journal: Journal) -> None:
    fabric = Fabric()
    first = fabric.round(swapped)
    keep(journal, fabric, first)
    cause, finding = next(iter(first.cause_lives)), next(iter(first.lives))
    for target in (cause, finding, "0123456789ab"):
        journal.acknowledge(target, "ann", "known", first.at)
    keep(journal, fabric, *fabric.rounds(5))
    assert [one.target for one in journal.acknowledgements()] == ["0123456789ab"]
    assert {one.ended_at for one in journal.acknowledgements(open_only=False)} == {None, fabric.at}


def test_plan_versions(journal: Journal) -> None:
    old, new = PlanVersion("d1", AT, "plan.csv", 14, 40), PlanVersion("d2", AT + ROUND, "plan.csv", 15, 41)
    for version in (old, replace(old, at=AT + timedelta(1)), new, old):
        journal.plan_in_force(version)
    assert journal.plans() == [old, new, old]


def test_retention_keeps_what_is_open_and_deletes_what_is_old(journal: Journal) -> None:
    fabric = Fabric()
    old = [*fabric.rounds(2, swapped), *fabric.rounds(5)]
    keep(journal, fabric, *old)
    journal.acknowledge("0123456789ab", "ann", "old", AT, AT + ROUND)
    forever = journal.acknowledge("0123456789ab", "ann", "holds", AT)
    journal.open_window("device", "h1", AT, AT + ROUND, "ann", "old", AT)
    journal.plan_in_force(PlanVersion("d1", AT, "a", 1, 1))
    fabric.at += timedelta(days=395)
    keep(journal, fabric, fabric.round(lambda world: world.where.update({Port("h3", "nica"): Port("leaf-0", "swp77")})))
    before = journal.restore()
    assert journal.retain(AT + timedelta(days=36)) == 7, "rounds go first"
    assert len(journal.findings(resolved_since=AT)) > 0
    deleted = journal.retain(AT + timedelta(days=401))
    assert deleted > 7
    assert journal.findings(resolved_since=AT) == journal.causes(resolved_since=AT) == []
    assert {one.at for one in journal.link_changes(AT, fabric.at)} == {fabric.at}
    assert {one.at for one in journal.finding_events(AT, fabric.at)} == {fabric.at}
    assert journal.acknowledgements(open_only=False) == [forever]
    assert journal.windows(open_only=False) == journal.audit() == []
    assert len(journal.plans()) == 1
    assert len(journal.rounds()) == 1
    after = journal.restore()
    assert (after.findings, after.causes, after.links) == (before.findings, before.causes, before.links)
    assert journal.retain(AT + timedelta(days=401)) == 0


def test_what_is_written_on_steps_lasts_until_it_is_replaced(journal: Journal) -> None:
    journal.keep_blob(STEP_MARKS, b"ann takes it", AT)
    journal.keep_blob("counters", b"of a day", AT)
    journal.retain(AT + timedelta(days=4000))
    assert (journal.blob(STEP_MARKS), journal.blob("counters")) == (b"ann takes it", None)


def job(key: str, *hosts: str, start: datetime | None = AT, **more: Any) -> RunningJob:
    begun = None if start is None else int(start.timestamp())
    return RunningJob(key, "slurm", "head", "train", "ann", hosts, ("cpu-1",), 8 * len(hosts), begun, **more)


def jobs(*running: RunningJob, minutes: int, error: str = "") -> Jobs:
    """What the scheduler `head` runs some minutes after AT."""
    return Jobs(running, (JobSource("head", "slurm", AT + timedelta(minutes=minutes), error),))


def keep_jobs(journal: Journal, memory: JobMemory, *rounds: Jobs) -> None:
    """Records rounds in which nothing else happens."""
    for found in rounds:
        at = found.sources[0].at or AT
        changes = Changes(at, jobs=memory.update(found))
        journal.record(record(journal.next_number(), changes), changes)


def test_runs_of_jobs_by_time_and_host(journal: Journal) -> None:
    memory, other = JobMemory(), job("2", "h2", start=None)
    keep_jobs(journal, memory, jobs(job("1", "h1", "h2"), other, minutes=1), jobs(other, minutes=2))
    keep_jobs(journal, memory, jobs(other, minutes=30), jobs(minutes=40), jobs(other, minutes=50, error="away"))
    start, end = AT - timedelta(hours=1), AT + timedelta(hours=1)
    late, early = journal.job_runs(start, end)
    assert (early.key, early.name, early.user, early.gpus, early.nodes) == ("1", "train", "ann", 16, "h[1-2],cpu-1")
    assert (early.started_at, early.first_seen) == (AT, AT + timedelta(minutes=1))
    assert (early.last_seen, early.ended_at) == (AT + timedelta(minutes=1), AT + timedelta(minutes=2))
    assert (late.key, late.started_at, late.begun_at) == ("2", None, AT + timedelta(minutes=1))
    assert (late.last_seen, late.ended_at) == (AT + timedelta(minutes=30), AT + timedelta(minutes=40))
    assert [run.key for run in journal.job_runs(start, end, hosts=["H1.example"])] == ["1"]
    assert [run.key for run in journal.job_runs(start, end, hosts=["cpu-1"])] == ["2", "1"]
    assert [run.key for run in journal.job_runs(start, end, hosts=["h3"])] == []
    assert [run.key for run in journal.job_runs(AT + timedelta(minutes=3), end)] == ["2"]
    assert [run.key for run in journal.job_runs(start, AT)] == ["1"]
    assert [run.key for run in journal.job_runs(start, end, page=RowRange(1))] == ["2"]


def test_a_restart_continues_the_runs_of_jobs(journal: Journal) -> None:
    known, unnamed = job("1", "h1"), job("ml/a", "h2", start=None)
    keep_jobs(journal, JobMemory(), jobs(known, unnamed, minutes=1))
    memory = JobMemory()
    before = memory.update(jobs(known, unnamed, job("3", "h3"), minutes=5))
    assert [run.key for run in before] == ["1", "ml/a", "3"]
    found = journal.restore()
    memory.restore(found.jobs, found.at or AT)
    keep_jobs(journal, memory, jobs(known, unnamed, error="away", minutes=6), jobs(job("1", "h1", "h4"), minutes=7))
    runs = {(run.key, run.first_seen): run for run in journal.job_runs(AT, AT + timedelta(hours=1))}
    minute = timedelta(minutes=1)
    grown, again = runs["1", AT + minute], runs["ml/a", AT + minute]
    assert (grown.nodes, grown.ended_at) == ("h1,h4,cpu-1", None)
    assert (again.ended_at, again.last_seen) == (AT + 5 * minute, AT + minute)
    assert runs["ml/a", AT + 5 * minute].ended_at == AT + 7 * minute
    assert [run.key for run in journal.job_runs(AT, AT + 60 * minute, hosts=["h4"])] == ["1"]
    assert journal.retain(AT + timedelta(days=401)) == 5, "the run that has not ended stays"
    assert [run.key for run in journal.job_runs(AT, AT + timedelta(days=500), hosts=["h1", "h2"])] == ["1"]


def test_retention_works_in_small_steps(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("truerail.journal.store.STEP", 3)
    for number in range(10):
        journal.note("ann", "log in", str(number), AT)
    assert journal.retain(AT + timedelta(days=401)) == 10
    assert journal.audit() == []


def _named(word: str, number: int) -> str:
    """A port's name as a plan may have it: plans are UTF-8."""
    return f"{word}{number}/p".encode(errors="replace").decode()


def _hostile_changes(words: tuple[str, ...], at: datetime) -> Changes:
    """A round in which devices say the worst."""
    changes = Changes(at)
    for number, word in enumerate(words):
        fact = NetLink(f"{word}nic", operstate=word or None, flags=(word,))
        finding = Finding(
            "CAB001", "n", Severity.INFO, _named(word, number), summary=word, action=word, expected=word, observed=None,
            evidence=(Evidence(word, "net_link", at, fact),), detail=(("said", word),),
        )  # fmt: skip
        row = EntryRow(Life(finding.id, LifeState.NEW, at, at, at), (finding, None), True, False, (at,))
        event = FindingEvent(0, at, Kind.APPEARED, finding.id, "CAB001", "info", finding.subject, word)
        port = f"{word}{number}/p"
        link = LinkChange(0, at, port, None, f"{word}/x", "unknown", "wrong")
        changes = replace(
            changes,
            findings={**changes.findings, finding.id: row},
            events=(*changes.events, event),
            links=(*changes.links, link),
            link_states={**changes.link_states, port: LinkState(port, f"{word}/x", "wrong", at)},
        )
    return changes


def test_hostile_words_are_kept(journal: Journal) -> None:
    changes = _hostile_changes(HOSTILE, AT)
    journal.record(record(1, changes), changes)
    restored = {row.life.id: row.value[0] for row in journal.restore().findings}
    assert {key: (f.id, f.evidence, f.detail) for key, f in restored.items()} == {
        key: (key, row.value[0].evidence, row.value[0].detail) for key, row in changes.findings.items()
    }, "what a finding rests on comes back as it was said"
    assert {one.finding.summary for one in journal.kept_findings(list(restored))} == {
        word.replace("\x00", "\ufffd").replace("\ud800", "\ufffd") for word in HOSTILE
    }
    ports = list(changes.link_states)
    assert journal.link_since(ports) == dict.fromkeys(ports, AT)
    for number, word in enumerate(HOSTILE):
        (found,) = journal.link_changes(AT, AT, devices=[f"{word}{number}"])
        assert found.now_state == "wrong"
        note = journal.acknowledge("0123456789ab", word, word, AT)
        assert journal.acknowledgements()[0] == note


_words = st.text(st.characters(codec=None), max_size=8)
_moments = st.integers(0, 20).map(lambda minutes: AT + timedelta(minutes=minutes))
_story = st.lists(st.tuples(_words, st.integers(0, 3), st.booleans()), min_size=1, max_size=8)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(story=_story, start=_moments, end=_moments, limit=st.integers(1, 5))
def test_both_databases_answer_alike(
    server: Postgres, tmp_path_factory: pytest.TempPathFactory, story: Any, start: datetime, end: datetime, limit: int
) -> None:
    answers = []
    for url in (f"sqlite:///{tmp_path_factory.mktemp('alike')}/j.db", server.url()):
        journal = open_journal(Settings(url))
        for number, (word, minutes, people) in enumerate(story, 1):
            changes = _hostile_changes((word, "other"), AT + timedelta(minutes=minutes * number))
            journal.record(record(number, changes), changes)
            if people:
                journal.acknowledge("0123456789ab", word, word, changes.at, end)
                journal.open_window("device", word, start, end, word, word, changes.at)
                journal.plan_in_force(PlanVersion(word, changes.at, word, 1, 2))
        devices = [f"{story[0][0]}0", "other1"]
        page = RowRange(limit)
        answers.append(
            [
                journal.findings(page=page), journal.findings(resolved_since=start), journal.rounds(page),
                journal.link_changes(start, end, page=page), journal.link_changes(AT, end, devices=devices),
                journal.finding_events(start, end, page=page), journal.finding_events(AT, end, devices=devices),
                journal.acknowledgements(open_only=False), journal.windows(open_only=False), journal.plans(),
                journal.audit(page), (memory := journal.restore()).findings, memory.past, set(memory.links),
                journal.next_number(),
                journal.retain(AT + timedelta(days=400, minutes=4)), journal.link_changes(AT, end), journal.audit(),
            ]
        )  # fmt: skip
        journal.close()
    assert answers[0] == answers[1]


# --- schema -----------------------------------------------------------------------------------------------------------


def test_the_migrations_make_the_tables(new_url: Callable[[], str]) -> None:
    database = Database(new_url())
    with database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": False})
        assert compare_metadata(context, tables.metadata) == []
    database.close()


def test_a_newer_database_is_refused(new_url: Callable[[], str]) -> None:
    url = new_url()
    database = Database(url)
    with database.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    database.close()
    with pytest.raises(JournalUnusableError, match=r"newer truerail \(schema 9999, this one knows 0006\)"):
        open_journal(Settings(url))


def test_a_file_that_another_service_is_making_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite does not wait where two switch a new file to its write-ahead log."""
    other = sqlite3.connect(tmp_path / "journal.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            other.execute("COMMIT")

    monkeypatch.setattr(database_module, "time", SimpleNamespace(monotonic=lambda: 0.0, sleep=wait))
    monkeypatch.setattr(database_module, "BUSY_SECONDS", 0.0)
    journal = open_journal(Settings(f"sqlite:///{tmp_path}/journal.db"))
    assert journal.next_number() == 1
    assert len(waits) == 3
    journal.close()
    other.close()


def test_a_file_that_stays_locked_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "BUSY_SECONDS", 0.05)
    other = sqlite3.connect(tmp_path / "journal.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(JournalUnavailableError, match="database is locked"):
        Database(f"sqlite:///{tmp_path}/journal.db").prepare()
    other.close()


def test_two_services_that_start_at_once_make_one_schema(
    new_url: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "BUSY_SECONDS", ENOUGH)
    url = new_url()
    failures: list[JournalUnavailableError] = []

    def start() -> None:
        database = Database(url)
        try:
            database.prepare()
        except JournalUnavailableError as error:
            failures.append(error)
        finally:
            database.close()

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    journal = open_journal(Settings(url))
    assert journal.next_number() == 1
    journal.close()
