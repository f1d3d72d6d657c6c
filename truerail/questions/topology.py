"""`scheduler-topology`: the tree of hosts and switches, from seen cabling. It is printed, never applied."""

from dataclasses import dataclass
from datetime import datetime

from truerail.questions.question import Asked, Given, Parameter, Question


@dataclass(frozen=True, slots=True)
class Topology:
    """`scheduler-topology`: `text` in the format asked for. `verified` of `cables` are seen where they are planned;
    `misplaced`, `unseen` and `moved` are hosts as node sets.
    """

    format: str
    text: str
    at: datetime
    cables: int
    verified: int
    misplaced: str
    unseen: str
    moved: str
    summary: str


def _find(asked: Asked, given: Given) -> Topology:
    from truerail.questions.answers.topology_text import topology

    return topology(asked.publication, given["format"], given["nccl"])


QUESTION = Question(
    "scheduler-topology",
    40,
    Topology,
    (
        Parameter(
            "format",
            help="slurm, slurm-yaml, topograph, k8s-labels or nccl.",
            description="slurm (topology.conf), slurm-yaml (topology.yaml), topograph, k8s-labels, nccl (NCCL_IB_HCA)",
            needed=False,
            option=True,
            metavar="FORMAT",
            default="slurm",
            label="Format",
        ),
        Parameter(
            "nccl",
            help="The version of NCCL that reads it: 2.30 and later take rail and plane of each device.",
            description="with the format nccl: the version that reads it; from 2.30 on each device has rail and plane",
            needed=False,
            option=True,
            metavar="VERSION",
            label="NCCL's version",
            example="2.30",
        ),
    ),
    _find,
    "The tree of hosts and switches for a scheduler, from where cables are seen: text to review.",
    operation="the_scheduler_topology",
    short="The topology for schedulers, from seen cabling.",
    good=lambda answer: None if answer.misplaced or answer.unseen or answer.moved else True,
)
