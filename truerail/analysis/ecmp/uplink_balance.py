"""How evenly every switch spreads its upward traffic: its uplinks as a group, with the measures of their loads.

A group is the uplinks of one switch: the next hops among which it hashes. Uplinks that are down or disabled are no
members; a group with a member of unknown load is not `evaluated`. Member columns have shape (uplinks,), group columns
(switches with uplinks,); loads are bytes per second.

Some switches count packets but no bytes: SONiC's `show interfaces counters` shows packets alone. Bytes or packets both
show how a load is shared over links. So for a switch that counts packets at its ports and no bytes, all its ports are
measured in packets, each as large as a packet is on the ports of the fabric that count both: links of one switch are
compared in one unit, never some in bytes and others in packets.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.carried import Carried, carried_in, overall
from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.telemetry import Telemetry
from truerail.model.columns import NONE, Codes, Mask, Numbers, distinct, ratio

IDLE = 0.05
"""A member that carries less than this share of its group's mean is idle (detection.md 2.2)."""
WARM_MEMBER, WARM_MEAN = 0.20, 0.05
"""A group is evaluated where its busiest member runs at this share of its speed, or all on average at the other one
(detection.md 2.5).
"""


@dataclass(frozen=True)
class Balance:
    """Loads and measures of every group; `member` marks the uplinks that are members."""

    telemetry: Telemetry
    carried: Carried
    switch: Codes
    """Device code of each group."""
    group: Codes
    """Group of each uplink."""
    cable: Codes
    port: Codes
    above: Codes
    """Device at the upper end of each uplink."""
    position: Codes
    """Each uplink's place among those of its switch, in the plan's order."""
    member: Mask
    load: Numbers
    """Load of each uplink over all windows; 0 where it is no member, NaN where it is a member of unknown load."""
    speed: Numbers
    members: Codes
    total: Numbers
    idle: Mask
    """Members that carried almost nothing over all windows together."""
    idle_members: Codes
    uneven: Numbers
    """Coefficient of variation of the members' loads, as they are or relative to speed, whichever is more even."""
    peak: Numbers
    """The busiest member's load over the mean, likewise."""
    reported: Mask
    """Groups of two members or more, all with known load."""
    evaluated: Mask
    """Those of them with enough load to be evaluated."""

    @cached_property
    def reached(self) -> Mask:
        """Uplinks to a neighbour that a switch sends to, or that sends down itself: it is part of the routing."""
        least = IDLE * ratio(self.total, self.members)[self.group]
        busy = (self.load > least) | (overall(self.carried.rx[self.port]) > least)
        return np.isin(self.above, self.above[busy])

    def sum(self, values: npt.NDArray[np.generic]) -> Numbers:
        """Sums of a member column by group."""
        return _by_group(values, self.group, len(self.switch))

    def names(self, groups: Codes) -> list[str]:
        """The switches of some groups."""
        return [self.telemetry.wiring.index.devices.names[code] for code in self.switch[groups].tolist()]

    def uplinks(self, group: int) -> Codes:
        """The rows of a group's uplinks."""
        low, high = np.searchsorted(self.group, [group, group + 1])
        return np.arange(low, high)

    def shares(self, group: int) -> Sequence[tuple[str, float]]:
        """Each member's share of the group's traffic, by port name."""
        rows = [row for row in self.uplinks(group).tolist() if self.member[row]]
        spell = self.telemetry.wiring.index.spell
        return [(spell(int(self.port[row])).name, round(float(self.load[row] / self.total[group]), 4)) for row in rows]

    def in_windows(self, rows: Codes) -> Numbers:
        """Loads of some uplinks in each window, shape (rows, windows)."""
        return np.asarray(self.carried.tx[self.port[rows]], dtype=np.float64)


def balance_of(telemetry: Telemetry, by_bytes: Carried) -> Balance:
    """The groups of a fabric. `by_bytes` is what its ports carry, as far as bytes are counted."""
    index, carried = telemetry.wiring.index, carried_or_packets(telemetry, by_bytes)
    cable = np.flatnonzero(~index.from_host & (index.a >= 0) & (index.b >= 0))
    cable = cable[np.argsort(index.a_device[cable], kind="stable")]
    switch, first, group = np.unique(index.a_device[cable], return_index=True, return_inverse=True)
    port, above = index.a[cable], index.b_device[cable]
    load = overall(carried.tx[port])
    lost = np.flatnonzero(np.isnan(load) | (load <= 0))
    member = np.ones(len(cable), dtype=bool)
    member[lost] = ~_out_of_use(telemetry, port[lost], carried.peer[port[lost]])
    load[~member] = 0.0
    speed = telemetry.speed()[port]
    size = len(switch)

    def by_group(values: npt.NDArray[np.generic]) -> Numbers:
        return _by_group(values, group, size)

    members, total = by_group(member).astype(np.int64), by_group(load)
    reported = (members >= 2) & ~np.isnan(total)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(reported & (total > 0), total / members, np.nan)
        idle = member & (load < IDLE * mean[group])
        measures = [_spread(np.where(member, x, np.nan), group, size) for x in (load, load / speed)]
        use = np.where(member, load / speed, 0.0)
    uneven, peak = (np.fmin(plain, by_speed) for plain, by_speed in zip(*measures, strict=True))
    hottest = np.zeros(size)
    np.maximum.at(hottest, group, np.nan_to_num(use))
    warm = (hottest >= WARM_MEMBER) | (by_group(np.nan_to_num(use)) / np.maximum(members, 1) >= WARM_MEAN)
    position = np.arange(len(cable)) - first[group]
    return Balance(
        telemetry, carried, switch, group, cable, port, above, position, member, load, speed, members,
        total, idle, by_group(idle).astype(np.int64), uneven, peak, reported, reported & warm & (total > 0),
    )  # fmt: skip


def _by_group(values: npt.NDArray[np.generic], group: Codes, size: int) -> Numbers:
    return np.bincount(group, weights=values.astype(np.float64), minlength=size).astype(np.float64)


def _out_of_use(telemetry: Telemetry, port: Codes, peer: Codes) -> Mask:
    """Whether either end reports no link or is disabled."""
    states = telemetry.wiring.states
    out = states.down(port) | states.disabled(port)
    far = np.flatnonzero((peer != NONE) & ~out)
    out[far] |= states.down(peer[far]) | states.disabled(peer[far])
    return out


def _spread(x: Numbers, group: Codes, size: int) -> tuple[Numbers, Numbers]:
    """Coefficient of variation and maximum over mean, by group; NaN values are no members."""
    known = ~np.isnan(x)
    count = np.bincount(group, weights=known, minlength=size)
    x = np.where(known, x, 0.0)
    mean = np.bincount(group, weights=x, minlength=size) / count
    apart = np.where(known, x - mean[group], 0.0)
    largest = np.zeros(size)
    np.maximum.at(largest, group, x)
    return np.sqrt(np.bincount(group, weights=apart**2, minlength=size) / count) / mean, largest / mean


USUAL_BYTES = 1024.0
"""Bytes per packet where no port counts both: the payload of RoCE on an Ethernet of 1,500 bytes, the smallest in use.
"""


def carried_or_packets(telemetry: Telemetry, by_bytes: Carried) -> Carried:
    """Traffic of every planned port, from packets on switches that count no bytes."""
    between = _between_switches(telemetry)
    between = between[np.isnan(overall(by_bytes.tx[between]))]
    if not len(between) or not (telemetry.counts(Quantity.TX_PACKETS) or telemetry.counts(Quantity.RX_PACKETS)):
        return by_bytes
    packets = carried_in(telemetry, Quantity.TX_PACKETS, Quantity.RX_PACKETS)
    device = telemetry.wiring.index.ports.device_of
    lacking = device(between[~np.isnan(overall(packets.tx[between]))])
    rows = np.flatnonzero(np.isin(device(np.arange(telemetry.ports)), lacking))
    size = _bytes_of_a_packet(by_bytes, packets)
    tx, rx = by_bytes.tx.copy(), by_bytes.rx.copy()
    tx[rows], rx[rows] = packets.tx[rows] * size, packets.rx[rows] * size
    return Carried(tx, rx, by_bytes.peer)


def _between_switches(telemetry: Telemetry) -> Codes:
    """Ports of planned cables between switches."""
    index = telemetry.wiring.index
    ports = distinct(np.concatenate([index.a[~index.from_host], index.b[~index.from_host]]))
    return np.asarray(ports[ports >= 0])


def _bytes_of_a_packet(by_bytes: Carried, packets: Carried) -> float:
    """Mean over all ports that count both."""
    bytes_, count = overall(by_bytes.tx), overall(packets.tx)
    both = (bytes_ > 0) & (count > 0)
    return float(bytes_[both].sum() / count[both].sum()) if both.any() else USUAL_BYTES
