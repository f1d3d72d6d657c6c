"""`blast DEVICE|PORT`: the impact while something is down."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from truerail.questions.question import Asked, Form, Given, Parameter, Question
from truerail.views.pieces import AsOf

if TYPE_CHECKING:
    from rich.console import RenderableType

    from truerail.outputs.options import Options


@dataclass(frozen=True, slots=True)
class BlastHost:
    """An affected host. `share_lost` is the share of its planned bandwidth, 0..1."""

    host: str
    gpus: tuple[int, ...]
    rails: tuple[int, ...]
    share_lost: float


@dataclass(frozen=True, slots=True)
class BlastJob:
    """A running job on affected hosts; `hosts` are these as a node set."""

    key: str
    scheduler: str
    name: str
    user: str
    hosts: str
    hosts_affected: int
    hosts_total: int


@dataclass(frozen=True, slots=True)
class Blast:
    """`blast DEVICE|PORT`: the impact if it goes down, or of its being down.

    `share_lost` is the lost share of the bandwidth of all affected hosts together, `uplink_share_lost` that of the
    rail's uplinks. `pairs_cut` are pairs of hosts that lose their last path on a rail-only fabric. `drain` says what
    can be taken out, one rail at a time, and what then still works.
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
    jobs: tuple[BlastJob, ...] = ()
    """The running jobs there, those with most hosts there first, at most 100."""
    jobs_affected: int | None = None
    """How many they are; None where a scheduler does not answer, or none is asked."""
    as_of: AsOf | None = None


def _find(asked: Asked, given: Given) -> Blast:
    from truerail.questions.answers.blast import blast

    return blast(asked.publication, given["of"])


def _good(answer: Blast) -> bool | None:
    """Good if it can be taken out and no host loses a connection; unknown if its state is unknown."""
    if answer.down_now is None:
        return None
    return not (answer.down_now or answer.hosts or answer.uplink_share_lost >= 1)


def _text(answer: Blast, options: "Options") -> Iterator["RenderableType"]:
    from truerail.questions.text.blast import blast_text

    return blast_text(answer, options)


QUESTION = Question(
    "blast",
    3,
    Blast,
    (
        Parameter(
            "of",
            help="A device or a port: leaf-3, spine-1/swp4, gpu-012/mlx5_3.",
            description="a device or a port",
            label="Switch, host or port",
            example="leaf-3",
        ),
    ),
    _find,
    "The impact if it goes down, or of its being down.",
    short="On call: the impact if a device or port is down.",
    help="The impact while a device, a port, a rail (`rail3`) or a pod is down, and what to do first.",
    good=_good,
    text=_text,
    form=Form(
        "What is the impact if this is down?",
        "Hosts, GPUs and share of bandwidth affected, and which hosts to drain.",
        "Show impact",
    ),
)
