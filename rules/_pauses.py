"""Shared by the rules on pauses: culprits in words, and several priorities of one culprit in one finding."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from math import isnan

import numpy as np
import numpy.typing as npt

from truerail.analysis.cabling import Wiring
from truerail.analysis.counters import Quantity, Telemetry
from truerail.analysis.pfc.culprits import Culprit
from truerail.analysis.pfc.edges import STORM
from truerail.analysis.pfc.reasons import Reason
from truerail.analysis.pfc.trees import Pauses
from truerail.analysis.rule import Rule
from truerail.model import Finding, PortQos, Severity
from truerail.model.columns import NONE, Mask, factorize
from truerail.model.names import natural_key
from truerail.model.plan import Role

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
    ways = ((Q.RX_PAUSE_FRAMES, Q.RX_PAUSE_US, received), (Q.TX_PAUSE_FRAMES, Q.TX_PAUSE_US, sent))
    for frames, duration, moved in ways:
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
    Reason.NIC_WATCHDOG: "Reset the NIC of {port} or reboot {device}; keep the NIC's firmware dump.",
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


@dataclass(frozen=True)
class Blamed:
    """Culprits of one port, or of one switch whose port is unknown, over all priorities, the worst first: the subject
    identifies a finding.
    """

    pauses: Pauses
    culprits: Sequence[Culprit]

    @property
    def worst(self) -> Culprit:
        """The worst culprit."""
        return self.culprits[0]

    @property
    def subject(self) -> str:
        """The port as the plan spells it; its switch if the port is unknown."""
        index = self._wiring.index
        return str(index.spell(self.worst.port)) if self.worst.switch < 0 else index.devices.names[self.worst.switch]

    @property
    def where(self) -> str:
        """Whether it is the port, or what is behind it."""
        return f"{'behind' if self._behind else 'at'} {self.subject}"

    @property
    def victims(self) -> int:
        """How many ports pause because of it."""
        return len({victim for culprit in self.culprits for victim in culprit.victims})

    def how(self, on: str) -> str:
        """What pauses `on` some priorities, for how much of the time, how long at a time, and why."""
        worst, length = self.worst, _length(self.worst.pause_us)
        unknown = worst.switch >= 0 and worst.reason is not Reason.CIRCLE
        why = ONE_OF_SEVERAL if unknown else CAUSES[worst.reason]
        return f"{self._who} on {on}, {_share(worst)}{f', {length} at a time' if length else ''}; {why}"

    def found(self, rule: Rule, summary: str, severity: Severity) -> Finding:
        """A finding about it."""
        worst, subject = self.worst, self.subject
        repair = REPAIRS[worst.reason] if worst.switch < 0 or worst.reason is Reason.CIRCLE else REPAIR_OF_SWITCH
        rail = self._wiring.index.plan.rail_of(self._wiring.index.spell(worst.port)) if worst.switch < 0 else None
        repair = repair.format(port=subject, device=subject.partition("/")[0])
        if first := self._first(rail):
            repair = f"{first} Then {repair[0].lower()}{repair[1:]}"
        return rule.found(
            subject,
            severity=severity,
            summary=summary,
            action=repair,
            rail=rail,
            confidence=max(culprit.confidence for culprit in self.culprits),
            evidence=self._wiring.evidence(worst.first.waiting, worst.first.on),
            detail=tuple(self._detail().items()),
        )

    def _first(self, rail: int | None) -> str:
        """How a storm ends at once, where its root is a host's NIC, and what that costs; empty for all else."""
        index, waiting = self._wiring.index, self.worst.first.waiting
        device = index.plan.devices.get(self.subject.partition("/")[0])
        if self.worst.level != STORM or device is None or device.role is not Role.HOST:
            return ""
        port = index.spell(waiting) if waiting >= 0 else "its switch port"
        cost = "" if rail is None else f": jobs on the host lose rail {rail}"
        return f"Drain {device.name}, or shut {port}{cost}."

    @property
    def _wiring(self) -> Wiring:
        return self.pauses.reported.wiring

    @property
    def _behind(self) -> bool:
        """Whether the root is named by the last port before it."""
        return self.worst.unseen and self.worst.switch < 0

    @property
    def _who(self) -> str:
        """The source of the pauses: the port itself, the switch whose egress it is, or a device behind it."""
        if self._behind:
            return "it is paused"
        return "its switch pauses others" if self.worst.reason in SWITCHES or self.worst.switch >= 0 else "it pauses"

    def _detail(self) -> dict[str, object]:
        """`victims` are the ports that pause because of it."""
        worst = self.worst
        hops: dict[int, int] = {}
        for culprit in self.culprits:
            for port, far in culprit.victims.items():
                hops[port] = min(far, hops.get(port, far))
        named = [{"port": str(self._wiring.index.spell(port)), "hops": far} for port, far in hops.items()]
        return {
            "victims_complete": all(culprit.whole for culprit in self.culprits),
            "victims": sorted(named, key=lambda v: (v["hops"], natural_key(str(v["port"])))),
            "priority": worst.priority,
            "priorities": sorted({c.priority for c in self.culprits if c.priority is not None}),
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


def blamed(pauses: Pauses, culprits: Iterable[Culprit]) -> list[Blamed]:
    """The culprits of each port together."""
    ordered = sorted(culprits, key=lambda c: (*_place(c), -c.level, -c.share))
    return [Blamed(pauses, list(same)) for _, same in groupby(ordered, key=_place)]


def _place(culprit: Culprit) -> tuple[int, int]:
    return culprit.switch, culprit.port if culprit.switch < 0 else 0


def _share(culprit: Culprit) -> str:
    """`98 % of the time`, or what is known of the share."""
    if not culprit.first.exact and culprit.watchdog:
        return "as a watchdog reports"
    bound = "" if culprit.first.exact else "at most "
    return f"{bound}{culprit.share * 100:.0f} % of the time"


def _length(pause_us: float) -> str:
    """The mean pause with its unit; empty where unknown."""
    if isnan(pause_us):
        return ""
    if pause_us >= 1e6:
        return f"{pause_us / 1e6:.1f} s"
    return f"{pause_us / 1e3:.0f} ms" if pause_us >= 1e4 else f"{pause_us:.0f} us"
