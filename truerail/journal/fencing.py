"""Fencing: of several judges on one database, only the newest leader writes.

The table `fence` has one row with the highest epoch. A leader raises it once, each of its writes compares its own epoch
with it in the same transaction, and a lower one fails. The row is locked for the transaction, so that no leader writes
between the comparison and the commit of another one. Source of the method: fencing tokens, M. Kleppmann, "How to do
distributed locking", 2016.
"""

from sqlalchemy import Connection, select, text

from truerail.errors import JournalFencedError
from truerail.journal.tables import fence

IDLE_MILLISECONDS = 8000
"""PostgreSQL ends the transaction of a judge that stopped inside it: its locks would hold up the next leader."""


def claim(connection: Connection, revision: int) -> int:
    """Makes this the newest leader. Returns its epoch: higher than any before, and at least `revision`."""
    epoch = max(_highest(connection) + 1, revision)
    connection.execute(fence.update().values(epoch=epoch))
    return epoch


def refuse_lower(connection: Connection, epoch: int) -> None:
    """Raises JournalFencedError if a judge with a higher epoch leads."""
    highest = _highest(connection)
    if epoch < highest:
        raise JournalFencedError(f"the journal refuses the writes of epoch {epoch}: a judge leads with epoch {highest}")
    if epoch > highest:
        connection.execute(fence.update().values(epoch=epoch))


def _highest(connection: Connection) -> int:
    """The epoch in force; no other transaction can change it before the end of this one."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SET LOCAL idle_in_transaction_session_timeout = {IDLE_MILLISECONDS:d}"))
    return int(connection.execute(select(fence.c.epoch).with_for_update()).scalar_one())
