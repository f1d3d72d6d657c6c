"""The kinds of causes, one row each: what they are, what they do to traffic, what is done about them, and their alert.

The one owner of that: the engine, views, questions, rules for Prometheus, the page, notifications and docs read it
here. The severity of an alert is the cause's own, that of its worst finding.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from types import MappingProxyType
from typing import Any, Final


class CauseKind(StrEnum):
    """All kinds of causes; exactly these words in every output."""

    CABLE_SWAP = "cable-swap"
    CABLE_ROTATION = "cable-rotation"
    CABLE_MOVE = "cable-move"
    PORT_SHIFT = "port-shift"
    HOST_SWAP = "host-swap"
    LEAF_SWAP = "leaf-swap"
    BUNDLE_SWAP = "bundle-swap"
    TRUNK_SWAP = "trunk-swap"
    """Two trunks between patch panels are exchanged, or the order in one is reversed."""
    PANEL_SHIFT = "panel-shift"
    GPU_NIC_ORDER = "gpu-nic-order"
    LINK_DOWN = "link-down"
    UNREACHABLE = "unreachable"
    DEGRADED_LINK = "degraded-link"
    """Slower than planned, fewer lanes, errors, or optics out of range."""
    FLAPPING_LINK = "flapping-link"
    SILENT_LINK = "silent-link"
    """Loses packets in one direction without an error counter that shows it."""
    SLOW_HOST = "slow-host"
    """PCIe, GPUDirect, or a receiver that does not drain."""
    PFC_DEADLOCK = "pfc-deadlock"
    PFC_STORM = "pfc-storm"
    CONFIGURATION = "configuration"
    ECMP_POLARIZATION = "ecmp-polarization"
    DEAD_MEMBER = "dead-member"
    OVERLOAD = "overload"
    """Incast, too few uplinks, load by design."""
    MAINTENANCE = "maintenance"
    """Announced work on a device, as the reason for its neighbours' symptoms."""
    UNKNOWN = "unknown"


class Harm(Enum):
    """The effect of a kind of cause on traffic."""

    CABLES = auto()
    """That of its cables: none without an affected cable."""
    STARVES = auto()
    """Its cables are right, and their traffic is affected."""
    UNREAD = auto()
    """Unknown, because a device does not answer."""
    INTENDED = auto()
    OTHER = auto()
    """Some; which GPUs are affected is unknown."""


class Work(StrEnum):
    """What a repair is, in the words of `Repair.work`."""

    MOVE = "move"
    LINK = "link"
    HOST = "host"
    SETTINGS = "settings"
    NAMES = "names"
    CONFIRM = "confirm"
    LOOK = "look"
    WAIT = "wait"


@dataclass(frozen=True, slots=True)
class KindOfCause:
    """One kind. `critical` and `warning` are the minutes that a cause of this severity must last before its alert
    fires; `runbook` names its page in docs/runbooks, empty for a kind without an alert, `dashboard` its board.
    """

    kind: CauseKind
    shown: int
    """Its place in a list of causes: blocks, single cables, links, hosts and settings, what is only unknown."""
    title: str
    """What has happened, for people who see the alert's name for the first time."""
    critical: int
    warning: int
    runbook: str
    dashboard: str = "overview"
    harm: Harm = Harm.OTHER
    work: Work = Work.LOOK
    """What is done about a cause without moves, if more than its names are wrong."""
    needs_use: bool = False
    """Whether it is critical only in a pod that is in use: a fabric that is being cabled sends no pages."""
    precedence: int = 0
    """Which cause of the cabling explains a finding first: physical state outranks wiring, wiring outranks faults that
    no cable can fix (design: families of causes).
    """
    names: str = ""
    """Whose names alone may be wrong: devices or NICs."""
    exchange: bool = False
    """Whether swapped cables and swapped names can explain the same findings."""
    block: bool = False
    """Whether its moves concern many ports of a switch."""
    panels: bool = False
    """Whether it is one step at a patch panel, however many cables it concerns."""
    closed: bool = False
    """Whether its moves are one closed cycle."""
    strays: bool = False
    """Whether its cables end elsewhere than planned while the rest of their leaf stays: only these change traffic's
    path.
    """

    @property
    def alert(self) -> str:
        """The alert's name: `TruerailCableSwap`."""
        words = "".join(word.capitalize() for word in self.kind.split("-"))
        return f"Truerail{words}{'Cause' * (self.kind is CauseKind.UNKNOWN)}"

    def minutes(self, severity: str) -> int:
        """How long a cause of this severity must last."""
        return self.critical if severity == "critical" else self.warning


def _cabling(kind: CauseKind, shown: int, precedence: int, title: str, runbook: str, **more: Any) -> KindOfCause:
    use: dict[str, Any] = {"harm": Harm.CABLES, "needs_use": True} | more
    return KindOfCause(kind, shown, title, 2, 5, runbook, precedence=precedence, **use)


_K = CauseKind
# fmt: off
_ROWS: Final = (
    _cabling(_K.CABLE_SWAP, 7, 8, "Two cables are swapped", "CAB001", exchange=True, closed=True, strays=True),
    _cabling(_K.CABLE_ROTATION, 6, 7, "Cables are rotated", "CAB001", exchange=True, closed=True, strays=True),
    _cabling(_K.CABLE_MOVE, 8, 9, "A cable is in another port", "CAB001", strays=True),
    _cabling(_K.PORT_SHIFT, 5, 6, "A block of cables is shifted", "CAB002", block=True, strays=True),
    _cabling(_K.HOST_SWAP, 3, 5, "Two hosts are swapped", "CAB007", names="devices", exchange=True),
    _cabling(_K.LEAF_SWAP, 1, 3, "Two leaves are swapped", "CAB007", names="devices", exchange=True, block=True),
    _cabling(_K.BUNDLE_SWAP, 2, 4, "Two bundles are swapped", "CAB001", exchange=True, block=True),
    _cabling(_K.TRUNK_SWAP, 2, 4, "Two trunks are exchanged", "CAB001", exchange=True, block=True, panels=True),
    _cabling(_K.PANEL_SHIFT, 5, 6, "A row of a patch panel is shifted", "CAB002", block=True, strays=True, panels=True),
    KindOfCause(_K.GPU_NIC_ORDER, 4, "GPUs and NICs are in different orders", 5, 5, "NIC001", "host", Harm.CABLES,
                Work.HOST, precedence=10, names="NICs", exchange=True),
    _cabling(_K.LINK_DOWN, 9, 2, "A link is down", "CAB003", work=Work.LINK),
    KindOfCause(_K.UNREACHABLE, 21, "A device does not answer", 5, 10, "TEL001", harm=Harm.UNREAD, precedence=1),
    KindOfCause(_K.DEGRADED_LINK, 10, "A link is degraded", 5, 10, "LNK004", "congestion", Harm.STARVES, Work.LINK),
    KindOfCause(_K.FLAPPING_LINK, 11, "A link falls and comes back", 1, 5, "LNK003", "congestion", Harm.STARVES,
                Work.LINK),
    KindOfCause(_K.SILENT_LINK, 12, "A link loses packets in one direction", 5, 10, "PRB005", "congestion",
                work=Work.LINK),
    KindOfCause(_K.SLOW_HOST, 13, "A host is slow", 5, 10, "NIC005", "host", Harm.STARVES, Work.HOST),
    KindOfCause(_K.PFC_DEADLOCK, 14, "Switches wait for each other in a circle", 1, 5, "PFC003", "congestion",
                Harm.STARVES, Work.HOST),
    KindOfCause(_K.PFC_STORM, 15, "A device pauses its neighbors continuously", 1, 5, "PFC001", "congestion",
                Harm.STARVES, Work.HOST),
    KindOfCause(_K.CONFIGURATION, 16, "Settings of devices do not fit together", 2, 10, "CFG001", "congestion",
                work=Work.SETTINGS),
    KindOfCause(_K.ECMP_POLARIZATION, 17, "Flows hash alike in two tiers", 10, 10, "LBL001", "ecmp",
                work=Work.SETTINGS),
    KindOfCause(_K.DEAD_MEMBER, 18, "An uplink is up and carries nothing", 10, 10, "LBL003", "ecmp",
                work=Work.SETTINGS),
    KindOfCause(_K.OVERLOAD, 19, "More traffic than a link carries", 5, 10, "INC001", "congestion"),
    KindOfCause(_K.MAINTENANCE, 20, "Announced work", 0, 0, "", harm=Harm.INTENDED, work=Work.WAIT),
    KindOfCause(_K.UNKNOWN, 22, "Findings without a known cause", 5, 10, "CAB004", precedence=11),
)
# fmt: on
CAUSE_KINDS: Final[Mapping[CauseKind, KindOfCause]] = MappingProxyType({row.kind: row for row in _ROWS})
ALERTING: Final = tuple(row for row in _ROWS if row.runbook)
"""Those with an alert. Announced maintenance has none: it explains findings, and is no fault."""

FINDING_ALERT: Final = "TruerailFindingWithoutCause"
FINDING_MINUTES: Final[Mapping[str, int]] = MappingProxyType({"critical": 5, "warning": 10})
"""By severity: how long a finding that no cause explains must last. Its runbook is that of its rule."""


def minutes_of(kind: CauseKind | None, severity: str) -> int | None:
    """How long a cause of this kind, or a finding without one, must last until it fires; None if it never does."""
    if severity == "info":
        return None
    if kind is None:
        return FINDING_MINUTES[severity]
    return CAUSE_KINDS[kind].minutes(severity) if CAUSE_KINDS[kind].runbook else None
