"""The nodes of a Kubernetes cluster: which take no new pods, which are not ready, and why.

Question: which hosts has Kubernetes, a person or another watcher taken out already?
Needs: `get` and `list` on nodes, nothing else; without these rights nothing is known of nodes. Only a machine to which
the inventory or the setting `jobs` gives the platform `kubernetes` is polled.

Format: `kind: List` of kubectl, `NodeList` of the API, or one node. Source: the API of Kubernetes (core/v1: NodeSpec
`unschedulable`, NodeStatus `conditions`).

States: `READY` or `NOT_READY`; `CORDONED` for a node with `spec.unschedulable`. The reason is the annotation that
truerail suggests with a cordon, else the conditions that report a fault. Of `Ready` and of types that end in `Ready`
the fault is any status other than `True`; of all others, such as `MemoryPressure` or those of node-problem-detector, it
is `True`.

Trap: a taint alone is no fault. Many clusters taint their GPU nodes to keep other pods away.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from collector.formats.text import decode, object_of
from truerail.errors import UnreadableError
from truerail.model import Command, Device, Role, SchedulerNode, collector, saved_as
from truerail.model.job_facts import REASON
from truerail.model.names import printable

_READY = "Ready"
_MOST_WORDS, _MOST_FAULTS = 120, 3


ASK = (
    Command("kubectl get nodes --output=json", ("kubernetes",)),
    Command("GET /api/v1/nodes", ("kubernetes_api",)),
    *saved_as("kubectl get nodes -o json"),
)


@collector(on=[Role.HOST], ask=ASK, every=60.0, yields=[SchedulerNode], megabytes=16, optional=True)
def k8s_nodes(answer: str, device: Device) -> Iterator[SchedulerNode]:
    """One `SchedulerNode` for each node. Raises `UnreadableError`."""
    document = decode(answer)
    kind = document.get("kind") if isinstance(document, dict) else None
    nodes = [document] if kind == "Node" else document.get("items") or [] if kind in ("List", "NodeList") else None
    if not isinstance(nodes, list):
        raise UnreadableError("not a list of nodes", line=1, text=str(document)[:80])
    for at, node in enumerate(nodes):
        if not isinstance(node, dict) or node.get("kind", "Node") != "Node":
            raise UnreadableError(f"items[{at}] is no node", text=str(node)[:80])
        yield _node(node, at)


def _node(node: dict[str, Any], at: int) -> SchedulerNode:
    metadata, spec, status = (object_of(node.get(key)) for key in ("metadata", "spec", "status"))
    name, listed = metadata.get("name"), status.get("conditions")
    if not isinstance(name, str) or not name:
        raise UnreadableError(f"items[{at}]: a node without a name", text=str(name)[:80])
    conditions = {str(one.get("type")): one for one in map(object_of, listed if isinstance(listed, list) else ())}
    states = []
    if _READY in conditions:
        states.append("READY" if conditions[_READY].get("status") == "True" else "NOT_READY")
    if spec.get("unschedulable") is True:
        states.append("CORDONED")
    return SchedulerNode(name, tuple(states), _reason(metadata, conditions), (), _gpus(status))


def _reason(metadata: dict[str, Any], conditions: Mapping[str, dict[str, Any]]) -> str | None:
    given = object_of(metadata.get("annotations")).get(REASON)
    if isinstance(given, str) and given:
        return printable(given, _MOST_WORDS)
    faults = [
        f"{kind} {one.get('reason') or one.get('message') or ''}".strip()
        for kind, one in conditions.items()
        if (one.get("status") != "True" if kind.endswith(_READY) else one.get("status") == "True")
    ]
    return printable(", ".join(faults[:_MOST_FAULTS]), _MOST_WORDS) or None


def _gpus(status: dict[str, Any]) -> int | None:
    """The GPUs of a node, of all vendors; None where it has no such resource."""
    amounts = [str(value) for name, value in object_of(status.get("capacity")).items() if name.endswith("/gpu")]
    known = [int(one) for one in amounts if one.isascii() and one.isdigit() and len(one) < 6]
    return sum(known) if known else None
