"""The journal: the service's history in SQLite or PostgreSQL."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

from sqlalchemy import BigInteger, ColumnElement, Connection, Row, Table, and_, func, or_, select, type_coerce

from truerail.errors import JournalUnavailableError, JournalUnusableError
from truerail.journal import tables
from truerail.journal.bodies import cause_of, finding_of, life_of, link_places, newest_round_at
from truerail.journal.job_rows import open_jobs
from truerail.journal.queries import JournalQueries
from truerail.journal.round_changes import Changes, EntryRow, LinkState, Memory, Past
from truerail.journal.round_writer import write_round
from truerail.journal.salvage import UNREADABLE, Salvage
from truerail.journal.types import moment, storable
from truerail.model import history
from truerail.model.target import Secret

# ----------------------------------------------------------------------------------------------------------------------
# The content of a journal, as `Lives` restores it at the start.

T = TypeVar("T")
_RECENT = timedelta(days=1)
"""Appearances of entries resolved longer ago do not count for flapping."""


def memory_of(salvage: Salvage, connection: Connection) -> Memory:
    """All open entries, the remains of resolved ones, and the last state of every cable."""
    at = newest_round_at(connection)
    if at is None:
        return Memory()
    return Memory(
        findings=_opened(salvage, connection, tables.findings, at, lambda row: (finding_of(row), row.cause)),
        causes=_opened(salvage, connection, tables.causes, at, lambda row: cause_of(row, row.body)),
        past=_past(salvage, connection, tables.findings, at),
        past_causes=_past(salvage, connection, tables.causes, at),
        links=tuple(salvage.rows(connection, link_places(), tables.links.c.port, lambda row: LinkState(*row))),
        jobs=open_jobs(salvage, connection),
        at=at,
    )


def _opened(
    salvage: Salvage, connection: Connection, table: Any, at: datetime, value: Callable[[Row[Any]], T]
) -> tuple[EntryRow[T], ...]:
    def entry(row: Row[Any]) -> EntryRow[T]:
        return EntryRow(life_of(row, at), value(row), row.present, row.away, _times(row.appearances))

    asked = select(*table.c).where(table.c.resolved_at.is_(None)).order_by(table.c.since, table.c.id)
    return tuple(salvage.rows(connection, asked, table.c.id, entry))


def _past(salvage: Salvage, connection: Connection, table: Any, at: datetime) -> dict[str, Past]:
    """There are hundreds of thousands after a year: their columns are read as plain numbers."""
    columns = (type_coerce(table.c[name], BigInteger) for name in ("id", "first_seen", "resolved_at", "episodes"))
    resolved = table.c.resolved_at.is_not(None)
    rows: Iterable[Any] = connection.execute(select(*columns).where(resolved))
    found: dict[str, Past] = {}
    for key, first_seen, resolved_at, episodes in rows:
        try:
            found[f"{key:012x}"] = Past(moment(first_seen), moment(resolved_at), episodes)
        except UNREADABLE as error:
            salvage.report(table.name, key, error)
    lately = select(table.c.id, table.c.appearances).where(table.c.resolved_at > at - _RECENT)
    for key, times in salvage.rows(connection, lately, table.c.id, lambda row: (row.id, _times(row.appearances))):
        if key in found:
            found[key] = found[key]._replace(appearances=times)
    return found


def _times(packed: str) -> tuple[datetime, ...]:
    return tuple(moment(int(one)) for one in packed.split())


# ----------------------------------------------------------------------------------------------------------------------
# Rows older than the retention, which are deleted a few at a time, so that nothing waits for it long.

STEP_MARKS, NOTIFICATIONS = "step marks", "notifications"
_LASTING = (STEP_MARKS, NOTIFICATIONS)
"""Names of values that hold as long as they are not replaced: they never become old."""
STEP = 1000
"""Rows deleted in one transaction."""


def _old(before: datetime, rounds_before: datetime) -> list[tuple[Table, ColumnElement[bool]]]:
    """Old rows by table; referenced tables come after those that refer to them. The newest round and plan are never
    old.
    """
    notes, windows, rounds, plans = tables.acknowledgements.c, tables.windows.c, tables.rounds.c, tables.plans.c
    newest_round, newest_plan = select(func.max(rounds.number)), select(func.max(plans.seq))
    return [
        *((one, one.c.at < before) for one in (tables.finding_events, tables.cause_events, tables.versions)),
        *((one, one.c.resolved_at < before) for one in (tables.findings, tables.causes)),
        (tables.texts, tables.texts.c.used_at < before),
        (tables.link_changes, tables.link_changes.c.at < before),
        (tables.places, and_(tables.places.c.used_at < before, ~_in_use())),
        (tables.jobs, tables.jobs.c.ended_at < before),
        (tables.acknowledgements, or_(notes.ended_at < before, notes.until < before)),
        (tables.windows, or_(windows.ended_at < before, windows.ends < before)),
        (tables.plans, and_(plans.at < before, plans.seq != newest_plan.scalar_subquery())),
        (tables.audit, tables.audit.c.at < before),
        (tables.blobs, and_(tables.blobs.c.at < rounds_before, tables.blobs.c.name.not_in(_LASTING))),
        (tables.rounds, and_(rounds.at < rounds_before, rounds.number != newest_round.scalar_subquery())),
    ]


def _in_use() -> ColumnElement[bool]:
    """Places where a cable is now. For a former place, `used_at` is as new as that change."""
    links, place = tables.links.c, tables.places.c.id
    return or_(
        select(links.port).where(links.port == place).exists(), select(links.port).where(links.seen == place).exists()
    )


# ----------------------------------------------------------------------------------------------------------------------
# The journal: the service's history in SQLite or PostgreSQL.

PART_BYTES = 4 << 20
"""Bytes of a large value written in one transaction."""


class Kept(Protocol):
    """The settings of the journal."""

    url: str
    password: Secret | None
    retention: timedelta
    round_retention: timedelta


def open_journal(settings: Kept) -> "Journal":
    """The journal at `settings.url`, its schema brought up to date.

    A database that does not answer is no error here: each use retries it. Raises `JournalUnusableError` (a
    `JournalUnavailableError`) for an impossible URL, and for a database that a newer truerail wrote.
    """
    journal = Journal(settings.url, settings.password, settings.retention, settings.round_retention)
    try:
        journal.prepare()
    except JournalUnusableError:
        journal.close()
        raise
    except JournalUnavailableError:
        pass
    return journal


class Journal(JournalQueries):
    """Implements `History`. Every write is on disk when it returns, otherwise it raises `JournalUnavailableError`.

    Safe for several threads at once.
    """

    def __init__(self, url: str, password: Secret | None, retention: timedelta, round_retention: timedelta) -> None:
        super().__init__(url, password, retention)
        self._round_retention = round_retention

    # --- rounds -------------------------------------------------------------------------------------------------------

    def restore(self) -> Memory:
        """The state for `Lives.restore`."""
        with self.reading() as connection:
            return memory_of(self._salvage, connection)

    def next_number(self) -> int:
        """The number of the next round."""
        with self.reading() as connection:
            return (connection.execute(select(func.max(tables.rounds.c.number))).scalar_one() or 0) + 1

    def record(self, record: history.RoundRecord, changes: Changes) -> None:
        """Stores a round and everything that it changed, all or nothing. Recording it twice changes nothing."""
        with self.writing() as connection:
            write_round(connection, record, changes, self.epoch)

    def retain(self, now: datetime) -> int:
        """Deletes rows older than the retention; returns their number. In small steps: nothing waits for it long."""
        old = _old(now - self._retention, now - self._round_retention)
        return sum(self._delete(table, condition) for table, condition in old)

    def _delete(self, table: Table, old: ColumnElement[bool]) -> int:
        """Each step is a transaction. Space is reused."""
        (key,) = table.primary_key
        step = table.delete().where(key.in_(select(key).where(old).limit(STEP)))
        deleted = 0
        while True:
            with self.writing() as connection:
                count = connection.execute(step).rowcount
            deleted += count
            if count < STEP:
                return deleted

    def keep_blob(self, name: str, body: bytes, at: datetime) -> None:
        """Stores bytes under a name and replaces the old ones, which stay until the new ones are complete: large values
        are written in parts, so that no other write waits for all of it. One writer for each name at a time.
        """
        blobs, starts = tables.blobs, range(0, max(len(body), 1), PART_BYTES)
        with self.writing() as connection:  # a part left behind by a write of the same time
            connection.execute(blobs.delete().where(blobs.c.name == name, blobs.c.at == at))
        for part, start in enumerate(starts):
            row = {"name": name, "at": at, "part": part, "parts": len(starts), "body": body[start : start + PART_BYTES]}
            with self.writing() as connection:
                connection.execute(blobs.insert(), row)
        with self.writing() as connection:
            connection.execute(blobs.delete().where(blobs.c.name == name, blobs.c.at != at))

    def blob(self, name: str) -> bytes | None:
        """The newest complete bytes under a name; None if there are none."""
        blobs = tables.blobs
        whole = (
            select(blobs.c.at)
            .where(blobs.c.name == name)
            .group_by(blobs.c.at)
            .having(func.count() == func.max(blobs.c.parts))
            .order_by(blobs.c.at.desc())
            .limit(1)
        )
        with self.reading() as connection:
            at = connection.execute(whole).scalar_one_or_none()
            if at is None:
                return None
            parts = select(blobs.c.body).where(blobs.c.name == name, blobs.c.at == at).order_by(blobs.c.part)
            return b"".join(connection.execute(parts).scalars())

    # --- people's entries, each with its line in the audit log --------------------------------------------------------

    def acknowledge(
        self, target: str, author: str, reason: str, at: datetime, until: datetime | None = None
    ) -> history.Acknowledgement:
        """Acknowledges a finding (id) or a cause (key)."""
        note = history.Acknowledgement(0, target, storable(author), storable(reason), at, until)
        audited = history.AuditRecord(0, at, author, "acknowledge", target)
        return replace(note, id=self._insert(tables.acknowledgements, _row(note, "id"), audited))

    def withdraw(self, acknowledgement: int, author: str, at: datetime) -> None:
        """Ends an acknowledgement. One that is already over stays unchanged."""
        self._end(tables.acknowledgements, acknowledgement, author, "withdraw", at)

    def open_window(
        self, scope: str, what: str, starts: datetime, ends: datetime, author: str, reason: str, at: datetime
    ) -> history.MaintenanceWindow:
        """Announces work."""
        window = history.MaintenanceWindow(
            0, scope, storable(what), starts, ends, storable(author), storable(reason), at
        )
        note = history.AuditRecord(0, at, author, "maintenance", f"{scope} {what}")
        return replace(window, id=self._insert(tables.windows, _row(window, "id"), note))

    def end_window(self, window: int, author: str, at: datetime) -> None:
        """Ends a window early. One that has already ended stays unchanged."""
        self._end(tables.windows, window, author, "end maintenance", at)

    def plan_in_force(self, version: history.PlanVersion) -> None:
        """Puts this plan in force. The one already in force is not recorded again."""
        plans = tables.plans
        newest = select(plans.c.digest).order_by(plans.c.seq.desc()).limit(1)
        with self.writing() as connection:
            if connection.execute(newest).scalar_one_or_none() != storable(version.digest):
                connection.execute(plans.insert(), _row(version))

    def note(self, who: str, action: str, detail: str, at: datetime) -> None:
        """Records who did what."""
        with self.writing() as connection:
            _audit(connection, history.AuditRecord(0, at, who, action, detail))

    def _insert(self, table: Any, row: Mapping[str, Any], note: history.AuditRecord) -> int:
        with self.writing() as connection:
            _audit(connection, note)
            key: Any = connection.execute(table.insert().values(**row)).inserted_primary_key
            return int(key[0])

    def _end(self, table: Any, number: int, who: str, action: str, at: datetime) -> None:
        ending: Any = table.update().where(table.c.id == number, table.c.ended_at.is_(None)).values(ended_at=at)
        if self._salvage.has(table.name, number):
            ending = table.delete().where(table.c.id == number)
        with self.writing() as connection:
            if connection.execute(ending).rowcount:
                _audit(connection, history.AuditRecord(0, at, who, action, str(number)))
        self._salvage.forget(table.name, number)


def _row(value: Any, *without: str) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value) if field.name not in without}


def _audit(connection: Connection, note: history.AuditRecord) -> None:
    connection.execute(tables.audit.insert(), _row(note, "seq"))
