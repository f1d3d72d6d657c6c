"""A leaf has less uplink than its design gives it, or all of its uplinks are full.

## Why it matters
Traffic that leaves the rail shares what is left of the uplinks. Nothing is wrong with a cable or a hash then: the leaf
lacks capacity, and balancing cannot help.

## How it is detected
By its links: the speed of the ports to hosts over the speed of the uplinks that are up, compared with the same in the
plan; over 5 % more is a finding that names the missing uplinks. By its load: every uplink runs at 85 % or more, evenly
(the effective number of uplinks in use is 95 % of all), and packets are marked or pauses are sent. Uplinks without a
reported state count as up where others are missing.

Unknown instead of passed: uplinks without a reported state, leaves whose uplinks' load is not reported, and leaves with
full uplinks that count neither marks nor pauses. Without counters the links alone are evaluated.

## What to do
Bring the missing uplinks back (CAB003 has the reason for each). Where all are up and full, add uplinks, move jobs
closer together, or look which job crosses rails (PXN off, wrong NIC order, hosts on the wrong leaf).

## Decide
- `link-down`: single uplinks are down. Reseat the one that the cause names, at both ends (CAB003).
- `unreachable`: the whole leaf is cut off. Look at its power, its console and its last change.
- `of their speed or more`: all uplinks are up and full. Look which jobs leave the rail; add uplinks if it stays.

## False positives
Planned maintenance of a spine takes an uplink from every leaf: announce it as maintenance. A leaf that is being cabled.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from rules._examples import down, one_leaf, undecided, up
from rules._links import devices_counting
from truerail.analysis.cabling import State
from truerail.analysis.counters import Quantity, Telemetry
from truerail.analysis.counters.carried import TOO_FEW
from truerail.analysis.ecmp.uplink_balance import Balance
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, report_not_evaluated, rule
from truerail.model import CauseKind, Finding, NetLink, NotEvaluated, Port, Severity
from truerail.model.columns import Codes, Mask, distinct
from truerail.model.names import folded

MORE = 1.05
"""Times the planned ratio from which it is a finding (detection.md 4b)."""
FULL = 0.85
"""Share of its speed at which an uplink is full (detection.md 4b)."""
EVEN = 0.95
"""Effective number of uplinks in use, over their number, from which the load is even (detection.md 4b)."""
_SIGNS = (Quantity.ECN_MARKED_PACKETS, Quantity.TX_PAUSE_FRAMES)
PAUSES = 100.0
"""Marks or pause frames a second on an uplink's switch from which the switch is congested."""


@rule("CAP001", Severity.WARNING, [NetLink], cause=CauseKind.OVERLOAD, first="where SWITCH")
def oversubscribed(round: Round) -> Findings:
    """Leaves that lost uplinks, and leaves whose uplinks are all full."""
    telemetry = round.telemetry
    b = round.balance
    index = telemetry.wiring.index
    if not len(b.switch):
        raise InsufficientDataError("the plan has no uplinks")
    below = _speeds(index.speed_gbps[index.from_host])
    hosts = np.bincount(index.b_device[index.from_host], below, len(index.devices.names))[b.switch]
    speeds = _speeds(index.speed_gbps[b.cable])
    lost = _lost(b)
    design, left = b.sum(speeds), b.sum(np.where(lost, 0.0, speeds))
    short = (hosts > 0) & (design > MORE * left)
    full = _full(b) & (hosts > 0) & ~short
    saturated = full & np.isin(b.switch, _congested(telemetry))
    for group in np.flatnonzero(short).tolist():
        gone = b.uplinks(group)[lost[b.uplinks(group)]]
        yield _short(b, group, (hosts[group], design[group], left[group]), [index.spell(int(b.port[r])) for r in gone])
    for group in np.flatnonzero(saturated).tolist():
        yield _saturated(b, group, hosts[group] / design[group])
    report_not_evaluated(_not_evaluated(b, hosts > 0, full))


def _not_evaluated(b: Balance, leaves: Mask, full: Mask) -> Iterator[NotEvaluated]:
    """Leaves that may lack uplinks, or have full ones, without data that shows it."""
    unread = ~_seen(b) & leaves[b.group]
    if unread.any():
        many, groups = int(np.count_nonzero(unread)), distinct(b.group[unread])
        why = f"no answer shows whether {many:,} of {len(unread):,} uplinks are up: {_names(b, groups)}"
        yield NotEvaluated(why, what="uplink", count=many, of=len(unread), subjects=tuple(b.names(groups)))
    if not b.carried.enough:
        yield NotEvaluated(f"whether uplinks are full: {TOO_FEW}")
        return
    unreported = np.flatnonzero(leaves & (b.members > 0) & np.isnan(b.total))
    if len(unreported):
        yield _switches(b, unreported, f"the load of all uplinks is not reported at {_names(b, unreported)}")
    mute = np.flatnonzero(full & ~np.isin(b.switch, devices_counting(b.telemetry, *_SIGNS)))
    if len(mute):
        why = f"all uplinks are full at {_names(b, mute)}, which counts neither marks nor pauses"
        yield _switches(b, mute, why)


def _switches(b: Balance, groups: Codes, why: str) -> NotEvaluated:
    return NotEvaluated(why, what="switch", count=len(groups), of=len(b.switch), subjects=tuple(b.names(groups)))


def _names(b: Balance, groups: Codes) -> str:
    return folded(b.names(groups))


def _seen(b: Balance) -> Mask:
    """Uplinks with a reported state."""
    wiring = b.telemetry.wiring
    seen = _lost(b) | (wiring.state[b.cable] == State.RIGHT) | (b.load > 0)
    for ends in (b.port, wiring.index.b[b.cable]):
        seen |= wiring.states.up(ends) | wiring.states.down(ends)
    return np.asarray(seen, dtype=bool)


def _speeds(planned: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Planned speeds; where the plan has none, the most common one that it has."""
    reported = planned[~np.isnan(planned)]
    values, counts = np.unique(reported, return_counts=True)
    return np.where(np.isnan(planned), values[counts.argmax()] if len(values) else 1.0, planned)


def _lost(b: Balance) -> Mask:
    """Uplinks that one end says are down. Cables that LLDP sees are up."""
    wiring = b.telemetry.wiring
    lost = np.zeros(len(b.cable), dtype=bool)
    rows = np.flatnonzero(wiring.state[b.cable] != State.RIGHT)
    lost[rows] = wiring.states.down(b.port[rows]) | wiring.states.down(wiring.index.b[b.cable[rows]])
    return lost


def _full(b: Balance) -> Mask:
    """Groups whose members are all full, evenly."""
    if not b.carried.enough:
        return np.zeros(len(b.switch), dtype=bool)
    with np.errstate(invalid="ignore", divide="ignore"):
        full = b.sum(b.member & (b.load >= FULL * b.speed)) == b.members
        part = np.where(b.load > 0, b.load / b.total[b.group], 1.0)
        effective = np.exp(-b.sum(part * np.log(part))) / b.members
    return np.asarray(full & (b.total > 0) & (effective >= EVEN), dtype=bool)


def _congested(telemetry: Telemetry) -> Codes:
    """Devices that mark packets or send pauses."""
    busy = np.zeros(telemetry.ports, dtype=bool)
    for quantity in _SIGNS:
        for priority in telemetry.priorities(quantity):
            busy |= telemetry.summed(quantity, priority).rate > PAUSES
    return distinct(telemetry.wiring.index.ports.device_of(np.flatnonzero(busy)))


def _short(b: Balance, group: int, sums: tuple[float, float, float], gone: list[Port]) -> Finding:
    hosts, design, left = sums
    name = b.names(np.array([group]))[0]
    ratio = f"{hosts / left:.2f} to 1" if left else "without uplinks"
    return oversubscribed.found(
        name,
        summary=f"{len(gone)} of {len(b.uplinks(group))} uplinks are down: {hosts / design:.2f} to 1 is planned, "
        f"it is {ratio}",
        action=f"Bring back {', '.join(map(str, gone))}.",
        expected=f"{hosts / design:.2f}",
        observed=f"{hosts / left:.2f}" if left else None,
        confidence=0.95,
        detail=(("uplinks_down", [str(port) for port in gone]),),
    )


def _saturated(b: Balance, group: int, ratio: float) -> Finding:
    name = b.names(np.array([group]))[0]
    rows = b.uplinks(group)
    least = float((b.load[rows] / b.speed[rows])[b.member[rows]].min())
    return oversubscribed.found(
        name,
        summary=f"all {b.members[group]} uplinks run at {least:.0%} of their speed or more, evenly, and the switch "
        f"marks or pauses (planned ratio {ratio:.2f} to 1)",
        action=f"Add uplinks to {name}, or find the traffic that leaves the rail.",
        confidence=0.8,
        detail=(("least_use", round(least, 3)), ("ratio", round(ratio, 3))),
    )


PLAN = one_leaf(hosts=4, spines=4)
_UP = {"leaf-0": [up(f"up{s}") for s in range(4)]}


def _rates(use: float, marks: float = 1e5) -> dict[str, dict[str, float]]:
    return {f"leaf-0/up{s}": {"tx_bytes": use * 5e10, "ecn_marked_packets": marks} for s in range(4)}


EXAMPLES = {
    "One of four uplinks is down.": Case({"leaf-0": [down("up2")]}, "leaf-0"),
    "All uplinks are down, as the spines say.": Case({f"spine-{s}": [down("p0")] for s in range(4)}, "leaf-0"),
    "All uplinks are full.": Case(_UP, "leaf-0", rates=_rates(0.95)),
    # Quiet:
    "All uplinks are up, and their traffic is not counted.": undecided(_UP),
    "The state of the uplinks is not reported.": undecided({"h0": [up("nic0")]}),
    "They are full, and the leaf counts neither marks nor pauses.": undecided(
        _UP, rates={port: {"tx_bytes": of["tx_bytes"]} for port, of in _rates(0.95).items()}
    ),
    "One uplink's load is not reported.": undecided(
        _UP, rates={port: of for port, of in _rates(0.5).items() if port != "leaf-0/up3"}
    ),
    "They are full, and nothing is marked or paused.": Case(_UP, rates=_rates(0.95, 0.0)),
    "They carry half.": Case(_UP, plan=PLAN.replace(" speed=400", ""), rates=_rates(0.5)),
}
