"""What findings and causes said before they changed: for questions as of a time."""

from alembic import op

from truerail.journal.tables import versions

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Makes the table; a new journal has it from the first schema on."""
    versions.create(op.get_bind(), checkfirst=True)
