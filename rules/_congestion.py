"""Congestion counters of every planned port (marks made and received, notices, pauses), and the symptoms found."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from truerail.analysis.counters import Quantity, Telemetry
from truerail.analysis.counters.denominators import rdma_priorities, share_of_marked
from truerail.analysis.counters.hygiene import Floats
from truerail.analysis.counters.series import Sums
from truerail.analysis.optics_lanes import leaf_of
from truerail.model import NOTHING_YET, Severity
from truerail.model.columns import Codes, Mask, Numbers

Q = Quantity


def reported_of(telemetry: Telemetry, quantity: Quantity, priorities: Iterable[int | None] | None = None) -> Sums:
    """A quantity over all its priorities: their sum, or the total counter where that is larger."""
    gained, whole, seconds = np.full((3, telemetry.ports), np.nan)
    samples = np.zeros(telemetry.ports, dtype=np.int64)
    for priority in telemetry.priorities(quantity) if priorities is None else priorities:
        one = telemetry.summed(quantity, priority)
        seconds, samples = np.fmax(seconds, one.seconds), np.maximum(samples, one.samples)
        if priority is None:
            whole = one.gained
        else:
            gained = np.where(np.isnan(gained), one.gained, gained + np.nan_to_num(one.gained))
    return Sums(np.fmax(gained, whole), seconds, samples)


def paused(
    telemetry: Telemetry, microseconds: Quantity, frames: Quantity, *, share: float, frames_per_second: float
) -> Mask:
    """Ports that pause, or are paused, for more than a share of the time on one priority; where only frames are
    counted, at more than so many a second. Shape (planned ports,).
    """
    found, timed = np.zeros(telemetry.ports, dtype=bool), np.zeros(telemetry.ports, dtype=bool)
    for priority in telemetry.priorities(microseconds):
        one = telemetry.summed(microseconds, priority)
        timed |= one.samples > 0
        found |= one.rate > share * 1e6
    for priority in telemetry.priorities(frames):
        found |= ~timed & (telemetry.summed(frames, priority).rate > frames_per_second)
    return found


def marked_share(telemetry: Telemetry, priorities: Iterable[int | None]) -> Numbers:
    """Share of received RDMA packets that were marked as congested, shape (planned ports,). It is a lower bound where
    packets are not counted by priority, and NaN where unknown.
    """
    by_priority, whole = reported_of(telemetry, Q.RX_PACKETS, priorities), reported_of(telemetry, Q.RX_PACKETS, [None])
    marked = reported_of(telemetry, Q.ECN_RECEIVED_PACKETS)
    return np.asarray(share_of_marked(marked.rate, by_priority.rate, whole.rate), dtype=np.float64)


def marked_samples(telemetry: Telemetry, ports: Codes, priorities: Iterable[int | None]) -> Floats:
    """The same for some ports in each sample, shape (ports, samples)."""
    marked = _part(telemetry, Q.ECN_RECEIVED_PACKETS, ports, telemetry.priorities(Q.ECN_RECEIVED_PACKETS))
    by_priority = _part(telemetry, Q.RX_PACKETS, ports, priorities)
    whole = _part(telemetry, Q.RX_PACKETS, ports, [None])
    return share_of_marked(marked, by_priority, whole).astype(np.float32)


def _part(telemetry: Telemetry, quantity: Quantity, ports: Codes, priorities: Iterable[int | None]) -> Floats:
    found = np.full((len(ports), telemetry.samples), np.nan, dtype=np.float32)
    for priority in priorities:
        gained, _ = telemetry.part(quantity, priority, ports)
        found = np.where(np.isnan(found), gained, found + np.nan_to_num(gained))
    return found


@dataclass(slots=True)
class Said:
    """Symptoms at one subject: their descriptions, the highest severity, and the first action."""

    severity: Severity = Severity.INFO
    symptoms: list[str] = field(default_factory=list)
    summary: list[str] = field(default_factory=list)
    does: list[str] = field(default_factory=list)
    sure: float = 0.0
    port: int = -1
    detail: list[tuple[str, Any]] = field(default_factory=list)

    def add(self, severity: Severity, symptom: str, summary: str, action: str, sure: float) -> None:
        """Adds a symptom."""
        self.severity = max(self.severity, severity, key=lambda one: one.rank)
        self.symptoms.append(symptom)
        self.summary.append(summary)
        self.does.append(action)
        self.sure = max(self.sure, sure)


@dataclass(frozen=True)
class Scene:
    """The counters, the other end of each port, which ports belong to NICs, and the symptoms of each subject so far."""

    t: Telemetry
    other: Codes
    nic: Mask
    said: dict[str, Said] = field(default_factory=dict)

    @cached_property
    def leaf(self) -> Codes:
        """The leaf of each planned port, see `leaf_of`."""
        return leaf_of(self.t.wiring.index, self.other)

    @cached_property
    def together(self) -> Mask:
        """The NICs that have one finding together, set by the function that takes them so. Shape (planned ports,)."""
        return np.zeros(self.t.ports, dtype=bool)

    def at(self, port: int) -> Said:
        """The symptoms of a port."""
        return self.said.setdefault(str(self.t.wiring.index.spell(port)), Said(port=port))

    def of(self, device: int) -> Said:
        """The symptoms of a device."""
        return self.said.setdefault(self.t.wiring.index.devices.names[device], Said())


MARKED_SHARE = (0.001, 0.01, 0.1)
"""Info, warning, critical: shares of received packets. Chosen by judgement: healthy DCQCN stays far below one in a
hundred.
"""
SUSTAINED = 0.8
"""Share of the samples that must be above the warning, so that a burst does not count."""
LEAST_SECONDS = 120.0
"""A shorter window does not show a lasting condition."""
BUSY = 0.5
"""A link that carries less than this on average and receives marks gets bursts."""
INFERRED, REPORTED = 0.8, 0.9
"""Confidence in what the counters of several devices add up to, and in what the NIC itself reports."""
ABOVE_LEAST = 4
"""Marked NICs of a leaf with links that are hardly in use, from which they are taken together. Chosen by judgement: an
incast has one receiver, or a few.
"""
_LOOK_ABOVE = "Look which links between leaves and spines, or above, are full (CAP001, LBL002), and which job uses them"
LOOK = "Check which senders meet at it (INC001), and whether it is a slow receiver (PFC001)"


def marked(scene: Scene) -> None:
    """NICs that receive many marked packets; those that receive some, for each leaf together."""
    t, priorities = scene.t, rdma_priorities(scene.t)
    share = marked_share(t, priorities)
    enough = reported_of(t, Q.ECN_RECEIVED_PACKETS).seconds >= LEAST_SECONDS
    ports = np.flatnonzero(scene.nic & enough & (share > MARKED_SHARE[0]))
    many = ports[share[ports] > MARKED_SHARE[1]]
    samples = marked_samples(t, many, priorities)
    lasting = (samples > MARKED_SHARE[1]).sum(axis=1) >= SUSTAINED * (~np.isnan(samples)).sum(axis=1)
    loud = many[lasting | (share[many] > MARKED_SHARE[2])]
    carried = reported_of(t, Q.RX_BYTES).rate[loud] / t.speed()[loud]
    above = _marked_above(scene, loud, carried, share)
    scene.together[loud[above]] = True
    for port, use in zip(loud[~above].tolist(), carried[~above].tolist(), strict=True):
        idle = f" while its link is {use:.0%} in use: bursts, or an egress further up" if use < BUSY else ""
        severity = Severity.CRITICAL if share[port] > MARKED_SHARE[2] else Severity.WARNING
        summary = f"{share[port]:.1%} of the packets that it receives are marked as congested{idle}"
        scene.at(port).add(severity, "marked", summary, LOOK, REPORTED)
        scene.at(port).detail.append(("marked_share", round(float(share[port]), 5)))
    _some_marked(scene, np.setdiff1d(ports, loud), share)


def _marked_above(scene: Scene, ports: Codes, carried: Numbers, share: Numbers) -> Mask:
    """Which of these NICs are taken together: several on one leaf are marked while their links are hardly in use, so
    that bursts meet there, or what is full is above it. One finding for all such leaves.
    """
    leaf = scene.leaf
    idle = (carried < BUSY) & (leaf[ports] >= 0)
    wide = np.bincount(leaf[ports[idle]], minlength=int(leaf.max(initial=0)) + 1) >= ABOVE_LEAST
    above = idle & wide[leaf[ports]]
    if above.any():
        _say_above(scene, ports[above], carried[above], share[ports[above]], np.flatnonzero(wide) // 2)
    return above


def _say_above(scene: Scene, ports: Codes, carried: Numbers, share: Numbers, leaves: Codes) -> None:
    names = [scene.t.wiring.index.devices.names[leaf] for leaf in leaves.tolist()]
    on = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1:,} more leaves"
    use = f"their links are at most {carried.max():.0%} in use"
    summary = f"{_some_words(share, on)} while {use}: bursts, or what is full is above the leaves"
    severity = Severity.CRITICAL if share.max() > MARKED_SHARE[2] else Severity.WARNING
    said = scene.of(int(leaves[0]))
    said.add(severity, "marked above", summary, _LOOK_ABOVE, INFERRED)
    said.detail += [("nics", len(ports)), ("leaves", tuple(names)), ("marked_share", round(float(share.max()), 5))]


def _some_marked(scene: Scene, ports: Codes, share: Numbers) -> None:
    """One finding for each leaf: ports of one leaf are adjacent once they are sorted by it."""
    leaf = scene.leaf[ports]
    ports, leaf = ports[leaf >= 0], leaf[leaf >= 0]
    order = np.argsort(leaf, kind="stable")
    codes, begin, count = np.unique(leaf[order], return_index=True, return_counts=True)
    for code, first, nics in zip(codes.tolist(), begin.tolist(), count.tolist(), strict=True):
        some = share[ports[order[first : first + nics]]]
        action = f"{NOTHING_YET}: congestion is signalled and handled, check again if jobs are slow"
        said = scene.of(code // 2)
        said.add(Severity.INFO, "marked", _some_words(some, "it"), action, INFERRED)
        marked = ports[order[first : first + nics]].tolist()
        said.detail.append(("marked_ports", tuple(str(scene.t.wiring.index.spell(port)) for port in marked)))


def _some_words(share: Numbers, leaf: str) -> str:
    """How many of the packets that NICs on a leaf receive are marked; the range only where it shows as one."""
    low, high = f"{share.min():.1%}", f"{share.max():.1%}"
    nics = f"{len(share):,} NICs on {leaf} receive" if len(share) > 1 else f"1 NIC on {leaf} receives"
    return f"{nics} {low if low == high else f'{low} to {high}'} of packets marked as congested"
