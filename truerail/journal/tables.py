"""The tables of the journal. Frequent values are stored once: sentences in `texts`, ports in `places`."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    text,
)

from truerail.journal.types import HexId, Key, Utc, Word, Words

metadata = MetaData()
Number = BigInteger().with_variant(Integer, "sqlite")
"""Type of primary keys. SQLite's INTEGER also has 64 bits, and only an INTEGER key is the row's own number."""

STATES = Word(("new", "ongoing", "regressed", "flapping", "recovering", "unseen", "resolved"))
SEVERITIES = Word(("info", "warning", "critical"))
CABLES = Word(("right", "wrong", "missing", "unknown"))
KINDS = Word(("appeared", "regressed", "flapping", "unseen", "resolved", "returned"))


def _key(name: str, kind: Any = Number) -> Column[Any]:
    return Column(name, kind, primary_key=True, autoincrement=False)


def _filled(**kinds: Any) -> list[Column[Any]]:
    return [Column(name, kind, nullable=False) for name, kind in kinds.items()]


def _optional(**kinds: Any) -> list[Column[Any]]:
    return [Column(name, kind) for name, kind in kinds.items()]


def _numbered(name: str, *parts: Column[Any] | Index, key: str = "seq") -> Table:
    """A table whose rows get ascending numbers, none of them twice."""
    number: Column[int] = Column(key, Number, Identity(), primary_key=True)
    return Table(name, metadata, number, *parts, sqlite_autoincrement=True)


def _life() -> list[Column[Any]]:
    return [
        *_filled(state=STATES, first_seen=Utc, since=Utc, last_seen=Utc),
        *_optional(resolved_at=Utc),
        *_filled(episodes=Integer, present=Boolean, away=Boolean, appearances=Words),
    ]


rounds = Table(
    "rounds",
    metadata,
    _key("number"),
    *_filled(at=Utc, took_seconds=Float, devices=Integer, devices_read=Integer, cables_planned=Integer),
    *_filled(cables_right=Integer, cables_wrong=Integer, cables_missing=Integer, cables_unknown=Integer),
    *_optional(critical=Integer, warning=Integer, info=Integer),
    *_filled(causes=Integer, plan_digest=Words),
    Column("epoch", BigInteger, nullable=False, server_default=text("0")),
)
"""`epoch`: of the judge that evaluated the round; 0 for a service without a bus."""

fence = Table("fence", metadata, _key("id", SmallInteger), *_filled(epoch=BigInteger))
"""One row: the highest epoch that has written; see `truerail.journal.database`."""

findings = Table(
    "findings",
    metadata,
    _key("id", HexId),
    *_filled(rule=Words, name=Words, severity=SEVERITIES, subject=Words, device=Key),
    *_optional(rail=Integer, expected=Words, observed=Words),
    *_filled(summary=Words, action=Words),
    *_optional(cause=HexId),
    *_life(),
    *_filled(body=LargeBinary),
)
Index("findings_device", findings.c.device)

causes = Table(
    "causes",
    metadata,
    _key("id", HexId),
    *_filled(kind=Words, subjects=Words, summary=Words, action=Words, findings=Integer),
    *_life(),
    *_filled(body=LargeBinary),
)
for _lived in (findings, causes):
    _open = _lived.c.resolved_at.is_(None)
    Index(f"{_lived.name}_open", _lived.c.since, _lived.c.id, sqlite_where=_open, postgresql_where=_open)
    Index(f"{_lived.name}_resolved", _lived.c.resolved_at, _lived.c.id)

texts = Table("texts", metadata, _key("id"), Column("used_at", Utc, nullable=False, index=True), *_filled(body=Words))

finding_events = _numbered(
    "finding_events",
    *_filled(at=Utc, kind=KINDS),
    Column("finding", HexId, ForeignKey("findings.id", ondelete="CASCADE"), nullable=False),
    *_filled(severity=SEVERITIES, summary=BigInteger),
    Index("finding_events_at", "at", "seq"),
    Index("finding_events_finding", "finding", "seq"),
)

cause_events = _numbered(
    "cause_events",
    *_filled(at=Utc, kind=KINDS, happened_at=Utc),
    Column("cause", HexId, ForeignKey("causes.id", ondelete="CASCADE"), nullable=False),
    *_filled(summary=BigInteger, explains=LargeBinary),
    Index("cause_events_at", "at", "seq"),
    Index("cause_events_cause", "cause", "seq"),
)

versions = _numbered(
    "versions",
    Column("at", Utc, nullable=False, index=True),
    *_filled(about=HexId, present=Boolean),
    *_optional(severity=SEVERITIES),
    *_filled(summary=BigInteger, action=BigInteger),
    *_optional(body=LargeBinary),
    Index("versions_about", "about", "seq"),
)
"""What the row of a finding or a cause said until `at`, where it says something else since. `body` is a cause's."""

places = Table(
    "places", metadata, _key("id"), *_filled(used_at=Utc, device=Key, word=Words), Index("places_device", "device")
)

links = Table(
    "links",
    metadata,
    _key("port"),
    Column("seen", BigInteger, index=True),
    *_filled(state=CABLES),
    *_optional(changed_at=Utc),
    Column("first_at", Utc, nullable=False, server_default=text("0")),
)
"""`first_at`: since when the cable is in the journal; 1970 where that was not recorded."""

link_changes = _numbered(
    "link_changes",
    *_filled(at=Utc, port=BigInteger),
    *_optional(was=BigInteger, now=BigInteger),
    *_filled(was_state=CABLES, now_state=CABLES),
    *(Index(f"link_changes_{name}", name, "seq") for name in ("at", "port", "was", "now")),
)

jobs = Table(
    "jobs",
    metadata,
    _key("id"),
    *_filled(source=Words, scheduler=Words, job=Key, name=Words, owner=Words, nodes=Words),
    *_optional(gpus=BigInteger, started_at=Utc),
    *_filled(first_seen=Utc),
    *_optional(last_seen=Utc, ended_at=Utc),
    Index("jobs_ended", "ended_at"),
    Index("jobs_job", "job"),
)
"""Runs of jobs. `id` is a hash of the source, the job's key and its begin."""

job_hosts = Table(
    "job_hosts",
    metadata,
    _key("host", BigInteger),
    Column("job", Number, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True, autoincrement=False, index=True),
    sqlite_with_rowid=False,
)
"""Which runs were on a host: hashes of the names of their nodes."""

acknowledgements = _numbered(
    "acknowledgements",
    Column("target", Key, nullable=False, index=True),
    *_filled(author=Words, reason=Words, at=Utc),
    *_optional(until=Utc, ended_at=Utc),
    key="id",
)

windows = _numbered(
    "windows",
    *_filled(scope=Words, what=Words, starts=Utc, ends=Utc, author=Words, reason=Words, at=Utc),
    *_optional(ended_at=Utc),
    key="id",
)

plans = _numbered("plans", *_filled(digest=Words, at=Utc, source=Words, devices=Integer, cables=Integer))

audit = _numbered(
    "audit", Column("at", Utc, nullable=False, index=True), *_filled(who=Words, action=Words, detail=Words)
)

blobs = _numbered(
    "blobs",
    *_filled(name=Key, at=Utc, part=Integer, parts=Integer, body=LargeBinary),
    Index("blobs_name", "name", "at", "part", unique=True),
)
