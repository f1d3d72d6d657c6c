"""What jobs cost: their join with causes, the question which jobs ran over something, and the log of a large one.

    python -m benchmarks.speed.jobs [--write PAGE] [--days 90] [--hosts 2000] [--jobs 1000]

Jobs take random hosts of a simulated fabric with faults. The journal is filled with 10,000 runs a day by what writes
them in the service. `benchmarks.service.gate` measures the gate on the same page.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from rich.console import Console

from benchmarks.service.gate import SECTION
from benchmarks.speed.job_logs import log_cost
from rules import rules
from truerail.analysis.explained import Explained
from truerail.analysis.published import EvaluatedRound, Published
from truerail.analysis.round import Round
from truerail.files.nodesets import fold
from truerail.journal.job_rows import write_jobs
from truerail.journal.store import Journal
from truerail.journal.types import digest
from truerail.model import CauseKind, Plan, Reading, SchedulerJob, Snapshot
from truerail.model.history import RowRange
from truerail.model.job_record import JobRecord
from truerail.questions.jobs import jobs, jobs_since
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, simulate
from truerail.views.cause_jobs import jobs_by_cause
from truerail.views.view import view_of

START = datetime(2026, 1, 1, tzinfo=UTC)
RUNS_A_DAY, HOSTS_A_JOB = 10_000, (1, 1, 1, 2, 4, 8, 16)
FAULTS = tuple(Fault(kind) for kind in (CauseKind.CABLE_SWAP, CauseKind.LINK_DOWN, CauseKind.CABLE_MOVE)) * 33
REPEATS = 5
AT_ONCE = 10_000


def cpu_ms(work: Callable[[], object], times: int = REPEATS) -> float:
    """The median processor time of some work, in milliseconds."""
    taken = []
    for _ in range(times):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return 1000 * median(taken)


def running(plan: Plan, number: int, rng: random.Random) -> tuple[SchedulerJob, ...]:
    """Jobs, each on random hosts."""
    hosts = [name for name, device in plan.devices.items() if device.role == "host"]
    drawn = (tuple(rng.sample(hosts, rng.choice(HOSTS_A_JOB))) for _ in range(number))
    return tuple(
        SchedulerJob(str(key), key, "train", "ann", "RUNNING", nodes, 8 * len(nodes), int(START.timestamp()))
        for key, nodes in enumerate(drawn)
    )


def joined(hosts: int, number: int) -> tuple[list[tuple[str, float]], Published]:
    """What each step costs for these jobs, in milliseconds of processor time."""
    simulation = simulate(Shape(hosts=hosts, rails=8, pods=max(1, hosts // 100), spines=4, uplinks=8), FAULTS, seed=1)
    seen = simulation.snapshot()
    reading = Reading("slurm", "slurm_jobs", seen.at, running(simulation.plan, number, random.Random(1)))  # noqa: S311 - reproducible is what is wanted, not secret
    snapshot = Snapshot(seen.at, [*seen.readings, reading])
    round = Round(simulation.plan, snapshot)
    evaluation = evaluate(round)
    before = tuple(one for one in evaluation.findings if not rules()[one.rule].after_causes)
    publication = Published(1, "bench", EvaluatedRound(round, evaluation))
    view = view_of(publication)
    jobs(publication, None)
    steps: list[tuple[str, Callable[[], object]]] = [
        ("records as jobs, on the plan's hosts", lambda: Round(simulation.plan, snapshot, cabled=round.cabling).jobs),
        ("JOB001", lambda: rules()["JOB001"].look(Explained(round, before, evaluation.causes))),
        ("JOB009", lambda: rules()["JOB009"].look(Explained(round, before, evaluation.causes))),
        ("the jobs of each cause", lambda: jobs_by_cause(view.evaluated)),
        ("`truerail jobs`", lambda: jobs(publication, None)),
    ]
    causes = len(evaluation.causes)
    found = [(f"{name} ({causes} causes)" if name == "JOB001" else name, cpu_ms(work)) for name, work in steps]
    return found, publication


def journal_of(folder: Path, plan: Plan, days: int) -> tuple[Journal, list[str]]:
    """A journal with the runs of so many days."""
    rng = random.Random(2)  # noqa: S311 - as above
    journal = Journal(f"sqlite:///{folder}/journal.db", None, timedelta(days=400), timedelta(days=35))
    hosts = [name for name, device in plan.devices.items() if device.role == "host"]
    journal.prepare()
    for day in range(days):
        runs = []
        for number in range(RUNS_A_DAY):
            begun = START + timedelta(days=day, seconds=rng.randrange(86400))
            key = str(day * RUNS_A_DAY + number)
            nodes = fold(rng.sample(hosts, rng.choice(HOSTS_A_JOB)))
            ended = begun + timedelta(minutes=rng.randrange(5, 600))
            one = JobRecord(digest(key), "slurm", "slurm", key, "train", "ann", nodes, 8, begun, begun, ended, ended)
            runs.append(one)
        for start in range(0, len(runs), AT_ONCE):
            with journal.writing() as connection:
                write_jobs(connection, runs[start : start + AT_ONCE])
    return journal, hosts


def asked(journal: Journal, hosts: list[str], days: int, publication: Published) -> list[tuple[str, float]]:
    """What each question of the journal costs, in milliseconds of real time."""
    end = START + timedelta(days=days)
    yesterday = end - timedelta(days=1)
    every = RowRange(10_001)
    host, leaf = hosts[0], next(cable.b.device for cable in publication.plan.cables if cable.a.device == hosts[0])
    below = list(dict.fromkeys(one.a.device for one in publication.plan.cables if one.b.device == leaf))

    def timed(work: Callable[[], object]) -> float:
        taken = []
        for _ in range(REPEATS):
            began = time.perf_counter()
            work()
            taken.append(time.perf_counter() - began)
        return 1000 * median(taken)

    def runs(start: datetime, on: list[str] | None) -> float:
        return timed(lambda: journal.job_runs(start, end, hosts=on, page=every))

    def answer(on: str | None, since: str) -> float:
        return timed(lambda: jobs_since(publication, on, since, journal, end))

    return [
        ("runs on one host, all days", runs(START, [host])),
        (f"runs on the {len(below)} hosts of a leaf, all days", runs(START, below)),
        (f"runs on the {len(below)} hosts of a leaf, the last day", runs(yesterday, below)),
        ("all runs of the last day", runs(yesterday, None)),
        ("`truerail jobs --on HOST --since 30d`", answer(host, "30d")),
        ("`truerail jobs --on LEAF --since 1d`", answer(leaf, "1d")),
        ("`truerail jobs --since 1d`", answer(None, "1d")),
    ]


def main() -> int:
    """Measures, prints and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", type=Path)
    parser.add_argument("--days", type=int, default=90)
    parser.add_argument("--hosts", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--megabytes", type=int, default=100)
    options = parser.parse_args()
    steps, publication = joined(options.hosts, options.jobs)
    log, reading = log_cost(options.megabytes)
    with tempfile.TemporaryDirectory() as folder:
        journal, hosts = journal_of(Path(folder), publication.plan, options.days)
        questions = asked(journal, hosts, options.days, publication)
        size = (Path(folder) / "journal.db").stat().st_size / 2**20
        journal.close()
    runs = options.days * RUNS_A_DAY
    made = f"`make bench` writes this page, on {os.cpu_count()} cores with Python {sys.version.split()[0]}."
    cost = f"{options.jobs:,} running jobs on {options.hosts:,} hosts with 8 rails, faults planted at 99 places"
    kept = f"A journal with {runs:,} runs ({options.days} days, {size:,.0f} MB), of which at most 10,000 are read"
    kept += f": milliseconds, medians of {REPEATS}."
    text = "\n".join(
        (
            *("# Jobs, as measured", "", made, "Absolute figures drift with the machine.", ""),
            *(f"{cost}: milliseconds of processor time.", "", *_table("step", "ms", steps), ""),
            *(kept, "", *_table("question", "ms", questions), ""),
            *(f"`truerail nccl` on a log of {log}: seconds of processor time.", "", *_table("step", "s", reading), ""),
        )
    )
    Console(soft_wrap=True).print(text, markup=False, highlight=False)
    if options.write:
        gate = SECTION.of(options.write.read_text(encoding="utf-8")) if options.write.exists() else ""
        options.write.write_text(f"{text}\n{gate}\n" if gate else text, encoding="utf-8")
    return 0


def _table(what: str, unit: str, rows: list[tuple[str, float]]) -> list[str]:
    return [f"| {what} | {unit} |", "|---|---|", *(f"| {name} | {value:,.1f} |" for name, value in rows)]


if __name__ == "__main__":
    sys.exit(main())
