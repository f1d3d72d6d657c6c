"""The service as a whole: opens what its processes share, and runs them until a signal."""

import fcntl
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truerail.errors import CertificateError, CommandError, ListenError
from truerail.poller.event_loop import run
from truerail.roles.front import front
from truerail.roles.judge import journal_of
from truerail.roles.post import Post
from truerail.roles.supervisor import Started, Supervisor, freeze
from truerail.service.settings import Settings
from truerail.viewfile.view_file import NAME
from truerail.web.access.tls import Certificates
from truerail.web.http_server import listen, listening_address

if TYPE_CHECKING:
    from truerail.roles.front_bus import JudgePlace

NICE = 10
"""Of the judge, once it has evaluated: readers do not wait for a round. Alone on its core it has all of it."""
_PREFIX, _LOCK, _SQLITE = "truerail-service-", "lock", "sqlite:///"
Judging = Callable[[Post], Coroutine[Any, Any, None]]
"""What runs in the judge's process, until the judge ends."""


def serve(settings: Settings, judging: "Judging | JudgePlace", renewed: Callable[[], Settings] | None = None) -> None:
    """Monitors and serves until a signal comes. `judging` is what evaluates, or on which other machine that is.
    `renewed` reads changed settings, at SIGHUP; without it SIGHUP ends the service. Raises CommandError if it cannot
    start (port taken, journal of a newer release). What it writes, its user alone can read.
    """
    os.umask(0o077)
    place = None if callable(judging) else judging
    remote = place is not None
    _check(settings, remote=remote)
    try:
        http = listen(settings.http.host, settings.http.port)
    except ListenError as error:
        raise CommandError(str(error)) from error
    with _folder(None if remote else _state_folder(settings)) as state, _folder(None) as folder:
        path = folder / "link"
        post = Post(state / NAME, path, listening_at(path), http, listening_address(settings.http, http).url)

        def judge(started: Started) -> None:
            for one in http:
                one.close()
            assert callable(judging)  # noqa: S101 - it is here
            run(judging(replace(post, started=started, nice=NICE)))

        def serving(started: Started) -> None:
            post.link.close()
            run(front(settings, replace(post, started=started), renewed, place))

        freeze()
        children = {"front": serving} if place else {"judge": judge, "front": serving}
        Supervisor(children, reloads=renewed is not None).run()


def listening_at(path: Path) -> socket.socket:
    """A socket at which a judge listens; its queue lasts while one judge follows the other."""
    found = socket.socket(socket.AF_UNIX)
    found.bind(str(path))
    path.chmod(0o600)
    found.listen(16)
    return found


def _check(settings: Settings, *, remote: bool) -> None:
    """What would keep a process from starting again and again. Raises CommandError."""
    if not remote:
        needs_folder(settings)
    try:
        if not remote and (journal := journal_of(settings)):
            journal.close()
        if settings.http.tls:
            Certificates(settings.http.tls)
    except CertificateError as error:
        raise CommandError(str(error)) from error


def needs_folder(settings: Settings) -> None:
    """Raises CommandError if the folder of the journal is missing, or cannot be written in."""
    folder = _state_folder(settings)
    if folder and not (folder.is_dir() and os.access(folder, os.W_OK)):
        raise CommandError(f"journal: {folder}: {'cannot write' if folder.is_dir() else 'no such folder: make it'}")


def _state_folder(settings: Settings) -> Path | None:
    """Where the view stands: beside the journal, which has the room; without such a file among temporary files."""
    url = settings.journal.url
    return Path(url.removeprefix(_SQLITE)).parent if url.startswith(_SQLITE) else None


@contextmanager
def _folder(among: Path | None) -> Iterator[Path]:
    """A folder that only this user can enter; without `among` one for temporary files, with a path short enough for a
    socket. One that a killed service has left is removed: its lock is free.
    """
    with ExitStack() as stack:
        while True:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=_PREFIX, dir=among)))
            lock = folder / _LOCK
            fcntl.flock(stack.enter_context(lock.open("w")), fcntl.LOCK_EX)
            if lock.exists():  # else a service that starts at this moment took it for one that was left
                break
        _remove_left(folder.parent)
        yield folder


def _remove_left(among: Path) -> None:
    for found in among.glob(f"{_PREFIX}*/{_LOCK}"):
        try:
            with found.open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(found.parent, ignore_errors=True)
        except OSError:  # another user's, or in use
            continue
