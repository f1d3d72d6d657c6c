"""The page that tells how accurate the causes are: scores in, Markdown out."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks.accuracy.fabrics import MOST_FAULTS, NOISES, SHAPES, Drawn
from benchmarks.accuracy.scoring import Score
from truerail.model import CauseKind


@dataclass(slots=True)
class Results:
    """Everything measured. `by_faults` is keyed by the number of faults planted, `by_noise` by the noise's name."""

    total: Score = field(default_factory=Score)
    clean: Score = field(default_factory=Score)
    """Fabrics without any fault; their findings are counted in `clean_findings`."""
    clean_findings: int = 0
    by_faults: dict[int, Score] = field(default_factory=dict)
    by_noise: dict[str, Score] = field(default_factory=dict)
    by_batch: dict[str, Score] = field(default_factory=dict)
    """Seeds that were used while the engine was written, and later ones."""
    flawed: list[tuple[Drawn, Score]] = field(default_factory=list)
    infiniband: Score = field(default_factory=Score)
    """Fabrics of InfiniBand, in no other figure; `infiniband_perfect` of them have no mistake."""
    infiniband_perfect: int = 0
    strained: dict[str, tuple[Score, int]] = field(default_factory=dict)
    """Batches beyond what is promised: their score, and how many of their fabrics have no mistake."""


def ratio(part: int, whole: int) -> str:
    """A share to four places; a dash where there is nothing to share."""
    return f"{part / whole:.4f}" if whole else "-"


def _cable_row(name: str, one: Score) -> str:
    said, true = one.cables_found + one.cables_false, one.cables_found + one.cables_missed
    causes = sum(one.causes_found.values())
    return (
        f"| {name} | {one.fabrics} | {true} | {ratio(one.cables_found, said)} | {ratio(one.cables_found, true)} "
        f"| {causes + sum(one.causes_missed.values())} | {ratio(causes, causes + sum(one.causes_false.values()))} "
        f"| {ratio(causes, causes + sum(one.causes_missed.values()))} |"
    )


def _strain_row(name: str, one: Score, perfect: int) -> str:
    true, causes = one.cables_found + one.cables_missed, sum(one.causes_found.values())
    return (
        f"| {name} | {one.fabrics} | {perfect} "
        f"| {ratio(one.cables_found, one.cables_found + one.cables_false)} | {ratio(one.cables_found, true)} "
        f"| {ratio(causes, causes + sum(one.causes_false.values()))} "
        f"| {ratio(causes, causes + sum(one.causes_missed.values()))} | {one.moves_of_right} |\n"
    )


def _kind_rows(total: Score) -> Iterator[str]:
    for kind in CauseKind:
        found, missed, false = total.causes_found[kind], total.causes_missed[kind], total.causes_false[kind]
        if found or missed or false:
            reported = f"{ratio(found, found + false)} | {ratio(found, found + missed)}"
            yield f"| {kind} | {found + missed} | {found} | {false} | {reported} |"


def infiniband(one: Score, perfect: int) -> str:
    """The section about fabrics that are discovered instead of heard; empty where none was evaluated."""
    if not one.fabrics:
        return ""
    return f"""## InfiniBand

The same shapes of InfiniBand, with the same faults, in no figure above: switches answer nothing, one host tells what
`ibnetdiscover` found, the others tell of their own adapters, and on half of the fabrics a tenth of the hosts is unread.
{perfect} of {one.fabrics} fabrics have no mistake; {one.moves} moves are asked for where {one.moves_needed} are needed.

| fabrics | number | wrong or missing cables | precision | recall | causes | precision | recall |
|---|---|---|---|---|---|---|---|
{_cable_row("InfiniBand", one)}
"""


def report(results: Results, behaviours: str, telemetry: str, repairs: str) -> str:
    """The whole report as Markdown.

    `behaviours` is the section about devices as they behave, `telemetry` that about counters, which
    `benchmarks/telemetry` writes, `repairs` that about the order of repairs.
    """
    total = results.total
    undecidable = "".join(f"| {name} | {count} |\n" for name, count in sorted(total.undecidable.items()))
    return f"""# Accuracy, as measured

`make bench` writes this page. {total.fabrics} simulated fabrics ({total.cables} planned cables) of {len(SHAPES)}
shapes, with 0 to {MOST_FAULTS} simultaneous faults and {len(NOISES)} kinds of noise, from none to a tenth of the hosts
unread and a quarter of them silent one way or both. Every answer is rendered in its device's real format and read by
the real collectors. `python -m benchmarks.accuracy.measure --seed N` shows one of them.
What counters say is measured apart: [below](#what-counters-say), and in full in
[telemetry-accuracy.md](telemetry-accuracy.md).

{behaviours}
## Cables and causes

What follows is of fabrics whose devices behave plainly: port ids are names, nothing is configured oddly, and only the
noise that is named spoils an answer. A cable is found when it is wrong or missing and said to be just that. A cause is
found when its kind and its subjects are named exactly; anything less is both a miss and a false alarm. Hosts that noise
made unreachable count as causes. Seeds below 420 were used while the engine was written, the others were added
afterwards.

| fabrics | number | wrong or missing cables | precision | recall | causes | precision | recall |
|---|---|---|---|---|---|---|---|
{_cable_row("**all**", total)}
{"".join(_cable_row(name, one) + chr(10) for name, one in results.by_batch.items())}\
{"".join(_cable_row(f"faults: {count}", results.by_faults[count]) + chr(10) for count in sorted(results.by_faults))}\
{"".join(_cable_row(f"noise: {name}", results.by_noise[name]) + chr(10) for name in NOISES if name in results.by_noise)}
## Causes by kind

| kind | true | found | invented | precision | recall |
|---|---|---|---|---|---|
{chr(10).join(_kind_rows(total))}

{infiniband(results.infiniband, results.infiniband_perfect)}
## Moves

Over the fabrics in which the evidence decides every cause:

| | |
|---|---|
| moves that put the fabric right (the true minimum) | {total.moves_needed} |
| moves asked for | {total.moves} |
| beyond the minimum | {total.moves_beyond} |
| short of the minimum | {total.moves_short} |
| of cables that are right | {total.moves_of_right} |
| into a wrong place | {total.moves_astray} |

## Clean fabrics

{results.clean.fabrics} fabrics had neither fault nor noise: {results.clean_findings} findings on them, and
{sum(results.clean.causes_false.values())} causes.

## What the evidence cannot decide

Some faults leave the same answers behind as others: two hosts' labels swapped or all their cables, where nothing ties
a name to a machine; two leaves without uplinks; two cables of a host that could not be read. These are kept out of the
figures above. *Reported* means that the true cause is reported first, *reported as an alternative* that it is among the
alternatives of a cheaper explanation.

| what is said of {sum(total.undecidable.values())} undecidable causes | |
|---|---|
{undecidable}
Of {total.unknowable} cables neither end can tell its neighbour (hosts silent both ways, hung or without power, two
neighbours listed at both ends). {total.left_open} of them are said to be unknown. Saying of one that it is plugged
wrongly counts as a false alarm above.

## Beyond the promise

The same shapes, of 16 to 64 hosts, with more wrong at once or less to see. The mistakes are mostly swaps of which one
end cannot be located: it is reported as unknown, and the other end as a move of its own.

| fabrics | number | without mistake | cables: precision | recall | causes: precision | recall | right cables moved |
|---|---|---|---|---|---|---|---|
{"".join(_strain_row(name, *one) for name, one in results.strained.items())}
{telemetry}

{repairs}

## Mistakes

{len(results.flawed)} of {total.fabrics} fabrics have a mistake of any kind, a single missed cable included.

{chr(10).join(f"- {drawn}: {_summary(found)}" for drawn, found in results.flawed)}
"""


def _summary(found: Score) -> str:
    kinds = Counter(mistake.partition(":")[0] if ":" in mistake else "moves" for mistake in found.mistakes)
    return ", ".join(f"{count} x {kind}" for kind, count in kinds.items())
