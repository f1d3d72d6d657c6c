"""The lanes of all planned ports' modules as columns, and how each compares with its peers on the same leaf."""

from dataclasses import dataclass

import numpy as np

from truerail.analysis.cabling import Wiring
from truerail.model import Optic, Snapshot
from truerail.model.columns import NONE, Codes, Mask, Numbers, factorize
from truerail.model.index import PlanIndex

_MAD_TO_SIGMA = 1.4826


@dataclass(frozen=True)
class Lanes:
    """Lanes of planned ports: columns of equal length. Powers in dBm; NaN is unknown.

    `row` is the lane's row in the Optic table; `low` and `high` are the module's own limits, where they are plausible.
    """

    seen: Snapshot
    row: Codes
    port: Codes
    rx: Numbers
    tx: Numbers
    low: Numbers
    high: Numbers
    celsius: Numbers

    def fact(self, lane: int) -> Optic:
        """The reported values of a lane."""
        return self.seen.table(Optic).rows[int(self.row[lane])]

    def drop(self, leaf: Codes, *, least_peers: int, least_db: float, sigmas: float) -> Mask:
        """Lanes whose light is far weaker than the same parts on the same leaf (`leaf[port]`), shape (lanes,)."""
        parts, _ = factorize([row.part for row in self.seen.table(Optic).rows])
        parts = parts[self.row]
        at = np.flatnonzero(~np.isnan(self.rx) & (leaf[self.port] >= 0) & (parts >= 0))
        found = np.zeros(len(self.row), dtype=bool)
        if len(at):
            _, group = np.unique(leaf[self.port[at]] * (int(parts.max()) + 1) + parts[at], return_inverse=True)
            middle, size = _medians(group, self.rx[at])
            off = middle[group] - self.rx[at]
            spread, _ = _medians(group, np.abs(off))
            limit = np.maximum(least_db, sigmas * _MAD_TO_SIGMA * spread)
            found[at] = (off > limit[group]) & (size[group] > least_peers)
        return found


def lanes_of(wiring: Wiring) -> Lanes:
    """The lanes of the snapshot's planned ports."""
    seen = wiring.seen
    rows = seen.table(Optic).rows
    port = optic_ports(wiring)
    use = np.flatnonzero((port >= 0) & (port < wiring.index.planned_ports))
    low, high = (_numbers(rows, field, use) for field in ("rx_power_low_dbm", "rx_power_high_dbm"))
    senseless = low >= high
    low[senseless] = high[senseless] = np.nan
    rx, tx, celsius = (_numbers(rows, field, use) for field in ("rx_power_dbm", "tx_power_dbm", "temperature_celsius"))
    return Lanes(seen, use, port[use], rx, tx, low, high, celsius)


def optic_ports(wiring: Wiring) -> Codes:
    """The port of every row. Lanes of one module are adjacent, so each name is looked up once."""
    table = wiring.seen.table(Optic)
    if not len(table):
        return np.empty(0, dtype=np.int64)
    name = wiring.index.ports.name_codes([row[0] for row in table.rows])
    begins = np.r_[True, (np.diff(name) != 0) | (np.diff(table.device) != 0)]
    first = np.flatnonzero(begins)
    found: Codes = wiring.identity.local_ports(wiring.identity.devices_of(table)[first], name[first])
    return np.asarray(found[np.cumsum(begins) - 1], dtype=np.int64)


def _numbers(rows: list[Optic], name: str, use: Codes) -> Numbers:
    return np.array([row[Optic._fields.index(name)] for row in rows], dtype=np.float64)[use]


def _medians(group: Codes, values: Numbers) -> tuple[Numbers, Codes]:
    """The median of each group and how many are in it, shape (groups,). Groups are numbered from 0."""
    size = np.bincount(group)
    ordered = values[np.lexsort((values, group))]
    start = np.cumsum(size) - size
    return (ordered[start + (size - 1) // 2] + ordered[start + size // 2]) / 2, size


def leaf_of(index: PlanIndex, other: Codes) -> Codes:
    """The leaf that each planned port is on, or is cabled to, shape (planned ports,); -1 where there is none.

    Ports of a leaf and ports of what it is cabled to are separate groups: their modules and distances differ.
    """
    device = index.ports.device_of(np.arange(index.planned_ports))
    tier = index.devices.tiers
    there = index.ports.device_of(other)
    on_leaf, below = tier[device] == 1, (tier[there] == 1) & (there >= 0)
    return np.where(on_leaf, 2 * device, np.where(below, 2 * there + 1, NONE))
