"""Parts of answers: times, ends, findings, causes, and one cable with all details."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class AsOf:
    """The time of an answer about the past. `round_at` is the last round up to then; `unknown` says what cannot be
    restored of that time. `source` is `journal` or `capture`.
    """

    at: datetime
    round_at: datetime | None
    unknown: tuple[str, ...]
    source: str = "journal"


@dataclass(frozen=True, slots=True)
class End:
    """One end of a cable. `port` is empty if only the device is known."""

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
    summary: str
    action: str
    confidence: float
    cause: str | None
    """Key of the cause that explains it."""
    state: str
    since: datetime | None
    muted: str | None
    ended: datetime | None = None
    """When a resolved one was gone. As of a time: when this one ended after it; None if it is still open."""
    suggested: str = ""
    """As of a time: the action of that time. `action` is then empty, since it may be done."""


@dataclass(frozen=True, slots=True)
class MoveLine:
    """Take the cable of `cable` (the end that stays) out of `source`, put it into `target`.

    `after` contains the ids of the causes to repair first, `not_before` is the same as a sentence. Both ports have the
    names that they have after that.
    """

    cable: str
    source: str
    target: str
    after: tuple[str, ...] = ()
    not_before: str = ""


@dataclass(frozen=True, slots=True)
class CauseJob:
    """A running job that a cause affects: on which of its hosts, and since when both last. `gpus` are the job's GPUs
    whose rail the cause lies on, `waiting` its others, which wait for them in a synchronous job. None is unknown.
    """

    key: str
    scheduler: str
    name: str
    user: str
    hosts: str
    """A node set."""
    hosts_affected: int
    nodes: int
    since: datetime | None
    gpus: int | None
    waiting: int | None
    gpu_hours: float | None
    waiting_hours: float | None


@dataclass(frozen=True, slots=True)
class CauseLine:
    """A cause as a row of a list, in order of impact. `harm` is the number of GPUs that lose their rail while it lasts,
    or may lose it if it is `undecided` whether names or cables are swapped.
    """

    key: str
    id: str
    """`C1`: its name within one evaluation only."""
    kind: str
    subjects: tuple[str, ...]
    summary: str
    action: str
    confidence: float
    severity: str
    """The highest severity of its findings."""
    explains: tuple[str, ...]
    moves: tuple[MoveLine, ...]
    alternatives: tuple[str, ...]
    """The alternatives as sentences."""
    to_confirm: str
    impact: int
    state: str
    since: datetime | None
    muted: str | None
    """Set if every finding that it explains is muted."""
    undecided: bool = False
    ended: datetime | None = None
    """When a resolved one was gone. As of a time: when this one ended after it; None if it is still open."""
    repair: str = ""
    """What ended a resolved one, as far as the journal has it."""
    suggested: str = ""
    """As of a time: the action of that time. `action` is then empty, since it may be done."""
    jobs: tuple[CauseJob, ...] = ()
    """Running jobs that it affects, the worst first, at most 20."""
    jobs_affected: int | None = None
    """Their number; None where no scheduler is asked, or one has not answered yet."""
    impact_known: bool = True
    """False where `impact` is 0 because it is not known which GPUs are affected."""


@dataclass(frozen=True, slots=True)
class GpuLink:
    """A GPU and its distance to the NIC (`PIX`, `PXB`, ...)."""

    gpu: int
    level: str


@dataclass(frozen=True, slots=True)
class Nic:
    """The facts about a host's NIC port. `link` is `up`, `down`, `disabled` or None."""

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
    """One planned cable with all details, from GPU to uplinks. For an uplink `a` is the lower switch's port.

    `state` is a `CableState` word, `why` a short sentence, `verified` `both ends`, `one end`, `other sources`, `device
    only` or `none`; `unknown` as of a time. `witnesses` are what names its actual place: `LLDP at one end`, `MAC
    table`, `cable serial number`, ...
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
    actual: End | None
    state: str
    why: str
    verified: str
    witnesses: tuple[str, ...]
    confidence: float
    since: datetime | None
    """Time of the cable's last known change; None without a change or without a history."""
    uplinks: tuple[Uplinks, ...]
    """The uplinks of the cable's actual leaf (of its planned leaf if the actual one is unknown)."""
    findings: tuple[FindingLine, ...]
    causes: tuple[CauseLine, ...]
    via: tuple[End, ...] = ()
    """The ports of patch panels between `a` and `planned`."""


@dataclass(frozen=True, slots=True)
class StateCount:
    """The number of planned cables in each state."""

    planned: int
    right: int
    wrong: int
    missing: int
    unknown: int


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
