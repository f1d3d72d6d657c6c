"""The pods of a Kubernetes cluster that have GPUs or RDMA devices, and the jobs that they belong to.

Question: which job runs on which hosts?
Needs: `get` and `list` on pods, nothing else. Only a machine to which the inventory or the setting `jobs` gives the
platform `kubernetes` is polled.

Format: `kind: List` of kubectl, `PodList` of the API, or one pod. Sources: the API of Kubernetes (core/v1); the labels
of JobSet, Kubeflow's training operator, Volcano, LeaderWorkerSet, Ray, Kueue, the coscheduling plugin and SkyPilot.

A pod counts if a container, or an init container that keeps running (`restartPolicy: Always`), asks for a resource
`*/gpu`, `rdma/*` or `vpc.amazonaws.com/efa`, or if it has a resource claim. Pods of a DaemonSet do not.

Traps:

- Several kinds of jobs label their pods with the names of the jobs below them as well: a JobSet's pod has a
  `batch.kubernetes.io/job-name` too. The table below has the outermost first.
- Groups of plain pods (Kueue, coscheduling, SkyPilot) have no owner: a label has the name of their job.
- Tasks of Volcano and replicated jobs of a JobSet count their pods from 0: ranks are those of a master and workers.
- Pods of an earlier attempt stay listed on their nodes: `phase` says which run.
- How many devices a claim of DRA has is in the claim: its GPUs are unknown.
"""

from collections.abc import Iterator
from typing import Any

from collector.formats.text import decode, object_of, objects_of, small_count
from truerail.errors import UnreadableError
from truerail.model import Command, Device, PodOfJob, Role, collector, saved_as

_JOBS = (
    ("jobset.sigs.k8s.io/jobset-name", "JobSet"),
    ("training.kubeflow.org/job-name", ""),
    ("volcano.sh/job-name", "VolcanoJob"),
    ("leaderworkerset.sigs.k8s.io/name", "LeaderWorkerSet"),
    ("ray.io/cluster", "RayCluster"),
    ("batch.kubernetes.io/job-name", "Job"),
    ("job-name", "Job"),
)
"""The label with the name of a job, outermost first, and the kind of that job; empty: that of the owner."""
_GROUPS = (
    ("skypilot-cluster-name", "SkyPilot"),
    ("skypilot-cluster", "SkyPilot"),
    ("kueue.x-k8s.io/pod-group-name", "PodGroup"),
    ("scheduling.x-k8s.io/pod-group", "PodGroup"),
)
"""The same of pods that have no owner."""
_KUBEFLOW = "training.kubeflow.org/job-name"
_REPLICA = "training.kubeflow.org/replica-type"
_JOB_INDEX = "jobset.sigs.k8s.io/job-index"
_COMPLETION = "batch.kubernetes.io/job-completion-index"
_EFA = "vpc.amazonaws.com/efa"
_PARTS = (
    ("volcano.sh/job-name", "volcano.sh/task-spec"),
    ("jobset.sigs.k8s.io/jobset-name", "jobset.sigs.k8s.io/replicatedjob-name"),
)
"""The labels of a job whose parts count their pods from 0 each, and of the part."""
_MASTERED = frozenset(("master", "worker"))
_RANKS = ("volcano.sh/task-index", "leaderworkerset.sigs.k8s.io/worker-index", _COMPLETION)
_RESTARTING = "Always"


ASK = (
    Command("kubectl get pods --all-namespaces --field-selector=status.phase=Running --output=json", ("kubernetes",)),
    Command("GET /api/v1/pods?fieldSelector=status.phase%3DRunning", ("kubernetes_api",)),
    *saved_as("kubectl get pods -A -o json"),
)


@collector(on=[Role.HOST], ask=ASK, every=30.0, yields=[PodOfJob], megabytes=16)
def k8s_pods(answer: str, device: Device) -> Iterator[PodOfJob]:
    """One `PodOfJob` for each pod that counts. Raises `UnreadableError`."""
    document = decode(answer)
    if isinstance(document, dict) and document.get("kind") == "Pod":
        pods = [document]
    elif isinstance(document, dict) and isinstance(document.get("items"), list):
        if document.get("kind") not in ("List", "PodList", None):
            raise UnreadableError("not a list of pods", line=1, text=str(document.get("kind")))
        pods = document["items"]
    elif isinstance(document, dict) and document.get("kind") == "PodList" and document.get("items") is None:
        pods = []
    else:
        raise UnreadableError("not a list of pods", line=1, text=str(document)[:80])
    ranks = _Ranks(pods)
    for at, pod in enumerate(pods):
        if not isinstance(pod, dict) or pod.get("kind", "Pod") != "Pod":
            raise UnreadableError(f"items[{at}] is no pod", text=str(pod)[:80])
        yield from _pod(pod, at, ranks)


def _pod(pod: dict[str, Any], at: int, ranks: "_Ranks") -> Iterator[PodOfJob]:
    metadata, spec, status = (object_of(pod.get(key)) for key in ("metadata", "spec", "status"))
    name, namespace = metadata.get("name"), metadata.get("namespace", "default")
    phase = status.get("phase")
    if not isinstance(name, str) or not isinstance(namespace, str) or not isinstance(phase, str):
        raise UnreadableError(f"items[{at}]: a pod without a name or a phase", text=str(name)[:80])
    owner = next((one for one in objects_of(metadata.get("ownerReferences")) if one.get("controller")), {})
    counts, gpus = _devices(spec)
    if not counts or owner.get("kind") == "DaemonSet":
        return
    job, kind = _job(object_of(metadata.get("labels")), owner, name)
    node = spec.get("nodeName")
    yield PodOfJob(
        f"{namespace}/{job}",
        kind,
        name,
        node if isinstance(node, str) and node else None,
        phase,
        gpus,
        ranks.of(namespace, object_of(metadata.get("labels"))),
    )


def _job(labels: dict[str, Any], owner: dict[str, Any], pod: str) -> tuple[str, str]:
    """The name and the kind of the job of a pod."""
    owned = owner.get("kind")
    for label, kind in _JOBS:
        name = labels.get(label)
        if isinstance(name, str) and name:
            return name, kind or (owned if isinstance(owned, str) and owned != "Job" else "TrainJob")
    name = owner.get("name")
    if isinstance(name, str) and name:
        return name, str(owned)
    named = ((labels.get(label), kind) for label, kind in _GROUPS)
    return next(((name, kind) for name, kind in named if isinstance(name, str) and name), (pod, "Pod"))


class _Ranks:
    """The ranks of pods: what the labels of one pod leave open, those of the others of its job say."""

    def __init__(self, pods: list[Any]) -> None:
        self._width: dict[tuple[object, ...], int] = {}
        self._with_master: set[tuple[object, ...]] = set()
        self._parts: dict[tuple[str, ...], set[str]] = {}
        for pod in pods:
            metadata = object_of(object_of(pod).get("metadata"))
            namespace, labels = metadata.get("namespace", "default"), object_of(metadata.get("labels"))
            group = _group(namespace, labels)
            self._width[group] = max(self._width.get(group, 1), (_number(labels, _COMPLETION) or 0) + 1)
            if labels.get(_REPLICA) == "master":
                self._with_master.add((namespace, str(labels.get(_KUBEFLOW))))
            for job, part in _parts(namespace, labels) if _devices(object_of(object_of(pod).get("spec")))[0] else ():
                self._parts.setdefault(job, set()).add(part)

    def of(self, namespace: str, labels: dict[str, Any]) -> int | None:
        """The rank of a pod among those of its job; None where no label says it."""
        several = next((one for one in _parts(namespace, labels) if len(self._parts.get(one[0], ())) > 1), None)
        if several and self._parts[several[0]] != _MASTERED:
            return None
        rank = self._counted(namespace, labels)
        return rank + 1 if several and several[1] == "worker" and rank is not None else rank

    def _counted(self, namespace: str, labels: dict[str, Any]) -> int | None:
        """The rank in the pod's part of its job."""
        completion, job = _number(labels, _COMPLETION), _number(labels, _JOB_INDEX)
        if completion is not None and job is not None:
            return job * self._width[_group(namespace, labels)] + completion
        if (index := _number(labels, "training.kubeflow.org/replica-index")) is not None:
            master = (namespace, str(labels.get(_KUBEFLOW))) in self._with_master
            return index + (master and labels.get(_REPLICA) == "worker")
        return next((found for label in _RANKS if (found := _number(labels, label)) is not None), None)


def _parts(namespace: object, labels: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    for job, part in _PARTS:
        if job in labels and part in labels:
            yield (str(namespace), job, str(labels[job])), str(labels[part])


def _group(namespace: object, labels: dict[str, Any]) -> tuple[object, ...]:
    names = ("jobset.sigs.k8s.io/jobset-name", "jobset.sigs.k8s.io/replicatedjob-name")
    return (str(namespace), *(str(labels.get(name)) for name in names))


def _number(labels: dict[str, Any], label: str) -> int | None:
    value = labels.get(label)
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 6 else None


def _devices(spec: dict[str, Any]) -> tuple[bool, int | None]:
    """Whether a pod has a GPU or an RDMA device, and its GPUs."""
    containers = objects_of(spec.get("containers"))
    containers += [one for one in objects_of(spec.get("initContainers")) if one.get("restartPolicy") == _RESTARTING]
    counts, gpus = False, 0
    claimed = bool(objects_of(spec.get("resourceClaims")))
    for container in containers:
        resources = object_of(container.get("resources"))
        asked = {**object_of(resources.get("requests")), **object_of(resources.get("limits"))}
        claimed = claimed or bool(objects_of(resources.get("claims")))
        for resource, value in asked.items():
            many = small_count(str(value)) or 0
            gpu = resource.endswith("/gpu")
            counts = counts or bool(many and (gpu or resource.startswith("rdma/") or resource == _EFA))
            gpus += many if gpu else 0
    return counts or claimed, None if claimed and not gpus else gpus
