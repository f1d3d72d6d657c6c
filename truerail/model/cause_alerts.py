"""The alert of each kind of cause: its name, how long the cause must last, its runbook and its dashboard.

The one owner of that: rules for Prometheus, the page, notifications and docs read it here. The severity is the cause's
own, that of its worst finding.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from truerail.model.finding import CauseKind, Severity


@dataclass(frozen=True, slots=True)
class CauseAlert:
    """The alert of a kind of cause. `critical` and `warning` are the minutes that a cause of this severity must last
    before it fires; `runbook` names its page in docs/runbooks, `dashboard` its board.
    """

    kind: CauseKind
    title: str
    """What has happened, for people who see the alert's name for the first time."""
    critical: int
    warning: int
    runbook: str
    dashboard: str = "overview"
    needs_use: bool = False
    """Whether it is critical only in a pod that is in use: a fabric that is being cabled sends no pages."""

    @property
    def name(self) -> str:
        """The alert's name: `TruerailCableSwap`."""
        return alert_name(self.kind)

    def minutes(self, severity: Severity) -> int:
        """How long a cause of this severity must last."""
        return self.critical if severity is Severity.CRITICAL else self.warning


def alert_name(kind: CauseKind) -> str:
    """The alert of a kind: `TruerailCableSwap`."""
    return "Truerail" + "".join(word.capitalize() for word in kind.split("-")) + ("Cause" if kind == "unknown" else "")


def _cabling(kind: CauseKind, title: str, runbook: str) -> CauseAlert:
    return CauseAlert(kind, title, 2, 5, runbook, needs_use=True)


_K = CauseKind
_ALERTS: Final = (
    _cabling(_K.CABLE_SWAP, "Two cables are swapped", "CAB001"),
    _cabling(_K.CABLE_ROTATION, "Cables are rotated", "CAB001"),
    _cabling(_K.CABLE_MOVE, "A cable is in another port", "CAB001"),
    _cabling(_K.PORT_SHIFT, "A block of cables is shifted", "CAB002"),
    _cabling(_K.HOST_SWAP, "Two hosts are swapped", "CAB007"),
    _cabling(_K.LEAF_SWAP, "Two leaves are swapped", "CAB007"),
    _cabling(_K.BUNDLE_SWAP, "Two bundles are swapped", "CAB001"),
    CauseAlert(_K.GPU_NIC_ORDER, "GPUs and NICs are in different orders", 5, 5, "NIC001", "host"),
    _cabling(_K.LINK_DOWN, "A link is down", "CAB003"),
    CauseAlert(_K.UNREACHABLE, "A device does not answer", 5, 10, "TEL001"),
    CauseAlert(_K.DEGRADED_LINK, "A link is degraded", 5, 10, "LNK004", "congestion"),
    CauseAlert(_K.FLAPPING_LINK, "A link falls and comes back", 1, 5, "LNK003", "congestion"),
    CauseAlert(_K.SILENT_LINK, "A link loses packets in one direction", 5, 10, "PRB005", "congestion"),
    CauseAlert(_K.SLOW_HOST, "A host is slow", 5, 10, "NIC005", "host"),
    CauseAlert(_K.PFC_DEADLOCK, "Switches wait for each other in a circle", 1, 5, "PFC003", "congestion"),
    CauseAlert(_K.PFC_STORM, "A device pauses its neighbors continuously", 1, 5, "PFC001", "congestion"),
    CauseAlert(_K.CONFIGURATION, "Settings of devices do not fit together", 2, 10, "CFG001", "congestion"),
    CauseAlert(_K.ECMP_POLARIZATION, "Flows hash alike in two tiers", 10, 10, "LBL001", "ecmp"),
    CauseAlert(_K.DEAD_MEMBER, "An uplink is up and carries nothing", 10, 10, "LBL003", "ecmp"),
    CauseAlert(_K.OVERLOAD, "More traffic than a link carries", 5, 10, "INC001", "congestion"),
    CauseAlert(_K.UNKNOWN, "Findings without a known cause", 5, 10, "CAB004"),
)
CAUSE_ALERTS: Final[Mapping[CauseKind, CauseAlert]] = MappingProxyType({alert.kind: alert for alert in _ALERTS})
"""By kind. Announced maintenance has no alert: it explains findings, and is no fault."""

FINDING_ALERT: Final = "TruerailFindingWithoutCause"
FINDING_MINUTES: Final[Mapping[Severity, int]] = MappingProxyType({Severity.CRITICAL: 5, Severity.WARNING: 10})
"""How long a finding that no cause explains must last. Its runbook is that of its rule."""


def minutes_of(kind: CauseKind | None, severity: Severity) -> int | None:
    """How long a cause of this kind, or a finding without one, must last until it fires; None if it never does."""
    if severity is Severity.INFO:
        return None
    if kind is None:
        return FINDING_MINUTES[severity]
    alert = CAUSE_ALERTS.get(kind)
    return alert.minutes(severity) if alert else None
