"""Writes one round into the tables. States replace states, so that writing a round again changes nothing."""

import json
from collections.abc import Collection, Iterable
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Connection, func, null, select, type_coerce

from truerail.journal import tables
from truerail.journal.bodies import cause_body, finding_body
from truerail.journal.job_rows import write_jobs
from truerail.journal.round_changes import Changes, EntryRow, Explained, LinkState, finding_columns
from truerail.journal.statements import among_keys, among_numbers, upsert
from truerail.journal.types import digest, microseconds, packed_ids, storable
from truerail.model.finding import Cause, Finding
from truerail.model.history import CauseEvent, FindingEvent, LinkChange, RoundRecord

Row = dict[str, Any]


def write_round(connection: Connection, record: RoundRecord, changes: Changes, epoch: int = 0) -> None:
    """Writes everything that a round changed. A round that is already there (its commit was not confirmed) stays
    unchanged.
    """
    if not _write_record(connection, record, epoch):
        return
    _keep_versions(connection, changes)
    upsert(connection, tables.findings, [_finding(row) for row in changes.findings.values()], earliest=("first_seen",))
    upsert(connection, tables.causes, [_cause(row) for row in changes.causes.values()], earliest=("first_seen",))
    _write_events(connection, changes)
    _write_links(connection, changes)
    write_jobs(connection, changes.jobs)
    _end_acknowledgements(connection, changes.resolved, changes.at)


def _write_record(connection: Connection, record: RoundRecord, epoch: int) -> bool:
    rounds = tables.rounds
    at = connection.execute(select(rounds.c.at).where(rounds.c.number == record.number)).scalar_one_or_none()
    if at == record.at:
        return False
    number = record.number
    if at is not None:  # numbered while the journal could not be read: it continues after the last one
        number = connection.execute(select(func.max(rounds.c.number))).scalar_one() + 1
    row = asdict(record)
    found = row.pop("findings")
    severities = {word: found.get(word) for word in tables.SEVERITIES.words}
    connection.execute(rounds.insert(), {**row, **severities, "number": number, "epoch": epoch})
    return True


def _keep_versions(connection: Connection, changes: Changes) -> None:
    """What is published of findings and causes, where this round says something else."""
    found = {key: (one.present, one.value[0], None) for key, one in changes.findings.items()}
    caused = {key: (one.present, one.value, cause_body(one.value)) for key, one in changes.causes.items()}
    rows, texts = list[Row](), dict[int, str]()
    for table, new in ((tables.findings, found), (tables.causes, caused)):
        severity, body = (table.c.severity, null()) if table is tables.findings else (null(), table.c.body)
        among = among_numbers(connection, type_coerce(table.c.id, BigInteger), (int(key, 16) for key in new))
        columns = (table.c.id, table.c.present, severity.label("severity"), table.c.summary, table.c.action)
        for key, present, loud, summary, action, was in connection.execute(select(*columns, body).where(among)):
            there, value, now = new[key]
            said = (present, loud, summary, action, was)
            if said != (there, _loud(value), storable(value.summary), storable(value.action), now):
                texts |= {digest(summary): summary, digest(action): action}
                row = {"at": changes.at, "about": key, "present": present, "severity": loud, "body": was}
                rows.append({**row, "summary": digest(summary), "action": digest(action)})
    _write_texts(connection, texts.values(), changes.at)
    if rows:
        connection.execute(tables.versions.insert(), rows)


def _loud(value: Finding | Cause) -> str | None:
    return value.severity.value if isinstance(value, Finding) else None


def _write_texts(connection: Connection, bodies: Iterable[str], at: datetime) -> None:
    rows = [{"id": digest(body), "used_at": at, "body": body} for body in sorted(set(bodies))]
    upsert(connection, tables.texts, rows)


def _life(row: EntryRow[Any]) -> Row:
    life = row.life
    return {
        **{one.name: getattr(life, one.name) for one in fields(life)},
        "state": life.state.value,
        "present": row.present,
        "away": row.away,
        "appearances": " ".join(str(microseconds(at)) for at in row.appearances),
    }


def _finding(row: EntryRow[Explained]) -> Row:
    """The row of a finding, with its evidence as it was last seen."""
    finding, cause = row.value
    return _life(row) | finding_columns(finding) | {"cause": cause, "body": finding_body(finding)}


def _cause(row: EntryRow[Cause]) -> Row:
    cause = row.value
    return _life(row) | {
        "kind": cause.kind.value,
        "subjects": json.dumps(cause.subjects),
        "summary": cause.summary,
        "action": cause.action,
        "findings": len(cause.explains),
        "body": cause_body(cause),
    }


def _write_events(connection: Connection, changes: Changes) -> None:
    summaries = (*(one.summary for one in changes.events), *(one.summary for one in changes.cause_events))
    _write_texts(connection, summaries, changes.at)
    if changes.events:
        connection.execute(tables.finding_events.insert(), [_finding_event(event) for event in changes.events])
    if changes.cause_events:
        connection.execute(tables.cause_events.insert(), [_cause_event(event) for event in changes.cause_events])


def _finding_event(event: FindingEvent) -> Row:
    about = {"at": event.at, "kind": event.kind.value, "finding": event.finding}
    return {**about, "severity": event.severity, "summary": digest(event.summary)}


def _cause_event(event: CauseEvent) -> Row:
    about = {"at": event.at, "kind": event.kind.value, "happened_at": event.happened_at, "cause": event.cause}
    return {**about, "summary": digest(event.summary), "explains": packed_ids(event.explains)}


def _write_links(connection: Connection, changes: Changes) -> None:
    _write_places(connection, _words(changes), changes.at)
    rows = [_link(one, changes.at) for one in changes.link_states.values()]
    upsert(connection, tables.links, rows, keep=("changed_at",), earliest=("first_at",))
    if changes.links:
        connection.execute(tables.link_changes.insert(), [_change(one) for one in changes.links])
    if changes.links_gone:
        gone = among_numbers(connection, tables.links.c.port, map(digest, changes.links_gone))
        connection.execute(tables.links.delete().where(gone))


def _link(link: LinkState, at: datetime) -> Row:
    place = {"port": digest(link.port), "seen": _digest(link.seen), "state": link.state}
    return {**place, "changed_at": link.changed_at, "first_at": at}


def _words(changes: Changes) -> set[str]:
    ends = [(one.port, one.seen) for one in changes.link_states.values()]
    moved = [(one.port, one.was, one.now) for one in changes.links]
    return {word for group in (*ends, *moved) for word in group if word is not None}


def _write_places(connection: Connection, words: Iterable[str], at: datetime) -> None:
    rows = [
        {"id": digest(word), "used_at": at, "device": word.partition("/")[0], "word": word} for word in sorted(words)
    ]
    upsert(connection, tables.places, rows)


def _change(change: LinkChange) -> Row:
    places = {"port": digest(change.port), "was": _digest(change.was), "now": _digest(change.now)}
    return {"at": change.at, **places, "was_state": change.was_state, "now_state": change.now_state}


def _digest(word: str | None) -> int | None:
    return None if word is None else digest(word)


def _end_acknowledgements(connection: Connection, resolved: Collection[str], at: datetime) -> None:
    if resolved:
        notes = tables.acknowledgements
        about = among_keys(connection, notes.c.target, resolved)
        connection.execute(notes.update().where(about, notes.c.ended_at.is_(None)).values(ended_at=at))
