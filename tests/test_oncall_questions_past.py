"""`why`, `diff`, `timeline` and the times they understand, over a journal in memory."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache

import pytest

from tests.oncall_fabrics import SPINES, published
from truerail.analysis.published import EvaluatedRound, Published
from truerail.analysis.round import Round
from truerail.errors import NotFoundError, QueryError
from truerail.model import CauseKind, Finding, Severity
from truerail.model.history import (
    Acknowledgement,
    CauseEvent,
    EventKind,
    FindingEvent,
    KeptFinding,
    LinkChange,
    MaintenanceWindow,
    NoHistory,
    PlanVersion,
    RowRange,
)
from truerail.model.life import Life, LifeState, Mute, MuteKind
from truerail.questions.changes import NOTHING
from truerail.questions.diff import MOST_ROWS, QUESTION, diff, diff_plan
from truerail.questions.diff_answer import Counts
from truerail.questions.moments import moment, span
from truerail.questions.timeline import timeline
from truerail.questions.why import why
from truerail.simulator import Fault

NOW = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)


@cache
def swapped() -> Published:
    return published(SPINES, Fault(CauseKind.CABLE_SWAP, "one-host"))


@cache
def dead() -> Published:
    return published(SPINES, Fault(CauseKind.LINK_DOWN, "host"))


@dataclass
class Kept(NoHistory):
    """A journal with these rows, in any order."""

    links: Sequence[LinkChange] = ()
    events: Sequence[FindingEvent] = ()
    known: Sequence[Acknowledgement] = ()
    work: Sequence[MaintenanceWindow] = ()
    versions: Sequence[PlanVersion] = ()
    caused: Sequence[CauseEvent] = ()
    kept: dict[str, KeptFinding] = field(default_factory=dict)

    def link_changes(
        self,
        start: datetime,
        end: datetime,
        *,
        devices: Collection[str] | None = None,
        page: RowRange = RowRange(),  # noqa: B008 - as the protocol has it
    ) -> Sequence[LinkChange]:
        found = [row for row in self.links if start <= row.at < end and (not devices or _at(row) & {*devices})]
        return cut(found, page)

    def finding_events(
        self,
        start: datetime,
        end: datetime,
        *,
        devices: Collection[str] | None = None,
        page: RowRange = RowRange(),  # noqa: B008 - as the protocol has it
    ) -> Sequence[FindingEvent]:
        found = [
            row for row in self.events
            if start <= row.at < end and (not devices or row.subject.partition("/")[0] in devices)
        ]  # fmt: skip
        return cut(found, page)

    def cause_events(
        self,
        start: datetime,
        end: datetime,
        *,
        page: RowRange = RowRange(),  # noqa: B008 - as the protocol has it
    ) -> Sequence[CauseEvent]:
        return cut([row for row in self.caused if start <= row.at < end], page)

    def kept_finding(self, finding: str) -> KeptFinding | None:
        return self.kept.get(finding)

    def plans(self) -> Sequence[PlanVersion]:
        return self.versions

    def acknowledgements(self, *, open_only: bool = True) -> Sequence[Acknowledgement]:
        return self.known

    def windows(self, *, open_only: bool = True) -> Sequence[MaintenanceWindow]:
        return self.work


def _at(row: LinkChange) -> set[str]:
    return {port.partition("/")[0] for port in (row.port, row.was, row.now) if port}


def cut(rows: Sequence, page: RowRange) -> Sequence:
    newest = sorted(rows, key=lambda row: row.seq, reverse=True)
    return [row for row in newest if page.before is None or row.seq < page.before][: page.limit]


def link(seq: int, port: str, was: str | None, now: str | None) -> LinkChange:
    state = {None: "missing"}
    at = NOW - timedelta(minutes=60 - seq)
    return LinkChange(seq, at, port, was, now, state.get(was, "right"), state.get(now, "right"))


def event(seq: int, kind: EventKind, finding: str = "f1", subject: str = "gpu-001/a") -> FindingEvent:
    return FindingEvent(seq, NOW - timedelta(minutes=60 - seq), kind, finding, "CAB001", "critical", subject, "summary")


def test_diff_tells_what_came_of_it() -> None:
    history = Kept(
        links=[link(1, "gpu-001/a", "x/1", None), link(2, "gpu-001/a", None, "x/1"), link(3, "gpu-002/a", "x/2", None)],
        events=[
            event(4, EventKind.APPEARED, "came"),
            event(5, EventKind.APPEARED, "gone"),
            event(6, EventKind.RESOLVED, "gone"),
            event(7, EventKind.RESOLVED, "old"),
            event(8, EventKind.UNSEEN, "dark"),
        ],
    )
    answer = diff(swapped(), history, NOW - timedelta(hours=2), NOW)
    assert [one.port for one in answer.links] == ["gpu-002/a"]
    assert [(one.finding, one.kind) for one in answer.findings] == [
        ("dark", "unseen"), ("old", "resolved"), ("came", "appeared"),
    ]  # fmt: skip
    for words in ("1 link changed,", "1 finding appeared", "1 was resolved", "changed back", "came and went"):
        assert words in answer.summary
    assert answer.complete
    assert diff(swapped(), NoHistory(), NOW - timedelta(hours=2), NOW).summary == "Nothing changed."


def test_diff_lists_a_thousand_links_and_counts_all(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [link(n, f"gpu-{n:05}/a", "x/1", None) for n in range(MOST_ROWS + 1)]
    history = Kept(links=[replace(one, at=NOW - timedelta(seconds=one.seq + 1)) for one in many])
    answer = diff(swapped(), history, NOW - timedelta(hours=2), NOW)
    assert answer.complete
    assert len(answer.links) == MOST_ROWS
    assert answer.total == answer.no_cause == Counts(links=MOST_ROWS + 1)
    monkeypatch.setattr("truerail.questions.diff.MOST_READ", MOST_ROWS)
    answer = diff(swapped(), history, NOW - timedelta(hours=2), NOW)
    assert not answer.complete
    assert answer.total == Counts(links=MOST_ROWS)
    assert "Only the newest 1,000" in answer.summary


def test_diff_against_the_plan() -> None:
    answer = diff_plan(swapped())
    assert [(one.was_state, one.now_state) for one in answer.links] == [("right", "wrong")] * 2
    assert answer.links[0].was != answer.links[0].now
    assert {one.finding for one in answer.findings} == {one.id for one in swapped().evaluation.findings}
    assert answer.summary.startswith("2 wrong; 46 of 48 cables as planned")
    assert not diff_plan(published(SPINES)).links


def test_why_a_cable_is_on_the_wrong_rail() -> None:
    found = next(one for one in swapped().evaluation.findings if one.rule == "CAB001")
    answer = why(swapped(), NoHistory(), found.id.upper())
    assert answer.finding.id == found.id
    assert answer.cause is not None
    assert answer.cause.kind == "cable-swap"
    assert answer.path is not None
    assert answer.path.subject == found.subject
    assert {line.device for line in answer.evidence} >= {found.device, "leaf-0"}
    assert all(line.source for line in answer.evidence)
    reported = " ".join(answer.ruled_out)
    for words in ("its uplinks are as planned (4 of 4)", "both ends report each other", "topo -m shows GPU"):
        assert words in reported
    assert "## Why it matters" in answer.explanation


def test_why_a_link_is_down() -> None:
    found = next(one for one in dead().evaluation.findings if one.rule == "CAB003")
    reported = " ".join(why(dead(), NoHistory(), found.id).ruled_out)
    for words in ("has no link", "It is not switched off", f"{found.device} and leaf-"):
        assert words in reported
    assert "label" not in reported


def test_what_explains_a_finding_is_not_ruled_out() -> None:
    for kind, variant, words in (
        (CauseKind.LEAF_SWAP, "labels", "The label of"),
        (CauseKind.HOST_SWAP, "labels", "bear another host's name"),
        (CauseKind.GPU_NIC_ORDER, "names", "order of NICs"),
    ):
        publication = published(SPINES, Fault(kind, variant))
        for one in publication.evaluation.findings:
            assert words not in " ".join(why(publication, NoHistory(), one.id).ruled_out), (kind, one)


def test_a_stale_neighbour_is_not_ruled_out_by_one_end() -> None:
    found = next(one for one in swapped().evaluation.findings if one.rule == "CAB001")
    deaf = [reading for reading in swapped().snapshot.readings if reading.device != found.device]
    heard = replace(swapped().snapshot, readings=deaf)
    publication = replace(swapped(), evaluated=EvaluatedRound(Round(swapped().plan, heard), swapped().evaluation))
    reported = " ".join(why(publication, NoHistory(), found.id).ruled_out)
    assert "stale" not in reported
    assert f"{found.device} answer" not in reported


def test_why_tells_of_lives_and_hands() -> None:
    found = swapped().evaluation.findings[0]
    life = Life(found.id, LifeState.REGRESSED, NOW - timedelta(days=3), NOW, NOW, episodes=2)
    mute = Mute(MuteKind.ACKNOWLEDGED, 7, "ana", "spare ordered")
    answer = why(replace(swapped(), lives={found.id: life}, mutes={found.id: mute}), NoHistory(), found.id)
    assert (answer.episodes, answer.first_seen) == (2, life.first_seen)
    assert (answer.acknowledged_by, answer.acknowledged_reason) == ("ana", "spare ordered")
    window = Mute(MuteKind.MAINTENANCE, 8, "ana", "work")
    assert why(replace(swapped(), mutes={found.id: window}), NoHistory(), found.id).acknowledged_by is None


def test_a_resolved_finding_is_reported_from_the_journal() -> None:
    life = Life("0123456789ab", LifeState.RESOLVED, NOW, NOW, NOW, NOW, 3)
    finding = Finding("CAB003", "cable_missing", Severity.CRITICAL, "gpu-001/a", "s", "d")
    answer = why(swapped(), Kept(kept={life.id: KeptFinding(life, finding)}), life.id)
    assert (answer.state, answer.episodes, answer.evidence) == ("resolved", 3, ())
    assert answer.repair == NOTHING
    with pytest.raises(NotFoundError, match="feedfeedfeed"):
        why(swapped(), NoHistory(), "feedfeedfeed")


def test_timeline_of_a_port_and_of_its_device() -> None:
    found = swapped().evaluation.findings[0]
    other = next(c.a for c in swapped().plan.host_cables if c.a.device == found.device and str(c.a) != found.subject)
    history = Kept(
        links=[link(1, found.subject, "leaf-0/swp6", "leaf-3/swp6"), link(2, str(other), "leaf-1/swp6", None)],
        events=[event(3, EventKind.APPEARED, found.id, found.subject), event(4, EventKind.RESOLVED, "x", str(other))],
        known=[Acknowledgement(1, found.id, "ana", "known", NOW), Acknowledgement(2, "else", "bo", "other", NOW)],
        work=[
            MaintenanceWindow(1, "rail", str(found.rail), NOW, NOW + timedelta(hours=1), "ana", "rail work", NOW),
            MaintenanceWindow(2, "nodes", "gpu-[090-099]", NOW, NOW + timedelta(hours=1), "bo", "not here", NOW),
        ],
        versions=[PlanVersion("d1", NOW - timedelta(days=1), "plan.csv", 14, 48)],
    )
    answer = timeline(swapped(), history, found.subject)
    assert [one.kind for one in answer.events] == ["acknowledged", "maintenance", "appeared", "link", "plan"]
    assert [one.at for one in answer.events] == sorted((one.at for one in answer.events), reverse=True)
    assert answer.complete
    whole = timeline(swapped(), history, found.device)
    assert {one.subject for one in whole.events} >= {found.subject, str(other)}
    short = timeline(swapped(), history, found.device, limit=2)
    assert (len(short.events), short.complete) == (2, False)
    assert timeline(swapped(), NoHistory(), found.device).summary == f"The journal has no events of {found.device}."


def test_a_port_is_found_behind_many_events_of_its_device() -> None:
    found = swapped().evaluation.findings[0]
    noise = [event(n, EventKind.FLAPPING, "x", f"{found.device}/other") for n in range(2, 60)]
    history = Kept(events=[event(1, EventKind.APPEARED, found.id, found.subject), *noise])
    assert [one.kind for one in timeline(swapped(), history, found.subject, limit=10).events] == ["appeared"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2h", "2026-11-20T12:00"),
        ("90m ago", "2026-11-20T12:30"),
        ("1.5d", "2026-11-19T02:00"),
        ("now", "2026-11-20T14:00"),
        ("13:30", "2026-11-20T13:30"),
        ("15:30", "2026-11-19T15:30"),
        ("15:30 +02:00", "2026-11-20T13:30"),
        ("yesterday", "2026-11-19T00:00"),
        ("yesterday 14:30", "2026-11-19T14:30"),
        ("today 01:00+02:00", "2026-11-19T23:00"),
        ("today", "2026-11-20T00:00"),
        ("2026-11-20T14:00+01:00", "2026-11-20T13:00"),
        ("2026-11-20 09:15", "2026-11-20T09:15"),
        ("2026-11-01", "2026-11-01T00:00"),
    ],
)
def test_times_as_people_write_them(text: str, expected: str) -> None:
    assert moment(text, NOW) == datetime.fromisoformat(f"{expected}:00+00:00")


@pytest.mark.parametrize(
    "text", ["", "soon", "25:00", "2h30", "12:61", "999999w", "2026-13-01", "1e9s", "٣h", "15:00+99:99"]
)
def test_what_is_no_time_is_named(text: str) -> None:
    with pytest.raises(QueryError, match="is not a time"):
        moment(text, NOW)


def test_spans() -> None:
    assert span("2h", None, NOW) == (NOW - timedelta(hours=2), NOW)
    assert span("13:00", "13:30", NOW) == (NOW - timedelta(hours=1), NOW - timedelta(minutes=30))
    for until in (None, "1h"):
        with pytest.raises(QueryError, match="give a start"):
            span(None, until, NOW)
    with pytest.raises(QueryError, match="before it begins"):
        span("13:30", "13:00", NOW)


def test_diff_reports_the_time_before_the_journal_as_unknown() -> None:
    class Young(Kept):
        def kept_since(self) -> datetime:
            return NOW - timedelta(hours=1)

    early = diff(swapped(), Young(), NOW - timedelta(days=1), NOW)
    assert early.summary == (
        "Nothing changed. What changed before 2026-11-20 13:00:00 UTC is unknown: the journal begins there."
    )
    assert not early.complete
    assert QUESTION.good(early) is None
    later = diff(swapped(), Young(), NOW - timedelta(minutes=30), NOW)
    assert (later.summary, later.complete, QUESTION.good(later)) == ("Nothing changed.", True, True)


def test_diff_lists_causes_by_the_time_that_it_shows() -> None:
    def caused(seq: int, kind: EventKind, cause: str, summary: str) -> CauseEvent:
        at = NOW - timedelta(minutes=60 - seq)
        return CauseEvent(seq, at, kind, at, cause, "link-down", ("gpu-001/a",), summary, ("f1",))

    rows = [
        caused(1, EventKind.APPEARED, "first", "one"),
        caused(2, EventKind.APPEARED, "second", "two"),
        caused(3, EventKind.UNSEEN, "first", "one"),
    ]
    answer = diff(swapped(), Kept(caused=rows), NOW - timedelta(hours=2), NOW)
    assert [one.cause for one in answer.causes] == ["second", "first"]


def test_why_takes_the_number_that_a_report_gives_a_cause() -> None:
    answer = why(swapped(), NoHistory(), "C1")
    assert answer.cause is not None
    assert answer == why(swapped(), NoHistory(), answer.cause.key)
    with pytest.raises(NotFoundError, match="'C9'"):
        why(swapped(), NoHistory(), "C9")
