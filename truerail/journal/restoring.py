"""The content of a journal, as `Lives` restores it at the start."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import BigInteger, Connection, Row, select, type_coerce

from truerail.journal import tables
from truerail.journal.changes import CauseRow, FindingRow, LinkState, Memory, Past
from truerail.journal.job_rows import open_jobs
from truerail.journal.kept_rows import cause_of, finding_of
from truerail.journal.row_values import life_of, newest_round_at
from truerail.journal.salvage import UNREADABLE, Salvage
from truerail.journal.types import moment

T = TypeVar("T")
_RECENT = timedelta(days=1)
"""Appearances of entries resolved longer ago do not count for flapping."""


def memory_of(salvage: Salvage, connection: Connection) -> Memory:
    """All open entries, the remains of resolved ones, and the last state of every cable."""
    at = newest_round_at(connection)
    if at is None:
        return Memory()
    return Memory(
        findings=_opened(salvage, connection, tables.findings, lambda row: _finding(row, at)),
        causes=_opened(salvage, connection, tables.causes, lambda row: _cause(row, at)),
        past=_past(salvage, connection, tables.findings, at),
        past_causes=_past(salvage, connection, tables.causes, at),
        links=_links(salvage, connection),
        jobs=open_jobs(salvage, connection),
        at=at,
    )


def _opened(salvage: Salvage, connection: Connection, table: Any, make: Callable[[Row[Any]], T]) -> tuple[T, ...]:
    asked = select(*table.c).where(table.c.resolved_at.is_(None)).order_by(table.c.since, table.c.id)
    return tuple(salvage.rows(connection, asked, table.c.id, make))


def _finding(row: Row[Any], at: datetime) -> FindingRow:
    return FindingRow(life_of(row, at), finding_of(row), row.cause, row.present, row.away, _times(row.appearances))


def _cause(row: Row[Any], at: datetime) -> CauseRow:
    return CauseRow(life_of(row, at), cause_of(row), row.present, row.away, _times(row.appearances))


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


def _links(salvage: Salvage, connection: Connection) -> tuple[LinkState, ...]:
    port, seen, links = tables.places.alias("port"), tables.places.alias("seen"), tables.links
    asked = select(port.c.word, seen.c.word, links.c.state, links.c.changed_at).select_from(
        links.join(port, links.c.port == port.c.id).outerjoin(seen, links.c.seen == seen.c.id)
    )
    return tuple(salvage.rows(connection, asked, links.c.port, lambda row: LinkState(*row)))
