"""The first schema: the tables that `truerail.journal.tables` declares.

The first change of a table after a release writes these tables out here as they were released, and adds a migration.
"""

from alembic import op

from truerail.journal.tables import fence, metadata

revision = "0006"
down_revision = None


def upgrade() -> None:
    """Makes the tables, and the row that `truerail.journal.database` locks."""
    metadata.create_all(op.get_bind())
    op.bulk_insert(fence, [{"id": 1, "epoch": 0}])
