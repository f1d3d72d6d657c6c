"""Pollers and judges on a bus: how soon the devices of a killed poller are read again, how soon a standby follows a
killed judge, and what a killed bus costs.

    python -m benchmarks.fleet.bus [--hosts 300] [--kills 20] [--write PAGE]

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
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

from benchmarks.fleet.alone import enter_namespace, write
from benchmarks.fleet.answers import shape_of
from benchmarks.fleet.load import HTTP_PORT, get, resident_mb, running, until_read
from benchmarks.fleet.site import make

_BUS = "nats://127.0.0.1:4222"
_SETTLE_SECONDS, _ENOUGH_SECONDS, _STEP_SECONDS = 20.0, 120.0, 0.1
SWAPS = 3
"""Pairs of swapped cables: what a judge that takes over must find again, with the same ids and begins."""
_OF_COUNTERS = ("ECN", "INC", "LBL", "PFC", "RAL", "LNK")
"""Rules of counters, whose findings come and go with traffic."""
_SHARE = re.compile(r"devices=(\d+)")


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs it and prints the section."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=300)
    parser.add_argument("--kills", type=int, default=20, help="of pollers, and as many of judges")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args(arguments)
    enter_namespace("benchmarks.fleet.bus", arguments)
    text = measured(options.hosts, options.kills)
    write(text, options.write, "bus", "Pollers on a bus, measured")


def measured(hosts: int, kills: int) -> str:
    """One run, of a fleet of its own."""
    with tempfile.TemporaryDirectory(prefix="truerail-bus-") as name, ExitStack() as stack:
        folder = Path(name)
        make(folder, shape_of(hosts), HTTP_PORT, 10.0, swaps=SWAPS)
        settings = folder / "truerail.yaml"
        settings.write_text(settings.read_text().replace("level: warning", "level: info"))
        (folder / "nats.conf").write_text(f'host: 127.0.0.1\nport: 4222\njetstream {{store_dir: "{name}/store"}}\n')
        server = ["nats-server", "-c", f"{name}/nats.conf", "-l", f"{name}/nats.log"]
        role = [sys.executable, "-m", "truerail", "serve", "--bus", _BUS, "--role"]
        config = ["--config", str(settings)]
        stack.enter_context(running([sys.executable, "-m", "benchmarks.fleet.server", name], folder / "devices.log", 1))
        (bus,) = stack.enter_context(running(server, folder / "bus.log", 1))
        time.sleep(3)
        began = time.monotonic()
        (stays,) = stack.enter_context(running([*role, "poller", *config, "--name", "stays"], folder / "stays.log", 1))
        judges = [Judge(stack, role, folder, "serve", HTTP_PORT)]
        until_read(hosts, folder)
        first = time.monotonic() - began
        found: list[tuple[float, float]] = []
        for number in range(kills):
            log = folder / f"killed-{number}.log"
            (victim,) = stack.enter_context(running([*role, "poller", *config, "--name", f"killed-{number}"], log, 1))
            _until(partial(_has_share, log))
            time.sleep(_SETTLE_SECONDS)
            found.append(_killed(victim, folder / "stays.log"))
        memory = resident_mb(stays), resident_mb(bus)
        judges.append(Judge(stack, role, folder, "second", HTTP_PORT + 1))
        followed = [_followed(judges) for _ in range(kills)]
        judges[1].end()
        _until(lambda: judges[0].leads)
        os.kill(bus, signal.SIGKILL)
        time.sleep(10)
        number = get("fabric")["number"]
        stack.enter_context(running(server, folder / "bus.log", 1))
        back = _until(lambda: get("fabric")["number"] > number + 1)
        last = get("fabric")
        stands = Counter(one["rule"] for one in get("findings?limit=1000")["items"])
        right = f"{last['cables']['right']:,} of {last['cables']['planned']:,} cables right"
        right += f"; findings: {', '.join(f'{count} {rule}' for rule, count in sorted(stands.items()))}"
        return _section(hosts, last["switches"], first, found, followed, back, memory, right)


class Judge:
    """A service with the role of a judge, on a port of its own; all have one journal."""

    def __init__(self, stack: ExitStack, role: Sequence[str], folder: Path, name: str, port: int) -> None:
        settings = (folder / "truerail.yaml").read_text().replace(str(HTTP_PORT), str(port))
        (folder / f"{name}.yaml").write_text(f"{settings}journal: {{url: 'sqlite:///{folder}/journal.db'}}\n")
        self._command = [*role, "judge", "--config", str(folder / f"{name}.yaml")]
        self._stack, self._log, self.port = stack, folder / f"{name}.log", port
        self.begin()

    def begin(self) -> None:
        """Starts it."""
        (self.pid,) = self._stack.enter_context(running(self._command, self._log, 1))

    def end(self) -> None:
        """Ends it at once, with its children, which watch it."""
        os.kill(self.pid, signal.SIGKILL)

    @property
    def leads(self) -> bool:
        """Whether it has the lease, and an evaluation."""
        return self._ready() == 200

    @property
    def stands_by(self) -> bool:
        """Whether it answers, and does not lead."""
        return self._ready() == 503

    def _ready(self) -> int:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status
        except OSError:
            return 0
        finally:
            connection.close()


def _followed(judges: list[Judge]) -> tuple[float, float, bool]:
    """Seconds from the end of the judge that leads until the other one does, and until its second evaluation; whether
    that has the same states of cables, findings and causes of cabling. The one that was killed is started again.
    """
    _until(lambda: sorted((one.leads, one.stands_by) for one in judges) == [(False, True), (True, False)])
    leader, other = judges if judges[0].leads else judges[::-1]
    before = _judged(leader)
    leader.end()
    led = _until(lambda: other.leads)
    number = get("fabric", other.port)["number"]
    evaluated = led + _until(lambda: get("fabric", other.port)["number"] > number)
    same = _judged(other) == before
    leader.begin()
    return led, evaluated, same


def _judged(judge: Judge) -> tuple[object, ...]:
    """States of all cables, and id and begin of each finding and cause of cabling."""
    cables = get("fabric", judge.port)["cables"]
    if cables["planned"] - cables["right"] != 2 * SWAPS:
        raise AssertionError(f"{SWAPS} pairs of cables are swapped, and the judge reports {cables}")
    findings = [one for one in get("findings", judge.port)["items"] if not one["rule"].startswith(_OF_COUNTERS)]
    causes = [one for one in get("causes", judge.port)["items"] if one["kind"] == "cable-swap"]
    return cables, sorted((one["id"], one["since"]) for one in findings), sorted(one["key"] for one in causes)


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
    followed: list[tuple[float, float, bool]],
    back: float,
    memory: tuple[float, float],
    right: str,
) -> str:
    shared, evaluated = ([one[at] for one in found] for at in (0, 1))
    typical, worst = statistics.median(shared), max(shared)
    led, second = ([one[at] for one in followed] for at in (0, 1))
    same = sum(one[2] for one in followed)
    lines = [
        f"## {hosts:,} hosts and {switches:,} switches over a bus",
        "",
        f"{os.cpu_count()} cores, shared by devices, bus, pollers and judge; counters every 10 s. At the end {right}.",
        f"{SWAPS} pairs of cables are swapped. The fleet repeats one minute of traffic for ever, so that pauses",
        "and marks of a busy minute do not end there (PFC002, ECN001).",
        "",
        "| what | measured |",
        "|---|---:|",
        f"| start of a poller and a judge to all hosts read | {first:.0f} s |",
        f"| a poller killed, until the other asks all: median, worst of {len(found)} | {typical:.1f}, {worst:.1f} s |",
        f"| the same, to the next evaluation | {statistics.median(evaluated):.1f}, {max(evaluated):.1f} s |",
        f"| a judge killed, until the other leads: median, worst | {statistics.median(led):.1f}, {max(led):.1f} s |",
        f"| the same, to its second evaluation | {statistics.median(second):.1f}, {max(second):.1f} s |",
        f"| of these, with the same states of cables, findings and causes of cabling | {same} of {len(led)} |",
        f"| bus killed for 10 s: from its start to the second evaluation | {back:.1f} s |",
        f"| memory of the poller that asks all, of the bus | {memory[0]:.0f}, {memory[1]:.0f} MB |",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
