"""The lossless settings of all planned ports as columns, what most ports of each role have, and where ends differ."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rules._links import subject_of
from truerail.analysis.cabling import ONE_END, Wiring
from truerail.analysis.counters import Quantity, Telemetry
from truerail.model import PortQos, QosProfile
from truerail.model.columns import NONE, Codes, Mask, factorize
from truerail.model.names import printable


def setting_word(field: str, value: Any) -> str:
    """A setting in words: `PFC on 3`, `DSCP 26 to priority 3`, `ECN from 153,600 bytes`."""
    if field in ("pfc_priorities", "ecn_priorities"):
        name = "PFC" if field == "pfc_priorities" else "ECN"
        return f"{name} on {'/'.join(map(str, value))}" if value else f"{name} off"
    if field == "global_pause":
        return f"global pause {'on' if value else 'off'}"
    if field == "dscp_to_priority":
        return ", ".join(f"DSCP {dscp} to priority {priority}" for dscp, priority in value)
    if field == "mtu":
        return f"MTU {value}"
    if field == "ecn_probability":
        return f"ECN probability {value:g}"
    if field.endswith("_bytes"):
        name = {"ecn_min_bytes": "ECN from", "ecn_max_bytes": "ECN to"}.get(field, "headroom")
        return f"{name} {value:,} bytes"
    return f"{field} {printable(str(value), 20)}"


FIELDS = ("trust", "pfc_priorities", "ecn_priorities", "global_pause", "watchdog")
COMPARED = (*FIELDS, "dscp_to_priority", "mtu", "ecn_min_bytes", "ecn_max_bytes", "ecn_probability", "headroom_bytes")
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


WORDS = {
    "trust": "trust",
    "pfc_priorities": "PFC priorities",
    "ecn_priorities": "ECN priorities",
    "global_pause": "global pause",
    "watchdog": "PFC watchdog",
    "dscp_to_priority": "DSCP map",
    "mtu": "MTU",
    "ecn_min_bytes": "ECN minimum",
    "ecn_max_bytes": "ECN maximum",
    "ecn_probability": "ECN probability",
    "headroom_bytes": "headroom",
}
"""Settings by field, for a sentence."""


@dataclass(frozen=True)
class Intent:
    """`declared[field]` and `wrong[field]` are masks of planned ports: the plan has a value for the setting of the
    port; the port reports another one. `wanted[field]` are the values by group, `group` is that of each port, -1 where
    the profile does not apply.
    """

    group: Codes
    wanted: Mapping[str, Sequence[Any]]
    declared: Mapping[str, Mask]
    wrong: Mapping[str, Mask]

    def want(self, field: str, port: int) -> Any:
        """The declared value of a port's setting."""
        return self.wanted[field][self.group[port]]


def intent_of(wiring: Wiring, settings: Settings, profile: QosProfile | None) -> Intent:
    """The settings compared with the profile; without one nothing is declared."""
    ports = wiring.index.planned_ports
    profile = profile or QosProfile()
    group, groups = _groups(wiring, profile)
    wanted: dict[str, Sequence[Any]] = {}
    declared: dict[str, Mask] = {}
    wrong: dict[str, Mask] = {}
    for field in COMPARED:
        wanted[field] = [profile.wanted(field, host=host, speed_gbps=speed) for host, speed in groups]
        has = np.array([*(want is not None for want in wanted[field]), False])
        declared[field] = has[group]
        wrong[field] = np.zeros(ports, dtype=bool)
        words = settings.words[field]
        for code, (host, _) in enumerate(groups):
            want = wanted[field][code]
            if want is not None and words:
                bad = np.array([not profile.accepts(field, word, want, host=host) for word in words])
                value = settings.value[field]
                wrong[field] |= (group == code) & (value >= 0) & bad[value]
    return Intent(group, wanted, declared, wrong)


def _groups(wiring: Wiring, profile: QosProfile) -> tuple[Codes, list[tuple[bool, float | None]]]:
    """Ports that may have one wanted value: NICs or switch ports of one speed. Cables of hosts without a rail carry no
    RDMA.
    """
    index = wiring.index
    ports = np.arange(index.planned_ports)
    tier = np.array([*index.devices.tier, NONE])[index.ports.device_of(ports)]
    cable = index.cables_at(ports)
    applies = (cable >= 0) & ((index.rail[cable] >= 0) | ~index.from_host[cable])
    if profile.roles:
        applies &= np.isin(tier, [role.tier for role in profile.roles])
    speed = np.nan_to_num(index.speed_gbps[cable], nan=-1.0)
    speeds, of_speed = np.unique(speed, return_inverse=True)
    pair = (tier == 0) * len(speeds) + of_speed  # sorting pairs as rows costs ten times as much
    found, group = np.unique(pair, return_inverse=True)
    pairs = (divmod(one, len(speeds)) for one in found.tolist())
    groups = [(bool(host), float(speeds[gbps]) if speeds[gbps] >= 0 else None) for host, gbps in pairs]
    return np.where(applies, group, NONE), groups


def unreported(settings: Settings, intent: Intent) -> Iterator[tuple[tuple[str, ...], Mask]]:
    """Declared settings, and the ports that report none of them though they report others; settings that are missing
    on the same ports together.
    """
    alike: dict[bytes, tuple[list[str], Mask]] = {}
    for field, declared in intent.declared.items():
        missing: Mask = declared & (settings.value[field] < 0) & settings.reported
        if missing.any():
            alike.setdefault(missing.tobytes(), ([], missing))[0].append(WORDS[field])
    for words, missing in alike.values():
        yield tuple(words), missing


PLANNED, OTHER_END = "the plan", "the other end"


@dataclass(frozen=True, slots=True)
class Odd:
    """One setting of a port that is not as it should be. `support` is how many of how many peers have `want`."""

    field: str
    has: Any
    want: Any
    source: str
    support: tuple[int, int] | None = None

    def summary(self) -> str:
        """Such as `PFC on 4 instead of PFC on 3 (95 of 96 peers)`."""
        return f"{setting_word(self.field, self.has)} instead of {setting_word(self.field, self.want)} ({self.source})"

    @property
    def sure(self) -> float:
        """Confidence in the value of the plan, or of most peers."""
        return ONE_END if self.support is None else min(ONE_END, round(self.support[0] / self.support[1], 2))


def faults_of(
    wiring: Wiring, settings: Settings, intent: Intent, other: Codes, profile: QosProfile | None
) -> dict[int, list[Odd]]:
    """By port, the settings that are not as they should be."""
    faults: dict[int, list[Odd]] = {}
    for field in COMPARED:
        words, value = settings.words[field], settings.value[field]
        for port in np.flatnonzero(intent.wrong[field]).tolist():
            has = words[value[port]]
            if profile and field == "dscp_to_priority":
                has = profile.of_declared(has)
            faults.setdefault(port, []).append(Odd(field, has, intent.want(field, port), PLANNED))
    for field in FIELDS:
        value, usual, words = settings.value[field], settings.usual[field], settings.words[field]
        open_ = ~intent.declared[field]
        odd = settings.odd(field) & open_
        for port in np.flatnonzero(odd).tolist():
            most = int(settings.support[field][port][0]), int(settings.support[field][port][1])
            fault = Odd(field, words[value[port]], words[usual[port]], "{} of {} peers".format(*most), most)
            faults.setdefault(port, []).append(fault)
        link = settings.differ(wiring, other, field) & ~odd & ~odd[other] & (other[other] == np.arange(len(other)))
        link &= open_ & open_[other]
        for port in np.flatnonzero(link & (np.arange(len(other)) < other)).tolist():
            lower = subject_of(wiring.index, port, int(other[port]))
            upper = int(other[lower])
            chosen = upper if usual[port] >= 0 and usual[upper] >= 0 else lower
            fault = Odd(field, words[value[chosen]], words[value[other[chosen]]], OTHER_END)
            faults.setdefault(chosen, []).append(fault)
    return faults
