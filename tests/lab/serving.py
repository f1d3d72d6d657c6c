"""The service in the lab's management network, and questions to whatever listens there."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing.context import ForkProcess
from typing import Any, TypeVar
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from tests.real import give_up

from . import fabric
from .commands import begin, end, enter
from .layout import Layout
from .system import LabError

PATIENCE_SECONDS = 120.0
Answer = dict[str, Any]
T = TypeVar("T")


def inside(layout: Layout, *command: str) -> list[str]:
    """A command as it is run in the management network."""
    return ["ip", "netns", "exec", layout.management, *command]


def fetch(layout: Layout, url: str, body: object = None) -> str:
    """What a URL answers there, to a POST where there is a body. Raises `ConnectionError` where it does not."""
    with ThreadPoolExecutor(1, initializer=enter, initargs=(layout.management,)) as thread:
        return thread.submit(_asked, url, body).result()


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
        self._process: ForkProcess | None = None

    def start(self) -> None:
        """Starts it and waits for its first evaluation."""
        settings = str(self.layout.folder / "truerail.yaml")
        with self._log.open("a") as log:
            self._process = begin(self.layout, log, log, "serve", "--config", settings)
        self.until("fabric", lambda answer: answer["number"] > 0)

    def send(self, number: signal.Signals) -> None:
        """Sends it a signal."""
        if self._process and self._process.pid:
            os.kill(self._process.pid, number)

    def ended(self, number: signal.Signals) -> int:
        """Ends it by a signal. Gives its exit code."""
        self.send(number)
        if process := self._process:
            self._process = None
            process.join(PATIENCE_SECONDS)
            return end(process)
        return 0

    def ask(self, path: str, body: object = None) -> Answer:
        """One question of the API, or with a body one POST."""
        found: Answer = json.loads(fetch(self.layout, f"{self.url}/api/v1/{path}", body))
        return found

    def until(self, path: str, good: Callable[[Answer], object]) -> Answer:
        """Asks the API, and polls all devices again, until the answer is as wanted."""

        def asked() -> Answer:
            assert self._process is None or self._process.is_alive(), self.log
            answer = self.ask(path)
            return answer if good(answer) else self.polled(path)

        return soon(asked, good, lambda: self.log)

    def polled(self, path: str) -> Answer:
        """What the API answers as soon as all devices were polled once more."""
        number = self.ask("fabric")["number"]
        self.ask("recheck", {"devices": ",".join(self.layout.devices)})
        soon(lambda: self.ask("fabric")["number"], lambda now: now > number, lambda: self.log)
        return self.ask(path)

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
