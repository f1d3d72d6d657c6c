"""`truerail demo` as a process of its own, for tests that need a whole service with a fabric behind it."""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

BEGIN_SECONDS = 60.0
_TRUERAIL = (
    "from truerail import extras; from truerail.cli import demo_live, main; from truerail.roles import service;"
    "installed, left_out = extras.installed, {!r}; extras.installed = lambda one: one != left_out and installed(one);"
    "service.NICE = 0; demo_live.ROUND_SECONDS = {}; main()"
)
"""On a busy machine a nice judge would wait for whatever else is tested. One that keeps a history imports pandas: that
takes a second of a processor.
"""


@contextmanager
def running(
    folder: Path, *words: str, round_seconds: int = 5, history: bool = False
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A demo and its address, once it has said where it can be opened. Killed at the end, if it still runs."""
    started = [sys.executable, "-c", _TRUERAIL.format("" if history else "history", round_seconds)]
    command = [*started, "demo", "--output", str(folder), "--port", "0", *words]
    with (
        TemporaryDirectory(ignore_cleanup_errors=True) as left,  # by a service that is killed
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "TMPDIR": left},
        ) as process,
    ):  # fmt: skip
        try:
            assert process.stdout
            lines = iter(process.stdout.readline, "")
            url = next((line.split()[1] for line in lines if line.startswith("  Open ")), "")
            assert url, (process.communicate(), logs(folder))
            yield process, url
        finally:
            process.kill()


def logs(folder: Path) -> dict[str, str]:
    """What the parts of a demo wrote, by the name of the file."""
    return {file.name: file.read_text() for file in sorted(folder.glob("*.log"))}


def get(url: str) -> tuple[int, str]:
    """Status and body of an answer; no body where the status is an error."""
    try:
        with urllib.request.urlopen(url, timeout=BEGIN_SECONDS) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, ""


def ready(url: str) -> bool:
    """Whether the first evaluation was there in time."""
    ends = time.monotonic() + BEGIN_SECONDS
    while time.monotonic() < ends:
        if get(f"{url}readyz")[0] == 200:
            return True
        time.sleep(0.1)
    return False
