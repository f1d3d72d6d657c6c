"""The content of the journal at a time: the present rows, with what came later undone.

A link has the place that its first later change left, a finding or a cause the words that its first later version
replaced. Its state is that of its last event up to then; one that is older than the kept events has that of its own
life.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, Select, func, or_, select

from truerail.journal import tables
from truerail.journal.bodies import cause_of, finding_of, life_of, link_places
from truerail.journal.salvage import Salvage
from truerail.model.finding import Cause, Finding, Severity
from truerail.model.history import KeptCause, KeptFinding, LinkPlace, PastState
from truerail.model.life import Life, LifeState

T = TypeVar("T", KeptFinding, KeptCause)
_SAID, _DONE = tables.texts.alias("said"), tables.texts.alias("done")
_STATES = {"flapping": LifeState.FLAPPING, "unseen": LifeState.UNSEEN, "regressed": LifeState.REGRESSED}
"""By the word of the last event; any other leaves it ongoing."""


def kept_since(connection: Connection) -> datetime | None:
    """The time of the first plan or round: plans are kept longer than rounds."""
    first = [
        connection.execute(select(func.min(column))).scalar_one() for column in (tables.plans.c.at, tables.rounds.c.at)
    ]
    return min((one for one in first if one is not None), default=None)


def as_of(salvage: Salvage, connection: Connection, at: datetime) -> PastState:
    """Everything that was known at a time."""
    rounds, plans = tables.rounds.c, tables.plans.c
    before = connection.execute(select(func.max(rounds.at)).where(rounds.at <= at)).scalar_one()
    after = connection.execute(select(func.min(rounds.at)).where(rounds.at > at)).scalar_one()
    plan = select(plans.digest).where(plans.at <= at).order_by(plans.seq.desc()).limit(1)
    findings = _open(salvage, connection, at, tables.findings, tables.finding_events, _finding)
    causes = _open(salvage, connection, at, tables.causes, tables.cause_events, _cause)
    return PastState(
        at=at,
        round_at=before,
        next_at=after,
        plan_digest=connection.execute(plan).scalar_one_or_none() or "",
        links=_links(connection, at),
        findings=tuple(one for one, _ in findings),
        causes=tuple(one for one, _ in causes),
        ended=_ended(findings) | _ended(causes),
    )


def _ended(rows: Iterable[tuple[KeptFinding | KeptCause, datetime | None]]) -> dict[str, datetime]:
    return {one.life.id: ended for one, ended in rows if ended is not None}


def _links(connection: Connection, at: datetime) -> dict[str, LinkPlace]:
    port, seen, links = tables.places.alias("port"), tables.places.alias("seen"), tables.links
    known = connection.execute(link_places().where(links.c.first_at <= at))
    found = {word: LinkPlace(*rest) for word, *rest in known}
    changes = tables.link_changes
    later = select(func.min(changes.c.seq)).where(changes.c.at > at).group_by(changes.c.port)
    undone = select(port.c.word, seen.c.word, changes.c.was_state).select_from(
        changes.join(port, changes.c.port == port.c.id)
        .outerjoin(seen, changes.c.was == seen.c.id)
        .outerjoin(links, changes.c.port == links.c.port)
    )
    undone = undone.where(changes.c.seq.in_(later), or_(links.c.first_at.is_(None), links.c.first_at <= at))
    moved = {word: LinkPlace(*rest) for word, *rest in connection.execute(undone)}
    earlier = (
        select(port.c.word, func.max(changes.c.at))
        .select_from(changes.join(port, changes.c.port == port.c.id))
        .where(changes.c.at <= at, changes.c.port.in_(select(changes.c.port).where(changes.c.at > at)))
        .group_by(port.c.word)
    )
    since = {row[0]: row[1] for row in connection.execute(earlier)} if moved else {}
    return found | {word: replace(place, changed_at=since.get(word)) for word, place in moved.items()}


def _open(
    salvage: Salvage,
    connection: Connection,
    at: datetime,
    table: Any,
    events: Any,
    make: Callable[[Row[Any], datetime], T],
) -> list[tuple[T, datetime | None]]:
    """Entries whose last event up to then is not that they were resolved, and that were not yet gone; each with the
    time at which it was resolved after that.
    """
    of = events.c.finding if events is tables.finding_events else events.c.cause
    last = select(of.label("of"), func.max(events.c.seq).label("seq")).where(events.c.at <= at).group_by(of).subquery()
    ending, versions, later = _endings(events, of, at), tables.versions.c, _changed_after(at)
    asked: Select[*tuple[Any, ...]] = (
        select(
            table,
            events.c.kind.label("event"),
            events.c.at.label("event_at"),
            ending.c.ended,
            versions.present.label("was_present"),
            versions.severity.label("was_severity"),
            versions.body.label("was_body"),
            _SAID.c.body.label("was_summary"),
            _DONE.c.body.label("was_action"),
        )
        .select_from(
            table.outerjoin(last, table.c.id == last.c.of)
            .outerjoin(events, events.c.seq == last.c.seq)
            .outerjoin(ending, table.c.id == ending.c.of)
            .outerjoin(later, table.c.id == later.c.about)
            .outerjoin(tables.versions, versions.seq == later.c.seq)
            .outerjoin(_SAID, versions.summary == _SAID.c.id)
            .outerjoin(_DONE, versions.action == _DONE.c.id)
        )
        .where(
            or_(events.c.kind != "resolved", events.c.kind.is_(None) & (table.c.since <= at)),
            or_(table.c.resolved_at.is_(None), table.c.resolved_at > at),
        )
        .order_by(table.c.id)
    )
    return salvage.rows(connection, asked, table.c.id, lambda row: (make(row, at), _ended_at(row)))


def _changed_after(at: datetime) -> Any:
    """The first change of each finding and cause after a time: what it replaced was said until then."""
    versions = tables.versions.c
    first = select(versions.about, func.min(versions.seq).label("seq"))
    return first.where(versions.at > at).group_by(versions.about).subquery()


def _ended_at(row: Row[Any]) -> datetime | None:
    """The end of that episode: an event is reported later than that."""
    return min((at for at in (row.ended, row.resolved_at) if at is not None), default=None)


def _endings(events: Any, of: Any, at: datetime) -> Any:
    """When each entry was first resolved after a time."""
    happened = events.c.at if events is tables.finding_events else events.c.happened_at
    resolved = select(of.label("of"), func.min(happened).label("ended"))
    return resolved.where(events.c.at > at, events.c.kind == "resolved").group_by(of).subquery()


def _finding(row: Row[Any], at: datetime) -> KeptFinding:
    finding = finding_of(row)
    if row.was_present is not None:
        severity = Severity(row.was_severity or finding.severity)
        finding = replace(finding, severity=severity, **_words(row, finding))
    return KeptFinding(_life(row, at), finding, row.cause, _present(row))


def _cause(row: Row[Any], at: datetime) -> KeptCause:
    cause = cause_of(row, row.was_body or row.body)
    cause = cause if row.was_present is None else replace(cause, **_words(row, cause))
    return KeptCause(_life(row, at), cause, _present(row))


def _words(row: Row[Any], now: Finding | Cause) -> dict[str, Any]:
    """What was said then; texts that the journal has dropped are those of now."""
    return {"summary": row.was_summary or now.summary, "action": row.was_action or now.action}


def _present(row: Row[Any]) -> bool:
    return bool(row.present if row.was_present is None else row.was_present)


def _life(row: Row[Any], at: datetime) -> Life:
    life = life_of(row, None)
    since = life.since if life.since <= at else row.event_at
    return replace(life, state=_STATES.get(row.event, LifeState.ONGOING), since=since, last_seen=at, resolved_at=None)
