"""The section of the accuracy page about devices as they really behave: one row for each behaviour."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks.behaviours.scoring import BehaviourScore
from truerail.simulator.behaviours import Behaviours

_MOST_SHOWN = 40


@dataclass(slots=True)
class BehaviourResults:
    """Fabrics with every behaviour drawn: all of them, and by behaviour; `alone` has each behaviour by itself."""

    total: BehaviourScore = field(default_factory=BehaviourScore)
    by_flag: dict[str, BehaviourScore] = field(default_factory=dict)
    alone: dict[str, BehaviourScore] = field(default_factory=dict)
    flawed: dict[int, list[str]] = field(default_factory=dict)

    def add(self, seed: int, flags: tuple[str, ...], score: BehaviourScore) -> None:
        """Counts one fabric for each behaviour that it shows."""
        self.total.add(score)
        for name, choice in Behaviours.of(flags).choices.items():
            flag = f"{name}={choice.value}" if choice.value else name
            self.by_flag.setdefault(flag, BehaviourScore()).add(score)
        if score.problems:
            self.flawed[seed] = score.problems


def section(results: BehaviourResults) -> str:
    """The section as Markdown."""
    return f"""## Devices as they behave

Every fabric draws how its devices behave: what they send as port ids and descriptions, which agents speak, what
drivers report, who else is plugged in (`truerail/simulator/behaviours`; the renderers are written from recordings and
share no table with the parsers). {results.total.fabrics} fabrics with 0 to 3 faults, of at most 24 hosts.
`python -m benchmarks.accuracy.measure --behaving --seed N` shows one of them. A faultless fabric is *loud* where
something is reported at warning or above. A fault is *unknown* where the evidence hides it and its cables are said to
be unknown.

{_HEAD}{_row("**all**", results.total)}
{"".join(_rows(results.by_flag))}
### Each behaviour alone

At full strength on a small fabric: without a fault, with one swap, with one unplugged cable, with two leaves that bear
each other's names.
`python -m benchmarks.behaviours.measure --flag F --fault swap --seed N --show` shows one of them.

{_HEAD}{"".join(_rows(results.alone))}
{len(results.flawed)} of {results.total.fabrics} drawn fabrics have a problem of any kind{_shown(results)}
"""


_HEAD = """| behaviour | fabrics | right cables moved | faultless | loud | cables falsely wrong or missing \
| faults that pass as right | missing without a cause | causes | precision | recall | unknown |
|---|---|---|---|---|---|---|---|---|---|---|---|
"""


def _rows(scores: dict[str, BehaviourScore]) -> Iterator[str]:
    return (_row(f"`{flag}`", score) + "\n" for flag, score in sorted(scores.items()))


def _row(name: str, one: BehaviourScore) -> str:
    moved = one.right_moved + one.astray
    known = one.causes_found + one.causes_missed
    return (
        f"| {name} | {one.fabrics} | {moved} | {one.faultless} | {one.loud} | {one.cables_false} | {one.cables_missed} "
        f"| {one.uncaused} | {known + one.causes_unknown} | {_ratio(one.causes_found, one.causes_false)} "
        f"| {_ratio(one.causes_found, one.causes_missed)} | {one.causes_unknown} |"
    )


def _ratio(part: int, rest: int) -> str:
    return f"{part / (part + rest):.4f}" if part + rest else "-"


def _shown(results: BehaviourResults) -> str:
    if not results.flawed:
        return "."
    lines = [f"- seed {seed}: {problems[0]}" for seed, problems in sorted(results.flawed.items())[:_MOST_SHOWN]]
    return ":\n\n" + "\n".join(lines)
