"""The database of the journal: SQLite in a file, or PostgreSQL. Opens connections, keeps them consistent, and turns
every failure into `JournalUnavailableError`.

SQLite runs in WAL mode, so that no reader waits for a writer, with `synchronous=FULL`: NORMAL would lose the last
commits in a power failure (sqlite.org/pragma.html#pragma_synchronous), and an acknowledgement must not be lost. FULL
costs one fsync per commit, and there is one commit per round.
"""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, select, text
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, IntegrityError, SQLAlchemyError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from truerail.errors import (
    JournalFencedError,
    JournalReadOnlyError,
    JournalUnavailableError,
    JournalUnusableError,
    SecretMissingError,
)
from truerail.journal.tables import fence
from truerail.model.names import printable
from truerail.model.target import Secret

# ----------------------------------------------------------------------------------------------------------------------
# The schema of the database, brought up to date when the journal is opened.


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


# ----------------------------------------------------------------------------------------------------------------------
# Fencing: of several judges on one database, only the newest leader writes.
#
# The table `fence` has one row with the highest epoch. A leader raises it once, each of its writes compares its own
# epoch with it in the same transaction, and a lower one fails. The row is locked for the transaction, so that no leader
# writes between the comparison and the commit of another one. Source of the method: fencing tokens, M. Kleppmann, "How
# to do distributed locking", 2016.

IDLE_MILLISECONDS = 8000
"""PostgreSQL ends the transaction of a judge that stopped inside it: its locks would hold up the next leader."""


def _highest(connection: Connection) -> int:
    """The epoch in force; no other transaction can change it before the end of this one."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SET LOCAL idle_in_transaction_session_timeout = {IDLE_MILLISECONDS:d}"))
    return int(connection.execute(select(fence.c.epoch).with_for_update()).scalar_one())


# ----------------------------------------------------------------------------------------------------------------------
# Connections, and their failures.

BUSY_SECONDS = 5.0
"""How long a writer waits for another one."""
_TRY_AGAIN_SECONDS = 0.02
"""Between attempts to switch a new file to a write-ahead log: if another process does the same, SQLite does not wait.
"""
GONE_SECONDS = 1.0
"""No new attempt for this long after a failed connection: readers then get an error at once."""
_WRITES = "truerail_writes"
_SQLITE = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA journal_size_limit=67108864",
    "PRAGMA cache_size=-16384",
)
_POSTGRES = ("SET synchronous_commit = on", "SET statement_timeout = '30s'", "SET lock_timeout = '10s'")
_LIBPQ = {
    "connect_timeout": 3,
    "application_name": "truerail",
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10000,
}


class Database:
    """One database. `reading` and `writing` give a connection in a transaction, on a schema that is up to date."""

    def __init__(self, url: str, password: Secret | None = None) -> None:
        self.url = _checked(url)
        self._password = password
        self._secrets = [text for text in (self.url.password,) if text]
        self.engine = self._engine()
        self._writer = threading.Lock()
        self._preparing = threading.Lock()
        self._ready = False
        self.epoch = 0
        """Of the judge that writes; 0 for a service without a bus, whose writes are not fenced."""
        self.fenced = False
        """Whether a write was refused since `lead`: another judge leads, with a higher epoch."""
        self._refused: tuple[float, JournalUnavailableError] = (0.0, JournalUnavailableError(""))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url.render_as_string(hide_password=True)})"

    def prepare(self) -> None:
        """Brings the schema up to date, once; every use does so first. Raises JournalUnavailableError, and
        JournalUnusableError for a newer one.
        """
        with self._preparing:
            if not self._ready:
                with self._telling(), self._connected(writes=True) as connection:
                    migrate(connection)
                self._ready = True

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that sees one state of the database. Raises JournalUnavailableError."""
        if not self._ready:
            self.prepare()
        with self._telling(), self._connected(writes=False) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection whose changes are on disk at the end of the block, or not at all. Raises
        JournalUnavailableError; JournalFencedError if a judge with a higher epoch leads.
        """
        with self._alone() as connection:
            if self.epoch:
                self._refuse_lower(connection)
            yield connection

    def lead(self, revision: int) -> int:
        """Fences off every leader before: its writes raise JournalFencedError from now on. Returns the epoch of the new
        one: `revision` of its lease, or more if an earlier bus has counted further. Raises JournalUnavailableError if
        the database does not answer: the epoch is `revision` then.
        """
        epoch, self.fenced = revision, False
        try:
            with self._alone() as connection:
                claimed = max(_highest(connection) + 1, revision)
                connection.execute(fence.update().values(epoch=claimed))
                epoch = claimed
        finally:
            self.epoch = epoch
        return epoch

    def _refuse_lower(self, connection: Connection) -> None:
        highest = _highest(connection)
        if self.epoch < highest:
            self.fenced = True
            raise JournalFencedError(
                f"the journal refuses the writes of epoch {self.epoch}: a judge leads with epoch {highest}"
            )
        if self.epoch > highest:
            connection.execute(fence.update().values(epoch=self.epoch))

    @contextmanager
    def _alone(self) -> Iterator[Connection]:
        """A connection that writes; one at a time in this process."""
        if not self._ready:
            self.prepare()
        if not self._writer.acquire(timeout=2 * BUSY_SECONDS):
            raise JournalUnavailableError("the journal is busy: another write takes too long")
        try:
            with self._telling(), self._connected(writes=True) as connection:
                yield connection
        finally:
            self._writer.release()

    def close(self) -> None:
        """Closes every connection."""
        self.engine.dispose()

    @contextmanager
    def _connected(self, *, writes: bool) -> Iterator[Connection]:
        until, error = self._refused
        if time.monotonic() < until:
            raise JournalUnavailableError(str(error))
        try:
            connection = self.engine.connect()
        except (SQLAlchemyError, SecretMissingError) as failure:
            gone = self._gone(failure)
            self._refused = (time.monotonic() + GONE_SECONDS, gone)
            raise gone from None
        with connection:
            connection = connection.execution_options(**{_WRITES: writes})
            with connection.begin():
                yield connection

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as failure:
            raise self._gone(failure) from None

    def _gone(self, failure: Exception) -> JournalUnavailableError:
        """The failure in one line, without statement, values or secrets."""
        if isinstance(failure, PoolTimeout):
            return JournalUnavailableError("the journal is busy: no free connection")
        reported = str(failure.orig if isinstance(failure, StatementError) and failure.orig else failure)
        for secret in self._secrets:
            reported = reported.replace(secret, "***")
        values = isinstance(failure, DataError | IntegrityError) or not isinstance(failure, DBAPIError)
        sort = JournalReadOnlyError if values and isinstance(failure, StatementError) else JournalUnavailableError
        return sort(f"journal: {printable(' '.join(reported.split()))}")

    def _engine(self) -> Engine:
        options: dict[str, Any] = {"hide_parameters": True, "pool_timeout": 3.0, "pool_size": 5, "max_overflow": 5}
        if self.url.get_backend_name() == "sqlite":
            options["connect_args"] = {"timeout": BUSY_SECONDS}
            engine = create_engine(self.url, **options)
            event.listen(engine, "connect", _set_up_sqlite)
            event.listen(engine, "begin", _begin_sqlite)
            return engine
        engine = create_engine(self.url, pool_pre_ping=True, **options)
        event.listen(engine, "do_connect", self._log_in)
        event.listen(engine, "connect", _set_up_postgres)
        return engine

    def _log_in(self, dialect: object, record: object, args: object, parameters: dict[str, Any]) -> None:
        for name, value in _LIBPQ.items():
            parameters.setdefault(name, value)
        if self._password is not None:
            parameters["password"] = self._password.read()
            if parameters["password"] not in ("", *self._secrets):
                self._secrets.append(parameters["password"])


def _checked(url: str) -> URL:
    try:
        found = make_url(url)
    except ArgumentError:
        raise JournalUnusableError(
            "journal.url is no URL: write sqlite:///FILE or postgresql://USER@HOST/NAME"
        ) from None
    backend = found.get_backend_name()
    if backend in ("postgresql", "postgres"):
        secret = found.query.get("password")
        if isinstance(secret, str):
            found = found.difference_update_query(["password"]).set(password=secret)
        return found.set(drivername="postgresql+psycopg")
    if backend != "sqlite":
        raise JournalUnusableError(f"journal.url: {backend} is not supported; write sqlite:///FILE or postgresql://...")
    if not found.database or found.database == ":memory:":
        raise JournalUnusableError("journal.url: an SQLite journal needs a file: sqlite:///FILE")
    return found.set(drivername="sqlite")


def _set_up_sqlite(connection: sqlite3.Connection, record: object) -> None:
    connection.isolation_level = None  # transactions begin below: the driver would begin them too late
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            for statement in _SQLITE:
                connection.execute(statement)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                connection.close()  # the pool does not know it yet
                raise
            time.sleep(_TRY_AGAIN_SECONDS)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    """A writer takes its lock at once: one that reads first and writes later may fail however long it waits."""
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _set_up_postgres(connection: Any, record: object) -> None:
    connection.autocommit = True
    for statement in _POSTGRES:
        connection.execute(statement)
    connection.autocommit = False
