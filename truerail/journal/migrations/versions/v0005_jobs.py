"""Runs of jobs, and the hosts of each."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Adds the two tables."""
    op.create_table(
        "jobs",
        sa.Column("id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("scheduler", sa.String(), nullable=False),
        sa.Column("job", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("nodes", sa.String(), nullable=False),
        sa.Column("gpus", sa.BigInteger(), nullable=True),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("first_seen", sa.BigInteger(), nullable=False),
        sa.Column("last_seen", sa.BigInteger(), nullable=True),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("jobs_ended", "jobs", ["ended_at"])
    op.create_index("jobs_job", "jobs", ["job"])
    op.create_table(
        "job_hosts",
        sa.Column("host", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("job", NUMBER, autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["job"], ["jobs.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("host", "job"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_job_hosts_job", "job_hosts", ["job"])
