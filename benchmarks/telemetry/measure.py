"""How often the cause behind traffic is named right: simulated jobs with one fault each, and days without any.

    python -m benchmarks.telemetry.measure [--runs 2000] [--days 100] [--show] [--state FILE]
                                            [--minutes 35] [--write PAGE]
    python -m benchmarks.telemetry.measure --seed 17      one run, its truth and what was said of it
    python -m benchmarks.telemetry.measure --day 3        one day without a fault, and what was said of it

With --state, what was measured is kept in a file, and the next call goes on where this one was stopped, as long as the
code is the same. --write also puts a summary into `accuracy.md` beside the page.
"""

import argparse
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from math import inf
from pathlib import Path

from rich.console import Console
from rich.progress import track

from benchmarks.telemetry.days import Alarm, alarms_of, draw_day
from benchmarks.telemetry.drawn import draw, evaluated
from benchmarks.telemetry.report import report
from benchmarks.telemetry.results import FIRST_DAY, Results, State
from benchmarks.telemetry.scoring import Score, score
from benchmarks.telemetry.targets import SECTION, summary

RUNS, DAYS = 2000, 100
CORES = 2
Task = tuple[str, int]
Done = tuple[Task, str, Score, Sequence[Alarm]]


def measure(state: State, runs: int, days: int, minutes: float) -> Results:
    """Does what is not yet done, on two cores; begins nothing more once these minutes are over."""
    results = state.results
    tasks: list[Task] = [("run", seed) for seed in range(runs) if seed not in results.seeds]
    tasks += [("day", number) for number in range(FIRST_DAY, FIRST_DAY + days) if number not in results.days]
    done = _in_turn(tasks, time.monotonic() + 60 * minutes)
    for (what, number), kind, found, alarms in track(done, "measuring", len(tasks), console=Console(stderr=True)):
        if what == "run":
            state.add_run(number, kind, found)
        else:
            state.add_day(number, alarms)
    return results


def _in_turn(tasks: Iterable[Task], until: float) -> Iterator[Done]:
    """Tasks as they are done, as many at a time as there are cores."""
    left = iter(tasks)
    with ProcessPoolExecutor(CORES) as pool:
        waiting: set[Future[Done]] = set()
        while True:
            while len(waiting) < CORES and time.monotonic() < until and (task := next(left, None)):
                waiting.add(pool.submit(_do, task))
            if not waiting:
                return
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (one.result() for one in done)


def _do(task: Task) -> Done:
    what, number = task
    if what == "day":
        return task, "", Score(), list(alarms_of(draw_day(number)))
    drawn = draw(number)
    return task, drawn.kind, score(drawn), ()


def show(seed: int, console: Console) -> None:
    """Prints one run's truth and what was said of it at each mark."""
    drawn = draw(seed)
    console.print(f"{drawn}", markup=False)
    for mark, evaluation, truth in evaluated(drawn):
        console.print(f"{mark:.0f} s", markup=False)
        for fault in truth:
            console.print(f"  is    {fault.kind} {fault.variant} {' '.join(fault.ports)}", markup=False)
        for cause in evaluation.causes:
            console.print(f"  said  {cause.kind} {' '.join(cause.subjects[:4])}: {cause.summary}", markup=False)


def show_day(number: int, console: Console) -> None:
    """Prints what is said of one day, congestion included, and the jobs that run then."""
    day = draw_day(number)
    console.print(f"{day}", markup=False)
    for alarm in alarms_of(day):
        said = "is so" if alarm.load else "FALSE"
        console.print(f"{alarm.at:6.0f} s  {said}  {alarm.rule} {alarm.severity} {alarm.summary}", markup=False)
        for job in day.traffic.jobs if not alarm.load else ():
            if alarm.subject.partition("/")[0] in job.hosts and job.begins < alarm.at and alarm.at - 300 < job.ends:
                console.print(f"          {job}", markup=False)


def publish(results: Results, page: Path) -> None:
    """Writes the page, and its summary into the page about cabling beside it. ValueError where that has no place."""
    page.write_text(report(results), encoding="utf-8")
    beside = page.with_name("accuracy.md")
    text = beside.read_text(encoding="utf-8")
    if not SECTION.of(text):
        raise ValueError(f"{beside} has no section about telemetry: benchmarks/accuracy/measure.py writes it again")
    beside.write_text(SECTION.placed(text, summary(results)), encoding="utf-8")


def main() -> int:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS, help="how many runs (seeds 0 to N-1)")
    parser.add_argument(
        "--days", type=int, default=DAYS, help=f"how many fabric-days without a fault (from {FIRST_DAY} on)"
    )
    parser.add_argument("--minutes", type=float, default=inf, help="begin nothing more after so long")
    parser.add_argument("--state", type=Path, help="keep what was measured in this file, and go on with it")
    parser.add_argument("--write", type=Path, help="write the report to this file")
    parser.add_argument("--show", action="store_true", help="print every mistake")
    parser.add_argument("--seed", type=int, help="show the run of one seed instead")
    parser.add_argument("--day", type=int, help="show one day without a fault instead")
    options = parser.parse_args()
    console = Console()
    if options.seed is not None:
        show(options.seed, console)
        return 0
    if options.day is not None:
        show_day(options.day, console)
        return 0
    results = measure(State(options.state), options.runs, options.days, options.minutes)
    if options.write:
        publish(results, options.write)
    console.print(report(results), markup=False, highlight=False, soft_wrap=True)
    if options.show:
        for found in results.by_kind.values():
            console.print("\n".join(found.mistakes), markup=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
