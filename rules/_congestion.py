"""Congestion counters of every planned port (marks made and received, notices, pauses), and the symptoms found."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters import Quantity
from truerail.analysis.counters.hygiene import Floats
from truerail.analysis.counters.marks import share_of_marked
from truerail.analysis.counters.telemetry import Telemetry
from truerail.analysis.optics_lanes import leaf_of
from truerail.model import Severity
from truerail.model.columns import Codes, Mask

Q = Quantity
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Reported:
    """Counts of each planned port over the window, NaN where unknown; `seconds` is the time they cover, else 0."""

    gained: Numbers
    seconds: Numbers

    @cached_property
    def rate(self) -> Numbers:
        """Counts per second; NaN where unknown."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.gained / self.seconds, dtype=np.float64)

    def nothing(self, seconds: float) -> Mask:
        """Ports that counted nothing in at least these seconds."""
        return np.asarray((self.gained == 0) & (self.seconds >= seconds), dtype=bool)


def reported_of(telemetry: Telemetry, quantity: Quantity, priorities: Iterable[int | None] | None = None) -> Reported:
    """A quantity over all its priorities: their sum, or the total counter where that is larger."""
    gained, seconds = np.full(telemetry.ports, np.nan), np.zeros(telemetry.ports)
    whole = np.full(telemetry.ports, np.nan)
    for priority in telemetry.priorities(quantity) if priorities is None else priorities:
        one = telemetry.summed(quantity, priority)
        seconds = np.fmax(seconds, one.seconds)
        if priority is None:
            whole = one.gained
        else:
            gained = np.where(np.isnan(gained), one.gained, gained + np.nan_to_num(one.gained))
    return Reported(np.fmax(gained, whole), seconds)


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
    by_priority, whole = (
        _part(telemetry, Q.RX_PACKETS, ports, priorities),
        _part(telemetry, Q.RX_PACKETS, ports, [None]),
    )
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
