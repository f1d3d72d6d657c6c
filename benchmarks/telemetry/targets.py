"""What is promised of telemetry, and whether the measured runs keep it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from benchmarks.sections import Section
from benchmarks.telemetry.bounds import at_least, at_most
from benchmarks.telemetry.drawn import CABLING
from benchmarks.telemetry.results import HELD_OUT, Results
from benchmarks.telemetry.scoring import Score
from truerail.simulator.traffic import FlowFaultKind

K = FlowFaultKind
Scores = Mapping[str, Score]
Counts = Callable[[Scores], tuple[int, int]]
DAYS = 100
SECTION = Section("telemetry")


@dataclass(frozen=True, slots=True)
class Target:
    """A share of runs that is promised. `counts` gives the runs in which it is so, and all."""

    what: str
    share: float
    counts: Counts


def _of(kind: str, name: str) -> Counts:
    def counts(scores: Scores) -> tuple[int, int]:
        one = scores.get(kind, Score())
        return int(getattr(one, name)), one.runs

    return counts


def _cabled(scores: Scores) -> tuple[int, int]:
    of = [scores.get(kind, Score()) for kind in CABLING]
    return sum(one.culprit for one in of), sum(one.runs for one in of)


TARGETS = (
    Target("a PFC storm is found", 0.99, _of(K.STORM, "found")),
    Target("its culprit is named right", 0.98, _of(K.STORM, "culprit")),
    Target("a NIC at 75 % of its rate is found, at 5 % noise", 0.90, _of(K.STRAGGLER, "culprit")),
    Target("the cabling cause is named in runs that have one", 0.98, _cabled),
)


def target_rows(results: Results) -> Iterator[str]:
    """A row of a table for each target."""
    for target in TARGETS:
        part, whole = target.counts(results.held_out)
        other, others = target.counts(results.development)
        least = f"{at_least(part, whole):.2f}" if whole else "-"
        yield (
            f"| {target.what} | {target.share:.2f} | {ratio(part, whole)} of {whole}, {least} at least "
            f"| {ratio(other, others)} of {others} | {_verdict(part / whole >= target.share if whole else None)} |"
        )
    critical, days = criticals(results), len(results.days)
    reported = f"{critical} in {days} days, {at_most(critical) / days:.2f} a day at most" if days else "-"
    kept = None if days < DAYS and not critical else not critical
    yield f"| critical findings on days without a fault | 0 in {DAYS} days | {reported} | | {_verdict(kept)} |"


def _verdict(kept: bool | None) -> str:
    return "not measured" if kept is None else "met" if kept else "**missed**"


def ratio(part: int, whole: int) -> str:
    """A share to two places; a dash where there is nothing to share."""
    return f"{part / whole:.2f}" if whole else "-"


def criticals(results: Results) -> int:
    """Critical findings on days without a fault."""
    return sum(alarm.severity == "critical" for alarm in results.alarms)


def table(results: Results) -> str:
    """The targets beside what was measured."""
    head = (
        f"| | target | seeds from {HELD_OUT} on, held out | seeds below, used in development | |\n|---|---|---|---|---|"
    )
    return "\n".join([head, *target_rows(results)])


def summary(results: Results) -> str:
    """The section about telemetry in the page about cabling."""
    runs = sum(one.runs for one in results.by_kind.values())
    false = sum(not alarm.load for alarm in results.alarms)
    return SECTION.marked(f"""## What counters say

{runs} runs of simulated traffic with one fault each, and {len(results.days)} fabric-days without any, on which
{false} findings were made that are not of congestion. By kind of fault, with false alarms, times and limits:
[telemetry-accuracy.md](telemetry-accuracy.md). Bounds are at 95 % confidence.

{table(results)}""")
