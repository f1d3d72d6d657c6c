"""The answers, as values. Their fields are the JSON of the API (`as_json`) and what the command line and the page show.

`None` means that nobody told; it is never a zero and never "fine". Ports print as `device/port`, times are aware UTC.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any


def as_json(value: Any) -> Any:
    """An answer as plain JSON values: dataclasses become objects, times ISO 8601, enums their words."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): as_json(one) for key, one in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        return [as_json(one) for one in value]
    return value


class NotFound(LookupError):  # noqa: N818 - said of what was asked for
    """Nothing in plan or snapshot is called that. The text names it and, where there is one, the nearest name."""


class BadQuestion(ValueError):  # noqa: N818 - said of the question
    """The question itself cannot be understood (a node set, a time). The text names the value."""


# --- pieces -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class End:
    """One end of a cable. `port` is empty where only the device is known."""

    device: str
    port: str
    role: str | None
    pod: str = ""
    rack: str = ""
    unit: int | None = None
    rail: int | None = None
    """The rail that the plan gives this port; None for a free port and for uplinks."""

    @property
    def name(self) -> str:
        """`device/port`."""
        return f"{self.device}/{self.port}" if self.port else self.device


@dataclass(frozen=True, slots=True)
class FindingLine:
    """A finding in a list. `state` is a `LifeState` word, `muted` `acknowledged`, `maintenance` or None."""

    id: str
    rule: str
    name: str
    severity: str
    subject: str
    rail: int | None
    expected: str | None
    observed: str | None
    says: str
    do: str
    confidence: float
    cause: str | None
    """Key of the cause that explains it."""
    state: str
    since: datetime | None
    muted: str | None


@dataclass(frozen=True, slots=True)
class MoveLine:
    """Take the cable of `cable` (the end that stays) out of `source`, put it into `target`."""

    cable: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class CauseLine:
    """A cause in a list, in order of harm. `harm` is the number of GPUs that lose their rail while it lasts."""

    key: str
    id: str
    """`C1`: its name within one judgement only."""
    kind: str
    subjects: tuple[str, ...]
    says: str
    do: str
    confidence: float
    severity: str
    """That of its loudest finding."""
    explains: tuple[str, ...]
    moves: tuple[MoveLine, ...]
    alternatives: tuple[str, ...]
    """What each says."""
    decides: str
    harm: int
    state: str
    since: datetime | None
    muted: str | None
    """Set where every finding that it explains is muted."""


@dataclass(frozen=True, slots=True)
class GpuLink:
    """A GPU and how near it is to the NIC (`PIX`, `PXB`, ...)."""

    gpu: int
    level: str


@dataclass(frozen=True, slots=True)
class Nic:
    """What is known of a host's NIC port. `link` is `up`, `down`, `disabled` or None."""

    netdev: str | None
    rdma: str | None
    pci: str | None
    mac: str | None
    mtu: int | None
    speed_gbps: float | None
    link: str | None


@dataclass(frozen=True, slots=True)
class Uplinks:
    """The cables from a leaf to one switch above."""

    switch: str
    planned: int
    right: int


@dataclass(frozen=True, slots=True)
class CablePath:
    """One planned cable with everything on it, from GPU to uplinks. For an uplink `a` is the lower switch's port.

    `state` is a `CableState` word, `why` a short sentence, `verified` `both ends`, `one end`, `device only` or `none`.
    """

    subject: str
    a: End
    gpus: tuple[GpuLink, ...]
    nic: Nic | None
    rail: int | None
    plane: int | None
    label: str
    length_m: float | None
    planned_speed_gbps: float | None
    planned: End
    seen: End | None
    state: str
    why: str
    verified: str
    confidence: float
    since: datetime | None
    """When the cable was last seen to change; None where it has not, or no history is kept."""
    uplinks: tuple[Uplinks, ...]
    """Those of the leaf that the cable is seen on (planned on, where it is not seen)."""
    findings: tuple[FindingLine, ...]
    causes: tuple[CauseLine, ...]


@dataclass(frozen=True, slots=True)
class StateCount:
    """How the planned cables of something stand."""

    planned: int
    right: int
    wrong: int
    missing: int
    unknown: int


# --- answers ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Where:
    """`where PORT`. `matched` says what was recognised: `host port`, `switch port`, `gpu`, `rdma device`,
    `mac address`, `host`, `switch`. A name that fits several things gives all their paths.
    """

    asked: str
    matched: str
    paths: tuple[CablePath, ...]
    says: str


@dataclass(frozen=True, slots=True)
class JobRail:
    """One rail under a job. `broken` and `unknown` are hosts as a node set."""

    rail: int | None
    hosts: int
    whole: int
    broken: str
    unknown: str
    says: str


@dataclass(frozen=True, slots=True)
class JobHost:
    """A host that is not whole. `lost` are rails without a usable same-rail path, `unknown` those nobody can tell."""

    host: str
    lost: tuple[int, ...]
    unknown: tuple[int, ...]
    says: str
    causes: tuple[str, ...]
    """Keys."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of hosts of the job, over all rails, by what NCCL would do between them. They add up to `total`.

    `same_rail`: NIC to NIC within the rail. `rerouted`: it still goes, but by a detour (PXN through another GPU of the
    sender, or across the spine). `cut`: no path (rail-only fabric, rails that share none). `unknown`: nobody can tell.
    """

    total: int
    same_rail: int
    rerouted: int
    cut: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Job:
    """`job NODESET`, worst first."""

    asked: str
    hosts: tuple[str, ...]
    not_in_plan: tuple[str, ...]
    rails: tuple[JobRail, ...]
    pairs: Pairs
    worst: tuple[JobHost, ...]
    causes: tuple[CauseLine, ...]
    says: str
    do: str


@dataclass(frozen=True, slots=True)
class BlastHost:
    """A host that is hurt. `share_lost` is the share of its planned bandwidth, 0..1."""

    host: str
    gpus: tuple[int, ...]
    rails: tuple[int, ...]
    share_lost: float


@dataclass(frozen=True, slots=True)
class Blast:
    """`blast DEVICE|PORT`: who is hurt if it goes down, or because it is.

    `share_lost` is the share of the bandwidth of all hurt hosts together that goes, `uplink_share_lost` that of the
    rail's uplinks. `pairs_cut` are pairs of hosts that lose their last path on a rail-only fabric.
    `drain` says what can be taken out, one rail at a time, and what then still works.
    """

    asked: str
    matched: str
    down_now: bool | None
    hosts: tuple[BlastHost, ...]
    hosts_hurt: int
    gpus_hurt: int
    gpus_of_hosts: int
    rails: tuple[int, ...]
    share_lost: float
    uplink_share_lost: float
    pairs_cut: int
    says: str
    drain: str


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a path: the port by which it is entered and left, where known."""

    device: str
    role: str | None
    in_port: str
    out_port: str
    rail: int | None
    choices: int = 1
    """Equal ways at this hop (uplinks)."""


@dataclass(frozen=True, slots=True)
class RailPath:
    """The way from one host to another over one rail, as seen. `stays` is None where it cannot be told."""

    rail: int | None
    hops: tuple[Hop, ...]
    stays: bool | None
    leaves_at: str
    """The device where it leaves its rail; empty where it does not."""
    says: str


@dataclass(frozen=True, slots=True)
class PathAnswer:
    """`path HOST HOST [--rail N]`."""

    source: str
    target: str
    rails: tuple[RailPath, ...]
    says: str


@dataclass(frozen=True, slots=True)
class LinkLine:
    """A link that changed, or (against the plan) differs."""

    at: datetime | None
    port: str
    rail: int | None
    was: str | None
    now: str | None
    was_state: str
    now_state: str
    says: str


@dataclass(frozen=True, slots=True)
class FindingChange:
    """A finding that came or went. `kind` is an `EventKind` word."""

    at: datetime | None
    kind: str
    finding: str
    rule: str
    severity: str
    subject: str
    says: str


@dataclass(frozen=True, slots=True)
class Diff:
    """`diff`. `whole` is False where the answer was cut at its limit."""

    start: datetime | None
    end: datetime | None
    against: str
    """`time` or `plan`."""
    links: tuple[LinkLine, ...]
    findings: tuple[FindingChange, ...]
    whole: bool
    says: str


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """One fact and who told it. `source` is the command or file, `answer` the raw fact as JSON values."""

    device: str
    collector: str
    at: datetime
    kind: str
    source: str
    fact: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Why:
    """`why FINDING`: what it rests on and what else it could be. `ruled_out` are sentences: what would look alike,
    and the evidence against it.
    """

    finding: FindingLine
    detail: Mapping[str, Any]
    cause: CauseLine | None
    path: CablePath | None
    evidence: tuple[EvidenceLine, ...]
    alternatives: tuple[str, ...]
    ruled_out: tuple[str, ...]
    explanation: str
    """The rule's own page, Markdown."""
    episodes: int
    first_seen: datetime | None
    acknowledged_by: str | None
    acknowledged_reason: str | None


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One thing that happened. `kind` is an `EventKind` word."""

    at: datetime
    kind: str
    subject: str
    says: str
    finding: str | None = None
    severity: str | None = None
    author: str | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """`timeline PORT|DEVICE`, newest first."""

    asked: str
    events: tuple[TimelineEvent, ...]
    whole: bool
    says: str


# --- views ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked:
    """How one collector fared on one device."""

    collector: str
    at: datetime
    took_seconds: float
    source: str
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
    peer_seen: str | None
    state: str | None
    """A `CableState` word; None for a port without a planned cable."""
    link: str | None
    severity: str | None
    findings: tuple[str, ...]
    """Ids."""
    subject: str | None
    """The cable's own subject (its nearer end)."""


@dataclass(frozen=True, slots=True)
class DeviceView:
    """One device: a host with its rails drawn from GPU to uplinks, or a switch with its front panel."""

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
    asked: tuple[Asked, ...]
    maintenance: str | None
    """Reason of an open window on it."""


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
    """Of the loudest finding."""


@dataclass(frozen=True, slots=True)
class CableLine:
    """A planned cable in a list."""

    subject: str
    planned: str
    seen: str | None
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
    """How one rail stands. `rail` None holds the cables without one, uplinks apart."""

    rail: int | None
    name: str
    count: StateCount


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many planned cables are confirmed by both ends, by one, by none; and the share by both, 0..1."""

    both_ends: int
    one_end: int
    none: int
    share: float | None


@dataclass(frozen=True, slots=True)
class FabricView:
    """The fabric at a glance. `tone` is `good`, `doubt` or `bad`."""

    name: str
    number: int
    at: datetime
    tone: str
    headline: str
    repair: str
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


@dataclass(frozen=True, slots=True)
class StepLine:
    """One step of the punch list. `key` stays the same over rounds for the same thing to do."""

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
    do: str
    since: datetime | None
