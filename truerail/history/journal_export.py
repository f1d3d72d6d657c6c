"""A history store from a journal: its cables, findings, causes and rounds. The rest no journal has."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, TypeVar

from truerail.history.arrow_tables import from_rows
from truerail.history.episode_recorder import OpenRows
from truerail.history.fabric_rows import cable_row, cause_row, finding_row
from truerail.history.history_tables import CABLES, CAUSES, FINDINGS, ROUNDS, HistoryTable
from truerail.history.sample_recorder import round_row
from truerail.history.store_folder import StoreFolder
from truerail.journal.round_changes import LinkState
from truerail.model.history import CauseRecord, EventKind, FindingRecord, History, KeptFinding, RowRange
from truerail.model.plan import Plan

LIMIT = 5000
"""Rows of the journal in memory at a time."""
_BEGINS = (EventKind.APPEARED, EventKind.REGRESSED)
T = TypeVar("T")
Episodes = dict[str, list[tuple[datetime, datetime | None]]]
"""Begin and end of the episodes of each finding or cause, oldest first."""


def export_journal(history: History, plan: Plan, folder: StoreFolder, since: datetime, now: datetime) -> None:
    """Writes what a journal has from `since` on into an empty store. Raises JournalUnavailableError, OSError."""
    begin = max(since, history.kept_since() or since)
    cables = _cables(history, plan, begin, now)
    _write(folder, CABLES, cables.ended, list(cables.open_rows()), now)
    for table, rows in ((FINDINGS, _findings(history, begin, now)), (CAUSES, _causes(history, begin, now))):
        listed = list(rows)
        ended = [row for row in listed if row["ended"] is not None]
        _write(folder, table, ended, [row for row in listed if row["ended"] is None], now)
    rounds = (one for one in _pages(history.rounds, lambda one: one.number) if one.at >= begin)
    _write(folder, ROUNDS, list(map(round_row, rounds)), None, now)


def _write(
    folder: StoreFolder, table: HistoryTable, ended: Sequence[Any], lasting: Sequence[Any] | None, now: datetime
) -> None:
    if ended:
        folder.append(table, from_rows(table, ended), now)
    if lasting is not None:
        folder.replace_open(table, from_rows(table, lasting))


def _cables(history: History, plan: Plan, since: datetime, now: datetime) -> OpenRows:
    """The cables of the plan: their places at `since`, then every change."""
    rows = OpenRows(CABLES)
    planned = {str(cable.a): cable for cable in plan.cables}
    for port, place in history.as_of(since).links.items():
        if port in planned:
            row = cable_row(plan, planned[port], LinkState(port, place.place, place.state))
            rows.put(row, place.changed_at or since)
    changes = _pages(lambda page: history.link_changes(since, now, page=page), lambda one: one.seq)
    for change in reversed(list(changes)):
        if change.port in planned:
            state = LinkState(change.port, change.now, change.now_state)
            rows.turn(cable_row(plan, planned[change.port], state), change.at)
    for port, place in history.as_of(now).links.items():  # those that the journal knows only since then
        cable = planned.get(port)
        if cable is not None and (cable.a.device, cable.a.name) not in rows.rows:
            rows.put(cable_row(plan, cable, LinkState(port, place.place, place.state)), place.changed_at or since)
    return rows


def _findings(history: History, since: datetime, now: datetime) -> Iterator[dict[str, Any]]:
    """Findings that lasted at any time from `since` on, a row for each episode."""
    earlier = _episodes(
        (one.finding, one.kind, one.at)
        for one in _pages(lambda page: history.finding_events(since, now, page=page), lambda one: one.seq)
    )
    records = _records(history.findings, since)
    kept: dict[str, KeptFinding] = {}
    for start in range(0, len(records), LIMIT):
        part = [record.life.id for record in records[start : start + LIMIT]]
        kept |= {one.life.id: one for one in history.kept_findings(part)}
    for record in records:
        row = finding_row(kept[record.life.id].finding, record.cause, muted=None) if record.life.id in kept else {}
        for begin, end in _spans(record, earlier):
            yield {**row, "id": record.life.id, "began": begin, "ended": end}


def _causes(history: History, since: datetime, now: datetime) -> Iterator[dict[str, Any]]:
    """The same for causes."""
    earlier = _episodes(
        (one.cause, one.kind, one.happened_at)
        for one in _pages(lambda page: history.cause_events(since, now, page=page), lambda one: one.seq)
    )
    for record in _records(history.causes, since):
        kept = history.kept_cause(record.life.id)
        row = cause_row(kept.cause, None, None) if kept is not None else {}
        for begin, end in _spans(record, earlier):
            yield {**row, "key": record.life.id, "findings": record.findings, "began": begin, "ended": end}


def _spans(record: FindingRecord | CauseRecord, earlier: Episodes) -> Iterator[tuple[datetime, datetime | None]]:
    """The episodes of an entry: those before its last one by their events, the last one by its life."""
    life = record.life
    yield from ((begin, end) for begin, end in earlier.get(life.id, ()) if end is not None and begin < life.since)
    yield life.since, life.resolved_at


def _episodes(events: Iterator[tuple[str, EventKind, datetime]]) -> Episodes:
    """Episodes from events, which come newest first."""
    found: Episodes = {}
    for key, kind, at in reversed(list(events)):
        spans = found.setdefault(key, [])
        if kind in _BEGINS:
            spans.append((at, None))
        elif kind is EventKind.RESOLVED and spans:
            spans[-1] = (spans[-1][0], at)
    return found


def _records(read: Callable[..., Sequence[T]], since: datetime) -> list[T]:
    """Open entries, and those resolved since then."""
    found: list[T] = []
    for limits in ({}, {"resolved_since": since}):
        skipped = 0
        while part := read(page=RowRange(LIMIT, skipped), **limits):
            found += part
            skipped += len(part)
    return found


def _pages(read: Callable[[RowRange], Sequence[T]], number: Callable[[T], int]) -> Iterator[T]:
    """All rows of a query that gives the newest first, page by page."""
    before: int | None = None
    while part := read(RowRange(LIMIT, before)):
        yield from part
        before = number(part[-1])
