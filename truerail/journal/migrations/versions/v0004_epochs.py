"""The epoch of the judge that writes, and the epoch of each round."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Adds the table with its one row, and the column."""
    fence = op.create_table(
        "fence",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.bulk_insert(fence, [{"id": 1, "epoch": 0}])
    op.add_column("rounds", sa.Column("epoch", sa.BigInteger(), nullable=False, server_default="0"))
