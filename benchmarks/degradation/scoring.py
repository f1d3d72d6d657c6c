"""Lives of links through the product: readings into its past, and what the rule finds each day."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from benchmarks.degradation.drawn import TRAPS, decaying, drawn, healthy
from benchmarks.degradation.physics import READINGS_A_DAY, Fates, Lived, Numbers, lived, temperatures
from rules import rules
from truerail.analysis.round import Round
from truerail.analysis.trends.link_past import Past, begun
from truerail.analysis.trends.signal_levels import LEAST_BER, Levels
from truerail.model import Cable, Device, Finding, Plan, Port, Role, Severity, Snapshot

BEGIN = datetime(2026, 3, 2, tzinfo=UTC).timestamp()
FIRST_DAY = 6
"""Of evaluation: the rule needs five days."""
LOTS = 4


@dataclass(frozen=True, eq=False)
class Life:
    """One link: what became of it, when it failed, and its findings by day."""

    kind: str
    since_day: float
    fails_at: float
    found: dict[int, Finding] = field(default_factory=dict)

    def first(self, severity: Severity) -> int | None:
        """The first day with a finding of this severity, from the beginning of its fate on and before it fails."""
        days = (day for day, one in self.found.items() if one.severity is severity)
        return next((day for day in days if self.since_day <= day < self.fails_at), None)


def lives(seed: int, days: int, links: int, each: int) -> list[Life]:
    """The lives of `links` healthy links, and of `each` of every kind that decays, in one fabric."""
    rng = np.random.default_rng(seed)
    fates = [healthy(rng, days, links), decaying(rng, days, each)]
    count = sum(len(one.kind) for one in fates)
    heat = tuple(temperatures(rng, days, count) for _ in range(2))
    fate = _joined(fates)
    forth = lived(rng, (heat[1], heat[0]), fate)
    back = lived(rng, (heat[0], heat[1]), drawn(rng, days, np.full(count, TRAPS[0])))
    rows = zip(fate.kind.tolist(), fate.since_day.tolist(), forth.fails_at.tolist(), strict=True)
    found = [Life(*row) for row in rows]
    for day, finding in _findings(rng, fate, forth, back):
        number = int(finding.subject.partition("/")[0].removeprefix("h"))
        found[number].found[day] = finding
    return found


def _joined(fates: list[Fates]) -> Fates:
    parts = [(one.kind, one.since_day, one.loss_db, one.sent_db, one.penalty_db, one.meter_db) for one in fates]
    return Fates(*(np.concatenate(column, axis=-1) for column in zip(*parts, strict=True)))


def plan_of(count: int) -> Plan:
    """A plan of so many links of 400 Gb/s to one switch."""
    cables = [Cable(Port(f"h{n}", "nic0"), Port("leaf-0", f"p{n}"), 0, speed_gbps=400.0) for n in range(count)]
    hosts = {f"h{n}": Device(f"h{n}", Role.HOST) for n in range(count)}
    return Plan({**hosts, "leaf-0": Device("leaf-0", Role.LEAF)}, tuple(cables), "degradation")


def _findings(rng: np.random.Generator, fates: Fates, forth: Lived, back: Lived) -> Iterator[tuple[int, Finding]]:
    plan, past = plan_of(len(fates.kind)), None
    for time, values in enumerate(_readings(rng, fates, forth, back)):
        levels = _levels(time, values, fates)
        past = begun(plan, levels) if past is None else past.after(plan, levels, {})
        if time % READINGS_A_DAY == READINGS_A_DAY - 1 and time > FIRST_DAY * READINGS_A_DAY:
            for finding in _look(plan, past):
                yield time // READINGS_A_DAY + 1, finding


def _look(plan: Plan, past: Past) -> tuple[Finding, ...]:
    at = datetime.fromtimestamp(past.taken_at, UTC)
    return rules()["LNK006"].look(Round(plan, Snapshot(at, ()), earlier=past)).findings


def _readings(rng: np.random.Generator, fates: Fates, forth: Lived, back: Lived) -> Iterator[Numbers]:
    """At each time an array of shape (signals, 2, links); whole outages of the service, and of links, are NaN."""
    times, count = forth.rx.shape
    out = np.zeros(times, dtype=bool)
    for begin in rng.integers(0, times, max(times // 700, 1)):
        out[begin : begin + rng.integers(1, READINGS_A_DAY // 2)] = True
    often = np.where(fates.kind == "hours missing", 0.4, 0.01)
    again = np.where(fates.kind == "counters that begin again", 0.3, 0.002)
    for time in range(times):
        values = np.stack([np.stack([forth.rx[time], back.rx[time]]), np.stack([back.tx[time], forth.tx[time]])])
        heat = np.stack([forth.celsius[time], back.celsius[time]])
        rate = np.stack([forth.rate[time], back.rate[time]])
        rate[:, rng.random(count) < again] = np.nan
        shown = np.concatenate([values, heat[None], np.log10(np.maximum(rate, LEAST_BER))[None]])
        shown[:, :, (rng.random(count) < often) | out[time]] = np.nan
        yield shown


def _levels(time: int, values: Numbers, fates: Fates) -> Levels:
    count, day = len(fates.kind), time / READINGS_A_DAY
    module = np.ones((2, count), dtype=np.int64)
    module[0, (fates.kind == "module exchanged") & (day >= fates.since_day)] = 2
    fell = (fates.kind == "worse since a fall of the link") & (np.abs(day - fates.since_day) < 1 / READINGS_A_DAY)
    lot = 2 * (np.arange(count) % LOTS) + np.array([[0], [1]])
    low: npt.NDArray[np.float32] = np.full((2, count), np.nan, dtype=np.float32)
    return Levels(BEGIN + day * 86400, values.astype(np.float32), module, lot, low, np.stack([fell, fell]))
