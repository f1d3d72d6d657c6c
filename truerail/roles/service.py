"""The service as a whole: opens what its processes share, and runs them until a signal."""

import fcntl
import gc
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from rules import rules
from truerail.errors import CertificateError, CommandError, ListenError
from truerail.model.own_process import end_with
from truerail.poller.event_loop import run
from truerail.roles.front import front
from truerail.roles.judge import journal_of
from truerail.roles.post import Post
from truerail.service.logs import logger
from truerail.service.settings import Settings
from truerail.viewfile.view_file import NAME
from truerail.web.access.tls import Certificates
from truerail.web.application import shared_api
from truerail.web.http_server import listen, listening_address

# ----------------------------------------------------------------------------------------------------------------------
# The parent: starts the processes, starts one again that ends, and ends them all. It holds no facts.
#
# Children are forked before the parent has a thread or an event loop, so all of them share the memory of what is
# imported, and a new one starts in milliseconds. A child ends with the parent: `truerail.model.own_process`.

FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 5.0
STEADY_SECONDS = 5.0
"""A child that ran for so long starts again without a longer pause: it works, and readers wait for it."""
END_SECONDS = 60.0
"""A child that has not ended in this time after its signal is killed."""
_STARTED = b"\0"
_CANNOT_START = 2
_ENDING = (signal.SIGINT, signal.SIGTERM)

Started = Callable[[], None]
"""A child calls it once it works: an error before that is one of the configuration."""


@dataclass
class _Child:
    name: str
    main: Callable[[Started], None]
    pid: int = 0
    words: int = -1
    """The end of the pipe on which it reports its start, or why it cannot start."""
    pause: float = FIRST_PAUSE_SECONDS
    began: float = 0.0
    due: float = 0.0
    started: bool = False
    """Whether it has ever worked."""


@dataclass
class Supervisor:
    """Runs `children` by name, until a signal to this process ends it: one that ends by itself is started again.

    `reloads`: SIGHUP is passed on to the children, else it ends the service: its terminal was closed.
    """

    children: Mapping[str, Callable[[Started], None]]
    reloads: bool
    _signals: list[int] = field(default_factory=list)

    def run(self) -> None:
        """Until a signal ends it. Raises CommandError if a child cannot start."""
        running = [_Child(name, main) for name, main in self.children.items()]
        wake, tell = os.pipe()
        os.set_blocking(tell, False)
        before = self._take_signals(tell)
        try:
            self._watch(running, wake)
        finally:
            _end(running, self._signals)
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(-1)
            os.close(wake)
            os.close(tell)

    def _take_signals(self, tell: int) -> dict[int, Any]:
        signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
        numbers = [*_ENDING, signal.SIGCHLD]
        if self.reloads or signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup(1) ignores it on purpose
            numbers.append(signal.SIGHUP)
        return {number: signal.signal(number, self._note) for number in numbers}

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._signals.append(number)

    def _watch(self, running: list[_Child], wake: int) -> None:
        while True:
            now = time.monotonic()
            for child in running:
                if not child.pid and now >= child.due:
                    self._start(child)
            waits = [child.due - now for child in running if not child.pid]
            select.select([wake], [], [], max(min(waits), 0.0) if waits else None)
            os.set_blocking(wake, False)
            with suppress(BlockingIOError):
                os.read(wake, 4096)
            if self._ends(running):
                return
            for child in running:
                self._reap(child)

    def _ends(self, running: list[_Child]) -> bool:
        """Whether a signal ends the service."""
        taken, self._signals[:] = list(self._signals), []
        for number in taken:
            if number in _ENDING or (number == signal.SIGHUP and not self.reloads):
                return True
            if number == signal.SIGHUP:
                for child in running:
                    _send(child, signal.SIGHUP)
        return False

    def _start(self, child: _Child) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        words, reports = os.pipe()
        parent, child.began = os.getpid(), time.monotonic()
        child.pid = os.fork()
        if child.pid == 0:
            os.close(words)
            _become(child, parent, reports)
        os.close(reports)
        child.words = words

    def _reap(self, child: _Child) -> None:
        """Takes note of a child that has ended. Raises CommandError if it cannot start."""
        pid, status = os.waitpid(child.pid, os.WNOHANG) if child.pid else (0, 0)
        if not pid:
            return
        code, words = os.waitstatus_to_exitcode(status), _words(child)
        child.pid, child.started = 0, child.started or words.startswith(_STARTED)
        if code == _CANNOT_START and not child.started:
            raise CommandError(words.decode())
        lasted = time.monotonic() - child.began
        child.pause = FIRST_PAUSE_SECONDS if lasted > STEADY_SECONDS else min(2 * child.pause, LONGEST_PAUSE_SECONDS)
        child.due = time.monotonic() + child.pause
        why = words.removeprefix(_STARTED).decode() or (f"signal {-code}" if code < 0 else f"exit code {code}")
        logger().error("a process of the service ended; it is started again", process=child.name, why=why)


def _words(child: _Child) -> bytes:
    """What a child that has ended wrote of its start."""
    with os.fdopen(child.words, "rb") as words:
        return words.read()


def _become(child: _Child, parent: int, reports: int) -> None:
    """The new process: runs the child's main function, and never returns."""
    code = 1
    try:
        for number in (*_ENDING, signal.SIGCHLD, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all of the terminal: the parent passes it on
        signal.set_wakeup_fd(-1)
        end_with(parent)
        child.main(lambda: _report(reports, _STARTED))
        code = 0
    except CommandError as error:
        _report(reports, str(error).encode())
        code = _CANNOT_START
    except BaseException:  # noqa: BLE001 - nothing of the parent's own code may run in the child
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _report(reports: int, words: bytes) -> None:
    os.write(reports, words)


def _end(running: list[_Child], signals: list[int]) -> None:
    """Ends all children and waits for them; a second signal ends them at once, and so does the end of their time."""
    late = time.monotonic() + END_SECONDS
    for child in running:
        _send(child, signal.SIGTERM)
    for child in running:
        while child.pid:
            if any(number in _ENDING for number in signals) or time.monotonic() > late:
                signals.clear()
                for one in running:
                    _send(one, signal.SIGKILL)
            pid, _ = os.waitpid(child.pid, os.WNOHANG)
            if pid:
                child.pid = 0
                os.close(child.words)
            else:
                time.sleep(0.02)


def freeze() -> None:
    """Takes what is imported out of the garbage collection, so that no child copies it to count its references.

    That includes the rules and the API: a front that loads rules for the first list of findings lets all its readers
    wait meanwhile, and so does a judge that makes the API for the first question.
    """
    rules()
    shared_api()
    gc.collect()
    gc.freeze()


def _send(child: _Child, number: int) -> None:
    if child.pid:
        os.kill(child.pid, number)


# ----------------------------------------------------------------------------------------------------------------------
# The service as a whole: opens what its processes share, and runs them until a signal.

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
