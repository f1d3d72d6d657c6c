"""Large values by name, each replaced as a whole but written in parts, so that no other write waits for all of it."""

from datetime import datetime

from sqlalchemy import Connection, func, select

from truerail.journal.database import Database
from truerail.journal.tables import blobs

STEP_MARKS, NOTIFICATIONS = "step marks", "notifications"
LASTING = (STEP_MARKS, NOTIFICATIONS)
"""Names of values that hold as long as they are not replaced: they never become old."""
PART_BYTES = 4 << 20
"""Bytes written in one transaction."""


def put(database: Database, name: str, body: bytes, at: datetime) -> None:
    """Replaces the value of a name. The old value stays until the new one is complete."""
    starts = range(0, max(len(body), 1), PART_BYTES)
    with database.writing() as connection:  # a part left behind by a write of the same time
        connection.execute(blobs.delete().where(blobs.c.name == name, blobs.c.at == at))
    for part, start in enumerate(starts):
        row = {"name": name, "at": at, "part": part, "parts": len(starts), "body": body[start : start + PART_BYTES]}
        with database.writing() as connection:
            connection.execute(blobs.insert(), row)
    with database.writing() as connection:
        connection.execute(blobs.delete().where(blobs.c.name == name, blobs.c.at != at))


def get(connection: Connection, name: str) -> bytes | None:
    """The newest complete value of a name."""
    whole = (
        select(blobs.c.at)
        .where(blobs.c.name == name)
        .group_by(blobs.c.at)
        .having(func.count() == func.max(blobs.c.parts))
        .order_by(blobs.c.at.desc())
        .limit(1)
    )
    at = connection.execute(whole).scalar_one_or_none()
    if at is None:
        return None
    parts = select(blobs.c.body).where(blobs.c.name == name, blobs.c.at == at).order_by(blobs.c.part)
    return b"".join(connection.execute(parts).scalars())
