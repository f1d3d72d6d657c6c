"""The page that tells how accurate the causes behind traffic are: scores in, Markdown out."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from benchmarks.telemetry.bounds import at_least, at_most
from benchmarks.telemetry.days import DAY, EVERY, LOAD, SHAPES, Alarm
from benchmarks.telemetry.drawn import CABLING, GLOBAL, KINDS, SINCE, STEP
from benchmarks.telemetry.results import FIRST_DAY, HELD_OUT, Results
from benchmarks.telemetry.scoring import EXPECTED, Score
from benchmarks.telemetry.targets import criticals, ratio, table
from truerail.model import CauseKind

MOST_LISTED = 60
"""False findings that the page lists one by one."""


def _rows(scores: Mapping[str, Score]) -> Iterator[str]:
    for kind in KINDS:
        one = scores.get(kind)
        if one and kind in EXPECTED:
            seconds = (
                "at once" if kind in (*CABLING, GLOBAL) else f"{median(one.seconds):.0f} s" if one.seconds else "-"
            )
            least = f"{at_least(one.culprit, one.runs):.2f}"
            yield (
                f"| {kind} | {one.runs} | {ratio(one.found, one.runs)} | {ratio(one.culprit, one.runs)} | {least} "
                f"| {seconds} | {ratio(one.alone, one.culprit)} | {_false(one)} |"
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


def _alarm_rows(alarms: Sequence[Alarm], days: int) -> Iterator[str]:
    """By rule and severity: findings, days with one, findings a day, and the bound on such days."""
    for rule, severity in sorted({(alarm.rule, alarm.severity) for alarm in alarms}):
        of = [alarm.day for alarm in alarms if (alarm.rule, alarm.severity) == (rule, severity)]
        hit = len(set(of))
        most = min(100.0, 100 * at_most(hit) / days)
        yield f"| {rule} | {severity} | {len(of)} | {len(of) / days:.2f} | {hit} | {most:.0f} |"


def _days(results: Results) -> str:
    """The section about days without a fault."""
    days = len(results.days)
    if not days:
        return "No days were measured."
    false = [alarm for alarm in results.alarms if not alarm.load]
    load = len(results.alarms) - len(false)
    critical = criticals(results)
    return f"""{days} fabric-days on {len(SHAPES)} shapes of {min(s.hosts for s in SHAPES)} to \
{max(s.hosts for s in SHAPES)} hosts, each with jobs of its own: they begin and
end, take a few hosts or half of them, send in rings, all to all, along pipelines or over few rails, write checkpoints,
and leave hosts idle. Devices are polled every {STEP:.0f} seconds with jitter, losses and caches; now and then one
answers nothing for minutes, has counted from zero since, or tells for up to four minutes what it reported before.
Everything is evaluated every {EVERY:.0f} seconds, {DAY / EVERY:.0f} times a day. A finding counts once a day, and again
when it gets louder. None of these days was looked at while rules were written: they begin with day {FIRST_DAY}. The
days before them were measured once and then looked at: days 20 to 119 had one false polarization and 582 false
stragglers, days 120 to 218, with what was learned from those, no critical finding and 12 warnings.

**{critical} critical findings**, {critical / days:.2f} a day (at most {at_most(critical) / days:.2f}), and \
{len(false) - critical} warnings that are not of congestion, {(len(false) - critical) / days:.2f} a day.
Warnings of congestion ({", ".join(LOAD)}) are no false alarm, because jobs make it: {load}, \
{load / days:.1f} a day.

| rule | severity | findings | a day | days with one | such days in a hundred, at most |
|---|---|---|---|---|---|
{chr(10).join(_alarm_rows(false, days))}

{chr(10).join(_listed(false))}
`python -m benchmarks.telemetry.measure --day N` shows one of these days."""


def _listed(false: Sequence[Alarm]) -> Iterator[str]:
    """Each false finding; the critical ones first."""
    order = sorted(false, key=lambda alarm: (alarm.severity != "critical", alarm.rule, alarm.day, alarm.at))
    for alarm in order[:MOST_LISTED]:
        yield f"- day {alarm.day}, {alarm.at:.0f} s: {alarm.rule} {alarm.severity}, {alarm.subject}: {alarm.summary}"
    if len(order) > MOST_LISTED:
        yield f"- and {len(order) - MOST_LISTED} more"
    if order:
        yield ""


_HEAD = """| fault | runs | kind named | culprit named | at least | median time | alone | other causes named |
|---|---|---|---|---|---|---|---|"""


def report(results: Results) -> str:
    """The whole report as Markdown."""
    runs = sum(one.runs for one in results.by_kind.values())
    return f"""# Accuracy of telemetry, as measured

`make bench` writes this page. {runs} runs of the flow simulator: training jobs on a fabric, one fault
{SINCE:.0f} seconds after the begin, counters polled every ten seconds with jitter, losses and caches, seven minutes in
all. What a repeated hash shows by itself is measured apart: [polarization-accuracy.md](polarization-accuracy.md).
A fault is *named* when a cause of its kind stands at the end, its *culprit* when that cause is at the right port;
*time* is from the fault to the first such evaluation (made every half minute, later every minute). *Alone* means that
its cause then explains all findings but those of congestion. Congestion that jobs make by themselves is no fault and no
false alarm. *At least* and *at most* are bounds at 95 % confidence.
`python -m benchmarks.telemetry.measure --seed N` shows one run.

## What is promised

{table(results)}

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

## Runs without a fault

| runs of | number | false causes that are critical | false causes | runs with congestion |
|---|---|---|---|---|
{chr(10).join(_quiet(results.by_kind))}

## Days without a fault

{_days(results)}

## Limits

One fault at a time. Flows are fluids: what lasts less than a poll is not in it. In a synchronous job a slow NIC drags
all others to its own rate, and no rate tells them apart: these runs stand apart, as stragglers in step; the others are
in jobs whose NICs go each at its own pace, with 5 % noise. Polarized tiers and dead members have few flows in some
runs, and then nothing can be said: a finding that may be chance is none.
"""
