"""The planned ports as columns that every table of ports begins with, and what they counted in a minute."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.hygiene import Floats
from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.ring import Samples
from truerail.analysis.counters.telemetry import Telemetry
from truerail.analysis.counters.window import CounterView
from truerail.history.arrow_tables import arrow, words
from truerail.model.columns import NONE, Codes, distinct
from truerail.model.index import PlanIndex

# ----------------------------------------------------------------------------------------------------------------------
# The planned ports as columns that every table of ports begins with. Made once for a plan.

PORT_COLUMNS = ("device", "port", "rail", "pod", "role")


@dataclass(frozen=True)
class PlannedPorts:
    """The ports of a plan's cables by code, shape (planned ports,)."""

    index: PlanIndex

    @cached_property
    def device(self) -> Codes:
        """The device code of each port."""
        return self.index.ports.device_of(np.arange(self.index.planned_ports))

    @cached_property
    def name(self) -> Codes:
        """The code of each port's name."""
        return self.index.ports.name_of(np.arange(self.index.planned_ports))

    @cached_property
    def rail(self) -> Codes:
        """The rail of each port's cable; -1 for an uplink."""
        cable = self.index.cables_at(np.arange(self.index.planned_ports))
        return np.where(cable >= 0, self.index.rail[cable], NONE)

    @cached_property
    def _devices(self) -> tuple[Any, ...]:
        return tuple(self.index.plan.devices.values())

    @cached_property
    def _names(self) -> list[str | None]:
        return [self.index.ports.spelled(code) for code in range(int(self.name.max(initial=NONE)) + 1)]

    def columns(self, ports: Codes) -> dict[str, Any]:
        """The columns device, port, rail, pod and role of these ports, in the types of the store."""
        device, rail = self.device[ports], self.rail[ports]
        return {
            "device": words(device, [one.name for one in self._devices]),
            "port": words(self.name[ports], self._names),
            "rail": arrow().array(rail, mask=rail < 0),
            "pod": words(device, [one.pod for one in self._devices]),
            "role": words(device, [one.role.value for one in self._devices]),
        }


# ----------------------------------------------------------------------------------------------------------------------
# What planned ports counted in one minute, from the samples of the counters' window.
#
# A sample belongs to the minute in which the middle of its interval lies. A port that is read less often than once a
# minute has a row in some minutes only, whose `seconds` are then more than 60: rates stay right, no value is made up.

Q = Quantity
Numbers = npt.NDArray[np.float64]
MINUTE_SECONDS = 60
PAUSED = {"pause_received_seconds": Q.RX_PAUSE_US, "pause_sent_seconds": Q.TX_PAUSE_US}
SINGLE = {
    **{one.value: one for one in (Q.RX_BYTES, Q.TX_BYTES, Q.RX_PACKETS, Q.TX_PACKETS, Q.SYMBOL_ERRORS, Q.LINK_DOWNS)},
    "fec_corrected_codewords": Q.FEC_CORRECTED,
    "fec_uncorrected_codewords": Q.FEC_UNCORRECTED,
}
"""Quantities that are a column of their own."""
_ADDED: dict[str, tuple[Quantity, ...]] = {
    **{name: (one,) for name, one in SINGLE.items()},
    "dropped_packets": (Q.RX_DISCARDS, Q.TX_DISCARDS),
    "ecn_marked_packets": (Q.ECN_MARKED_PACKETS, Q.ECN_RECEIVED_PACKETS),
    "pause_received_frames": (Q.RX_PAUSE_FRAMES, Q.RX_GLOBAL_PAUSE_FRAMES),
    "pause_sent_frames": (Q.TX_PAUSE_FRAMES, Q.TX_GLOBAL_PAUSE_FRAMES),
}
"""Quantities that are added up into one column; of each the counter over all priorities, else the sum of these."""


def hour_of(at: datetime) -> datetime:
    """The start of the hour of a time."""
    return at.replace(minute=0, second=0, microsecond=0)


def complete_minutes(counters: CounterView, after: float) -> Iterator[tuple[float, Codes]]:
    """The minutes after `after` (the start of one, in Unix seconds) that get no more samples, with their samples. The
    newest sample may still be filled, so its minute is not complete.
    """
    order = counters.order
    if len(order) < 2:
        return
    minute = np.floor((counters.begun[order] - counters.pace / 2) / MINUTE_SECONDS) * MINUTE_SECONDS
    done = (minute > after) & (minute < minute[-1])
    for start in distinct(minute[done]).tolist():
        yield start, order[minute == start]


def minute_columns(telemetry: Telemetry, samples: Codes) -> tuple[Codes, dict[str, Numbers]]:
    """The ports with data in these samples, ascending, and the values of the store's columns for them. NaN where a port
    does not count that.
    """
    minute = _Minute(telemetry, samples)
    columns = {name: minute.added(quantities) for name, quantities in _ADDED.items()}
    columns["errors"] = minute.errors()
    columns |= {name: minute.longest(quantity) / 1e6 for name, quantity in PAUSED.items()}
    seconds = minute.seconds
    ports = np.flatnonzero(seconds > 0)
    speed = telemetry.speed() * 8
    found = {name: column[ports] for name, column in columns.items()}
    return ports, {"seconds": seconds[ports], **found, "speed_bits_per_second": speed[ports]}


class _Minute:
    """Sums over some samples; `seconds` is the longest time that any of them covers. Shapes (planned ports,)."""

    def __init__(self, telemetry: Telemetry, samples: Codes) -> None:
        self._telemetry, self._samples = telemetry, samples
        self.seconds: Numbers = np.zeros(telemetry.ports)

    def added(self, quantities: Sequence[Quantity]) -> Numbers:
        """The sum of quantities; NaN only where none is counted."""
        found = self._nothing()
        for quantity in quantities:
            found = _plus(found, self._over_priorities(quantity))
        return found

    def errors(self) -> Numbers:
        """Damaged frames; a receive error that also counts as a CRC error counts once."""
        received, crc = self._sum(Q.RX_ERRORS), self._sum(Q.CRC_ERRORS)
        return _plus(np.where(np.isnan(received), crc, received), self._sum(Q.TX_ERRORS))

    def longest(self, quantity: Quantity) -> Numbers:
        """The largest sum of a priority."""
        found = self._nothing()
        for priority in self._telemetry.priorities(quantity):
            found = np.fmax(found, self._sum(quantity, priority))
        return found

    def _over_priorities(self, quantity: Quantity) -> Numbers:
        overall, by_priority = self._nothing(), self._nothing()
        for priority in self._telemetry.priorities(quantity):
            if priority is None:
                overall = self._sum(quantity)
            else:
                by_priority = _plus(by_priority, self._sum(quantity, priority))
        return np.where(np.isnan(overall), by_priority, overall)

    def _sum(self, quantity: Quantity, priority: int | None = None) -> Numbers:
        found = self._telemetry.reduced(quantity, priority, 2, self._measured).astype(np.float64)
        self.seconds = np.fmax(self.seconds, found[:, 1])
        return found[:, 0]

    def _measured(self, gained: Samples, span: Samples) -> Floats:
        counted, seconds = gained.of(self._samples), span.of(self._samples)
        known = ~np.isnan(counted) & ~np.isnan(seconds)
        found = np.full((len(counted), 2), np.nan, dtype=np.float32)
        rows = known.any(axis=1)
        for column, values in enumerate((counted, seconds)):
            found[rows, column] = np.where(known[rows], values[rows], 0).sum(axis=1, dtype=np.float64)
        return found

    def _nothing(self) -> Numbers:
        return np.full(self._telemetry.ports, np.nan)


def _plus(one: Numbers, other: Numbers) -> Numbers:
    """The sum; where one is NaN the other."""
    return np.where(np.isnan(one), other, one + np.nan_to_num(other))
