"""Findings and causes in rows; one compressed field has what no query asks for: evidence, moves, alternatives."""

import json
import zlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, Select, select

from truerail.journal import tables
from truerail.model.fact_kinds import KINDS
from truerail.model.finding import Cause, Evidence, Finding, Severity
from truerail.model.life import Life, LifeState

_FACTS = {kind.__name__: kind for kind in KINDS}
_COLUMNS = frozenset(("kind", "subjects", "summary", "action"))
"""The fields of a cause that are columns of its row."""
_Packed = dict[str, Any]


def finding_body(finding: Finding) -> bytes:
    """A finding's evidence, and its exact subject, from which the id derives."""
    evidence = [
        (one.device, one.collector, one.at.isoformat(), type(one.fact).__name__, one.fact._asdict())
        for one in finding.evidence
    ]
    return _pack(
        {"subject": finding.subject, "confidence": finding.confidence, "detail": finding.detail, "evidence": evidence}
    )


def cause_body(cause: Cause) -> bytes:
    """What a cause explains and how to fix it."""
    return _pack({name: value for name, value in msgspec.to_builtins(cause).items() if name not in _COLUMNS})


def _pack(value: _Packed) -> bytes:
    """JSON with escapes only: unlike UTF-8, it carries any text of a device."""
    return zlib.compress(json.dumps(value, separators=(",", ":"), default=str).encode("ascii"))


def _unpack(body: bytes) -> _Packed:
    found: _Packed = _frozen(json.loads(zlib.decompress(body)))
    return found


def _frozen(value: Any) -> Any:
    """Lists as tuples, as findings have them."""
    if isinstance(value, list):
        return tuple(_frozen(one) for one in value)
    return {key: _frozen(one) for key, one in value.items()} if isinstance(value, dict) else value


def _evidence(packed: Any) -> Iterator[Evidence]:
    """Skips a fact that another version wrote with more or fewer fields: the next round reports it again."""
    for device, collector, at, kind, fields in packed:
        shape = _FACTS.get(kind)
        if shape is not None and set(shape._fields) == fields.keys():
            yield Evidence(device, collector, datetime.fromisoformat(at), shape(**fields))


def newest_round_at(connection: Connection) -> datetime | None:
    """Time of the newest round."""
    asked = select(tables.rounds.c.at).order_by(tables.rounds.c.number.desc()).limit(1)
    found: datetime | None = connection.execute(asked).scalar_one_or_none()
    return found


def link_places() -> Select[Any]:
    """The port, place and state of each planned cable, and since when."""
    port, seen, links = tables.places.alias("port"), tables.places.alias("seen"), tables.links
    return select(port.c.word, seen.c.word, links.c.state, links.c.changed_at).select_from(
        links.join(port, links.c.port == port.c.id).outerjoin(seen, links.c.seen == seen.c.id)
    )


def life_of(row: Row[Any], newest: datetime | None) -> Life:
    """A row's life. A present entry was last seen in the newest round: that is written once, not with each."""
    last_seen = max(row.last_seen, newest) if row.present and newest else row.last_seen
    return Life(row.id, LifeState(row.state), row.first_seen, row.since, last_seen, row.resolved_at, row.episodes)


def finding_of(row: Row[Any]) -> Finding:
    """A finding."""
    body = _unpack(row.body)
    return Finding(
        rule=row.rule, name=row.name, severity=Severity(row.severity), summary=row.summary, action=row.action,
        expected=row.expected, observed=row.observed, rail=row.rail,
        **body | {"evidence": tuple(_evidence(body["evidence"]))},
    )  # fmt: skip


def cause_of(row: Row[Any], body: bytes) -> Cause:
    """A cause, with its present body or an earlier one."""
    columns = {"kind": row.kind, "subjects": json.loads(row.subjects), "summary": row.summary, "action": row.action}
    return msgspec.convert(columns | _unpack(body), Cause)
