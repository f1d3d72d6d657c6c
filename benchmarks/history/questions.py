"""How long each ready-made question of the history takes over a month of a fabric.

    python -m benchmarks.history.questions [--write PAGE] [--store DIR] [--hosts 1000]

Every question is asked with its defaults at the end of the store: once as `truerail query` asks it, with the start of
its process, and once inside a process that runs already, which is what reading and computing take.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from pathlib import Path

from benchmarks.history.simulated_store import RAILS, write_store
from truerail.history.query.query_process import run
from truerail.history.query.query_request import Limits, QueryRequest
from truerail.history.query.run_query import run_query
from truerail.history.ready.ready_question import ReadyQuestion, ready_questions
from truerail.questions.moments import moment

END = datetime(2026, 11, 20, tzinfo=UTC)
DAYS = 30
MINUTES_DAYS = 7
ROWS = 100
NEEDED = {"rail": "3"}


def asked(question: ReadyQuestion, store: Path) -> QueryRequest:
    """The request of a question with its defaults, for a page of rows."""
    given = {one.name: NEEDED[one.name] for one in question.parameters if one.needed}
    limits = Limits(rows=ROWS)
    return question.request(str(store), given, lambda text: moment(text, END), limits=limits).page(0, ROWS)


def taken(act: Callable[[], object], repeats: int) -> tuple[float, float, float]:
    """Least processor seconds of this process, over all threads, and least and median seconds by the clock."""
    found = []
    for _ in range(repeats):
        began, cpu = time.perf_counter(), time.process_time()
        act()
        found.append((time.process_time() - cpu, time.perf_counter() - began))
    clock = [one for _, one in found]
    return min(found)[0], min(clock), statistics.median(clock)


def measured(store: Path, repeats: int) -> list[str]:
    """A row for each question."""
    rows = []
    for name, question in ready_questions().items():
        request = asked(question, store)
        report = run_query(request, BytesIO())
        whole = taken(partial(run_query, request, BytesIO()), repeats)
        inside = taken(partial(run, request, BytesIO()), repeats)
        times = " | ".join(f"{seconds:.2f}" for seconds in (*inside, *whole[1:]))
        rows.append(f"| `{name}` | {report.rows}{'+' if report.more else ''} | {times} |")
        sys.stderr.write(rows[-1] + "\n")
    return rows


def page(store: Path, hosts: int, repeats: int) -> str:
    """The whole page."""
    size = sum(path.stat().st_size for path in store.rglob("*.parquet")) / 1e9
    rows = "\n".join(measured(store, repeats))
    return (
        "# Questions of the history, as measured\n\n"
        f"`python -m benchmarks.history.questions` writes this page: {os.cpu_count()} cores, Python "
        f"{sys.version.split()[0]}, load average {os.getloadavg()[1]:.0f}\nwhile it ran. Absolute figures drift with "
        "the machine.\n\n"
        f"A simulated store of {hosts:,} hosts with {hosts * RAILS:,} NICs: hours and light of {DAYS} days of NICs "
        f"and of the leaves' ports,\nminutes of {MINUTES_DAYS} days of NICs. It has **{size:.1f} GB**. Each question "
        f"with its defaults, {repeats} times:\n*inside* in a process that runs already (CPU seconds of both cores), "
        "*whole* with the start of the\nprocess, as `truerail query` and the page ask it.\n\n"
        "| question | rows | inside, CPU s | least s | median s | whole, least s | median s |\n"
        "|---|---|---|---|---|---|---|\n"
        f"{rows}\n"
    )


def main() -> None:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page here")
    parser.add_argument("--store", type=Path, metavar="DIR", help="a store that is there already")
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = options.store or write_store(Path(folder) / "store", options.hosts, DAYS, MINUTES_DAYS, END).path
        text = page(store, options.hosts, options.repeats)
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
