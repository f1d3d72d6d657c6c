"""The whole service under load: sessions, readers, judge, journal and page together, for as long as is wanted.

    python -m benchmarks.fleet.load [--hosts 2000] [--counters 10] [--minutes 60] [--pollers 2] [--write PAGE]
    python -m benchmarks.fleet.load --hosts 64 --minutes 5 --before OTHER_TREE [--write PAGE]
    python -m benchmarks.fleet.load --hosts 12500 --counters 60 --plain --servers 2 --site FOLDER [--write PAGE]

Needs root: it runs in a network namespace of its own, which has nothing but the loopback. The devices are SSH servers
on the same machine, whose processor time is measured apart. Reports missed rounds, processor time and memory of each
process, and how long a reader of the page waited, one question a second. With `--plain` they are asked with the same
scripts by plain TCP, so that cryptography takes no processor time. `--site`: the devices' answers stay in this folder,
and another run takes less time to begin.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, build_opener

from benchmarks.fleet.alone import enter_namespace, write
from benchmarks.fleet.answers import shape_of
from benchmarks.fleet.server import DEVICES
from benchmarks.fleet.site import devices, settings

HTTP_PORT = 8777
SETTLE_SECONDS = 120.0
"""All logins and first answers, and two rounds of counters: not part of what is measured."""
SAMPLE_SECONDS = 5.0
_TICK = os.sysconf("SC_CLK_TCK")
_ask = build_opener(ProxyHandler({}))
Answer = dict[str, Any]


@dataclass(slots=True)
class Role:
    """The processes of one kind."""

    cpu_seconds: float = 0.0
    peak_mb: float = 0.0


@dataclass(slots=True)
class Load:
    """What one run measured."""

    hosts: int
    switches: int
    counters_seconds: float
    minutes: float
    roles: dict[str, Role]
    waits_ms: list[float]
    failed: int
    collectors: list[tuple[str, int, int, int]]
    """Name, rounds, missed rounds and failures while it was measured."""
    findings: int
    cables: tuple[int, int]
    """Right and planned at the end."""
    evaluations: int
    first_answer_seconds: float
    """From the start of the service until all hosts were read."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs it and prints the section."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=2000)
    parser.add_argument("--counters", type=float, default=10.0, help="seconds between two readings of counters")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--pollers", default="2")
    parser.add_argument("--servers", type=int, default=1, help="processes that are devices")
    parser.add_argument("--plain", action="store_true", help="devices that are asked without SSH")
    parser.add_argument("--site", type=Path, help="where the devices' answers are, or are made if it is not there yet")
    parser.add_argument("--before", type=Path, help="checkout of another version")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args(arguments)
    enter_namespace("benchmarks.fleet.load", arguments)
    program = "benchmarks.fleet.plain" if options.plain else "truerail"
    serve = [sys.executable, "-m", program, "serve"]
    if options.before:
        serve = ["env", "-C", str(options.before), f"PYTHONPATH={options.before}", *serve]
    else:
        serve += ["--pollers", options.pollers]
    text = section(measured(options, serve), options)
    name = f"fleet-{options.hosts}{'-before' if options.before else ''}"
    write(text, options.write, name, "The whole service under load")


def measured(options: argparse.Namespace, serve: list[str]) -> Load:
    """One run; `serve` is the command of the service, without its settings."""
    with tempfile.TemporaryDirectory(prefix="truerail-fleet-") as name:
        folder = Path(name)
        site = options.site.absolute() if options.site else folder
        if not (site / DEVICES).exists():
            site.mkdir(exist_ok=True)
            devices(site, shape_of(options.hosts))
        settings(site, folder, HTTP_PORT, options.counters)
        device = [sys.executable, "-m", "benchmarks.fleet.server", str(site), *(["plain"] if options.plain else [])]
        service = [*serve, "--config", f"{name}/truerail.yaml"]
        with running(device, folder / "devices.log", options.servers) as servers:
            time.sleep(3)
            with running(service, folder / "serve.log", 1) as (parent,):
                return _watch(parent, servers, options, folder)


@contextmanager
def running(command: list[str], log: Path, times: int) -> Iterator[list[int]]:
    """So many processes of a command, ended afterwards."""
    with log.open("wb") as file:
        processes = [subprocess.Popen(command, stdout=file, stderr=file) for _ in range(times)]  # noqa: S603 - our own
    try:
        yield [process.pid for process in processes]
    finally:
        for process in processes:
            process.send_signal(signal.SIGINT)
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(60)
            process.kill()


def _watch(service: int, devices: list[int], options: argparse.Namespace, folder: Path) -> Load:
    started, hosts, minutes = time.monotonic(), options.hosts, options.minutes
    until_read(hosts, folder)
    first_answer = time.monotonic() - started
    time.sleep(SETTLE_SECONDS)
    began, before = time.monotonic(), _cpu(service, devices)
    first = get("fabric")
    roles: dict[str, Role] = defaultdict(Role)
    waits, failed, sampled = list[float](), 0, 0.0
    while time.monotonic() < began + 60 * minutes:
        asked = time.monotonic()
        try:
            get(f"where?port=gpu-{1 + len(waits) % hosts:0{len(str(hosts))}}:gpu{len(waits) % 8}")
            waits.append(1000 * (time.monotonic() - asked))
        except OSError:
            failed += 1
        if asked - sampled >= SAMPLE_SECONDS:
            sampled = asked
            for role, pid in _processes(service, devices):
                roles[role].peak_mb = max(roles[role].peak_mb, resident_mb(pid))
        time.sleep(max(0.0, asked + 1 - time.monotonic()))
    passed = (time.monotonic() - began) / 60
    for (role, pid), seconds in _cpu(service, devices).items():
        roles[role].cpu_seconds += seconds - before.get((role, pid), 0.0)
    last = get("fabric")
    ran = {one["collector"]: one for one in first["collectors"]}
    collectors = [
        (one["collector"], *(one[key] - ran.get(one["collector"], {}).get(key, 0) for key in _COUNTED))
        for one in last["collectors"]
    ]
    return Load(
        hosts,
        last["switches"],
        options.counters,
        passed,
        dict(roles),
        waits,
        failed,
        collectors,
        sum(last["findings"].values()),
        (last["cables"]["right"], last["cables"]["planned"]),
        last["number"] - first["number"],
        first_answer,
    )


_COUNTED = ("rounds_total", "missed_total", "failures_total")


def until_read(hosts: int, folder: Path) -> None:
    """Waits until all hosts have answered. Raises RuntimeError after half an hour, with the end of the log."""
    ends = time.monotonic() + 1800
    while time.monotonic() < ends:
        with suppress(OSError):
            if get("fabric")["hosts_read"] == hosts:
                return
        time.sleep(1)
    raise RuntimeError(f"not all of {hosts} hosts were read: {(folder / 'serve.log').read_text()[-2000:]}")


def get(path: str, port: int = HTTP_PORT) -> Answer:
    """What the API answers."""
    with _ask.open(f"http://127.0.0.1:{port}/api/v1/{path}", timeout=60) as answer:
        found: Answer = json.load(answer)
        return found


# --- processes --------------------------------------------------------------------------------------------------------


def _processes(service: int, devices: list[int]) -> Iterator[tuple[str, int]]:
    """Each process with its role."""
    yield from (("devices (not truerail)", pid) for pid in devices)
    yield "parent", service
    for role, child in zip(("judge", "front"), _children(service), strict=False):  # as they were started
        yield role, child
        yield from (("pollers", pid) for pid in _children(child))


def _children(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def _cpu(service: int, devices: list[int]) -> dict[tuple[str, int], float]:
    found = {}
    for role, pid in _processes(service, devices):
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            found[role, pid] = (int(fields[11]) + int(fields[12])) / _TICK
    return found


def resident_mb(pid: int) -> float:
    """Memory of a process, with the pages that it shares with others."""
    with suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024
    return 0.0


# --- the page ---------------------------------------------------------------------------------------------------------


def section(load: Load, options: argparse.Namespace) -> str:
    """The run as Markdown."""
    which = ", the version before" if options.before else ""
    asked = "asked by plain TCP instead of SSH" if options.plain else "an SSH server"
    seconds = 60 * load.minutes
    waits = sorted(load.waits_ms)
    what = (
        f"{load.minutes:.0f} min on {os.cpu_count()} cores, which the devices shared: {load.hosts:,} hosts of 8 rails "
        f"and {load.switches:,} switches, each {asked} at an address of its own, read by the whole service. "
        f"All hosts were read {load.first_answer_seconds:.0f} s after the start. {load.evaluations:,} evaluations; "
        f"at the end {load.cables[0]:,} of {load.cables[1]:,} cables right, "
        f"{load.findings} findings on a fabric whose cabling is right. Its counters repeat one minute of traffic for "
        "ever: pauses of a busy minute do not end there (PFC002)."
    )
    waited = (
        f"`where` asked once a second: p50 {_share(waits, 0.5):.1f} ms, p99 {_share(waits, 0.99):.1f} ms, worst "
        f"{waits[-1] if waits else 0:.0f} ms; {load.failed} of {len(waits) + load.failed:,} failed."
    )
    lines = [
        f"## {load.hosts:,} hosts, counters every {load.counters_seconds:g} s{which}",
        "",
        what,
        "",
        "| process | cores used | peak memory, each |",
        "|---|---:|---:|",
        *(
            f"| {name} | {role.cpu_seconds / seconds:.2f} | {role.peak_mb:,.0f} MB |"
            for name, role in sorted(load.roles.items())
        ),
        "",
        "| collector | rounds | missed | failed answers |",
        "|---|---:|---:|---:|",
        *(
            f"| `{name}` | {rounds:,} | {missed:,} | {failures:,} |"
            for name, rounds, missed, failures in load.collectors
            if rounds or missed
        ),
        "",
        waited,
    ]
    return "\n".join(lines) + "\n"


def _share(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


if __name__ == "__main__":
    main()
