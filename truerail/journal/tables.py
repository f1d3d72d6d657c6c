"""The tables of the journal. Frequent values are stored once: sentences in `texts`, ports in `places`."""

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


def _seq(name: str = "seq") -> Column[int]:
    return Column(name, Number, Identity(), primary_key=True)


def _life() -> tuple[Column[object], ...]:
    return (
        Column("state", STATES, nullable=False),
        Column("first_seen", Utc, nullable=False),
        Column("since", Utc, nullable=False),
        Column("last_seen", Utc, nullable=False),
        Column("resolved_at", Utc),
        Column("episodes", Integer, nullable=False),
        Column("present", Boolean, nullable=False),
        Column("away", Boolean, nullable=False),
        Column("appearances", Words, nullable=False),
    )


rounds = Table(
    "rounds",
    metadata,
    Column("number", Number, primary_key=True, autoincrement=False),
    Column("at", Utc, nullable=False),
    Column("took_seconds", Float, nullable=False),
    Column("devices", Integer, nullable=False),
    Column("devices_read", Integer, nullable=False),
    Column("cables_planned", Integer, nullable=False),
    Column("cables_right", Integer, nullable=False),
    Column("cables_wrong", Integer, nullable=False),
    Column("cables_missing", Integer, nullable=False),
    Column("cables_unknown", Integer, nullable=False),
    Column("critical", Integer),
    Column("warning", Integer),
    Column("info", Integer),
    Column("causes", Integer, nullable=False),
    Column("plan_digest", Words, nullable=False),
    Column("epoch", BigInteger, nullable=False, server_default=text("0")),
)
"""`epoch`: of the judge that evaluated the round; 0 for a service without a bus."""

fence = Table(
    "fence",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("epoch", BigInteger, nullable=False),
)
"""One row: the highest epoch that has written; see `truerail.journal.fencing`."""

findings = Table(
    "findings",
    metadata,
    Column("id", HexId, primary_key=True, autoincrement=False),
    Column("rule", Words, nullable=False),
    Column("name", Words, nullable=False),
    Column("severity", SEVERITIES, nullable=False),
    Column("subject", Words, nullable=False),
    Column("device", Key, nullable=False),
    Column("rail", Integer),
    Column("expected", Words),
    Column("observed", Words),
    Column("summary", Words, nullable=False),
    Column("action", Words, nullable=False),
    Column("cause", HexId),
    *_life(),
    Column("body", LargeBinary),
)
_open = findings.c.resolved_at.is_(None)
Index("findings_open", findings.c.since, findings.c.id, sqlite_where=_open, postgresql_where=_open)
Index("findings_resolved", findings.c.resolved_at, findings.c.id)
Index("findings_device", findings.c.device)

causes = Table(
    "causes",
    metadata,
    Column("id", HexId, primary_key=True, autoincrement=False),
    Column("kind", Words, nullable=False),
    Column("subjects", Words, nullable=False),
    Column("summary", Words, nullable=False),
    Column("action", Words, nullable=False),
    Column("findings", Integer, nullable=False),
    *_life(),
    Column("body", LargeBinary),
)
_open = causes.c.resolved_at.is_(None)
Index("causes_open", causes.c.since, causes.c.id, sqlite_where=_open, postgresql_where=_open)
Index("causes_resolved", causes.c.resolved_at, causes.c.id)

texts = Table(
    "texts",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("used_at", Utc, nullable=False, index=True),
    Column("body", Words, nullable=False),
)

finding_events = Table(
    "finding_events",
    metadata,
    _seq(),
    Column("at", Utc, nullable=False),
    Column("kind", KINDS, nullable=False),
    Column("finding", HexId, ForeignKey("findings.id", ondelete="CASCADE"), nullable=False),
    Column("severity", SEVERITIES, nullable=False),
    Column("summary", BigInteger, nullable=False),
    Index("finding_events_at", "at", "seq"),
    Index("finding_events_finding", "finding", "seq"),
    sqlite_autoincrement=True,
)

cause_events = Table(
    "cause_events",
    metadata,
    _seq(),
    Column("at", Utc, nullable=False),
    Column("kind", KINDS, nullable=False),
    Column("happened_at", Utc, nullable=False),
    Column("cause", HexId, ForeignKey("causes.id", ondelete="CASCADE"), nullable=False),
    Column("summary", BigInteger, nullable=False),
    Column("explains", LargeBinary, nullable=False),
    Index("cause_events_at", "at", "seq"),
    Index("cause_events_cause", "cause", "seq"),
    sqlite_autoincrement=True,
)

versions = Table(
    "versions",
    metadata,
    _seq(),
    Column("at", Utc, nullable=False, index=True),
    Column("about", HexId, nullable=False),
    Column("present", Boolean, nullable=False),
    Column("severity", SEVERITIES),
    Column("summary", BigInteger, nullable=False),
    Column("action", BigInteger, nullable=False),
    Column("body", LargeBinary),
    Index("versions_about", "about", "seq"),
    sqlite_autoincrement=True,
)
"""What the row of a finding or a cause said until `at`, where it says something else since. `body` is a cause's."""

places = Table(
    "places",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("used_at", Utc, nullable=False),
    Column("device", Key, nullable=False),
    Column("word", Words, nullable=False),
    Index("places_device", "device"),
)

links = Table(
    "links",
    metadata,
    Column("port", Number, primary_key=True, autoincrement=False),
    Column("seen", BigInteger, index=True),
    Column("state", CABLES, nullable=False),
    Column("changed_at", Utc),
    Column("first_at", Utc, nullable=False, server_default=text("0")),
)
"""`first_at`: since when the cable is in the journal; 1970 where that was not recorded."""

link_changes = Table(
    "link_changes",
    metadata,
    _seq(),
    Column("at", Utc, nullable=False),
    Column("port", BigInteger, nullable=False),
    Column("was", BigInteger),
    Column("now", BigInteger),
    Column("was_state", CABLES, nullable=False),
    Column("now_state", CABLES, nullable=False),
    Index("link_changes_at", "at", "seq"),
    Index("link_changes_port", "port", "seq"),
    Index("link_changes_was", "was", "seq"),
    Index("link_changes_now", "now", "seq"),
    sqlite_autoincrement=True,
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("source", Words, nullable=False),
    Column("scheduler", Words, nullable=False),
    Column("job", Key, nullable=False),
    Column("name", Words, nullable=False),
    Column("owner", Words, nullable=False),
    Column("nodes", Words, nullable=False),
    Column("gpus", BigInteger),
    Column("started_at", Utc),
    Column("first_seen", Utc, nullable=False),
    Column("last_seen", Utc),
    Column("ended_at", Utc),
    Index("jobs_ended", "ended_at"),
    Index("jobs_job", "job"),
)
"""Runs of jobs. `id` is a hash of the source, the job's key and its begin."""

job_hosts = Table(
    "job_hosts",
    metadata,
    Column("host", BigInteger, primary_key=True, autoincrement=False),
    Column("job", Number, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True, autoincrement=False, index=True),
    sqlite_with_rowid=False,
)
"""Which runs were on a host: hashes of the names of their nodes."""

acknowledgements = Table(
    "acknowledgements",
    metadata,
    _seq("id"),
    Column("target", Key, nullable=False, index=True),
    Column("author", Words, nullable=False),
    Column("reason", Words, nullable=False),
    Column("at", Utc, nullable=False),
    Column("until", Utc),
    Column("ended_at", Utc),
    sqlite_autoincrement=True,
)

windows = Table(
    "windows",
    metadata,
    _seq("id"),
    Column("scope", Words, nullable=False),
    Column("what", Words, nullable=False),
    Column("starts", Utc, nullable=False),
    Column("ends", Utc, nullable=False),
    Column("author", Words, nullable=False),
    Column("reason", Words, nullable=False),
    Column("at", Utc, nullable=False),
    Column("ended_at", Utc),
    sqlite_autoincrement=True,
)

plans = Table(
    "plans",
    metadata,
    _seq(),
    Column("digest", Words, nullable=False),
    Column("at", Utc, nullable=False),
    Column("source", Words, nullable=False),
    Column("devices", Integer, nullable=False),
    Column("cables", Integer, nullable=False),
    sqlite_autoincrement=True,
)

audit = Table(
    "audit",
    metadata,
    _seq(),
    Column("at", Utc, nullable=False, index=True),
    Column("who", Words, nullable=False),
    Column("action", Words, nullable=False),
    Column("detail", Words, nullable=False),
    sqlite_autoincrement=True,
)

blobs = Table(
    "blobs",
    metadata,
    _seq(),
    Column("name", Key, nullable=False),
    Column("at", Utc, nullable=False),
    Column("part", Integer, nullable=False),
    Column("parts", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Index("blobs_name", "name", "at", "part", unique=True),
    sqlite_autoincrement=True,
)
