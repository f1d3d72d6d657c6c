"""`scheduler-topology`: the tree of hosts and switches, from seen cabling. It is printed, never applied."""

from dataclasses import dataclass
from datetime import datetime

from truerail.questions.question import Asked, Given, Kind, Parameter, Question


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

    return topology(asked.publication, given["format"], given["nccl"], given["hosts"])


QUESTION = Question(
    "scheduler-topology",
    40,
    Topology,
    (
        Parameter(
            "format",
            help="slurm, slurm-yaml, topograph, k8s-labels, nccl or nccl-xml.",
            description="slurm (topology.conf), slurm-yaml (topology.yaml), topograph, k8s-labels, nccl (NCCL_IB_HCA) "
            "or nccl-xml (NCCL_TOPO_FILE)",
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
        Parameter(
            "hosts",
            help="With nccl-xml: the hosts that the file is for. They must be of one kind.",
            description="with the format nccl-xml: the hosts that the file is for, all of one kind",
            kind=Kind.NODES,
            needed=False,
            option=True,
            metavar="NODESET",
            label="Hosts",
            example="gpu-[001-016]",
        ),
    ),
    _find,
    "The tree of hosts and switches for a scheduler, from where cables are seen: text to review.",
    operation="the_scheduler_topology",
    short="The topology for schedulers, from seen cabling.",
    good=lambda answer: None if answer.misplaced or answer.unseen or answer.moved else True,
)
