"""Models of the views: one device, the fabric at a glance, and rows of lists."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from truerail.views.pieces import AsOf, CablePath, CauseLine, End, FindingLine, StateCount, Uplinks


@dataclass(frozen=True, slots=True)
class ReadingLine:
    """The result of one collector on one device."""

    collector: str
    at: datetime
    took_seconds: float
    source: str
    """The command, or the file with the answer."""
    command: str
    """The command for which the file is named; empty for another file."""
    error: str


@dataclass(frozen=True, slots=True)
class PanelPort:
    """A port of a switch's front panel. `peer_planned` and `peer_seen` are `device/port`; `facing` is `down` (hosts),
    `up`, or `free`.
    """

    port: str
    facing: str
    rail: int | None
    plane: int | None
    peer_planned: str | None
    peer_actual: str | None
    state: str | None
    """A `CableState` word; None for a port without a planned cable."""
    link: str | None
    severity: str | None
    findings: tuple[str, ...]
    """Ids."""
    subject: str | None
    """The subject of the cable itself (its nearer end)."""


@dataclass(frozen=True, slots=True)
class DeviceView:
    """One device: a host with its rails from GPU to uplinks, or a switch with its front panel."""

    device: End
    platform: str
    address: str
    read: bool
    count: StateCount
    paths: tuple[CablePath, ...]
    """A host's cables, in order of rails and planes; empty for a switch."""
    panel: tuple[PanelPort, ...]
    """A switch's ports in their natural order; empty for a host."""
    uplinks: tuple[Uplinks, ...]
    findings: tuple[FindingLine, ...]
    causes: tuple[CauseLine, ...]
    readings: tuple[ReadingLine, ...]
    maintenance: str | None
    """Reason of an open maintenance window on the device."""


@dataclass(frozen=True, slots=True)
class DeviceLine:
    """A device in a list."""

    device: str
    role: str
    pod: str
    rack: str
    unit: int | None
    platform: str
    read: bool
    count: StateCount
    findings: int
    severity: str | None
    """The highest severity of its findings."""


@dataclass(frozen=True, slots=True)
class CableLine:
    """A planned cable in a list."""

    subject: str
    planned: str
    actual: str | None
    rail: int | None
    plane: int | None
    pod: str
    label: str
    state: str
    why: str
    verified: str
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RailLine:
    """The status of one rail. `rail` None contains the cables without a rail, uplinks excluded."""

    rail: int | None
    name: str
    count: StateCount


@dataclass(frozen=True, slots=True)
class Coverage:
    """The number of planned cables confirmed by both ends, by one, by other sources than LLDP, by none; and the share
    by both, 0..1. None as of a time: the journal does not keep it.
    """

    both_ends: int | None
    one_end: int | None
    other_sources: int | None
    none: int | None
    share: float | None


@dataclass(frozen=True, slots=True)
class FabricView:
    """The fabric at a glance. `tone` is `good`, `doubt` or `bad`; `headline` says what hurts most."""

    name: str
    number: int
    at: datetime
    tone: str
    headline: str
    repair: str
    worst: str | None
    """Key of the cause that the headline names."""
    plan_source: str
    plan_inferred: bool
    plan_digest: str
    hosts: int
    hosts_read: int
    switches: int
    switches_read: int
    pods: tuple[str, ...]
    cables: StateCount
    uplinks: StateCount
    rails: tuple[RailLine, ...]
    coverage: Coverage
    findings: Mapping[str, int]
    """By severity, without muted ones."""
    muted: int
    causes: int
    collectors: tuple[Mapping[str, Any], ...]
    """`CollectorRun` as JSON, and `age_seconds`."""
    journal: Mapping[str, Any]
    """`JournalState` as JSON."""
    verdicts: tuple[Mapping[str, Any], ...]
    """Rule, name, status, missing, error."""
    notes: tuple[str, ...]
    as_of: AsOf | None = None
    """The time, and what is unknown of it; None: now."""
    stale_since: datetime | None = None
    """Since when no evaluation is confirmed, because the process that evaluates does not report; None: it does."""
    stale_reason: str = ""
    """What keeps a front on another machine from the judge that leads."""


@dataclass(frozen=True, slots=True)
class StepLine:
    """One step of the punch list. `key` is stable over rounds for the same action."""

    key: str
    mark: str
    """`left`, `new`, `done` or `unseen`."""
    kind: str
    cause: str
    rack: str
    unit: int | None
    device: str
    at: str
    to: str | None
    far: str | None
    label: str
    action: str
    since: datetime | None
    to_rack: str = ""
    """The rack of the device of `to`."""
    to_unit: int | None = None
    far_rack: str = ""
    """The rack of the device of `far`."""
    far_unit: int | None = None
    after: str = ""
    """What to repair first; such steps come last."""
    serial: str = ""
    """Serial number of the optic or cable in `at`, where its device reports one."""
    far_serial: str = ""
    panels: str = ""
    """The ports of patch panels to be checked first."""
