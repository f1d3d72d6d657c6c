"""`drain DEVICE|RAIL|POD|PORT`: whether it can be taken out of service, what that ends, and how to do it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from truerail.questions.question import RUNNING_JOBS, Asked, Form, Given, Journal, Parameter, Question
from truerail.views.pieces import AsOf

if TYPE_CHECKING:
    from rich.console import RenderableType

    from truerail.outputs.options import Options


@dataclass(frozen=True, slots=True)
class DrainHost:
    """A host that a drain takes bandwidth from. `lost` are rails without a cable afterwards, `reduced` those that keep
    a plane, `unknown` those whose remaining cables are in unknown state, `already_lost` those lost before, `left` those
    that stay as they are. `share_left` is the share of its planned bandwidth that is known to remain, 0..1.
    """

    host: str
    gpus: tuple[int, ...]
    """On the rails that are lost."""
    lost: tuple[int, ...]
    reduced: tuple[int, ...]
    unknown: tuple[int, ...]
    already_lost: tuple[int, ...]
    left: tuple[int, ...]
    share_left: float


@dataclass(frozen=True, slots=True)
class DrainSwitch:
    """A switch below that loses uplinks: how many are planned, work now, remain afterwards, and are in unknown state
    among the remaining ones.
    """

    switch: str
    planned: int
    now: int
    left: int
    unknown: int


@dataclass(frozen=True, slots=True)
class DrainJob:
    """A job on affected hosts, given or running. `effect` is `ends`, `slower` or `unknown`; `hosts` is a node set."""

    name: str
    hosts: str
    hosts_affected: int
    hosts_total: int
    effect: str
    summary: str


@dataclass(frozen=True, slots=True)
class DrainFault:
    """An open cause on what would remain. `hosts` and `switches`, as node sets, have both: its fault and the drain."""

    key: str
    id: str
    kind: str
    summary: str
    hosts: str
    switches: str


@dataclass(frozen=True, slots=True)
class OtherWork:
    """Announced maintenance in the same time that covers other cables of the affected hosts or switches."""

    what: str
    starts: datetime
    ends: datetime
    reason: str
    hosts: str
    switches: str


@dataclass(frozen=True, slots=True)
class Drain:
    """`drain DEVICE|RAIL|POD|PORT`. `can_drain_now`: whether no running job loses a connection; None: unknown.

    `rdma_survives`: whether RDMA retries bridge it, so that no connection ends; `rdma` says why, and what is assumed.
    `connections` are pairs of host and rail: `connections_lost` end, `connections_kept` move to another port of their
    bond, `connections_unknown` depend on what is not known. `share_left` is that of the affected hosts' planned
    bandwidth, `uplink_share_left` that of the planned uplinks of the switch that keeps the least.
    """

    query: str
    matched_type: str
    name: str
    down_now: bool | None
    can_drain_now: bool | None
    hosts: tuple[DrainHost, ...]
    hosts_affected: int
    gpus_affected: int
    rails: tuple[int, ...]
    share_left: float | None
    switches: tuple[DrainSwitch, ...]
    uplink_share_left: float | None
    pairs_cut: int
    rdma_survives: bool | None
    rdma: str
    connections_lost: int
    connections_kept: int
    connections_unknown: int
    jobs_known: bool
    jobs: tuple[DrainJob, ...]
    not_in_plan: tuple[str, ...]
    """Nodes of jobs that the plan does not have."""
    faults: tuple[DrainFault, ...]
    other_work: tuple[OtherWork, ...]
    other_work_known: bool
    steps: tuple[str, ...]
    starts: datetime
    ends: datetime
    announcement: str
    command: str
    """Announces the maintenance when pasted into a shell; empty if it is down or cannot be announced."""
    summary: str
    action: str
    as_of: AsOf | None = None


def _find(asked: Asked, given: Given) -> Drain:
    from truerail.questions.answers.drain import Wanted, drain

    return drain(asked, Wanted(given["of"], given["job"], given["start"], given["until"], given["because"]))


def _text(answer: Drain, options: "Options") -> Iterator["RenderableType"]:
    from truerail.questions.text.drain import drain_text

    return drain_text(answer, options)


QUESTION = Question(
    "drain",
    13,
    Drain,
    (
        Parameter(
            "of",
            help="What to take out of service: leaf-3, gpu-012, 'rail 3', 'pod p1', spine-1, gpu-012/mlx5_3.",
            description="a switch, a host, a rail, a pod, a rack, a node set or a port",
            label="Switch, host, rail, pod or port",
            example="leaf-3",
        ),
        RUNNING_JOBS,
        Parameter(
            "start",
            help="When the maintenance begins: tomorrow 08:00, ISO 8601. [default: now]",
            description="when it begins: 22:00, tomorrow 08:00, 2026-11-20T14:00Z; now without it",
            needed=False,
            option=True,
            metavar="TIME",
            label="Begins",
            example="now",
        ),
        Parameter(
            "until",
            help="When it ends: a time, or a duration from its beginning.",
            description="when it ends: a time, or a duration from its beginning",
            needed=False,
            option=True,
            metavar="TIME",
            default="2h",
            label="Ends",
            example="2h",
        ),
        Parameter(
            "because",
            help="The reason, for the announcement.",
            description="the reason, for the announcement",
            needed=False,
            option=True,
            metavar="TEXT",
            label="Reason",
            example="new optics",
        ),
    ),
    _find,
    "Whether it can be taken out of service: what ends, what is left, which jobs are hit, and the steps.",
    short="On call: can I take this out of service?",
    help="Whether a switch, a host, a rail, a pod or a port can be taken out of service now: what ends at once, what "
    "is left, whether RDMA retries bridge it, which jobs are hit, the steps, and the maintenance announcement.",
    good=lambda answer: answer.can_drain_now,
    text=_text,
    form=Form(
        "Can I take this out of service?",
        "What ends at once, what is left, which jobs are hit, the steps, and the announcement.",
        "Plan the drain",
    ),
    journal=lambda given: Journal.USED,
)
