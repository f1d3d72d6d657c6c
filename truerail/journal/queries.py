"""What the on-call questions and the API ask of the journal."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import BigInteger, Column, Connection, Row, Select, Table, and_, func, or_, select, type_coerce, union

from truerail.journal import as_of, job_rows, tables
from truerail.journal.bodies import cause_of, finding_of, life_of, newest_round_at
from truerail.journal.database import Database
from truerail.journal.salvage import Salvage
from truerail.journal.statements import among_keys, among_numbers
from truerail.journal.types import digest, is_id, unpacked_ids
from truerail.model import history
from truerail.model.history import EventKind, KeptCause, KeptFinding, RowRange
from truerail.model.job_record import JobRecord
from truerail.model.life import Life
from truerail.model.target import Secret

FEW_DEVICES = 64
"""Up to this many devices, their own rows are looked up; for more, rows are read by time and filtered."""
FIRST = RowRange()
T = TypeVar("T")
Asked = Select[*tuple[Any, ...]]

_links = tables.link_changes
_events = tables.finding_events
_cause_events = tables.cause_events
_port, _was, _now = (tables.places.alias(name) for name in ("on_port", "on_was", "on_now"))


def utc_now() -> datetime:
    """The time."""
    return datetime.now(UTC)


class JournalQueries(Database):
    """A database with the queries of `History`."""

    def __init__(self, url: str, password: Secret | None, retention: timedelta) -> None:
        super().__init__(url, password)
        self._retention = retention
        self._salvage = Salvage()

    def unreadable(self, table: str) -> Mapping[int, str]:
        """Unreadable rows of `acknowledgements` or `windows`: number to reason. Ending one deletes it."""
        return self._salvage.of(table)

    def link_since(self, ports: Collection[str]) -> Mapping[str, datetime]:
        """When each of these ports was last seen to change."""
        numbers = {digest(port): port for port in ports}
        links = tables.links.c
        asked = select(links.port, links.changed_at).where(links.changed_at.is_not(None))
        with self.reading() as connection:
            if len(numbers) < 50_000:  # otherwise reading all rows is faster
                asked = asked.where(among_numbers(connection, links.port, numbers))
            return {numbers[port]: at for port, at in connection.execute(asked) if port in numbers}

    def link_changes(
        self, start: datetime, end: datetime, *, devices: Collection[str] | None = None, page: RowRange = FIRST
    ) -> Sequence[history.LinkChange]:
        """Link changes from `start` up to `end`, both included."""
        asked: Asked = select(
            _links.c.seq, _links.c.at, _port.c.word, _was.c.word, _now.c.word, _links.c.was_state, _links.c.now_state
        )
        asked = asked.select_from(
            _links.join(_port, _links.c.port == _port.c.id)
            .outerjoin(_was, _links.c.was == _was.c.id)
            .outerjoin(_now, _links.c.now == _now.c.id)
        )
        make = _into(history.LinkChange)
        return self._between(asked, _links, start, end, page, make, on=_link_on, devices=devices)

    def finding_events(
        self, start: datetime, end: datetime, *, devices: Collection[str] | None = None, page: RowRange = FIRST
    ) -> Sequence[history.FindingEvent]:
        """Events of findings from `start` up to `end`, both included. People's actions are not among them: see
        `acknowledgements`, `windows`, `plans` and `audit`.
        """
        findings, texts = tables.findings, tables.texts
        asked: Asked = select(
            _events.c.seq, _events.c.at, _events.c.kind, _events.c.finding,
            findings.c.rule, _events.c.severity, findings.c.subject, func.coalesce(texts.c.body, findings.c.summary),
            findings.c.cause,
        )  # fmt: skip
        asked = asked.select_from(
            _events.join(findings, _events.c.finding == findings.c.id).outerjoin(texts, _events.c.summary == texts.c.id)
        )
        return self._between(asked, _events, start, end, page, _event, on=_finding_on, devices=devices)

    def cause_events(self, start: datetime, end: datetime, *, page: RowRange = FIRST) -> Sequence[history.CauseEvent]:
        """Events of causes from `start` up to `end`, both included."""
        causes, texts, of = tables.causes, tables.texts, _cause_events.c
        asked: Asked = select(
            of.seq, of.at, of.kind, of.happened_at, of.cause, causes.c.kind, causes.c.subjects,
            func.coalesce(texts.c.body, causes.c.summary), of.explains,
        )  # fmt: skip
        asked = asked.select_from(
            _cause_events.join(causes, of.cause == causes.c.id).outerjoin(texts, of.summary == texts.c.id)
        )
        return self._between(asked, _cause_events, start, end, page, _cause_event)

    def findings(
        self, *, resolved_since: datetime | None = None, page: RowRange = FIRST
    ) -> Sequence[history.FindingRecord]:
        """Open findings, or those resolved since. Findings have no `seq`: `page.before` is how many to skip."""
        asked = _open_or_resolved(tables.findings, resolved_since, page)
        return self._lives(tables.findings, asked, lambda row, life: history.FindingRecord(life, row.cause))

    def causes(
        self, *, resolved_since: datetime | None = None, page: RowRange = FIRST
    ) -> Sequence[history.CauseRecord]:
        """Open causes, or those resolved since. `page.before` is how many to skip."""
        asked = _open_or_resolved(tables.causes, resolved_since, page)
        return self._lives(tables.causes, asked, lambda row, life: history.CauseRecord(life, row.findings))

    def kept_finding(self, finding: str) -> history.KeptFinding | None:
        """One finding, open or resolved, with its evidence."""
        return next(iter(self.kept_findings([finding])), None)

    def kept_findings(self, findings: Collection[str]) -> Sequence[history.KeptFinding]:
        """Those of these findings that the journal has, open or resolved, with their evidence."""
        number = type_coerce(tables.findings.c.id, BigInteger)
        ids = [int(one, 16) for one in findings if is_id(one)]
        with self.reading() as connection:
            asked = select(tables.findings).where(among_numbers(connection, number, ids)).order_by(tables.findings.c.id)
        return self._lives(tables.findings, asked, lambda row, life: KeptFinding(life, finding_of(row), row.cause))

    def kept_cause(self, key: str) -> history.KeptCause | None:
        """One cause, open or resolved, with its moves and the findings that it explained."""
        if not is_id(key):
            return None
        asked: Asked = select(tables.causes).where(tables.causes.c.id == key)
        found = self._lives(tables.causes, asked, lambda row, life: KeptCause(life, cause_of(row, row.body)))
        return next(iter(found), None)

    def kept_since(self) -> datetime | None:
        """The first moment of which anything is kept; None for an empty journal."""
        with self.reading() as connection:
            first = as_of.kept_since(connection)
        return None if first is None else max(first, utc_now() - self._retention)

    def as_of(self, at: datetime) -> history.PastState:
        """Everything that was known at a time."""
        with self.reading() as connection:
            return as_of.as_of(self._salvage, connection, at)

    def job_runs(
        self, start: datetime, end: datetime, *, hosts: Collection[str] | None = None, page: RowRange = FIRST
    ) -> Sequence[JobRecord]:
        """Runs of jobs between two times, those that began last first; with hosts, only those on one of them."""
        with self.reading() as connection:
            return job_rows.job_runs(self._salvage, connection, start, end, hosts, page)

    def jobs_named(self, asked: str, *, page: RowRange = FIRST) -> Sequence[JobRecord]:
        """Runs of the job with this key, or of the array or the jobs with this name, those that began last first."""
        with self.reading() as connection:
            return job_rows.jobs_named(self._salvage, connection, asked, page)

    def rounds(self, page: RowRange = FIRST) -> Sequence[history.RoundRecord]:
        """Rounds; `page.before` is a round's number."""
        return self._newest(tables.rounds.c.number, _round, page)

    def plans(self) -> Sequence[history.PlanVersion]:
        """Every plan that was in force."""
        return self._newest(tables.plans.c.seq, lambda row: history.PlanVersion(*tuple(row)[1:]))

    def acknowledgements(self, *, open_only: bool = True) -> Sequence[history.Acknowledgement]:
        """Acknowledgements in force now, or all stored ones."""
        notes = tables.acknowledgements.c
        in_force = and_(notes.ended_at.is_(None), or_(notes.until.is_(None), notes.until > utc_now()))
        return self._newest(notes.id, _into(history.Acknowledgement), where=in_force if open_only else None)

    def windows(self, *, open_only: bool = True) -> Sequence[history.MaintenanceWindow]:
        """Windows that are open or announced, or all stored ones."""
        windows = tables.windows.c
        in_force = and_(windows.ended_at.is_(None), windows.ends > utc_now())
        return self._newest(windows.id, _into(history.MaintenanceWindow), where=in_force if open_only else None)

    def audit(self, page: RowRange = FIRST) -> Sequence[history.AuditRecord]:
        """Who did what."""
        return self._newest(tables.audit.c.seq, _into(history.AuditRecord), page)

    def _between(
        self,
        asked: Asked,
        table: Any,
        start: datetime,
        end: datetime,
        page: RowRange,
        make: Callable[[Row[Any]], T],
        *,
        on: Callable[[Connection, Collection[str]], Any] | None = None,
        devices: Collection[str] | None = None,
    ) -> list[T]:
        """Rows of a time range, newest first; with devices, only those `on` them. Rows are numbered in the order of
        time: a number is also a time.
        """
        with self.reading() as connection:
            if devices is not None and on is not None:
                asked = asked.where(on(connection, devices))
            if page.before is not None:
                at = connection.execute(select(table.c.at).where(table.c.seq == page.before)).scalar_one_or_none()
                end = min(end, at) if at is not None else end
                asked = asked.where(table.c.seq < page.before)
            asked = asked.where(and_(table.c.at >= start, table.c.at <= end))
            asked = asked.order_by(table.c.at.desc(), table.c.seq.desc()).limit(page.limit)
            return self._salvage.rows(connection, asked, table.c.seq, make)

    def _newest(
        self, number: Column[int], make: Callable[[Row[Any]], T], page: RowRange | None = None, where: Any = None
    ) -> list[T]:
        """Rows of the table with this number, the newest first."""
        asked: Asked = select(*number.table.c).order_by(number.desc())
        asked = asked if where is None else asked.where(where)
        asked = asked.limit(page.limit) if page else asked
        asked = asked.where(number < page.before) if page and page.before is not None else asked
        with self.reading() as connection:
            return self._salvage.rows(connection, asked, number, make)

    def _lives(self, table: Table, asked: Asked, make: Callable[[Row[Any], Life], T]) -> list[T]:
        with self.reading() as connection:
            newest = newest_round_at(connection)
            return self._salvage.rows(connection, asked, table.c.id, lambda row: make(row, life_of(row, newest)))


def _into(kind: Callable[..., T]) -> Callable[[Row[Any]], T]:
    """Makes a value of a row with its fields in their order."""
    return lambda row: kind(*row)


def _link_on(connection: Connection, devices: Collection[str]) -> Any:
    ends = (_links.c.port, _links.c.was, _links.c.now)
    there = select(tables.places.c.id).where(among_keys(connection, tables.places.c.device, devices))
    if len(devices) > FEW_DEVICES:
        return or_(*(end.in_(there) for end in ends))
    return _links.c.seq.in_(union(*(select(_links.c.seq).where(end.in_(there)) for end in ends)).subquery().select())


def _finding_on(connection: Connection, devices: Collection[str]) -> Any:
    there = among_keys(connection, tables.findings.c.device, devices)
    if len(devices) > FEW_DEVICES:
        return there
    of_them = select(_events.c.seq).where(_events.c.finding.in_(select(tables.findings.c.id).where(there)))
    return _events.c.seq.in_(of_them)


def _event(row: Row[Any]) -> history.FindingEvent:
    values = row._asdict() | {"kind": EventKind(row.kind)}
    return history.FindingEvent(*values.values())


def _cause_event(row: Row[Any]) -> history.CauseEvent:
    seq, at, kind, happened_at, cause, cause_kind, subjects, summary, explains = tuple(row)
    named = tuple(json.loads(subjects))
    return history.CauseEvent(
        seq, at, EventKind(kind), happened_at, cause, cause_kind, named, summary, unpacked_ids(explains)
    )


def _open_or_resolved(table: Any, resolved_since: datetime | None, page: RowRange) -> Asked:
    asked = select(table).limit(page.limit).offset(page.before or 0)
    if resolved_since is None:
        return asked.where(table.c.resolved_at.is_(None)).order_by(table.c.since.desc(), table.c.id)
    return asked.where(table.c.resolved_at >= resolved_since).order_by(table.c.resolved_at.desc(), table.c.id)


def _round(row: Row[Any]) -> history.RoundRecord:
    fields = row._asdict()
    found: Mapping[str, int | None] = {word: fields.pop(word) for word in reversed(tables.SEVERITIES.words)}
    del fields["epoch"]
    return history.RoundRecord(findings={word: count for word, count in found.items() if count is not None}, **fields)
