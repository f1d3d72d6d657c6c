"""The first schema of the journal."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
OPEN = sa.text("resolved_at IS NULL")


def upgrade() -> None:
    """From an empty database."""
    op.create_table(
        "acknowledgements",
        sa.Column("id", NUMBER, sa.Identity(always=False), nullable=False),
        sa.Column("target", sa.String(), nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_acknowledgements_target", "acknowledgements", ["target"], unique=False)
    op.create_table(
        "audit",
        sa.Column("seq", NUMBER, sa.Identity(always=False), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("who", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("detail", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_audit_at", "audit", ["at"], unique=False)
    op.create_table(
        "causes",
        sa.Column("id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("subjects", sa.String(), nullable=False),
        sa.Column("summary", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("findings", sa.Integer(), nullable=False),
        sa.Column("state", sa.SmallInteger(), nullable=False),
        sa.Column("first_seen", sa.BigInteger(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("last_seen", sa.BigInteger(), nullable=False),
        sa.Column("resolved_at", sa.BigInteger(), nullable=True),
        sa.Column("episodes", sa.Integer(), nullable=False),
        sa.Column("present", sa.Boolean(), nullable=False),
        sa.Column("away", sa.Boolean(), nullable=False),
        sa.Column("appearances", sa.String(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("causes_open", "causes", ["since", "id"], unique=False, sqlite_where=OPEN, postgresql_where=OPEN)
    op.create_index("causes_resolved", "causes", ["resolved_at", "id"], unique=False)
    op.create_table(
        "findings",
        sa.Column("id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("rule", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("severity", sa.SmallInteger(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("device", sa.String(), nullable=False),
        sa.Column("rail", sa.Integer(), nullable=True),
        sa.Column("expected", sa.String(), nullable=True),
        sa.Column("observed", sa.String(), nullable=True),
        sa.Column("summary", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("cause", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.SmallInteger(), nullable=False),
        sa.Column("first_seen", sa.BigInteger(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("last_seen", sa.BigInteger(), nullable=False),
        sa.Column("resolved_at", sa.BigInteger(), nullable=True),
        sa.Column("episodes", sa.Integer(), nullable=False),
        sa.Column("present", sa.Boolean(), nullable=False),
        sa.Column("away", sa.Boolean(), nullable=False),
        sa.Column("appearances", sa.String(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("findings_device", "findings", ["device"], unique=False)
    op.create_index(
        "findings_open", "findings", ["since", "id"], unique=False, sqlite_where=OPEN, postgresql_where=OPEN
    )
    op.create_index("findings_resolved", "findings", ["resolved_at", "id"], unique=False)
    op.create_table(
        "link_changes",
        sa.Column("seq", NUMBER, sa.Identity(always=False), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("port", sa.BigInteger(), nullable=False),
        sa.Column("was", sa.BigInteger(), nullable=True),
        sa.Column("now", sa.BigInteger(), nullable=True),
        sa.Column("was_state", sa.SmallInteger(), nullable=False),
        sa.Column("now_state", sa.SmallInteger(), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
        sqlite_autoincrement=True,
    )
    op.create_index("link_changes_at", "link_changes", ["at", "seq"], unique=False)
    op.create_index("link_changes_now", "link_changes", ["now", "seq"], unique=False)
    op.create_index("link_changes_port", "link_changes", ["port", "seq"], unique=False)
    op.create_index("link_changes_was", "link_changes", ["was", "seq"], unique=False)
    op.create_table(
        "links",
        sa.Column("port", NUMBER, autoincrement=False, nullable=False),
        sa.Column("seen", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.SmallInteger(), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("port"),
    )
    op.create_index("ix_links_seen", "links", ["seen"], unique=False)
    op.create_table(
        "places",
        sa.Column("id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=False),
        sa.Column("device", sa.String(), nullable=False),
        sa.Column("word", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("places_device", "places", ["device"], unique=False)
    op.create_table(
        "plans",
        sa.Column("seq", NUMBER, sa.Identity(always=False), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("devices", sa.Integer(), nullable=False),
        sa.Column("cables", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "rounds",
        sa.Column("number", NUMBER, autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("took_seconds", sa.Float(), nullable=False),
        sa.Column("devices", sa.Integer(), nullable=False),
        sa.Column("devices_read", sa.Integer(), nullable=False),
        sa.Column("cables_planned", sa.Integer(), nullable=False),
        sa.Column("cables_right", sa.Integer(), nullable=False),
        sa.Column("cables_wrong", sa.Integer(), nullable=False),
        sa.Column("cables_missing", sa.Integer(), nullable=False),
        sa.Column("cables_unknown", sa.Integer(), nullable=False),
        sa.Column("critical", sa.Integer(), nullable=True),
        sa.Column("warning", sa.Integer(), nullable=True),
        sa.Column("info", sa.Integer(), nullable=True),
        sa.Column("causes", sa.Integer(), nullable=False),
        sa.Column("plan_digest", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
    )
    op.create_table(
        "texts",
        sa.Column("id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_texts_used_at", "texts", ["used_at"], unique=False)
    op.create_table(
        "windows",
        sa.Column("id", NUMBER, sa.Identity(always=False), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("starts", sa.BigInteger(), nullable=False),
        sa.Column("ends", sa.BigInteger(), nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "finding_events",
        sa.Column("seq", NUMBER, sa.Identity(always=False), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.SmallInteger(), nullable=False),
        sa.Column("finding", sa.BigInteger(), nullable=False),
        sa.Column("severity", sa.SmallInteger(), nullable=False),
        sa.Column("summary", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["finding"], ["findings.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("seq"),
        sqlite_autoincrement=True,
    )
    op.create_index("finding_events_at", "finding_events", ["at", "seq"], unique=False)
    op.create_index("finding_events_finding", "finding_events", ["finding", "seq"], unique=False)
