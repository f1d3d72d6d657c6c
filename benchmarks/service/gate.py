"""How long the gate of schedulers takes to answer, over HTTP, from the last evaluation.

    python -m benchmarks.service.gate [--write PAGE] [--hosts 2000] [--asked 10000]

The service is a process of its own on a simulated fabric with faults and running jobs. The gate is asked for one host
after the other, as prologs do: on one connection, on a new connection each, and by several at a time. It takes a
minute, and wants a machine on which nothing else runs. `--write` replaces one section of the page.
"""

import argparse
import http.client
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit

from rich.console import Console

from benchmarks.sections import Section

SECTION = Section("gate")
ASKED, WARM, AT_ONCE = 10_000, 200, 8
SHARES = ((0.5, "median"), (0.95, "p95"), (0.99, "p99"), (0.999, "p99.9"))
Row = tuple[str, list[float], float]
"""What was done, milliseconds of each answer, answers in a second."""


def serve(hosts: int, jobs: int) -> None:
    """The service, until its standard input ends: prints its address, then the fabric's hosts."""
    from benchmarks.speed.jobs import joined
    from tests.page_site import Site

    _, publication = joined(hosts, jobs)
    names = [name for name, device in publication.plan.devices.items() if device.role == "host"]
    with Site(publication) as site:
        sys.stdout.write(f"{site.url}\n{' '.join(names)}\n")
        sys.stdout.flush()
        sys.stdin.read()


@contextmanager
def service(hosts: int, jobs: int) -> Iterator[tuple[str, list[str]]]:
    """The service in a process of its own: its address, and the names of the hosts."""
    command = [sys.executable, "-m", "benchmarks.service.gate", "--serve", "--hosts", str(hosts), "--jobs", str(jobs)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own command
        assert process.stdin  # noqa: S101 - it is a pipe
        assert process.stdout  # noqa: S101 - as above
        yield urlsplit(process.stdout.readline().strip()).netloc, process.stdout.readline().split()
        process.stdin.close()


def measured(hosts: int, jobs: int, asked: int) -> list[Row]:
    """Each way to ask."""
    with service(hosts, jobs) as (address, names):
        kept = http.client.HTTPConnection(address)
        each = [names[number % len(names)] for number in range(asked)]
        for name in each[:WARM]:
            _ask(kept, name)
        rows = [_row("one connection", lambda: [_ask(kept, name) for name in each])]
        kept.close()
        rows.append(_row("a new connection each", lambda: [_once(address, name) for name in each[: asked // 2]]))
        with ThreadPoolExecutor(AT_ONCE) as pool:
            several = f"a new connection each, {AT_ONCE} at a time"
            rows.append(_row(several, lambda: [*pool.map(lambda name: _once(address, name), each[: asked // 2])]))
    return rows


def _row(name: str, work: Callable[[], list[float]]) -> Row:
    began = time.perf_counter()
    taken = sorted(work())
    return name, taken, len(taken) / (time.perf_counter() - began)


def _ask(connection: http.client.HTTPConnection, name: str) -> float:
    began = time.perf_counter()
    connection.request("GET", f"/api/v1/gate?nodes={quote(name)}")
    answer = connection.getresponse()
    answer.read()
    if answer.status not in (200, 409, 503):
        raise RuntimeError(f"the gate answers {answer.status}")
    return 1000 * (time.perf_counter() - began)


def _once(address: str, name: str) -> float:
    connection = http.client.HTTPConnection(address)
    try:
        return _ask(connection, name)
    finally:
        connection.close()


def section(hosts: int, jobs: int, rows: list[Row]) -> str:
    """The section of the page."""
    names = [name for _, name in SHARES]
    lines = (
        f"| {name} | {' | '.join(f'{taken[int(share * len(taken))]:,.1f}' for share, _ in SHARES)} | {rate:,.0f} |"
        for name, taken, rate in rows
    )
    text = (
        f"The gate over HTTP, answered from the last evaluation of {hosts:,} hosts with {jobs:,} jobs by a process of"
        f" its own: milliseconds of real time, {len(rows[0][1]):,} questions and half as many on new connections, on"
        f" {os.cpu_count()} cores that the questions use, too."
    )
    head = f"| asked on | {' | '.join(names)} | in a second |"
    return SECTION.marked("\n".join((text, "", head, f"|{'---|' * (len(names) + 2)}", *lines)))


def main() -> int:
    """Measures, prints, and writes the section of the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", type=Path)
    parser.add_argument("--hosts", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--asked", type=int, default=ASKED)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.hosts, options.jobs)
        return 0
    text = section(options.hosts, options.jobs, measured(options.hosts, options.jobs, options.asked))
    Console(soft_wrap=True).print(text, markup=False, highlight=False)
    if options.write:
        options.write.write_text(SECTION.placed(options.write.read_text(encoding="utf-8"), text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
