"""The QoS of lossless traffic as a plan declares it. What is `None`, or empty, is not declared."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from truerail.model.role import Role

SWITCH_ONLY = frozenset(("watchdog", "ecn_min_bytes", "ecn_max_bytes", "ecn_probability", "headroom_bytes"))
"""Settings that NICs do not have."""
_BY_SPEED = SWITCH_ONLY - {"watchdog"}


class QosBuffer(NamedTuple):
    """Buffers of switch ports of one speed; of all speeds that have none of their own where `speed_gbps` is None."""

    speed_gbps: float | None = None
    ecn_min_bytes: int | None = None
    """The queue length from which packets are marked."""
    ecn_max_bytes: int | None = None
    ecn_probability: float | None = None
    """The share of packets that are marked at `ecn_max_bytes`."""
    headroom_bytes: int | None = None
    """At least so much takes in what is under way after a pause was sent."""


@dataclass(frozen=True, slots=True)
class QosProfile:
    """The settings of all ports that carry RDMA. Fields are named as in `PortQos`."""

    trust: str | None = None
    pfc_priorities: tuple[int, ...] | None = None
    ecn_priorities: tuple[int, ...] | None = None
    global_pause: bool | None = None
    watchdog: str | None = None
    dscp_to_priority: tuple[tuple[int, int], ...] = ()
    """Pairs of a DSCP and its priority, ascending; other DSCPs are not declared."""
    mtu: int | None = None
    """Of NICs, in bytes; switch ports take at least as much."""
    buffers: tuple[QosBuffer, ...] = ()
    roles: tuple[Role, ...] = ()
    """Devices of these roles only; all where empty."""

    def wanted(self, field: str, *, host: bool, speed_gbps: float | None = None) -> Any:
        """The declared value of a setting for a port; None where there is none. Empty priorities mean off."""
        if host and field in SWITCH_ONLY:
            return None
        if field not in _BY_SPEED:
            return getattr(self, field) if field != "dscp_to_priority" else self.dscp_to_priority or None
        found = {one.speed_gbps: getattr(one, field) for one in self.buffers if getattr(one, field) is not None}
        return found.get(speed_gbps, found.get(None))

    def accepts(self, field: str, actual: Any, wanted: Any, *, host: bool) -> bool:
        """Whether an actual value is as wanted. A NIC may respond to congestion on further priorities; a switch port
        may take larger frames and have more headroom; a DSCP without an entry has priority 0.
        """
        if field == "dscp_to_priority":
            return bool(self.of_declared(actual) == wanted)
        if field == "ecn_priorities" and host:
            return set(wanted) <= set(actual)
        if field == "headroom_bytes" or (field == "mtu" and not host):
            return bool(actual >= wanted)
        return bool(actual == wanted)

    def of_declared(self, pairs: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
        """The priorities of the declared DSCPs in a port's map."""
        actual = dict(pairs)
        return tuple((dscp, actual.get(dscp, 0)) for dscp, _ in self.dscp_to_priority)
