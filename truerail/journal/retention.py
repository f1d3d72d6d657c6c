"""Deletes rows older than the retention, a few at a time, so that nothing waits for it long."""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Table, and_, func, or_, select

from truerail.journal import tables
from truerail.journal.blobs import LASTING
from truerail.journal.database import Database

STEP = 1000
"""Rows deleted in one transaction."""


def retain(database: Database, before: datetime, rounds_before: datetime) -> int:
    """Deletes entries that ended before; returns the number of rows. Each step is a transaction. Space is reused."""
    return sum(_delete(database, table, old) for table, old in _old(before, rounds_before))


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
        (tables.blobs, and_(tables.blobs.c.at < rounds_before, tables.blobs.c.name.not_in(LASTING))),
        (tables.rounds, and_(rounds.at < rounds_before, rounds.number != newest_round.scalar_subquery())),
    ]


def _in_use() -> ColumnElement[bool]:
    """Places where a cable is now. For a former place, `used_at` is as new as that change."""
    links, place = tables.links.c, tables.places.c.id
    return or_(
        select(links.port).where(links.port == place).exists(), select(links.port).where(links.seen == place).exists()
    )


def _delete(database: Database, table: Table, old: ColumnElement[bool]) -> int:
    deleted = 0
    while True:
        with database.writing() as connection:
            count = connection.execute(_step(table, old)).rowcount
        deleted += count
        if count < STEP:
            return deleted


def _step(table: Table, old: ColumnElement[bool]) -> Any:
    (key,) = table.primary_key
    return table.delete().where(key.in_(select(key).where(old).limit(STEP)))
