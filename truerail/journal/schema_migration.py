"""The schema of the database, brought up to date when the journal is opened."""

from functools import cache
from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from truerail.errors import JournalUnavailableError, JournalUnusableError

_LOCK = 0x7472756572616C
"""The number of PostgreSQL's advisory lock: if two services start at once, one waits for the other."""


def migrate(connection: Connection) -> None:
    """Runs every missing migration, all or none, in the open transaction. Safe at a concurrent start.

    Raises JournalUnusableError if a newer version created the database.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    _refuse_foreign(connection)
    config, script = _script()
    known = {revision.revision for revision in script.walk_revisions()}
    found = set(MigrationContext.configure(connection).get_current_heads())
    if not found <= known:
        raise JournalUnusableError(
            f"the journal was written by a newer truerail (schema {', '.join(sorted(found - known))}, this one knows "
            f"{script.get_current_head()}): upgrade truerail, or name another database in journal.url"
        )
    if found == set(script.get_heads()):
        return

    def steps(revision: Any, context: MigrationContext) -> Any:
        return script._upgrade_revs("head", revision)  # as in alembic's documentation of EnvironmentContext

    with EnvironmentContext(config, script, fn=steps) as environment:
        environment.configure(connection=connection)
        with environment.begin_transaction():
            environment.run_migrations()


def _refuse_foreign(connection: Connection) -> None:
    """Raises JournalUnavailableError for another program's SQLite file: nothing is written into it."""
    if connection.dialect.name == "sqlite":
        names = set(inspect(connection).get_table_names())
        if names and "alembic_version" not in names:
            raise JournalUnavailableError(
                f"journal.url names a file of another program: it holds the table {min(names)}"
            )


@cache
def _script() -> tuple[Config, ScriptDirectory]:
    config = Config()
    folder = Path(__file__).with_name("migrations")
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    return config, ScriptDirectory.from_config(config)
