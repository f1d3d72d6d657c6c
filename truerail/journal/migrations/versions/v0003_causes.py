"""Events of causes, and since when each cable is in the journal."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Adds the table and the column."""
    op.create_table(
        "cause_events",
        sa.Column("seq", NUMBER, sa.Identity(always=False), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.SmallInteger(), nullable=False),
        sa.Column("happened_at", sa.BigInteger(), nullable=False),
        sa.Column("cause", NUMBER, nullable=False),
        sa.Column("summary", sa.BigInteger(), nullable=False),
        sa.Column("explains", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["cause"], ["causes.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("seq"),
        sqlite_autoincrement=True,
    )
    op.create_index("cause_events_at", "cause_events", ["at", "seq"])
    op.create_index("cause_events_cause", "cause_events", ["cause", "seq"])
    op.add_column("links", sa.Column("first_at", sa.BigInteger(), nullable=False, server_default="0"))
