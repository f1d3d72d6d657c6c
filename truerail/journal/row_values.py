"""Rows of the journal as values."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Column, Connection, Row, Select, Table, and_, func, or_, select, type_coerce, union

from truerail.journal import tables
from truerail.journal.bodies import cause_extras, finding_extras
from truerail.journal.salvage import Salvage
from truerail.journal.statements import among_keys, among_numbers
from truerail.journal.types import digest, is_id, unpacked_ids
from truerail.model import history
from truerail.model.cause_kinds import CauseKind
from truerail.model.finding import Cause, Finding, Severity
from truerail.model.history import EventKind, KeptCause, KeptFinding, RowRange
from truerail.model.life import Life, LifeState

FEW_DEVICES = 64
"""Up to this many devices, their own rows are looked up; for more, rows are read by time and filtered."""

_links = tables.link_changes
_events = tables.finding_events
_cause_events = tables.cause_events
_port, _was, _now = (tables.places.alias(name) for name in ("on_port", "on_was", "on_now"))


def link_since(connection: Connection, ports: Collection[str]) -> dict[str, datetime]:
    """When each of these ports changed last."""
    numbers = {digest(port): port for port in ports}
    links = tables.links.c
    wanted = select(links.port, links.changed_at).where(links.changed_at.is_not(None))
    if len(numbers) < 50_000:  # otherwise reading all rows is faster
        wanted = wanted.where(among_numbers(connection, links.port, numbers))
    return {numbers[port]: at for port, at in connection.execute(wanted) if port in numbers}


def link_changes(
    salvage: Salvage,
    connection: Connection,
    start: datetime,
    end: datetime,
    devices: Collection[str] | None,
    page: RowRange,
) -> list[history.LinkChange]:
    """Link changes from `start` up to `end`, newest first."""
    asked: Select[*tuple[Any, ...]] = select(
        _links.c.seq, _links.c.at, _port.c.word, _was.c.word, _now.c.word, _links.c.was_state, _links.c.now_state
    )
    asked = asked.select_from(
        _links.join(_port, _links.c.port == _port.c.id)
        .outerjoin(_was, _links.c.was == _was.c.id)
        .outerjoin(_now, _links.c.now == _now.c.id)
    )
    asked = _within(connection, asked, _links, start, end, page, on=_link_on, devices=devices)
    return salvage.rows(connection, asked, _links.c.seq, lambda row: history.LinkChange(*row))


def _link_on(connection: Connection, devices: Collection[str]) -> Any:
    ends = (_links.c.port, _links.c.was, _links.c.now)
    there = select(tables.places.c.id).where(among_keys(connection, tables.places.c.device, devices))
    if len(devices) > FEW_DEVICES:
        return or_(*(end.in_(there) for end in ends))
    return _links.c.seq.in_(union(*(select(_links.c.seq).where(end.in_(there)) for end in ends)).subquery().select())


def finding_events(
    salvage: Salvage,
    connection: Connection,
    start: datetime,
    end: datetime,
    devices: Collection[str] | None,
    page: RowRange,
) -> list[history.FindingEvent]:
    """Events of findings from `start` up to `end`, newest first."""
    findings, texts = tables.findings, tables.texts
    asked: Select[*tuple[Any, ...]] = select(
        _events.c.seq, _events.c.at, _events.c.kind, _events.c.finding,
        findings.c.rule, _events.c.severity, findings.c.subject, func.coalesce(texts.c.body, findings.c.summary),
        findings.c.cause,
    )  # fmt: skip
    asked = asked.select_from(
        _events.join(findings, _events.c.finding == findings.c.id).outerjoin(texts, _events.c.summary == texts.c.id)
    )
    asked = _within(connection, asked, _events, start, end, page, on=_finding_on, devices=devices)
    return salvage.rows(connection, asked, _events.c.seq, _event)


def _event(row: Row[Any]) -> history.FindingEvent:
    values = row._asdict() | {"kind": EventKind(row.kind)}
    return history.FindingEvent(*values.values())


def cause_events(
    salvage: Salvage, connection: Connection, start: datetime, end: datetime, page: RowRange
) -> list[history.CauseEvent]:
    """Events of causes from `start` up to `end`, newest first."""
    causes, texts = tables.causes, tables.texts
    asked: Select[*tuple[Any, ...]] = select(
        _cause_events.c.seq, _cause_events.c.at, _cause_events.c.kind, _cause_events.c.happened_at,
        _cause_events.c.cause, causes.c.kind, causes.c.subjects, func.coalesce(texts.c.body, causes.c.summary),
        _cause_events.c.explains,
    )  # fmt: skip
    asked = asked.select_from(
        _cause_events.join(causes, _cause_events.c.cause == causes.c.id).outerjoin(
            texts, _cause_events.c.summary == texts.c.id
        )
    )
    asked = _within(connection, asked, _cause_events, start, end, page)
    return salvage.rows(connection, asked, _cause_events.c.seq, _cause_event)


def _cause_event(row: Row[Any]) -> history.CauseEvent:
    seq, at, kind, happened_at, cause, cause_kind, subjects, summary, explains = tuple(row)
    named = tuple(json.loads(subjects))
    return history.CauseEvent(
        seq, at, EventKind(kind), happened_at, cause, cause_kind, named, summary, unpacked_ids(explains)
    )


def _finding_on(connection: Connection, devices: Collection[str]) -> Any:
    there = among_keys(connection, tables.findings.c.device, devices)
    if len(devices) > FEW_DEVICES:
        return there
    of_them = select(_events.c.seq).where(_events.c.finding.in_(select(tables.findings.c.id).where(there)))
    return _events.c.seq.in_(of_them)


def _within(
    connection: Connection,
    asked: Select[*tuple[Any, ...]],
    table: Any,
    start: datetime,
    end: datetime,
    page: RowRange,
    *,
    on: Callable[[Connection, Collection[str]], Any] | None = None,
    devices: Collection[str] | None = None,
) -> Select[*tuple[Any, ...]]:
    """Rows of a time range, newest first; with devices, only those `on` them. Rows are numbered in the order of time: a
    number is also a time.
    """
    if devices is not None and on is not None:
        asked = asked.where(on(connection, devices))
    if page.before is not None:
        at = connection.execute(select(table.c.at).where(table.c.seq == page.before)).scalar_one_or_none()
        end = min(end, at) if at is not None else end
        asked = asked.where(table.c.seq < page.before)
    asked = asked.where(and_(table.c.at >= start, table.c.at <= end))
    return asked.order_by(table.c.at.desc(), table.c.seq.desc()).limit(page.limit)


def findings(
    salvage: Salvage, connection: Connection, resolved_since: datetime | None, page: RowRange
) -> list[history.FindingRecord]:
    """Open findings, or those resolved since then. They have no number: `page.before` is how many to skip."""
    asked = _lives(tables.findings, resolved_since, page)
    newest = newest_round_at(connection)
    return salvage.rows(connection, asked, tables.findings.c.id, lambda row: finding_record(row, newest))


def finding(salvage: Salvage, connection: Connection, wanted: str) -> history.FindingRecord | None:
    """One finding by its id."""
    if not is_id(wanted):
        return None
    asked, newest = select(tables.findings).where(tables.findings.c.id == wanted), newest_round_at(connection)
    found = salvage.rows(connection, asked, tables.findings.c.id, lambda row: finding_record(row, newest))
    return found[0] if found else None


def causes(
    salvage: Salvage, connection: Connection, resolved_since: datetime | None, page: RowRange
) -> list[history.CauseRecord]:
    """Open causes, or those resolved since then. `page.before` is how many to skip."""
    asked = _lives(tables.causes, resolved_since, page)
    newest = newest_round_at(connection)
    return salvage.rows(connection, asked, tables.causes.c.id, lambda row: cause_record(row, newest))


def _lives(table: Any, resolved_since: datetime | None, page: RowRange) -> Select[*tuple[Any, ...]]:
    asked = select(table).limit(page.limit).offset(page.before or 0)
    if resolved_since is None:
        return asked.where(table.c.resolved_at.is_(None)).order_by(table.c.since.desc(), table.c.id)
    return asked.where(table.c.resolved_at >= resolved_since).order_by(table.c.resolved_at.desc(), table.c.id)


def newest_round_at(connection: Connection) -> datetime | None:
    """Time of the newest round."""
    asked = select(tables.rounds.c.at).order_by(tables.rounds.c.number.desc()).limit(1)
    found: datetime | None = connection.execute(asked).scalar_one_or_none()
    return found


def life_of(row: Row[Any], newest: datetime | None) -> Life:
    """A row's life. A present entry was last seen in the newest round: that is written once, not with each."""
    last_seen = max(row.last_seen, newest) if row.present and newest else row.last_seen
    return Life(row.id, LifeState(row.state), row.first_seen, row.since, last_seen, row.resolved_at, row.episodes)


def finding_record(row: Row[Any], newest: datetime | None) -> history.FindingRecord:
    """A row of `findings`."""
    return history.FindingRecord(
        life_of(row, newest), row.rule, row.name, row.severity, row.subject, row.rail, row.expected, row.observed,
        row.summary, row.action, row.cause,
    )  # fmt: skip


def cause_record(row: Row[Any], newest: datetime | None) -> history.CauseRecord:
    """A row of `causes`."""
    return history.CauseRecord(
        life_of(row, newest), row.kind, tuple(json.loads(row.subjects)), row.summary, row.action, row.findings
    )


def rounds(salvage: Salvage, connection: Connection, page: RowRange) -> Sequence[history.RoundRecord]:
    """Rounds, newest first; `page.before` is a round's number."""
    asked = select(tables.rounds).order_by(tables.rounds.c.number.desc()).limit(page.limit)
    if page.before is not None:
        asked = asked.where(tables.rounds.c.number < page.before)
    return salvage.rows(connection, asked, tables.rounds.c.number, lambda row: _round(row._asdict()))


def _round(row: dict[str, Any]) -> history.RoundRecord:
    found: Mapping[str, int | None] = {word: row.pop(word) for word in reversed(tables.SEVERITIES.words)}
    del row["epoch"]
    return history.RoundRecord(findings={word: count for word, count in found.items() if count is not None}, **row)


def plans(salvage: Salvage, connection: Connection) -> list[history.PlanVersion]:
    """Plans, newest first."""
    number = tables.plans.c.seq
    return salvage.rows(connection, _newest(tables.plans, number), number, lambda row: history.PlanVersion(*row[1:]))


def acknowledgements(
    salvage: Salvage, connection: Connection, open_at: datetime | None
) -> list[history.Acknowledgement]:
    """Acknowledgements, newest first; with a time, only those in force then."""
    notes = tables.acknowledgements
    asked = _newest(notes, notes.c.id)
    if open_at is not None:
        asked = asked.where(notes.c.ended_at.is_(None), or_(notes.c.until.is_(None), notes.c.until > open_at))
    return salvage.rows(connection, asked, notes.c.id, lambda row: history.Acknowledgement(*row))


def windows(salvage: Salvage, connection: Connection, open_at: datetime | None) -> list[history.MaintenanceWindow]:
    """Maintenance windows, newest first; with a time, only those not over then."""
    asked = _newest(tables.windows, tables.windows.c.id)
    if open_at is not None:
        asked = asked.where(tables.windows.c.ended_at.is_(None), tables.windows.c.ends > open_at)
    return salvage.rows(connection, asked, tables.windows.c.id, lambda row: history.MaintenanceWindow(*row))


def audit(salvage: Salvage, connection: Connection, page: RowRange) -> list[history.AuditRecord]:
    """Who did what, newest first."""
    asked = _newest(tables.audit, tables.audit.c.seq).limit(page.limit)
    if page.before is not None:
        asked = asked.where(tables.audit.c.seq < page.before)
    return salvage.rows(connection, asked, tables.audit.c.seq, lambda row: history.AuditRecord(*row))


def _newest(table: Table, number: Column[int]) -> Select[*tuple[Any, ...]]:
    return select(*table.c).order_by(number.desc())


# ----------------------------------------------------------------------------------------------------------------------
# Findings and causes with all their fields, from their rows: open or resolved.


def finding_of(row: Row[Any]) -> Finding:
    """A finding. Without a body (a row of an old release) it has no evidence."""
    extras = finding_extras(row.body) if row.body is not None else {"subject": row.subject}
    return Finding(
        rule=row.rule, name=row.name, severity=Severity(row.severity), summary=row.summary, action=row.action,
        expected=row.expected, observed=row.observed, rail=row.rail, **extras,
    )  # fmt: skip


def cause_of(row: Row[Any]) -> Cause:
    """A cause. Without a body (a row of an old release) it has no moves and explains nothing."""
    extras = cause_extras(row.body) if row.body is not None else {"id": ""}
    return Cause(
        kind=CauseKind(row.kind), subjects=tuple(json.loads(row.subjects)), summary=row.summary, action=row.action,
        **extras,
    )  # fmt: skip


def kept_findings(salvage: Salvage, connection: Connection, wanted: Collection[str]) -> list[KeptFinding]:
    """Findings by their ids."""
    ids = [int(one, 16) for one in wanted if is_id(one)]
    among = among_numbers(connection, type_coerce(tables.findings.c.id, BigInteger), ids)
    asked, newest = select(tables.findings).where(among).order_by(tables.findings.c.id), newest_round_at(connection)
    return salvage.rows(
        connection,
        asked,
        tables.findings.c.id,
        lambda row: KeptFinding(finding_record(row, newest), finding_of(row), row.body is not None),
    )


def kept_cause(salvage: Salvage, connection: Connection, wanted: str) -> KeptCause | None:
    """One cause by its key."""
    if not is_id(wanted):
        return None
    asked, newest = select(tables.causes).where(tables.causes.c.id == wanted), newest_round_at(connection)
    found = salvage.rows(
        connection,
        asked,
        tables.causes.c.id,
        lambda row: KeptCause(cause_record(row, newest), cause_of(row), row.body is not None),
    )
    return found[0] if found else None
