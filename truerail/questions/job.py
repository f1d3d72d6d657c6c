"""`job NODESET|ID|NAME`: which rails of a job's hosts are connected, and what hurts it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from truerail.questions.jobs import JobRun
from truerail.questions.question import Asked, Form, Given, Kind, Parameter, Question
from truerail.views.pieces import AsOf, CauseLine

if TYPE_CHECKING:
    from rich.console import RenderableType

    from truerail.outputs.options import Options


@dataclass(frozen=True, slots=True)
class JobRail:
    """One rail of a job. `broken`, `unknown` and `degraded` are hosts as a node set; with the healthy ones they add up
    to `hosts`. Degraded hosts have only a part of their cables on the rail: one plane of two.
    """

    rail: int | None
    hosts: int
    connected: int
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
    """`job`, worst first."""

    query: str
    hosts: tuple[str, ...]
    not_in_plan: tuple[str, ...]
    rails: tuple[JobRail, ...]
    pairs: Pairs
    worst: tuple[JobHost, ...]
    causes: tuple[CauseLine, ...]
    summary: str
    action: str
    run: JobRun | None = None
    """The job as its scheduler reports it, where its id or its name was asked for."""
    as_of: AsOf | None = None
    without_effect: bool = False
    """Whether none of its causes is known to affect its traffic: names alone, or congestion that is handled."""


def _find(asked: Asked, given: Given) -> Job:
    from truerail.questions.answers.jobs import job_asked

    return job_asked(asked.publication, given["nodes"])


def _good(answer: Job) -> bool | None:
    if any(host.lost or host.degraded for host in answer.worst) or answer.pairs.cut or answer.pairs.rerouted:
        return False
    if (answer.causes and not answer.without_effect) or (answer.run is not None and answer.run.hurt):
        return False
    return None if answer.worst or answer.pairs.unknown or answer.not_in_plan else True


def _text(answer: Job, options: "Options") -> Iterator["RenderableType"]:
    from truerail.questions.text.job import job_text

    return job_text(answer, options)


QUESTION = Question(
    "job",
    2,
    Job,
    (
        Parameter(
            "nodes",
            help="A job's id or name: 1234, 324_5, llama, ml/llama; or its hosts: 'gpu-[001-064]'.",
            description="a job's id or name, or hosts as a node set",
            kind=Kind.NODES,
            metavar="job|nodeset",
            label="Job or hosts",
            example="1234, or gpu-[001-064]",
        ),
    ),
    _find,
    "Whether the network slows a job, by its id, its name or its hosts: which rails are connected, which are not, and "
    "how NCCL reacts; worst first.",
    short="On call: is the network slowing this job?",
    help="Whether the network slows a job: which rails of its hosts are connected, which are not, and how NCCL reacts.",
    good=_good,
    text=_text,
    form=Form(
        "Is the network slowing this job?",
        "The state of each rail, and how NCCL routes around the broken ones.",
        "Check job",
    ),
)
