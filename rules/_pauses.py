"""Shared by the rules on pauses: culprits in words, and several priorities of one culprit in one finding."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.telemetry import Telemetry
from truerail.analysis.pfc.culprits import Culprit
from truerail.analysis.pfc.reasons import Reason
from truerail.analysis.pfc.trees import Pauses
from truerail.model import PortQos
from truerail.model.columns import NONE, Codes, Mask, factorize
from truerail.model.finding import Evidence
from truerail.model.names import natural_key

PRIORITIES = 8
LOSSLESS, LOSSY = 1, 0
Q = Quantity


@dataclass(frozen=True)
class Lossless:
    """Shapes (planned ports, 8). `reported` is `LOSSLESS`, `LOSSY` or -1 where unknown; `received` and `sent` show
    where pauses of a priority were counted in the last samples.
    """

    reported: npt.NDArray[np.int8]
    received: Mask
    sent: Mask

    @property
    def moved(self) -> Mask:
        """Where pauses were sent or received."""
        return self.received | self.sent


def lossless_of(telemetry: Telemetry, last: int) -> Lossless:
    """The priorities of a fabric over its last samples."""
    received, sent = (np.zeros((telemetry.ports, PRIORITIES), dtype=bool) for _ in range(2))
    for frames, duration, moved in (
        (Q.RX_PAUSE_FRAMES, Q.RX_PAUSE_US, received),
        (Q.TX_PAUSE_FRAMES, Q.TX_PAUSE_US, sent),
    ):
        for priority in telemetry.priorities(frames, duration):
            if priority is not None and priority < PRIORITIES:
                moved[:, priority] = telemetry.reaches(frames, priority, 0.0, last)
                moved[:, priority] |= telemetry.reaches(duration, priority, 0.0, last)
    return Lossless(_settings(telemetry), received, sent)


def _settings(telemetry: Telemetry) -> npt.NDArray[np.int8]:
    """The priorities that ports report (`PortQos.pfc_priorities`)."""
    found = np.full((telemetry.ports, PRIORITIES), NONE, dtype=np.int8)
    identity = telemetry.wiring.identity
    table = telemetry.wiring.seen.table(PortQos)
    if not len(table):
        return found
    port = identity.local_ports(identity.devices_of(table), identity.index.ports.name_codes(table.column("port")))
    kind, kinds = factorize(table.column("pfc_priorities"))
    use = (port >= 0) & (port < telemetry.ports) & (kind >= 0)
    lossless = np.zeros((len(kinds), PRIORITIES), dtype=np.int8)
    for row, priorities in enumerate(kinds):
        lossless[row, [p for p in priorities if 0 <= p < PRIORITIES]] = LOSSLESS
    found[port[use]] = lossless[kind[use]]
    return found


def hosts_of(telemetry: Telemetry) -> Mask:
    """Which planned ports belong to hosts, shape (planned ports,)."""
    index = telemetry.wiring.index
    tier = np.array([*index.devices.tier, NONE], dtype=np.int64)
    device: Codes = index.ports.device_of(np.arange(telemetry.ports))
    return np.asarray(tier[device] == 0, dtype=bool)


CAUSES = {
    Reason.NIC_WATCHDOG: "its own watchdog found its receive pipeline stalled",
    Reason.PCIE_STALLED: "its writes to the host stall on PCIe",
    Reason.NO_BUFFERS: "the application posts no receive buffers",
    Reason.SLOW_HOST: "it drops what it receives: host or PCIe are too slow",
    Reason.SLOW_RECEIVER: "it takes traffic too slowly and drops none",
    Reason.NIC_OR_DRIVER: "it receives nothing, and none of its counters shows why",
    Reason.NIC_UNREPORTED: "its own counters are not read",
    Reason.INCAST: "more traffic arrives for it than it can send",
    Reason.DEGRADED_LINK: "its link is slower than planned",
    Reason.EGRESS_UNREPORTED: "no port of the switch shows the cause",
    Reason.CIRCLE: "switches wait for each other in a circle, and whether traffic still moves there is unknown: the "
    "counters of its ports do not show it in two polls in a row",
    Reason.NOT_MONITORED: "the device behind it is not monitored",
}
ONE_OF_SEVERAL = "which of its ports is the root is unknown: several are paused alike"
REPAIR_OF_SWITCH = "Read the counters of {device}, and check its queues for the congested egress."
SWITCHES = (Reason.INCAST, Reason.DEGRADED_LINK, Reason.EGRESS_UNREPORTED)
REPAIRS = {
    Reason.NIC_WATCHDOG: "Drain {device}, then reset the NIC or reboot the host; keep the NIC's firmware dump.",
    Reason.PCIE_STALLED: "Check the PCIe link of {port} (width, speed, ACS, IOMMU) and the host's memory bandwidth.",
    Reason.NO_BUFFERS: "Check the job on {device}: its processes hang or post too few receives.",
    Reason.SLOW_HOST: "Check {device}: PCIe width and speed, IOMMU, memory bandwidth, then the NIC's firmware.",
    Reason.SLOW_RECEIVER: "Check {device}: huge pages and registered memory, PCIe, CPU frequency, then the firmware.",
    Reason.NIC_OR_DRIVER: "Reset the NIC of {port} or reboot {device}; if it comes back, replace the NIC.",
    Reason.NIC_UNREPORTED: "Read the counters of {device} (`ethtool -S`); if nothing moves, reset the NIC of {port}.",
    Reason.INCAST: "Check the senders to {port}: spread the flows, or check ECN so that senders slow down before.",
    Reason.DEGRADED_LINK: "Repair the link of {port}: reseat or replace the cable, check breakout and speed.",
    Reason.EGRESS_UNREPORTED: "Check the queues of {device} for the congested egress.",
    Reason.CIRCLE: "Read the counters of {device} twice, a minute apart: if nothing moves on the priority, shut one of "
    "its paused uplinks for a second.",
    Reason.NOT_MONITORED: "Find the device on {port}, and add it to the inventory.",
}


def priority_words(priority: int | None, totals: bool) -> str:
    """`priority 3`, or a phrase where pauses are not counted by priority."""
    if priority is None:
        return "a priority that is not reported"
    return f"priority {priority}" + (" (some ports count all priorities together)" if totals else "")


def share_words(culprit: Culprit) -> str:
    """`98 % of the time`, or what is known of the share."""
    if not culprit.first.exact and culprit.watchdog:
        return "as a watchdog reports"
    bound = "" if culprit.first.exact else "at most "
    return f"{bound}{culprit.share * 100:.0f} % of the time"


def pauses_words(culprit: Culprit) -> str:
    """The source of the pauses: the port itself, the switch whose egress it is, or a device behind it."""
    if behind(culprit):
        return "it is paused"
    return "its switch pauses others" if culprit.reason in SWITCHES or culprit.switch >= 0 else "it pauses"


def length_words(pause_us: float) -> str:
    """The mean pause with its unit; empty where unknown."""
    if isnan(pause_us):
        return ""
    if pause_us >= 1e6:
        return f"{pause_us / 1e6:.1f} s"
    return f"{pause_us / 1e3:.0f} ms" if pause_us >= 1e4 else f"{pause_us:.0f} us"


def reported(pauses: Pauses, culprits: Sequence[Culprit]) -> dict[str, Any]:
    """Details that every finding on culprits of one port contains, the worst culprit first."""
    worst = culprits[0]
    port = spelled(pauses, worst)
    in_circle = worst.reason is Reason.CIRCLE
    repair = REPAIRS[worst.reason] if worst.switch < 0 or in_circle else REPAIR_OF_SWITCH
    return {
        "action": repair.format(port=port, device=port.partition("/")[0]),
        "rail": rail_of(pauses, worst.port) if worst.switch < 0 else None,
        "confidence": max(culprit.confidence for culprit in culprits),
        "evidence": evidence_of(pauses, worst),
        "detail": detail_of(pauses, culprits),
    }


def by_port(culprits: Iterable[Culprit]) -> Iterator[list[Culprit]]:
    """Culprits of one port, or of one switch whose port is unknown, together, over all priorities: the subject
    identifies a finding. The worst first.
    """
    ordered = sorted(culprits, key=lambda c: (*_place(c), -c.level, -c.share))
    for _, same in groupby(ordered, key=_place):
        yield list(same)


def _place(culprit: Culprit) -> tuple[int, int]:
    return culprit.switch, culprit.port if culprit.switch < 0 else 0


def detail_of(pauses: Pauses, culprits: Sequence[Culprit]) -> tuple[tuple[str, object], ...]:
    """The fields that findings on a culprit share. `victims` are the ports that pause because of it."""
    worst = culprits[0]
    hops: dict[int, int] = {}
    for culprit in culprits:
        for port, far in culprit.victims.items():
            hops[port] = min(far, hops.get(port, far))
    named = [{"port": str(pauses.reported.wiring.index.spell(port)), "hops": far} for port, far in hops.items()]
    fields: dict[str, object] = {
        "victims_complete": all(culprit.whole for culprit in culprits),
        "victims": sorted(named, key=lambda v: (v["hops"], natural_key(str(v["port"])))),
        "priority": worst.priority,
        "priorities": sorted({c.priority for c in culprits if c.priority is not None}),
        "paused_share": round(worst.share, 3),
        "is_upper_bound": not worst.first.exact,
        "mean_pause_us": None if isnan(worst.pause_us) else round(worst.pause_us, 1),
        "sub_cause": worst.reason.value,
        "source": "both ends" if worst.first.both else "one end",
        "link": "seen" if worst.first.seen else "planned",
        "watchdog": worst.watchdog,
        "roots": worst.roots,
        "since": None if isnan(worst.since) else datetime.fromtimestamp(worst.since, tz=UTC).isoformat(),
    }
    return tuple(fields.items())


def evidence_of(pauses: Pauses, culprit: Culprit) -> tuple[Evidence, ...]:
    """The evidence for the culprit's link."""
    return pauses.reported.wiring.evidence(culprit.first.waiting, culprit.first.on)


def spelled(pauses: Pauses, culprit: Culprit) -> str:
    """The culprit's port as the plan spells it; its switch if the port is unknown."""
    index = pauses.reported.wiring.index
    return str(index.spell(culprit.port)) if culprit.switch < 0 else index.devices.names[culprit.switch]


def behind(culprit: Culprit) -> bool:
    """Whether the root is named by the last port before it."""
    return culprit.unseen and culprit.switch < 0


def cause_words(culprit: Culprit) -> str:
    """Why it pauses, and whether its port is known."""
    return ONE_OF_SEVERAL if culprit.switch >= 0 and culprit.reason is not Reason.CIRCLE else CAUSES[culprit.reason]


def rail_of(pauses: Pauses, port: int) -> int | None:
    """The rail that the plan gives a port."""
    return pauses.reported.wiring.index.plan.rail_of(pauses.reported.wiring.index.spell(port))
