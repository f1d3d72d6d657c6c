"""The hosts as schedulers know them: their names there, and whether new jobs are kept from them already.

What would drain a host is printed, with its reason; nothing is drained, cordoned or labelled by truerail. `scontrol`
takes a reason with the drain (scontrol(1)); `sinfo -R` shows its first 20 characters. `kubectl cordon` has none: the
reason becomes an annotation.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from truerail.analysis.published import Published
from truerail.model.job_facts import REASON, SchedulerNode
from truerail.model.names import printable
from truerail.views.view import view_of

_SHUT = frozenset(("DRAIN", "DRAINED", "DRAINING", "DOWN", "FAIL", "FAILING", "CORDONED", "NOT_READY"))
"""States of nodes that get no new job: sinfo(1), and those of the collector `k8s_nodes`."""
_NODES = {"slurm_nodes": "slurm", "k8s_nodes": "kubernetes"}
_LONGEST_REASON = 120


@dataclass(frozen=True, slots=True)
class SchedulerNodes:
    """Nodes of schedulers by the codes of their hosts; `schedulers` are those that are asked for jobs. `kubernetes` are
    the names of the nodes that only Kubernetes has.
    """

    of: Mapping[int, SchedulerNode]
    schedulers: frozenset[str]
    kubernetes: frozenset[str] = frozenset()

    def drained(self, node: SchedulerNode) -> str:
        """Why a node gets no new jobs already; empty if it does."""
        shut = [state for state in node.states if state in _SHUT]
        reason = printable(node.reason or "no reason given", _LONGEST_REASON)
        return f"{'+'.join(shut)}: {reason}" if shut else ""

    def drain_command(self, host: str, node: SchedulerNode | None, why: str) -> str:
        """What would keep new jobs from a host; empty where its scheduler is not known."""
        name, reason = (node.node if node else host), f"truerail: {why}"[:_LONGEST_REASON]
        if name in self.kubernetes or (node is None and self.schedulers == {"kubernetes"}):
            return kubernetes_drain(name, reason)
        if node or self.schedulers == {"slurm"}:
            return slurm_drain(name, reason)
        return ""


def slurm_drain(node: str, reason: str) -> str:
    """The command that drains a node of Slurm."""
    return f"scontrol update NodeName={node} State=DRAIN Reason={_quoted(reason)}"


def kubernetes_drain(node: str, reason: str) -> str:
    """The commands that keep new pods from a node of Kubernetes, with the reason as an annotation."""
    return f"kubectl cordon {node} && kubectl annotate node {node} --overwrite {REASON}={_quoted(reason)}"


def _quoted(text: str) -> str:
    plain = printable(text, _LONGEST_REASON + 1)
    return f'"{plain}"' if not set(plain) & set('"$`\\!') else shlex.quote(plain)


def scheduler_nodes(publication: Published) -> SchedulerNodes:
    """The nodes of a publication, which owns them."""
    return publication.once(_nodes)


def _nodes(publication: Published) -> SchedulerNodes:
    view = view_of(publication)
    schedulers = frozenset(source.scheduler for source in publication.round.jobs.sources)
    found: dict[str, dict[int, SchedulerNode]] = {"kubernetes": {}, "slurm": {}}
    for reading in publication.snapshot.readings:
        if scheduler := _NODES.get(reading.collector):
            rows = (fact for fact in reading.facts if isinstance(fact, SchedulerNode))
            listed = {view.device(row.node): row for row in rows}
            found[scheduler] |= {code: row for code, row in listed.items() if view.is_planned(code)}
    alone = frozenset(row.node for code, row in found["kubernetes"].items() if code not in found["slurm"])
    return SchedulerNodes(found["kubernetes"] | found["slurm"], schedulers, alone)
