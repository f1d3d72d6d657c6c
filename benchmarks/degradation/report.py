"""The section about forecasts in benchmarks/results/accuracy.md: lives in, Markdown out."""

from collections.abc import Sequence

import numpy as np

from benchmarks.degradation.drawn import DECAYS, REPAIRED, STEPS, TRAPS
from benchmarks.degradation.scoring import FIRST_DAY, Life
from benchmarks.sections import Section
from benchmarks.telemetry.bounds import at_most
from truerail.model import Severity

SECTION = Section("degradation")
LEADS = (1, 3, 7, 14)
MONTH = 30.0


def section(lives: Sequence[Life], days: int, bench: str) -> str:
    """The whole section; `bench` are sentences about its speed."""
    months = (days - FIRST_DAY) / MONTH
    healthy = [one for one in lives if one.kind in TRAPS and one.kind != REPAIRED]
    warned = sum(_warned(one) for one in healthy)
    most = 1000 * at_most(warned) / (max(len(healthy), 1) * months)
    rate = _per_month(warned, healthy, months)
    return SECTION.marked(f"""## Forecasts of failing links

A simulator, and no field data: links of 400 Gb/s live {days} days each, with light, meters, heat and bit errors from
published figures (`benchmarks/degradation/physics.py` names each source, and what is judged), through the product's own
past and LNK006, once a day. `python -m benchmarks.degradation.measure` writes this section. {bench}

{len(healthy):,} healthy links of {months:.1f} evaluated months each: {warned} had a warning, so {rate:.2f} false alarms
for 1,000 links and month, {most:.2f} at most at 95 % confidence. Information is no alarm.

| healthy links | links | warnings | for 1,000 links and month | with information only |
|---|---|---|---|---|
{"".join(_trap_row(kind, lives, months) for kind in TRAPS if kind != REPAIRED)}
A link that decays counts under a lead of N days if it has a warning that long before it fails: when its mean
bit error rate reaches 2.4e-4, or its light -10.3 dBm. *Decays for* is the median time from the beginning to the
failure, so no lead can be longer. *Within the horizon* is how often the failure came between both days that the first
warning gives, and how often it came earlier.

| link | fail | decays for | forecast | {" | ".join(f"{lead} d" for lead in LEADS)} | within the horizon | earlier |
|---|---|---|---|{"---|" * len(LEADS)}---|---|
{"".join(_decay_row(kind, lives) for kind in DECAYS)}
Where a link gets worse in one step it fails at once or not at all: a step is reported as information, without a
horizon, after two days. Of links that were {REPAIRED}, {_share(lives)} had a warning before it, which is right.

| link | links | not failed at once | with information |
|---|---|---|---|
{"".join(_step_row(kind, lives) for kind in STEPS).rstrip()}""")


def _warned(life: Life) -> bool:
    return any(one.severity is Severity.WARNING for one in life.found.values())


def _per_month(count: int, lives: Sequence[Life], months: float) -> float:
    return 1000 * count / (len(lives) * months) if lives else float("nan")


def _of(kind: str, lives: Sequence[Life]) -> list[Life]:
    return [one for one in lives if one.kind == kind]


def _trap_row(kind: str, lives: Sequence[Life], months: float) -> str:
    of = _of(kind, lives)
    warned = sum(map(_warned, of))
    hints = sum(bool(one.found) and not _warned(one) for one in of)
    return f"| {kind} | {len(of)} | {warned} | {_per_month(warned, of, months):.2f} | {hints} |\n"


def _decay_row(kind: str, lives: Sequence[Life]) -> str:
    of = [one for one in _of(kind, lives) if np.isfinite(one.fails_at)]
    leads = {one: one.fails_at - day for one in of if (day := one.first(Severity.WARNING)) is not None}
    decays = np.median([one.fails_at - one.since_day for one in of]) if of else float("nan")
    counts = " | ".join(_ratio(sum(lead >= least for lead in leads.values()), len(of)) for least in LEADS)
    within = [_against_horizon(one, lead) for one, lead in leads.items()]
    shown = _ratio(within.count(0), len(within)), _ratio(within.count(-1), len(within))
    cells = (kind, str(len(of)), f"{decays:.0f} d", _ratio(len(leads), len(of)), counts, *shown)
    return f"| {' | '.join(cells)} |\n"


def _against_horizon(life: Life, lead: float) -> int:
    """Whether it failed earlier (-1), within (0) or later (1) than the first warning's horizon."""
    near, far = dict(life.found[life.first(Severity.WARNING) or 0].detail)["horizon_days"]
    return -1 if lead < np.floor(near) else int(far is not None and lead > far + 1)


def _step_row(kind: str, lives: Sequence[Life]) -> str:
    of = _of(kind, lives)
    alive = [one for one in of if one.fails_at > one.since_day + 3]
    return f"| {kind} | {len(of)} | {len(alive)} | {_ratio(sum(bool(one.found) for one in alive), len(alive))} |\n"


def _share(lives: Sequence[Life]) -> str:
    of = _of(REPAIRED, lives)
    return _ratio(sum(map(_warned, of)), len(of))


def _ratio(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else "-"
