"""Pollers and judge on a bus: how soon the devices of a killed poller, and those behind a killed bus, are read again.

    python -m benchmarks.fleet.bus [--hosts 300] [--kills 3] [--write PAGE]

Needs root and nats-server: it runs in a network namespace of its own, which has nothing but the loopback.
"""

import argparse
import os
import re
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from benchmarks.fleet.answers import shape_of
from benchmarks.fleet.load import HTTP_PORT, get, resident_mb, running, until_read
from benchmarks.fleet.site import make
from benchmarks.sections import Section

_INSIDE, _BUS = "TRUERAIL_BENCH_NAMESPACE", "nats://127.0.0.1:4222"
_SETTLE_SECONDS, _ENOUGH_SECONDS, _STEP_SECONDS = 20.0, 120.0, 0.1
_SHARE = re.compile(r"devices=(\d+)")


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs it and prints the section."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=300)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args(arguments)
    if not os.environ.get(_INSIDE):
        again = [sys.executable, "-m", "benchmarks.fleet.bus", *(arguments if arguments is not None else sys.argv[1:])]
        limits = 'ip link set lo up && ulimit -n "$(ulimit -Hn)" && exec "$@"'
        os.environ[_INSIDE] = "1"
        os.execvp("unshare", ["unshare", "--net", "sh", "-c", limits, "sh", *again])  # noqa: S606, S607 - util-linux
    text = measured(options.hosts, options.kills)
    if options.write:
        at = Section("bus")
        page = options.write.read_text() if options.write.exists() else "# Pollers on a bus, measured\n"
        options.write.write_text(at.placed(page, at.marked(text)))
    sys.stdout.write(text)


def measured(hosts: int, kills: int) -> str:
    """One run, of a fleet of its own."""
    with tempfile.TemporaryDirectory(prefix="truerail-bus-") as name, ExitStack() as stack:
        folder = Path(name)
        make(folder, shape_of(hosts), HTTP_PORT, 10.0)
        settings = folder / "truerail.yaml"
        settings.write_text(settings.read_text().replace("level: warning", "level: info"))
        (folder / "nats.conf").write_text(f'host: 127.0.0.1\nport: 4222\njetstream {{store_dir: "{name}/store"}}\n')
        server = ["nats-server", "-c", f"{name}/nats.conf", "-l", f"{name}/nats.log"]
        role = [sys.executable, "-m", "truerail", "serve", "--config", str(settings), "--bus", _BUS, "--role"]
        stack.enter_context(running([sys.executable, "-m", "benchmarks.fleet.server", name], folder / "devices.log", 1))
        (bus,) = stack.enter_context(running(server, folder / "bus.log", 1))
        time.sleep(3)
        began = time.monotonic()
        (stays,) = stack.enter_context(running([*role, "poller", "--name", "stays"], folder / "stays.log", 1))
        stack.enter_context(running([*role, "judge"], folder / "serve.log", 1))
        until_read(hosts, folder)
        first = time.monotonic() - began
        found: list[tuple[float, float]] = []
        for number in range(kills):
            log = folder / f"killed-{number}.log"
            (victim,) = stack.enter_context(running([*role, "poller", "--name", f"killed-{number}"], log, 1))
            _until(partial(_has_share, log))
            time.sleep(_SETTLE_SECONDS)
            found.append(_killed(victim, folder / "stays.log"))
        memory = resident_mb(stays), resident_mb(bus)
        os.kill(bus, signal.SIGKILL)
        time.sleep(10)
        number = get("fabric")["number"]
        stack.enter_context(running(server, folder / "bus.log", 1))
        back = _until(lambda: get("fabric")["number"] > number + 1)
        last = get("fabric")
        right = f"{last['cables']['right']:,} of {last['cables']['planned']:,} cables right"
        return _section(hosts, last["switches"], first, found, back, memory, right)


def _has_share(log: Path) -> bool:
    return bool(_SHARE.search(log.read_text()))


def _killed(victim: int, log: Path) -> tuple[float, float]:
    """Seconds until the other poller has all devices, and until the next evaluation."""
    before = len(_SHARE.findall(log.read_text()))
    os.kill(victim, signal.SIGKILL)
    shared = _until(lambda: len(_SHARE.findall(log.read_text())) > before)
    number = get("fabric")["number"]
    return shared, shared + _until(lambda: get("fabric")["number"] > number)


def _until(true: Callable[[], bool]) -> float:
    """The seconds until something is true. Raises TimeoutError."""
    began = time.monotonic()
    while not true():
        if time.monotonic() - began > _ENOUGH_SECONDS:
            raise TimeoutError(f"it did not come true within {_ENOUGH_SECONDS:.0f} s")
        time.sleep(_STEP_SECONDS)
    return time.monotonic() - began


def _section(
    hosts: int,
    switches: int,
    first: float,
    found: list[tuple[float, float]],
    back: float,
    memory: tuple[float, float],
    right: str,
) -> str:
    shared, evaluated = ([one[at] for one in found] for at in (0, 1))
    typical, worst = statistics.median(shared), max(shared)
    lines = [
        f"## {hosts:,} hosts and {switches:,} switches over a bus",
        "",
        f"{os.cpu_count()} cores, shared by devices, bus, pollers and judge; counters every 10 s. At the end {right}.",
        "",
        "| what | measured |",
        "|---|---:|",
        f"| start of a poller and a judge to all hosts read | {first:.0f} s |",
        f"| a poller killed, until the other asks all: median, worst of {len(found)} | {typical:.1f}, {worst:.1f} s |",
        f"| the same, to the next evaluation | {statistics.median(evaluated):.1f}, {max(evaluated):.1f} s |",
        f"| bus killed for 10 s: from its start to the second evaluation | {back:.1f} s |",
        f"| memory of the poller that asks all, of the bus | {memory[0]:.0f}, {memory[1]:.0f} MB |",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
