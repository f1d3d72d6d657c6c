"""The lossless settings of all planned ports as columns, what most ports of each role have, and where ends differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from truerail.analysis.cabling import Wiring
from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.telemetry import Telemetry
from truerail.model import PortQos
from truerail.model.columns import NONE, Codes, Mask, factorize

FIELDS = ("trust", "pfc_priorities", "ecn_priorities", "global_pause", "watchdog")
COMPARED = (
    *FIELDS,
    *("dscp_to_priority", "mtu", "ecn_min_bytes", "ecn_max_bytes", "ecn_probability", "headroom_bytes"),
)
"""Settings that a plan may declare. Those that are not in `FIELDS` are compared with the plan alone: they differ by
speed and cable length, or have a rule of their own (LNK002).
"""
PRIORITIES = 8
_SHARED = FIELDS[:4]
"""Settings that both ends of a cable must agree on. The watchdog is each device's own."""


@dataclass(frozen=True)
class Settings:
    """`value[field][port]` is an index into `words[field]`, -1 where unknown; `row[field][port]` is the fact's row, of
    `PortQos` or, for the MTU, of `NetLink`; -1 where unknown or not from a fact.

    `usual[field][port]` is the value of most ports of the port's role, -1 where most disagree or too few report one;
    `support[field][port]` is how many of how many, shape (ports, 2).
    """

    value: dict[str, Codes]
    words: dict[str, list[Any]]
    row: dict[str, Codes]
    usual: dict[str, Codes]
    support: dict[str, Codes]
    counted: Mask
    """Ports whose PFC priorities are derived from the priorities of their pause counters: their settings were not read.
    """
    reported: Mask
    """Ports with any setting, the MTU aside."""

    def odd(self, field: str) -> Mask:
        """Ports that have another value than most of their role."""
        value, usual = self.value[field], self.usual[field]
        return np.asarray((value >= 0) & (usual >= 0) & (value != usual), dtype=bool)

    def differ(self, wiring: Wiring, other: Codes, field: str) -> Mask:
        """Ports whose setting does not match that of the other end, where both are known. Shape (ports,)."""
        if field not in _SHARED:
            return np.zeros(len(other), dtype=bool)
        here, there = self.value[field], np.where(other >= 0, self.value[field][other], NONE)
        differ = (here >= 0) & (there >= 0) & (here != there)
        if field == "ecn_priorities" and differ.any():
            differ &= ~self._answers_more(wiring, other, here, there)
        return np.asarray(differ, dtype=bool)

    def _answers_more(self, wiring: Wiring, other: Codes, here: Codes, there: Codes) -> Mask:
        """Links of a NIC that answers on all priorities that its switch marks, and on more, which is harmless."""
        sets = [set(word) for word in self.words["ecn_priorities"]]
        within = np.array([[one <= more for more in sets] for one in sets], dtype=bool)
        host = np.array(wiring.index.devices.tier)[wiring.index.ports.device_of(np.arange(len(other)))] == 0
        return np.asarray(np.where(host, within[there, here], host[other] & within[here, there]), dtype=bool)


def settings_of(wiring: Wiring, other: Codes, telemetry: Telemetry, *, least_reported: int) -> Settings:
    """The settings of the snapshot. A majority needs `least_reported` ports of the role or more that report the
    setting."""
    table = wiring.seen.table(PortQos)
    ports = wiring.index.planned_ports
    kind, distinct = factorize(table.rows)  # ports with one name and the same settings, on any number of devices
    name = wiring.index.ports.name_codes([row.port for row in distinct])[kind]
    port = wiring.identity.local_ports(wiring.identity.devices_of(table), name)
    rows = np.flatnonzero((port >= 0) & (port < ports))
    port = port[rows]
    role = _roles(wiring, other)
    found = Settings({}, {}, {}, {}, {}, np.zeros(ports, dtype=bool), np.zeros(ports, dtype=bool))
    found.reported[port] = True
    counted = counted_priorities(telemetry)
    for field in COMPARED:
        if field == "mtu":
            continue
        code, found.words[field] = factorize([getattr(row, field) for row in distinct])
        value = np.full(ports, NONE, dtype=np.int64)
        reported = code[kind[rows]] if len(rows) else rows
        value[port[reported >= 0]] = reported[reported >= 0]
        found.row[field] = np.full(ports, NONE, dtype=np.int64)
        found.row[field][port[reported >= 0]] = rows[reported >= 0]
        if field == "pfc_priorities":
            _add_counted(found, value, counted)
        found.value[field] = value
        if field in FIELDS:
            found.usual[field], found.support[field] = _usual(value, role, found.words[field], least_reported)
    found.reported[:] |= found.counted
    mtu = wiring.states.mtu[:ports]
    sizes, code = np.unique(mtu, return_inverse=True)
    found.value["mtu"], found.words["mtu"] = np.where(mtu > 0, code, NONE), sizes.tolist()
    found.row["mtu"] = wiring.states.link_row[:ports]
    return found


def counted_priorities(telemetry: Telemetry) -> dict[int, tuple[int, ...]]:
    """The priorities for which a NIC counts pauses, by planned port, where that shows its PFC settings.

    mlx5 has `rx_prio3_pause` only while PFC is on for priority 3, and `rx_prio3_bytes` always (linux
    drivers/net/ethernet/mellanox/mlx5/core/en_stats.c, pfc and per-priority traffic groups): a NIC that counts bytes by
    priority and no pauses has PFC off. Drivers that count all eight always (bnxt_en, ionic) show nothing.
    """
    index, last = telemetry.wiring.index, telemetry.samples
    if not last:
        return {}
    host = np.zeros(telemetry.ports, dtype=bool)
    host[index.a[index.from_host]] = True
    shows = np.zeros(telemetry.ports, dtype=bool)
    for priority in telemetry.priorities(Quantity.RX_BYTES):
        if priority is not None:
            shows |= telemetry.tells(Quantity.RX_BYTES, priority, last)
    paused = np.zeros((telemetry.ports, PRIORITIES), dtype=bool)
    for quantity in (Quantity.RX_PAUSE_FRAMES, Quantity.RX_PAUSE_US):
        for priority in telemetry.priorities(quantity):
            if priority is not None and priority < PRIORITIES:
                paused[:, priority] |= telemetry.tells(quantity, priority, last)
    ports = np.flatnonzero(host & shows & ~paused.all(axis=1)).tolist()
    return {port: tuple(np.flatnonzero(paused[port]).tolist()) for port in ports}


def _add_counted(found: Settings, value: Codes, counted: Mapping[int, tuple[int, ...]]) -> None:
    """Adds to the PFC priorities those of ports that report none."""
    words = found.words["pfc_priorities"]
    for port, priorities in counted.items():
        if value[port] < 0:
            if priorities not in words:
                words.append(priorities)
            value[port], found.counted[port] = words.index(priorities), True


def _roles(wiring: Wiring, other: Codes) -> Codes:
    """A number for each planned port: its device's tier, that of the other end, and whether its cable has a rail."""
    index = wiring.index
    ports = np.arange(index.planned_ports)
    tier = np.array([*index.devices.tier, NONE])
    here, there = tier[index.ports.device_of(ports)], tier[index.ports.device_of(other)]
    cable = index.cables_at(ports)
    railed = (index.rail[cable] >= 0) & (cable >= 0)
    return np.asarray(((here + 1) * 8 + there + 1) * 2 + railed, dtype=np.int64)


def _usual(value: Codes, role: Codes, words: Sequence[Any], least_reported: int) -> tuple[Codes, Codes]:
    reported = value >= 0
    size = (int(role.max(initial=0)) + 1, max(len(words), 1))
    count = np.bincount(role[reported] * size[1] + value[reported], minlength=size[0] * size[1]).reshape(size)
    most, total = count.max(axis=1), count.sum(axis=1)
    agreed = (total >= least_reported) & (2 * most > total)
    return np.where(agreed, count.argmax(axis=1), NONE)[role], np.stack([most, total], axis=1)[role]
