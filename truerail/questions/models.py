"""The answers to the on-call questions."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from truerail.views.pieces import CablePath, CauseLine, FindingLine


@dataclass(frozen=True, slots=True)
class Where:
    """`where PORT`. `matched_type` is the type of the name: `host port`, `switch port`, `gpu`, `rdma device`, `mac
    address`, `host`, `switch`. A name that fits several things gives all their paths.
    """

    query: str
    matched_type: str
    paths: tuple[CablePath, ...]
    summary: str


@dataclass(frozen=True, slots=True)
class JobRail:
    """One rail of a job. `broken`, `unknown` and `degraded` are hosts as a node set; with the healthy ones they add up
    to `hosts`. Degraded hosts have only a part of their cables on the rail: one plane of two.
    """

    rail: int | None
    hosts: int
    whole: int
    broken: str
    unknown: str
    summary: str
    degraded: str = ""


@dataclass(frozen=True, slots=True)
class JobHost:
    """A host with faults. `lost` are rails without a usable same-rail path, `unknown` those in unknown state,
    `degraded` those that have lost a plane and still work.
    """

    host: str
    lost: tuple[int, ...]
    unknown: tuple[int, ...]
    summary: str
    causes: tuple[str, ...]
    """Keys."""
    degraded: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of hosts of the job, over all rails, by what NCCL would do between them. They add up to `total`.

    `same_rail`: NIC to NIC within the rail. `rerouted`: a detour (PXN through another GPU of the sender, or across the
    spine). `cut`: no path (rail-only fabric, rails that share none). `unknown`: not enough data.
    """

    total: int
    same_rail: int
    rerouted: int
    cut: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Job:
    """`job NODESET`, worst first."""

    query: str
    hosts: tuple[str, ...]
    not_in_plan: tuple[str, ...]
    rails: tuple[JobRail, ...]
    pairs: Pairs
    worst: tuple[JobHost, ...]
    causes: tuple[CauseLine, ...]
    summary: str
    action: str


@dataclass(frozen=True, slots=True)
class BlastHost:
    """An affected host. `share_lost` is the share of its planned bandwidth, 0..1."""

    host: str
    gpus: tuple[int, ...]
    rails: tuple[int, ...]
    share_lost: float


@dataclass(frozen=True, slots=True)
class Blast:
    """`blast DEVICE|PORT`: the impact if it goes down, or of its being down.

    `share_lost` is the lost share of the bandwidth of all affected hosts together, `uplink_share_lost` that of the
    rail's
    uplinks. `pairs_cut` are pairs of hosts that lose their last path on a rail-only fabric. `drain` says what can be
    taken
    out, one rail at a time, and what then still works.
    """

    query: str
    matched_type: str
    down_now: bool | None
    hosts: tuple[BlastHost, ...]
    hosts_affected: int
    gpus_affected: int
    gpus_of_hosts: int
    rails: tuple[int, ...]
    share_lost: float
    uplink_share_lost: float
    pairs_cut: int
    summary: str
    drain: str


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a path: its ingress and egress ports, where known."""

    device: str
    role: str | None
    in_port: str
    out_port: str
    rail: int | None
    choices: int = 1
    """Number of equal links at this hop (uplinks)."""
    nvlink: str = ""
    """The path inside the host, from GPU to GPU: PXN."""


@dataclass(frozen=True, slots=True)
class RailPath:
    """The actual path from one host to another over one rail. `stays` is None if unknown."""

    rail: int | None
    hops: tuple[Hop, ...]
    stays: bool | None
    leaves_at: str
    """The device where the path leaves its rail; empty if it does not."""
    summary: str
    from_rail: int | None = None
    """The rail of the sending GPU, if it is another one: PXN brings its data to this rail."""


@dataclass(frozen=True, slots=True)
class PathAnswer:
    """`path HOST HOST [--rail N]`, or from GPU to GPU."""

    source: str
    target: str
    rails: tuple[RailPath, ...]
    summary: str


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
    summary: str


@dataclass(frozen=True, slots=True)
class FindingChange:
    """A finding that came or went. `kind` is an `EventKind` word."""

    at: datetime | None
    kind: str
    finding: str
    rule: str
    severity: str
    subject: str
    summary: str


@dataclass(frozen=True, slots=True)
class Diff:
    """`diff`. `whole` is False if the answer was cut at its limit."""

    start: datetime | None
    end: datetime | None
    against: str
    """`time` or `plan`."""
    links: tuple[LinkLine, ...]
    findings: tuple[FindingChange, ...]
    whole: bool
    summary: str


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """One fact and its source. `source` is the command or file, `answer` the raw fact as JSON values."""

    device: str
    collector: str
    at: datetime
    kind: str
    source: str
    fact: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Why:
    """`why FINDING`: its evidence and the alternatives. `ruled_out` are sentences: each alternative and the evidence
    against it.
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
    """One event. `kind` is an `EventKind` word."""

    at: datetime
    kind: str
    subject: str
    summary: str
    finding: str | None = None
    severity: str | None = None
    author: str | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """`timeline PORT|DEVICE`, newest first."""

    query: str
    events: tuple[TimelineEvent, ...]
    whole: bool
    summary: str


@dataclass(frozen=True, slots=True)
class StormNode:
    """A device in a pause tree. `kind` is `culprit`, `between` (it is paused and pauses others) or `victim`; `hops` is
    the distance from the culprit, 0 for itself.
    """

    device: str
    role: str | None
    kind: str
    hops: int


@dataclass(frozen=True, slots=True)
class StormEdge:
    """One paused link of a pause tree: port `on` pauses port `waiting`; an empty one is unknown. `share` is that of
    time, 0..1, an upper bound where not `exact`. `source` is `both ends` or `one end`, `link` `seen` or `planned`.
    """

    waiting: str
    on: str
    hops: int
    share: float
    exact: bool
    source: str
    link: str


@dataclass(frozen=True, slots=True)
class StormTree:
    """One storm: its root and its victims. `finding` is the id of the finding that reports it.

    `level` is `storm` or `suspect`. `priority` is None if no counter names it. `hosts` are those whose NICs are
    paused. `since` is the start of the pauses, or the start of the available counters if the pauses are older.
    """

    finding: str
    culprit: str
    behind: bool
    """The root is behind this port and is not monitored."""
    sub_cause: str
    level: str
    priority: int | None
    rail: int | None
    paused_share: float
    mean_pause_us: float | None
    nodes: tuple[StormNode, ...]
    edges: tuple[StormEdge, ...]
    hosts: tuple[str, ...]
    since: datetime | None
    confidence: float
    summary: str
    action: str


@dataclass(frozen=True, slots=True)
class Storm:
    """`storm [PORT|DEVICE]`, worst first: all storms, or those that involve a port or device.

    `reported` is False if there is no data on pauses. `deadlocks` are cycles of switches that pause each other.
    """

    query: str | None
    storms: tuple[StormTree, ...]
    deadlocks: tuple[FindingLine, ...]
    reported: bool
    summary: str
    action: str
