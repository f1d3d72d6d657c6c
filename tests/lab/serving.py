"""The service in the lab's management network, and questions to whatever listens there."""

import ctypes
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from tests.real import give_up

from . import fabric
from .layout import Layout
from .system import LabError

PATIENCE_SECONDS = 120.0
_CLONE_NEWNET = 0x40000000
"""linux/sched.h"""
Answer = dict[str, Any]
T = TypeVar("T")


def inside(layout: Layout, *command: str) -> list[str]:
    """A command as it is run in the management network."""
    return ["ip", "netns", "exec", layout.management, *command]


def fetch(layout: Layout, url: str, body: object = None) -> str:
    """What a URL answers there, to a POST where there is a body. Raises `ConnectionError` where it does not."""
    with ThreadPoolExecutor(1, initializer=_enter, initargs=(layout.management,)) as thread:
        return thread.submit(_asked, url, body).result()


def _enter(namespace: str) -> None:
    """Moves this thread, and it alone, into a network namespace: setns(2). Python has it from 3.12 on."""
    with open(f"/run/netns/{namespace}", "rb") as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns to {namespace}")


def _asked(url: str, body: object) -> str:
    data = None if body is None else json.dumps(body).encode()
    asked = Request(url, data, {"Content-Type": "application/json"})
    try:
        with build_opener(ProxyHandler({})).open(asked, timeout=PATIENCE_SECONDS) as answer:
            return str(answer.read().decode())
    except HTTPError as error:
        raise ConnectionError(f"{url}: {error.code}: {error.read().decode()}") from error
    except OSError as error:
        raise ConnectionError(f"{url}: {error}") from error


def soon(asked: Callable[[], T], good: Callable[[T], object], otherwise: Callable[[], str] = str) -> T:
    """Asks until the answer is as wanted. Raises AssertionError with the last answer, and with what else is known."""
    ends, last = time.monotonic() + PATIENCE_SECONDS, "not asked"
    while time.monotonic() < ends:
        try:
            answer = asked()
            if good(answer):
                return answer
            last = str(answer)
        except ConnectionError as error:
            last = str(error)
        time.sleep(0.2)
    raise AssertionError(f"after {PATIENCE_SECONDS:.0f} s: {last}\n{otherwise()}")


class Service:
    """`truerail serve` with the `truerail.yaml` in the lab's folder."""

    def __init__(self, layout: Layout, port: int) -> None:
        self.layout = layout
        self.url = f"http://127.0.0.1:{port}"
        self._log = layout.folder / "serve.log"
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Starts it and waits for its first evaluation."""
        settings = str(self.layout.folder / "truerail.yaml")
        command = inside(self.layout, sys.executable, "-m", "truerail", "serve", "--config", settings)
        with self._log.open("a") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, text=True)
        self.until("fabric", lambda answer: answer["number"] > 0)

    def send(self, number: signal.Signals) -> None:
        """Sends it a signal."""
        if self._process:
            self._process.send_signal(number)

    def ended(self, number: signal.Signals) -> int:
        """Ends it by a signal. Gives its exit code."""
        self.send(number)
        return self._process.wait(timeout=PATIENCE_SECONDS) if self._process else 0

    def ask(self, path: str, body: object = None) -> Answer:
        """One question of the API, or with a body one POST."""
        found: Answer = json.loads(fetch(self.layout, f"{self.url}/api/v1/{path}", body))
        return found

    def until(self, path: str, good: Callable[[Answer], object]) -> Answer:
        """Asks the API until the answer is as wanted."""

        def asked() -> Answer:
            assert self._process is None or self._process.poll() is None, self.log
            return self.ask(path)

        return soon(asked, good, lambda: self.log)

    @property
    def log(self) -> str:
        """What it has said so far."""
        return self._log.read_text()


@contextmanager
def standing(layout: Layout, settings: str = "") -> Iterator[Layout]:
    """The lab, with a service's settings in its folder where there are some. Gives up where none can be had here."""
    try:
        started = fabric.running(layout)
        started.__enter__()
    except (LabError, subprocess.SubprocessError) as error:
        give_up(f"no lab here: {error}")
    if settings:
        (layout.folder / "truerail.yaml").write_text(settings)
    try:
        yield layout
    finally:
        started.__exit__(None, None, None)


@contextmanager
def serving(layout: Layout, port: int) -> Iterator[Service]:
    """The service until the block ends; it must end well then."""
    service = Service(layout, port)
    try:
        service.start()
        yield service
    finally:
        code = service.ended(signal.SIGTERM)
    assert code == 0, service.log
