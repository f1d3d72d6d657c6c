"""A rule's example made real: from a `Case` to the round that the rule evaluates."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from math import fsum, isnan

import numpy as np

from collector import collectors
from rules import rules
from truerail.analysis.counters.quantities import Kind, Quantity, columns_of, kind_of
from truerail.analysis.counters.window import STEP_SECONDS, Window
from truerail.analysis.explained import Explained
from truerail.analysis.round import Round
from truerail.analysis.rule import Case, Evaluated, Rule
from truerail.analysis.running_jobs import SCHEDULERS
from truerail.analysis.trends.link_past import (
    SAMPLE_SECONDS,
    SAMPLES_A_DAY,
    LinkPast,
    OpenSample,
    Past,
    PastSample,
    cables_by_end,
)
from truerail.analysis.trends.link_past import SAMPLES as PAST_SAMPLES
from truerail.analysis.trends.signal_levels import Signal
from truerail.model.columns import NONE
from truerail.model.facts import Counter, Fact, LinkSpeed, Neighbor, NetLink, PortCounters, PortQos
from truerail.model.plan import Cable, Device, Plan, Port, Rail, Role, Transport
from truerail.model.reading import Reading
from truerail.model.snapshot import Snapshot
from truerail.rounds import evaluate

AT = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)
"""When every example takes place."""

_SCHEDULERS = {scheduler: collector for collector, scheduler in SCHEDULERS.items()}
"""The collector of each scheduler, under whose name an example has its answers."""
_USUAL: dict[type[Fact], str] = {
    NetLink: "net_link",
    LinkSpeed: "link_speed",
    PortCounters: "port_counters",
    PortQos: "port_qos",
}
"""The collector whose answer an example shows, of kinds that several yield."""
SAMPLES = 12
"""Samples of counters in an example: two minutes."""
_QUANTITIES = {quantity.value for quantity in Quantity}
_GAUGES = {quantity.value for quantity in Quantity if kind_of(quantity) is Kind.GAUGE}
_ROLES = {"leaf": Role.LEAF, "spine": Role.SPINE, "superspine": Role.SUPERSPINE}


def scene(case: Case) -> Round:
    """The round of an example.

    Every device in `facts` was asked for its LLDP neighbours and answered, perhaps with none; unless `errors` names it
    too: then this question failed and its other answers stand. A device in `errors` alone did not answer at all.
    """
    counted = list(_counted(case)) if case.rates else []
    window = Window()
    for readings in counted:
        window.put(readings)
    snapshot = Snapshot(AT, (*_readings(case), *(counted[-1] if counted else ())))
    plan = plan_of(case)
    return Round(plan, snapshot, window.view(), earlier=past_of(case, plan) if case.past else None)


def explained_scene(round: Round) -> Explained:
    """The round with the causes of what the rules find that are evaluated before the causes."""
    before = [code for code, rule in rules().items() if not rule.after_causes]
    evaluation = evaluate(round, only=before)
    return Explained(round, evaluation.findings, evaluation.causes, evaluation.verdicts)


def look(rule: Rule, round: Round) -> Evaluated:
    """What a rule finds in an example's round."""
    return rule.look(explained_scene(round) if rule.after_causes else round)


def past_of(case: Case, plan: Plan) -> Past:
    """The past of an example: each day's values in all samples of the day, up to two hours ago."""
    cable_of, shape = plan.once(cables_by_end), (2, len(plan.cables))
    values = np.full((PAST_SAMPLES, len(Signal), *shape), np.nan, dtype=np.float32)
    for port, signals in case.past.items():
        end = int(port == str(plan.cables[cable_of[port]].b))
        for name, days in signals.items():
            every = np.repeat(days, SAMPLES_A_DAY)
            values[PAST_SAMPLES - len(every) :, Signal[name.upper()], end, cable_of[port]] = every
    newest = int(AT.timestamp() // SAMPLE_SECONDS) - 1
    first = newest - PAST_SAMPLES + 1
    samples = tuple(PastSample(first + n, of.astype(np.float16)) for n, of in enumerate(values[:-1]))
    never, unknown = np.full(shape, -np.inf), np.full(shape, NONE, dtype=np.int64)
    opened = OpenSample(newest, np.nan_to_num(values[-1]), (~np.isnan(values[-1])).astype(np.uint16))
    links = LinkPast(plan, samples, never, never, unknown, np.full(shape, np.nan, dtype=np.float32))
    return Past(links, unknown, never, opened, AT.timestamp() - SAMPLE_SECONDS)


def plan_of(case: Case) -> Plan:
    """The plan of an example. Raises ValueError for a line that is no cable."""
    cables = tuple(_cable(line) for line in case.plan.splitlines() if line.strip())
    names = dict.fromkeys(end.device for cable in cables for end in (cable.a, cable.b))
    rails = {rail.index: rail for rail in map(_rail, case.rails.split())}
    devices = {name: Device(name, _role(name)) for name in names}
    return Plan(devices, cables, "example", rails, case.transport, case.load_balancing, case.qos)


def _role(name: str) -> Role:
    return _ROLES.get(name.rstrip("0123456789").rstrip("-"), Role.HOST)


def _cable(line: str) -> Cable:
    a, b, *words = line.split()
    given = dict(word.split("=", 1) for word in words)
    return Cable(
        _port(a),
        _port(b),
        rail=int(given["rail"]) if "rail" in given else None,
        plane=int(given["plane"]) if "plane" in given else None,
        speed_gbps=float(given["speed"]) if "speed" in given else None,
    )


def _port(text: str) -> Port:
    device, slash, name = text.partition("/")
    if not slash:
        raise ValueError(f"{text!r} is no port: expected device/port")
    return Port(device, name)


def _rail(text: str) -> Rail:
    index, _, given = text.partition("=")
    vlans = tuple(int(word.removeprefix("vlan")) for word in given.split(",") if word.startswith("vlan"))
    return Rail(int(index), vlans=vlans, subnets=tuple(one for one in given.split(",") if not one.startswith("vlan")))


def _readings(case: Case) -> Iterator[Reading]:
    for device, facts in case.facts.items():
        at = AT - timedelta(seconds=case.ages_seconds.get(device, 0.0))
        for collector, answer in _answers(device, facts):
            if collector != _lldp(device) or device not in {*case.errors, *case.unpolled}:
                yield Reading(device, collector, at, answer)
    for device, why in case.unpolled.items():
        yield Reading(device, _lldp(device), AT, error=why, polled=False)
    for device, error in case.errors.items():
        tells_fabric = case.transport is Transport.INFINIBAND and f"{device}/" not in case.plan
        usual = "ib_fabric" if tells_fabric else _lldp(device)
        yield Reading(device, _SCHEDULERS.get(device, usual), AT, error=error)


def _answers(device: str, facts: Sequence[Fact]) -> Iterator[tuple[str, tuple[Fact, ...]]]:
    by_collector: dict[str, list[Fact]] = {_SCHEDULERS.get(device, _lldp(device)): []}
    for fact in facts:
        by_collector.setdefault(_collector(device, fact), []).append(fact)
    for collector, answer in by_collector.items():
        yield collector, tuple(answer)


def _collector(device: str, fact: Fact) -> str:
    if isinstance(fact, Neighbor | LinkSpeed) and fact.of is not None:
        return "ib_fabric"
    if isinstance(fact, Neighbor):
        return _lldp(device)
    return _USUAL.get(type(fact)) or next(name for name, one in collectors().items() if type(fact) in one.yields)


def _counted(case: Case) -> Iterator[list[Reading]]:
    """What the ports of an example have counted by the time of each sample; sample 0 is where counting begins."""
    ports = [
        (_port(name), [(_counter(word), _values(word, rate)) for word, rate in rates.items()])
        for name, rates in case.rates.items()
    ]
    for sample in range(SAMPLES + 1):
        at = AT - timedelta(seconds=STEP_SECONDS * (SAMPLES - sample))
        of: dict[str, list[PortCounters]] = {}
        for port, counters in ports:
            known = [(counter, value) for counter, values in counters if (value := values[sample]) is not None]
            if known:
                fact = PortCounters(port.name, tuple(c for c, _ in known), tuple(v for _, v in known))
                of.setdefault(port.device, []).append(fact)
        yield [
            Reading(device, "nic_counters" if _role(device) is Role.HOST else "port_counters", at, tuple(facts))
            for device, facts in of.items()
        ]


@cache
def _counter(word: str) -> Counter:
    quantity, _, priority = word.partition(":")
    counter = Counter(quantity, int(priority) if priority else None)
    if columns_of((counter,)) == (None,):
        raise ValueError(f"{word!r} is no counter")
    return counter


def _values(word: str, rate: float | Sequence[float]) -> list[int | None]:
    """A counter's value at each sample; a gauge's level. None where the reading is missing."""
    rates = [rate] * SAMPLES if isinstance(rate, int | float) else list(rate)
    rates = [0.0] * (SAMPLES - len(rates)) + rates
    quantity = word.partition(":")[0]
    if quantity in _GAUGES:
        return [None if number and isnan(one) else int(one) for number, one in enumerate([rates[0], *rates])]
    base, known = 10**9 if quantity in _QUANTITIES else 0, [0.0 if isnan(one) else one for one in rates]
    values = [base + int(fsum(known[:sample]) * STEP_SECONDS) for sample in range(SAMPLES + 1)]
    return [values[0], *(None if isnan(one) else value for one, value in zip(rates, values[1:], strict=True))]


def _lldp(device: str) -> str:
    return "lldp_host" if _role(device) is Role.HOST else "lldp_switch"
