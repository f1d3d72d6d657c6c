"""Facts of schedulers: jobs, nodes, the scheduler's own view of the topology, and pods. `facts.py` has the others.

Times are seconds since 1970 in UTC. A name is as the scheduler has it; what the plan calls that host is decided where
both are known.
"""

from typing import NamedTuple

from truerail.model.fact_kinds import ANY_NUMBER, fact

REASON = "truerail.io/reason"
"""The annotation of a node of Kubernetes that says why it takes no new pods."""
_MOST_GPUS = (0, 2**24)
_MOMENT = (0, 7_258_118_400)
"""Up to the year 2200: a later time is none, and calendars end with the year 9999."""


@fact("jobs of a scheduler", job_id=(0, 2**62), gpus=_MOST_GPUS, start_at=_MOMENT, end_at=_MOMENT)
class SchedulerJob(NamedTuple):
    """One job record of Slurm: an array task and a component of a heterogeneous job are records of their own."""

    job: str | None
    """What users and `squeue` call it: `1234`, `324_5` for a task of an array, `5+0` for a component; None where the
    answer has no id.
    """
    job_id: int | None
    """The id of the record: the last task of an array that starts has the id of the array."""
    name: str | None
    user: str | None
    state: str
    """In capitals: `RUNNING`, `PENDING`; several joined by `+`."""
    nodes: tuple[str, ...]
    """Empty for a job that has none yet."""
    gpus: int | None = None
    """Allocated GPUs over all nodes; None where the answer does not say."""
    start_at: int | None = None
    end_at: int | None = None
    """When it ended, or when its time limit ends it; None without either."""


@fact("nodes of a scheduler", gpus=_MOST_GPUS)
class SchedulerNode(NamedTuple):
    """One node as its scheduler sees it."""

    node: str
    states: tuple[str, ...]
    """In capitals: `IDLE`, `DRAIN`; empty where the answer does not say."""
    reason: str | None
    """Why it is drained or down, cut at 20 characters by `sinfo -R`."""
    features: tuple[str, ...] = ()
    gpus: int | None = None
    """GPUs that are configured; None where the answer does not say."""


@fact("the topology of a scheduler")
class TopologyUnit(NamedTuple):
    """One switch or block of the topology that a scheduler places jobs by."""

    name: str
    kind: str
    """`switch`, `block`, `ring` or `torus`."""
    nodes: tuple[str, ...]
    """Nodes that are directly in it."""
    children: tuple[str, ...] = ()
    """Switches below it."""
    topology: str | None = None
    """The name of the topology in a `topology.yaml`."""


@fact("pods with GPUs", gpus=_MOST_GPUS, rank=ANY_NUMBER)
class PodOfJob(NamedTuple):
    """One pod of Kubernetes that has a GPU or an RDMA device, and the job that it belongs to."""

    job: str
    """`namespace/name`."""
    kind: str
    """`JobSet`, `PyTorchJob`, `Job`, ...; `Pod` for a pod without an owner."""
    pod: str
    node: str | None
    """None while it is not placed."""
    phase: str
    """`Running`, `Pending`, `Succeeded`, ..."""
    gpus: int | None = None
    """GPUs of its containers; None for a claim whose number only the claim says."""
    rank: int | None = None
    """Its index in its group, where a label has it."""
