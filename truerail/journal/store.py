"""The journal: the service's history in SQLite or PostgreSQL."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from sqlalchemy import Connection, func, select

from truerail.errors import JournalUnavailableError, JournalUnusableError
from truerail.journal import as_of, blobs, job_rows, kept_rows, retention, row_values, tables
from truerail.journal.changes import Changes, Memory
from truerail.journal.database import Database
from truerail.journal.restoring import memory_of
from truerail.journal.round_writer import write_round
from truerail.journal.salvage import Salvage
from truerail.journal.types import storable
from truerail.model.history import (
    Acknowledgement,
    AuditRecord,
    CauseEvent,
    CauseRecord,
    FindingEvent,
    FindingRecord,
    KeptCause,
    KeptFinding,
    LinkChange,
    MaintenanceWindow,
    PastState,
    PlanVersion,
    RoundRecord,
    RowRange,
)
from truerail.model.job_record import JobRecord
from truerail.model.target import Secret

FIRST = RowRange()


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Kept(Protocol):
    """The settings of the journal."""

    @property
    def url(self) -> str: ...
    @property
    def password(self) -> Secret | None: ...
    @property
    def retention(self) -> timedelta: ...
    @property
    def round_retention(self) -> timedelta: ...


def open_journal(settings: Kept) -> "Journal":
    """The journal at `settings.url`, its schema brought up to date.

    A database that does not answer is no error here: each use retries it. Raises `JournalUnusableError` (a
    `JournalUnavailableError`) for an impossible URL, and for a database that a newer truerail wrote.
    """
    journal = Journal(Database(settings.url, settings.password), settings.retention, settings.round_retention)
    try:
        journal.prepare()
    except JournalUnusableError:
        journal.close()
        raise
    except JournalUnavailableError:
        pass
    return journal


class Journal:
    """Implements `History`. Every write is on disk when it returns, otherwise it raises `JournalUnavailableError`.

    Safe for several threads at once.
    """

    def __init__(
        self,
        database: Database,
        retention: timedelta,
        round_retention: timedelta,
        clock: Callable[[], datetime] = _utc_now,
    ) -> None:
        self._clock = clock
        self._database = database
        self._retention = retention
        self._round_retention = round_retention
        self._salvage = Salvage()

    def __repr__(self) -> str:
        return f"Journal({self._database!r})"

    def prepare(self) -> None:
        """Brings the schema up to date. Every use does so first."""
        self._database.prepare()

    def close(self) -> None:
        """Closes every connection."""
        self._database.close()

    # --- leadership, of one judge among several -----------------------------------------------------------------------

    @property
    def fenced(self) -> bool:
        """Whether a write was refused since `lead`: another judge leads, with a higher epoch."""
        return self._database.fenced

    def lead(self, revision: int) -> int:
        """Fences off every leader before: its writes raise JournalFencedError from now on. Returns the epoch of the new
        one: `revision` of its lease, or more if an earlier bus has counted further. Raises JournalUnavailableError;
        `revision` is the epoch then.
        """
        return self._database.lead(revision)

    # --- rounds -------------------------------------------------------------------------------------------------------

    def restore(self) -> Memory:
        """The state for `Lives.restore`."""
        with self._database.reading() as connection:
            return memory_of(self._salvage, connection)

    def next_number(self) -> int:
        """The number of the next round."""
        with self._database.reading() as connection:
            return (connection.execute(select(func.max(tables.rounds.c.number))).scalar_one() or 0) + 1

    def record(self, record: RoundRecord, changes: Changes) -> None:
        """Stores a round and everything that it changed, all or nothing. Recording it twice changes nothing."""
        with self._database.writing() as connection:
            write_round(connection, record, changes, self._database.epoch)

    def retain(self, now: datetime) -> int:
        """Deletes rows older than the retention; returns their number. In small steps: nothing waits for it long."""
        return retention.retain(self._database, now - self._retention, now - self._round_retention)

    def keep_blob(self, name: str, body: bytes, at: datetime) -> None:
        """Stores bytes under a name and replaces the old ones. One writer for each name at a time."""
        blobs.put(self._database, name, body, at)

    def blob(self, name: str) -> bytes | None:
        """The bytes under a name; None if there are none."""
        with self._database.reading() as connection:
            return blobs.get(connection, name)

    # --- people's entries, each with its line in the audit log --------------------------------------------------------

    def acknowledge(
        self, target: str, author: str, reason: str, at: datetime, until: datetime | None = None
    ) -> Acknowledgement:
        """Acknowledges a finding (id) or a cause (key)."""
        note = Acknowledgement(0, target, storable(author), storable(reason), at, until)
        audited = AuditRecord(0, at, author, "acknowledge", target)
        return replace(note, id=self._insert(tables.acknowledgements, _row(note, "id"), audited))

    def withdraw(self, acknowledgement: int, author: str, at: datetime) -> None:
        """Ends an acknowledgement. One that is already over stays unchanged."""
        self._end(
            tables.acknowledgements, acknowledgement, AuditRecord(0, at, author, "withdraw", str(acknowledgement))
        )

    def open_window(
        self, scope: str, what: str, starts: datetime, ends: datetime, author: str, reason: str, at: datetime
    ) -> MaintenanceWindow:
        """Announces work."""
        window = MaintenanceWindow(0, scope, storable(what), starts, ends, storable(author), storable(reason), at)
        note = AuditRecord(0, at, author, "maintenance", f"{scope} {what}")
        return replace(window, id=self._insert(tables.windows, _row(window, "id"), note))

    def end_window(self, window: int, author: str, at: datetime) -> None:
        """Ends a window early. One that has already ended stays unchanged."""
        self._end(tables.windows, window, AuditRecord(0, at, author, "end maintenance", str(window)))

    def plan_in_force(self, version: PlanVersion) -> None:
        """Puts this plan in force. The one already in force is not recorded again."""
        plans = tables.plans
        newest = select(plans.c.digest).order_by(plans.c.seq.desc()).limit(1)
        with self._database.writing() as connection:
            if connection.execute(newest).scalar_one_or_none() != storable(version.digest):
                connection.execute(plans.insert(), _row(version))

    def note(self, who: str, action: str, detail: str, at: datetime) -> None:
        """Records who did what."""
        with self._database.writing() as connection:
            _audit(connection, AuditRecord(0, at, who, action, detail))

    def _insert(self, table: Any, row: Mapping[str, Any], note: AuditRecord) -> int:
        with self._database.writing() as connection:
            _audit(connection, note)
            key: Any = connection.execute(table.insert().values(**row)).inserted_primary_key
            return int(key[0])

    def unreadable(self, table: str) -> Mapping[int, str]:
        """Unreadable rows of `acknowledgements` or `windows`: number to reason. Ending one deletes it."""
        return self._salvage.of(table)

    def _end(self, table: Any, number: int, note: AuditRecord) -> None:
        ending: Any = table.update().where(table.c.id == number, table.c.ended_at.is_(None)).values(ended_at=note.at)
        if self._salvage.has(table.name, number):
            ending = table.delete().where(table.c.id == number)
        with self._database.writing() as connection:
            if connection.execute(ending).rowcount:
                _audit(connection, note)
        self._salvage.forget(table.name, number)

    # --- queries, as in `History` -------------------------------------------------------------------------------------

    def link_since(self, ports: Collection[str]) -> Mapping[str, datetime]:
        """When each of these ports was last seen to change."""
        with self._database.reading() as connection:
            return row_values.link_since(connection, ports)

    def link_changes(
        self, start: datetime, end: datetime, *, devices: Collection[str] | None = None, page: RowRange = FIRST
    ) -> Sequence[LinkChange]:
        """Link changes from `start` up to `end`, both included."""
        with self._database.reading() as connection:
            return row_values.link_changes(self._salvage, connection, start, end, devices, page)

    def finding_events(
        self, start: datetime, end: datetime, *, devices: Collection[str] | None = None, page: RowRange = FIRST
    ) -> Sequence[FindingEvent]:
        """Events of findings from `start` up to `end`, both included. People's actions are not among them: see
        `acknowledgements`, `windows`, `plans` and `audit`.
        """
        with self._database.reading() as connection:
            return row_values.finding_events(self._salvage, connection, start, end, devices, page)

    def cause_events(self, start: datetime, end: datetime, *, page: RowRange = FIRST) -> Sequence[CauseEvent]:
        """Events of causes from `start` up to `end`, both included."""
        with self._database.reading() as connection:
            return row_values.cause_events(self._salvage, connection, start, end, page)

    def kept_finding(self, finding: str) -> KeptFinding | None:
        """One finding, open or resolved, with its evidence."""
        with self._database.reading() as connection:
            found = kept_rows.kept_findings(self._salvage, connection, [finding])
        return found[0] if found else None

    def kept_findings(self, findings: Collection[str]) -> Sequence[KeptFinding]:
        """Those of these findings that the journal has, open or resolved, with their evidence."""
        with self._database.reading() as connection:
            return kept_rows.kept_findings(self._salvage, connection, findings)

    def kept_cause(self, key: str) -> KeptCause | None:
        """One cause, open or resolved, with its moves and the findings that it explained."""
        with self._database.reading() as connection:
            return kept_rows.kept_cause(self._salvage, connection, key)

    def kept_since(self) -> datetime | None:
        """The first moment of which anything is kept; None for an empty journal."""
        with self._database.reading() as connection:
            first = as_of.kept_since(connection)
        return None if first is None else max(first, self._clock() - self._retention)

    def as_of(self, at: datetime) -> PastState:
        """Everything that was known at a time."""
        with self._database.reading() as connection:
            return as_of.as_of(self._salvage, connection, at)

    def job_runs(
        self, start: datetime, end: datetime, *, hosts: Collection[str] | None = None, page: RowRange = FIRST
    ) -> Sequence[JobRecord]:
        """Runs of jobs between two times, those that began last first; with hosts, only those on one of them."""
        with self._database.reading() as connection:
            return job_rows.job_runs(self._salvage, connection, start, end, hosts, page)

    def jobs_named(self, asked: str, *, page: RowRange = FIRST) -> Sequence[JobRecord]:
        """Runs of the job with this key, or of the array or the jobs with this name, those that began last first."""
        with self._database.reading() as connection:
            return job_rows.jobs_named(self._salvage, connection, asked, page)

    def findings(self, *, resolved_since: datetime | None = None, page: RowRange = FIRST) -> Sequence[FindingRecord]:
        """Open findings, or those resolved since. Findings have no `seq`: `page.before` is how many to skip."""
        with self._database.reading() as connection:
            return row_values.findings(self._salvage, connection, resolved_since, page)

    def finding(self, finding: str) -> FindingRecord | None:
        """One finding, open or resolved."""
        with self._database.reading() as connection:
            return row_values.finding(self._salvage, connection, finding)

    def causes(self, *, resolved_since: datetime | None = None, page: RowRange = FIRST) -> Sequence[CauseRecord]:
        """Open causes, or those resolved since. `page.before` is how many to skip."""
        with self._database.reading() as connection:
            return row_values.causes(self._salvage, connection, resolved_since, page)

    def rounds(self, page: RowRange = FIRST) -> Sequence[RoundRecord]:
        """Rounds; `page.before` is a round's number."""
        with self._database.reading() as connection:
            return row_values.rounds(self._salvage, connection, page)

    def plans(self) -> Sequence[PlanVersion]:
        """Every plan that was in force."""
        with self._database.reading() as connection:
            return row_values.plans(self._salvage, connection)

    def acknowledgements(self, *, open_only: bool = True) -> Sequence[Acknowledgement]:
        """Acknowledgements in force now, or all stored ones."""
        with self._database.reading() as connection:
            return row_values.acknowledgements(self._salvage, connection, self._clock() if open_only else None)

    def windows(self, *, open_only: bool = True) -> Sequence[MaintenanceWindow]:
        """Windows that are open or announced, or all stored ones."""
        with self._database.reading() as connection:
            return row_values.windows(self._salvage, connection, self._clock() if open_only else None)

    def audit(self, page: RowRange = FIRST) -> Sequence[AuditRecord]:
        """Who did what."""
        with self._database.reading() as connection:
            return row_values.audit(self._salvage, connection, page)


def _row(value: Any, *without: str) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value) if field.name not in without}


def _audit(connection: Connection, note: AuditRecord) -> None:
    connection.execute(tables.audit.insert(), _row(note, "seq"))
