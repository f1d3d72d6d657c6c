"""A PostgreSQL of our own for tests: made with initdb in a folder of its own, on a unix socket there, ended by pid."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.journal_helpers import Settings
from tests.real import give_up
from truerail.journal import Journal, open_journal

_SPEED = "-c fsync=off -c max_connections=30 -c shared_buffers=16MB -c listen_addresses="
"""No fsync: these tests end the server in good order. What survives a crash is PostgreSQL's own to test."""


class Postgres:
    """A server that can be stopped and started. `url(name)` is a new, empty database."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs = programs
        self.folder = folder
        self._databases = 0

    def start(self) -> None:
        """Returns when it answers."""
        options = f"{_SPEED} -k {self.folder}"
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-l", f"{self.folder}/log", "-w", "-o", options, "start")

    def stop(self) -> None:
        """Ends it, and every connection to it, at once."""
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-m", "fast", "stop")

    @property
    def running(self) -> bool:
        """Whether it was started and not stopped."""
        return (self.folder / "data/postmaster.pid").exists()

    def create(self) -> None:
        """Makes the data folder."""
        command = ("initdb", "-D", f"{self.folder}/data", "-U", "truerail", "-A", "trust", "-E", "UTF8", "--no-sync")
        self._run(*command, "--locale=C.UTF-8")

    def url(self) -> str:
        """A new database."""
        self._databases += 1
        name = f"journal{self._databases}"
        self._run("createdb", "-h", str(self.folder), "-U", "truerail", name)
        return f"postgresql://truerail@/{name}?host={self.folder}"

    def run_sql(self, url: str, statement: str) -> str:
        """What psql answers."""
        name = url.partition("@/")[2].partition("?")[0]
        return self._run("psql", "-h", str(self.folder), "-U", "truerail", "-d", name, "-Atc", statement)

    def _run(self, program: str, *arguments: str) -> str:
        """PostgreSQL refuses to serve root: it runs as its own user then."""
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
        command = [*as_user, str(self._programs / program), *arguments]
        with tempfile.TemporaryFile("w+") as output:  # no pipe: the server would inherit it and hold it open
            done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, cwd=self.folder, check=False)
            output.seek(0)
            text = output.read()
        if done.returncode:
            raise RuntimeError(f"{program}: {text}")
        return text


@contextmanager
def postgres() -> Iterator[Postgres]:
    """A running server. Skips (or fails, where real components are required) without PostgreSQL's programs."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    on_path = shutil.which("initdb")
    programs = found[-1] if found else Path(on_path).parent if on_path else None
    if programs is None or not (programs / "initdb").exists():
        give_up("PostgreSQL (initdb) is not installed")
        return
    with tempfile.TemporaryDirectory(prefix="truerail-pg-") as name:  # short: a socket's path has 107 bytes at most
        folder = Path(name)
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(folder, user.pw_uid, user.pw_gid)
        server = Postgres(programs, folder)
        server.create()
        server.start()
        try:
            yield server
        finally:
            if server.running:
                server.stop()


@pytest.fixture(scope="module", name="server")
def one_postgres() -> Iterator[Postgres]:
    """One for all tests of a module."""
    with postgres() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def each_journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Journal]:
    """An empty journal, in a file and on a server."""
    in_file = request.param == "sqlite"
    opened = open_journal(
        Settings(f"sqlite:///{tmp_path}/journal.db" if in_file else request.getfixturevalue("server").url())
    )
    yield opened
    opened.close()
