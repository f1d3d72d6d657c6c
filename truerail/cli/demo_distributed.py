"""`truerail demo --distributed`: two pollers, two judges and two fronts on one machine, over a real bus; one of each is
killed while the user watches.
"""

import asyncio
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

from truerail.cli import terminal_output
from truerail.cli.demo_folder import kept_for_one, too_few
from truerail.cli.demo_live import demo_settings, needs_free
from truerail.cli.demo_roles import Roles
from truerail.cli.demo_stage import Stage
from truerail.errors import CommandError, NoRoomError, TruerailError
from truerail.model.orphans import end_with, wait_for_orphans
from truerail.simulator import Fault
from truerail.simulator.live import living_fabric
from truerail.simulator.live.fabric_socket import asked
from truerail.simulator.traffic import FlowFault

# ----------------------------------------------------------------------------------------------------------------------
# Processes of `truerail demo --distributed`: each one is a group that can be killed as a machine would end.

END_SECONDS = 10.0


@dataclass
class Part:
    """One role with its name; `log` is the file of what it writes."""

    name: str
    main: Callable[[], None]
    log: Path
    pid: int = 0

    def start(self) -> None:
        """Starts it, in a process group of its own."""
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            self._become(parent)
        with suppress(OSError):  # it may have done so itself
            os.setpgid(self.pid, self.pid)

    def kill(self) -> None:
        """Ends the whole group by signal 9, and waits for it."""
        if self.pid:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            with suppress(ChildProcessError):  # until none is left: a port is free when its last process has ended
                while True:
                    os.waitpid(-self.pid, 0)
            self.pid = 0

    def end(self) -> None:
        """Asks it to end; one that does not is killed."""
        if not self.pid:
            return
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)
        ends = time.monotonic() + END_SECONDS
        while time.monotonic() < ends:
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                self.pid = 0
                return
            time.sleep(0.05)
        self.kill()

    @property
    def ended(self) -> bool:
        """Whether it has ended by itself, since this was asked last."""
        if not self.pid or not os.waitpid(self.pid, os.WNOHANG)[0]:
            return False
        self.pid = 0
        return True

    def _become(self, parent: int) -> None:
        """The new process: runs `main`, and never returns."""
        code = 1
        try:
            os.setpgid(0, 0)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            end_with(parent)
            log = os.open(self.log, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
            os.dup2(log, sys.stdout.fileno())
            os.dup2(log, sys.stderr.fileno())
            self.main()
            code = 0
        except TruerailError as error:
            sys.stderr.write(f"{error}\n")
        except BaseException:  # noqa: BLE001 - nothing of the parent's own code may run in the child
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)


# ----------------------------------------------------------------------------------------------------------------------
# The whole: one of each part is ended and begins again.

NATS = "nats-server"
BEGIN_SECONDS = 120.0
"""In which a part must do what is waited for."""
_LOOK_SECONDS, _ANSWER_SECONDS = 0.1, 5.0


def serve_distributed(
    hosts: int, rails: int, wanted: Sequence[Fault], traffic: Sequence[FlowFault], seed: int, output: Path,
    *, host: str, port: int, quiet: bool, pause_seconds: float,
) -> None:  # fmt: skip
    """Runs until Ctrl-C. Raises CommandError for errors that the user has to fix."""
    if shutil.which(NATS) is None:
        raise CommandError(
            f"--distributed needs {NATS} 2.9 or newer, and finds none in PATH: apt install nats-server, "
            "or https://nats.io/download"
        )
    try:
        fabric = living_fabric(hosts, rails, wanted, seed, troubles=traffic)
    except NoRoomError as error:
        raise too_few(hosts, rails, error) from error
    ports = [port, port + 1] if port else _free_ports(host, 2)
    for one in ports:
        needs_free(host, one)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with kept_for_one(output), tempfile.TemporaryDirectory(prefix="truerail-demo-") as folder:
        settings = demo_settings(output, host, port).model_copy(update={"history": None})
        try:
            with _bus(Path(folder), output) as bus:
                roles = Roles(fabric, settings, bus, Path(folder) / "fabric")
                stage = Stage(fabric, hosts, rails, quiet=quiet)
                with Show(roles, stage, host, ports, output, pause_seconds) as show:
                    show.run()
        except KeyboardInterrupt:
            terminal_output.say(f"\nStopped. The logs of all parts are in {output}.")


class Show:
    """The parts, and what happens to them."""

    def __init__(
        self, roles: Roles, stage: Stage, host: str, ports: Sequence[int], output: Path, pause_seconds: float
    ) -> None:
        self._socket, self._pause = roles.socket, pause_seconds
        self._fronts = [f"http://{f'[{host}]' if ':' in host else host}:{port}/" for port in ports]
        judges = _free_ports(host, 2)
        self._judges = [f"http://{f'[{host}]' if ':' in host else host}:{port}/" for port in judges]
        mains: dict[str, Callable[[], None]] = {"fabric": partial(roles.simulated_fabric, stage)}
        mains |= {f"poller-{n}": partial(roles.poller, f"poller-{n}") for n in (1, 2)}
        mains |= {f"judge-{n}": partial(roles.judge, f"judge-{n}", judges[n - 1]) for n in (1, 2)}
        mains |= {f"front-{n}": partial(roles.front, ports[n - 1]) for n in (1, 2)}
        self._parts = {name: Part(name, main, output / f"{name}.log") for name, main in mains.items()}
        self._parts["fabric"].log = Path("/dev/stdout")
        self._output, self._devices = output, len(roles.fabric.targets)
        self._bus = roles.bus

    def __enter__(self) -> "Show":
        wait_for_orphans()
        return self

    def __exit__(self, *_: object) -> None:
        for part in reversed(self._parts.values()):
            part.end()

    def run(self) -> None:
        """Starts all parts, kills one of each, and then lasts until a signal. Raises CommandError."""
        for part in self._parts.values():
            part.start()
        for number, url in enumerate(self._fronts, 1):
            self._until(lambda url=url: _ready(url), f"front-{number} has a view")  # type: ignore[misc]  # bound now
        terminal_output.say(self._greeting())
        for act in (self._kill_poller, self._kill_judge, self._kill_front):
            time.sleep(self._pause)
            act()
        terminal_output.say("All parts run again. The page goes on; Ctrl-C stops it.")
        while True:
            time.sleep(1.0)
            self._notice_ended()

    # --- acts ---------------------------------------------------------------------------------------------------------

    def _kill_poller(self) -> None:
        began = self._kill("poller-1", "poller-2 takes over its devices when it is silent for 9 s")
        self._until(lambda: self._asked_by("poller-2", began) >= self._devices, "poller-2 asks all devices")
        self._say(True, f"poller-2 has asked all {self._devices} devices, {_since(began)} after that")
        self._again("poller-1")

    def _kill_judge(self) -> None:
        self._until(lambda: any(map(_ready, self._judges)), "a judge leads")
        leads = 1 if _ready(self._judges[0]) else 2
        front = self._fronts[0]
        number = _number(front)
        began = self._kill(f"judge-{leads}", "the other one leads when the lease has expired, after 9 s")
        # numbers of evaluations go on: a later one by two cannot be of the former judge, which had one in the making
        self._until(
            lambda: _ready(self._judges[2 - leads]) and _number(front) > number + 1, "the other judge evaluates"
        )
        self._say(True, f"judge-{3 - leads} leads, and front-1 shows its evaluation, {_since(began)} after that")
        self._again(f"judge-{leads}")

    def _kill_front(self) -> None:
        began = self._kill("front-1", "front-2 serves the same")
        self._until(lambda: _ready(self._fronts[1]), "front-2 answers")
        self._say(True, f"front-2 answers, {_since(began)} after that: {self._fronts[1]}")
        began = self._again("front-1")
        self._until(lambda: _ready(self._fronts[0]), "front-1 has a view")
        self._say(True, f"front-1 has the whole view again, {_since(began)} after its start")

    # --- parts --------------------------------------------------------------------------------------------------------

    def _kill(self, name: str, follows: str) -> float:
        """Kills a part. Returns the time."""
        self._parts[name].kill()
        self._say(False, f"{name} is killed (signal 9): {follows}")
        return time.monotonic()

    def _again(self, name: str) -> float:
        self._parts[name].start()
        self._say(True, f"{name} is started again")
        return time.monotonic()

    def _until(self, true: Callable[[], bool], what: str) -> None:
        """Waits until something is true. Raises CommandError where it does not come true, or a part ends."""
        ends = time.monotonic() + BEGIN_SECONDS
        while not true():
            self._notice_ended()
            if time.monotonic() > ends:
                raise CommandError(f"not within {BEGIN_SECONDS:.0f} s: {what}. The logs are in {self._output}")
            time.sleep(_LOOK_SECONDS)

    def _notice_ended(self) -> None:
        """Raises CommandError if a part has ended by itself."""
        for part in self._parts.values():
            if part.ended:
                raise CommandError(f"{part.name} has ended: {part.log} says why")

    def _asked_by(self, poller: str, since: float) -> int:
        try:
            found = asyncio.run(asked(self._socket, {"since": since}))
        except (OSError, ValueError):
            return 0
        return int(found["asked"].get(poller, 0))

    def _say(self, well: bool, words: str) -> None:
        mark = ("+" if well else "x") if terminal_output.ascii_only() else ("✓" if well else "✗")
        terminal_output.say(f"  {datetime.now().astimezone():%H:%M:%S}  {mark} {words}")

    def _greeting(self) -> str:
        judges = "  ".join(self._judges)
        return "\n".join((
            f"A simulated fabric of {self._devices} devices, and truerail as on several machines.",
            "",
            *(f"  Open {url}   front-{number}" for number, url in enumerate(self._fronts, 1)),
            "",
            f"  bus     {self._bus}",
            "  pollers poller-1, poller-2: each asks its share of the devices",
            f"  judges  judge-1, judge-2: one leads, the other stands by; their own pages: {judges}",
            f"  logs    {self._output}",
            "",
            f"One of each is killed now, {self._pause:g} s apart; the page goes on. Ctrl-C stops it.",
            "",
        ))  # fmt: skip


@contextmanager
def _bus(folder: Path, output: Path) -> Iterator[str]:
    """A nats-server on loopback, its store in a folder. Gives its address. Raises CommandError."""
    (port,) = _free_ports("127.0.0.1", 1)
    command = [NATS, "-a", "127.0.0.1", "-p", str(port), "-js", "-sd", str(folder / "bus")]
    server = Part("bus", partial(os.execvp, NATS, command), output / "bus.log")
    server.start()
    try:
        ends = time.monotonic() + BEGIN_SECONDS
        while not _listens(port):
            if server.ended or time.monotonic() > ends:
                raise CommandError(f"{NATS} does not start: {server.log} says why")
            time.sleep(_LOOK_SECONDS)
        yield f"nats://127.0.0.1:{port}"
    finally:
        server.end()


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1.0).close()
    except OSError:
        return False
    return True


def _free_ports(host: str, count: int) -> list[int]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    taken = [socket.create_server((host, 0), family=family) for _ in range(count)]
    ports = [int(one.getsockname()[1]) for one in taken]
    for one in taken:
        one.close()
    return ports


def _ready(url: str) -> bool:
    return _got(url, "/readyz")[0] == HTTPStatus.OK


def _number(url: str) -> int:
    """The number of the evaluation that a front shows; 0 while it does not answer."""
    status, body = _got(url, "/api/v1/fabric")
    return int(json.loads(body)["number"]) if status == HTTPStatus.OK else 0


def _got(url: str, path: str) -> tuple[int, bytes]:
    """Status and body; status 0 where nothing answers."""
    at = urlsplit(url)
    connection = HTTPConnection(at.hostname or "", at.port, timeout=_ANSWER_SECONDS)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, HTTPException):
        return 0, b""
    finally:
        connection.close()


def _since(began: float) -> str:
    return f"{time.monotonic() - began:.1f} s"
