"""Where the settings of ports differ from the QoS that the plan declares."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rules._qos import COMPARED, Settings
from truerail.analysis.cabling import Wiring
from truerail.model import QosProfile
from truerail.model.columns import NONE, Codes, Mask

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
