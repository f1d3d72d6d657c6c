"""What the counters of a drawn tier hold: flows over hashes, max-min shares, and polls that miss some of it."""

from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from benchmarks.polarization.drawn import (
    DEAD,
    DOWN,
    DRAINED,
    HALF,
    LEAVES,
    PAIRS,
    PAIRS_ABOVE,
    SHARED,
    SPRAY,
    TARGETS_ABOVE,
    VALUE_BITS,
    WEIGHTS,
    Clos,
    Members,
    Numbers,
    Trial,
    clos,
    members,
    mixed,
)
from truerail.analysis.counters import Window
from truerail.analysis.counters.quantities import Column, Quantity
from truerail.analysis.counters.ring import Ring
from truerail.analysis.counters.series import Source
from truerail.analysis.round import Round
from truerail.model import NetLink, Port, Reading, Snapshot
from truerail.simulator.traffic.load import fair_shares

AT = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)
SAMPLES, STEP_SECONDS, JITTER, NOISE = 30, 10.0, 0.2, 0.05
LINE = 5e10
"""Bytes per second of 400 Gb/s."""
_NOWHERE = -1


@dataclass(frozen=True)
class Scene:
    """A trial made real, with what is true of it. `dead` and `down` are ports of uplinks."""

    clos: Clos
    round: Round
    polarized: frozenset[str]
    """Siblings whose flows a repeated hash confines to a part of their uplinks."""
    dead: Port | None
    down: Port | None


@dataclass(frozen=True)
class _Fault:
    """The row of a cable among all, and the switch and the place of its lower end."""

    cable: int
    switch: int
    place: int


def scene(trial: Trial) -> Scene:
    """The round that rules evaluate."""
    tier = clos(*trial.fan, trial.siblings)
    rng = np.random.default_rng([trial.seed, 0x501])
    fault = _place(trial, tier, rng)
    leaf, spine = _tables(trial, tier, fault, rng)
    sends, pairs = _sends(trial, tier, leaf, spine, fault, rng)
    if trial.job_changes:
        change = int(rng.integers(3, SAMPLES - 3))
        sends[:, change:] = _sends(trial, tier, leaf, spine, fault, rng)[0][:, change:]
    window = _window(trial, tier, sends, _received(trial, tier, sends, fault), pairs, rng)
    port = tier.cables[fault.cable].a
    down = [NetLink(port.name, operstate="DOWN")] if trial.fault == DOWN else []
    slow = [NetLink(port.name, operstate="UP", speed_gbps=200.0)] if trial.fault == HALF else []
    readings = [Reading(port.device, "net_link", AT, (*down, *slow))] if down or slow else []
    return Scene(
        tier,
        Round(tier.plan, Snapshot(AT, readings), window.view()),
        _confined(trial, tier, fault, leaf, spine),
        port if trial.fault == DEAD else None,
        port if trial.fault == DOWN else None,
    )


def _place(trial: Trial, tier: Clos, rng: np.random.Generator) -> _Fault:
    """An uplink of a leaf, or of a sibling."""
    if trial.on_leaf:
        leaf, up = int(rng.integers(LEAVES)), int(rng.integers(tier.below))
        return _Fault(tier.middle + leaf * tier.below + up, leaf, up)
    spine, up = int(rng.integers(tier.siblings)), int(rng.integers(tier.above))
    return _Fault(tier.top + spine * tier.above + up, spine, up)


def _tables(trial: Trial, tier: Clos, fault: _Fault, rng: np.random.Generator) -> tuple[Members, Members]:
    """The members of leaves and of spines."""
    without = (fault.switch, fault.place) if trial.fault in (DOWN, DEAD) else None
    places = np.arange(tier.above)
    if trial.shuffled:
        rng.shuffle(places)
    if trial.hash == WEIGHTS:
        places = np.repeat(places, rng.integers(1, 5, tier.above))
    leaf = members(tier.leaves, np.arange(tier.below), without if trial.on_leaf else None)
    spine = members(tier.spines, places, None if trial.on_leaf else without)
    if trial.hash == DRAINED:
        half = members(tier.spines, places[: -(-tier.above // 2)])
        for sibling in range(tier.siblings):
            if without is None or trial.on_leaf or fault.switch != sibling:
                spine.place[sibling, : half.size[sibling]] = half.place[sibling]
                spine.size[sibling] = half.size[sibling]
    return leaf, spine


def _sends(
    trial: Trial, tier: Clos, leaf: Members, spine: Members, fault: _Fault, rng: np.random.Generator
) -> tuple[Numbers, Numbers]:
    """Bytes per second that the lower end of each cable sends in each sample, shape (cables, samples), and the queue
    pairs of each NIC, shape (NICs,).
    """
    of_leaf, host, _ = (x.ravel() for x in np.indices((tier.leaves, tier.hosts, trial.flows)))
    nic = of_leaf * tier.hosts + host
    key = rng.integers(0, 1 << VALUE_BITS, len(nic))
    target = rng.integers(0, tier.middle, len(nic))
    pair, aim = mixed(nic * tier.middle + target, trial.seed), mixed(target, trial.seed)
    up = leaf.chosen(of_leaf, pair if trial.hash == PAIRS else key, ranges=trial.ranges)
    at = of_leaf // LEAVES * tier.below + up
    value = {PAIRS: pair, PAIRS_ABOVE: pair, TARGETS_ABOVE: aim}.get(trial.hash, key)
    value = key if trial.hash == SHARED else mixed(value, at)
    beyond = spine.chosen(at, value, ranges=trial.ranges)
    away = rng.random(len(nic)) >= trial.local
    wish = rng.lognormal(0.0, 0.3, len(nic))
    wish *= trial.busy * LINE / np.bincount(nic, weights=wish)[nic]
    highest = np.where(away & (trial.hash != SPRAY), tier.top + at * tier.above + beyond, _NOWHERE)
    hops = np.stack([nic, tier.middle + of_leaf * tier.below + up, highest], axis=1)
    capacity = np.full(len(tier.cables), LINE)
    capacity[fault.cable] *= 0.5 if trial.fault == HALF else 1.0
    rate = fair_shares(hops, wish, capacity).rate
    loads = np.zeros(len(tier.cables))
    for hop in hops.T:
        loads += np.bincount(hop[hop >= 0], weights=rate[hop >= 0], minlength=len(loads))
    if trial.hash == SPRAY:
        leaving = np.bincount(at[away], weights=rate[away], minlength=tier.spines).astype(np.float64)
        _spread(tier, loads, leaving, spine, capacity)
    pairs = np.bincount(nic, minlength=tier.middle) + np.bincount(target, minlength=tier.middle)
    noise = rng.normal(1.0, NOISE, SAMPLES)
    return np.clip(loads[:, None] * noise, 0.0, LINE), np.round(pairs * (1 + trial.idle_pairs))


def _spread(tier: Clos, loads: Numbers, away: Numbers, spine: Members, capacity: Numbers) -> None:
    """Packets of all flows over all members, by speed."""
    for number, total in enumerate(away.tolist()):
        rows = tier.top + number * tier.above + spine.place[number, : spine.size[number]]
        loads[rows] = total * capacity[rows] / capacity[rows].sum()


def _received(trial: Trial, tier: Clos, sends: Numbers, fault: _Fault) -> Numbers:
    """What the lower end of each cable gets: as much as it sends, but for a dead or drained member, which gets its
    share all the same.
    """
    received = sends.copy()
    if trial.fault == DEAD:
        first = tier.middle + fault.switch * tier.below if trial.on_leaf else tier.top + fault.switch * tier.above
        width = tier.below if trial.on_leaf else tier.above
        received[fault.cable] = sends[first : first + width].mean(axis=0)
    if trial.hash == DRAINED:
        above = received[tier.top :].reshape(tier.spines, tier.above, -1)
        above[:] = above.mean(axis=1, keepdims=True)
    return received


def _confined(trial: Trial, tier: Clos, fault: _Fault, leaf: Members, spine: Members) -> frozenset[str]:
    """Siblings to which the leaves, but for one with a fault, send no flow for some of their members."""
    if trial.hash != SHARED:
        return frozenset()
    value = np.arange(0, 1 << VALUE_BITS, (1 << VALUE_BITS) // 20011)
    found = set()
    for sibling in range(tier.siblings):
        block = sibling // tier.below
        used = np.zeros(tier.above, dtype=bool)
        for of in range(block * LEAVES, (block + 1) * LEAVES):
            if trial.on_leaf and of == fault.switch:
                continue
            up = leaf.chosen(np.full(len(value), of), value, ranges=trial.ranges)
            here = value[up == sibling % tier.below]
            used[spine.chosen(np.full(len(here), sibling), here, ranges=trial.ranges)] = True
        if np.count_nonzero(used) < spine.size[sibling]:
            found.add(f"spine-{sibling}")
    return frozenset(found)


def _window(
    trial: Trial, tier: Clos, sends: Numbers, received: Numbers, pairs: Numbers, rng: np.random.Generator
) -> Window:
    """The window after thirty rounds of polls: both ends of every cable count, each device at its own moment."""
    window = Window(SAMPLES, STEP_SECONDS)
    window.begun[:] = 1e6 + STEP_SECONDS * np.arange(SAMPLES)
    window.head = SAMPLES - 1
    lower, upper = [c.a for c in tier.cables], [c.b for c in tier.cables]
    nics = slice(0, tier.middle)
    reported = {Quantity.TX_BYTES: sends[nics], Quantity.RX_BYTES: received[nics]}
    if trial.hosts_read:
        reported[Quantity.FLOWS] = np.repeat(pairs[:, None], SAMPLES, axis=1)
        window.sources["nic_counters"] = _source(trial, lower[nics], reported, rng)
    switches = [*lower[tier.middle :], *upper]
    up, down = np.concatenate([sends[tier.middle :], received]), np.concatenate([received[tier.middle :], sends])
    reported = {Quantity.TX_BYTES: up, Quantity.RX_BYTES: down}
    window.sources["port_counters"] = _source(trial, switches, reported, rng)
    return window


def _source(trial: Trial, ports: list[Port], reported: dict[Quantity, Numbers], rng: np.random.Generator) -> Source:
    """One collector's counters. A poll that is missed takes the next sample with it; a reset takes one."""
    source = Source(SAMPLES)
    for port in ports:
        source.row(port.device, port.name)
    source.fit()
    devices, device = np.unique([port.device for port in ports], return_inverse=True)
    lost = rng.random((len(devices), SAMPLES + 1)) < trial.lost
    missing = lost[:, 1:] | lost[:, :-1]
    if trial.reset:
        missing[rng.integers(len(devices)), rng.integers(SAMPLES)] = True
    late = np.diff(rng.random((len(devices), SAMPLES + 1)) * JITTER * STEP_SECONDS, axis=1)
    span = np.where(missing, np.nan, STEP_SECONDS + late)[device]
    source.span = Ring.beginning_with(span, SAMPLES)
    seconds = (STEP_SECONDS + late)[device]
    for quantity, values in reported.items():
        gauge = quantity is Quantity.FLOWS
        gained = np.where(missing[device], np.nan, values if gauge else np.floor(values * seconds))
        source.of(Column(quantity)).gained = Ring.beginning_with(gained, SAMPLES)
    return source
