"""The page that tells how accurate the causes behind traffic are: scores in, Markdown out."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median

from telemetry_drawn import CABLING, KINDS, SINCE
from telemetry_scoring import EXPECTED, Score

from truerail.model import CauseKind
from truerail.simulator.flows import FlowFaultKind

K = FlowFaultKind
HELD_OUT = 150
"""Seeds below this were looked at while rules and table were written; those above were not."""
TARGETS: Mapping[str, str] = {
    K.STORM: "0.99 found, 0.98 with its culprit",
    K.STRAGGLER: "0.90",
    K.MISSING_UPLINK: "0.98",
    K.WRONG_RAIL: "0.98",
    K.HALF_SPEED: "0.98",
    K.DIRTY_OPTIC: "0.98",
    K.FLAPS: "0.98",
}
"""What is promised: recall, and that the cabling cause is named wherever there is one."""


@dataclass(slots=True)
class Results:
    """Everything measured, by kind of fault; `days` are fabric-days without one, with their alarms."""

    by_kind: dict[str, Score] = field(default_factory=dict)
    development: dict[str, Score] = field(default_factory=dict)
    held_out: dict[str, Score] = field(default_factory=dict)
    days: float = 0.0
    critical: int = 0
    warnings: int = 0


def ratio(part: int, whole: int) -> str:
    """A share to two places; a dash where there is nothing to share."""
    return f"{part / whole:.2f}" if whole else "-"


def _rows(scores: Mapping[str, Score]) -> Iterator[str]:
    for kind in KINDS:
        one = scores.get(kind)
        if one and kind in EXPECTED:
            seconds = "at once" if kind in CABLING else f"{median(one.seconds):.0f} s" if one.seconds else "-"
            alone = ratio(one.alone, one.culprit)
            yield (
                f"| {kind} | {one.runs} | {ratio(one.found, one.runs)} | {ratio(one.culprit, one.runs)} "
                f"| {TARGETS.get(kind, '-')} | {seconds} | {alone} | {_false(one)} |"
            )


def _quiet(scores: Mapping[str, Score]) -> Iterator[str]:
    for kind in KINDS:
        one = scores.get(kind)
        if one and kind not in EXPECTED:
            yield f"| {kind} | {one.runs} | {one.false_critical} | {_false(one)} | {one.loads} |"


def _false(one: Score) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(one.false.items())) or "none"


def _precision(scores: Mapping[str, Score]) -> Iterator[str]:
    right: Counter[CauseKind] = Counter()
    wrong: Counter[CauseKind] = Counter()
    for kind, one in scores.items():
        wrong.update(one.false)
        if len(EXPECTED.get(kind, ())) == 1:
            right.update(dict.fromkeys(EXPECTED[kind], one.culprit))
    for cause in CauseKind:
        if right[cause] or wrong[cause]:
            yield f"| {cause} | {right[cause]} | {wrong[cause]} | {ratio(right[cause], right[cause] + wrong[cause])} |"


_HEAD = """| fault | runs | kind named | culprit named | target | median time | alone | other causes named |
|---|---|---|---|---|---|---|---|"""


def report(results: Results) -> str:
    """The whole report as Markdown."""
    runs = sum(one.runs for one in results.by_kind.values())
    cabled = [one for kind, one in results.by_kind.items() if kind in CABLING]
    named, had = sum(one.culprit for one in cabled), sum(one.runs for one in cabled)
    bound = (
        f"fewer than {3 / results.days:.1f} a day at 95 % confidence" if results.days and not results.critical else ""
    )
    return f"""# Accuracy of telemetry, as measured

`make bench` writes this page. {runs} runs of the flow simulator: training jobs on a fabric, one fault
{SINCE:.0f} seconds after the begin, counters polled every ten seconds with jitter, losses and caches, seven minutes in
all. A fault is *named* when a cause of its kind stands at the end, its *culprit* when that cause is at the right port;
*time* is from the fault to the first such judgement (made every half minute, later every minute). *Alone* means that
its cause then explains all findings but those of congestion. Congestion that jobs make by themselves is no fault and no
false alarm.
`python benchmarks/telemetry_accuracy.py --seed N` shows one run.

The cabling cause is named in {ratio(named, had)} of the {had} runs that have one (target 0.98).

## Held-out seeds ({HELD_OUT} and later)

{_HEAD}
{chr(10).join(_rows(results.held_out))}

## Development seeds

{_HEAD}
{chr(10).join(_rows(results.development))}

## Causes by kind, all seeds

| kind | right | wrong | precision |
|---|---|---|---|
{chr(10).join(_precision(results.by_kind))}

## Without a fault

| runs of | number | false causes that are critical | false causes | runs with congestion |
|---|---|---|---|---|
{chr(10).join(_quiet(results.by_kind))}

{results.days:.2f} fabric-days of mixed jobs, judged every five minutes: {results.critical} critical findings {bound}
(target: none in 100 days), {results.warnings} warnings that are not of congestion.

## Limits

One fault at a time. Flows are fluids: what lasts less than a poll is not in it. In a synchronous job a slow NIC drags
all others to its own rate, and no rate tells them apart: these runs stand apart, as stragglers in step; the others are
in jobs whose NICs go each at its own pace, with 5 % noise. Polarized tiers and dead members have few flows in some
runs, and then nothing can be said: a finding that may be chance is none.
"""
