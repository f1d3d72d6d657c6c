"""The fabric as schedulers know it: groups of hosts that share their leaves, and switches above them, from where cables
are seen.

In a rail-optimized pod each host is on all rail leaves, and Slurm takes a host in one switch only ("Multiple leaf
switches contain nodes"): the lowest unit is therefore not a leaf but the set of leaves that hosts share. A host that is
cabled as a whole to the leaves of another unit is in that unit. One with some cables elsewhere stays where it is
planned and is named: to take it out would make jobs of all hosts impossible. Groups have a common switch above them
only where uplinks lead to one.

What would drain a host is printed, with its reason; nothing is drained, cordoned or labelled by truerail. `scontrol`
takes a reason with the drain (scontrol(1)); `sinfo -R` shows its first 20 characters. `kubectl cordon` has none: the
reason becomes an annotation.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from truerail.analysis.host_groups import group_of, groups_of
from truerail.analysis.published import Published
from truerail.model.columns import Codes, grouped
from truerail.model.job_facts import REASON, SchedulerNode
from truerail.model.names import printable
from truerail.questions.rail_status import RailStatus, Stand, rail_status_of
from truerail.questions.resolve import in_order
from truerail.views.view import View, view_of

_SHUT = frozenset(("DRAIN", "DRAINED", "DRAINING", "DOWN", "FAIL", "FAILING", "CORDONED", "NOT_READY"))
"""States of nodes that get no new job: sinfo(1), and those of the collector `k8s_nodes`."""
_NODES = {"slurm_nodes": "slurm", "k8s_nodes": "kubernetes"}
_LONGEST_REASON = 120
_ODD = re.compile(r"[^A-Za-z0-9_.-]+")
_TIERS = ("spine", "core", "super-core")


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
        return slurm_drain(name, reason) if node or self.schedulers == {"slurm"} else ""


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


@dataclass(frozen=True, slots=True)
class Unit:
    """A switch of the tree: with hosts (codes, in natural order), or with other units below it."""

    name: str
    hosts: tuple[int, ...] = ()
    children: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FabricTree:
    """Units, those below first. `misplaced` and `unseen` are rails by host: cabled elsewhere or not at all, and in
    unknown state. `moved` are hosts in another unit than planned. `names` are those of hosts, the
    scheduler's where it has the host.
    """

    units: tuple[Unit, ...]
    cables: int
    verified: int
    misplaced: Mapping[int, tuple[int, ...]]
    unseen: Mapping[int, tuple[int, ...]]
    moved: Mapping[int, str]
    uplinks_unseen: int
    names: Mapping[int, str]

    @property
    def roots(self) -> tuple[str, ...]:
        """The units under no other."""
        below = {child for unit in self.units for child in unit.children}
        return tuple(unit.name for unit in self.units if unit.name not in below)

    @property
    def paths(self) -> Mapping[str, tuple[str, ...]]:
        """Each unit with those above it, up to its root."""
        found: dict[str, tuple[str, ...]] = {}
        for unit in reversed(self.units):
            found.setdefault(unit.name, (unit.name,))
            found |= {child: (child, *found[unit.name]) for child in unit.children}
        return found


def fabric_tree(publication: Published) -> FabricTree:
    """The tree of a publication, which owns it."""
    return publication.once(_tree)


def _tree(publication: Published) -> FabricTree:
    view, standing = view_of(publication), rail_status_of(publication.evaluated)
    hosts = [code for code in range(view.index.devices.planned) if view.index.devices.is_host(code)]
    cables = {host: standing.below.of(host) for host in hosts}
    planned = {host: frozenset(view.index.b_device[found].tolist()) for host, found in cables.items()}
    leaves = groups_of(planned)
    home = {host: next(unit for unit in leaves if planned[host] <= unit) for host in hosts}
    seen = {host: _seen(standing, found) for host, found in cables.items()}
    at = {host: group_of(home[host], seen[host], len(cables[host]), leaves) for host in hosts}
    found = grouped((at[host], host) for host in hosts)
    groups = {unit: found.get(unit, []) for unit in leaves}
    names = _names(view, groups)
    ranked = {unit: tuple(map(view.device, in_order(view, of))) for unit, of in groups.items() if of}
    lowest = [Unit(names[unit], found) for unit, found in ranked.items()]
    index = view.index
    upper = list(_upper(standing, [(names[unit], unit) for unit in ranked], {*names.values(), *index.devices.names}))
    uplinks = np.flatnonzero(~index.from_host)
    on = standing.stand == Stand.ON
    return FabricTree(
        units=(*lowest, *upper),
        cables=len(index.a_device),
        verified=int(np.count_nonzero(on)),
        misplaced={
            host: rails
            for host in hosts
            if at[host] == home[host] and (rails := _rails(standing, cables[host], Stand.OFF))
        },
        unseen={host: rails for host in hosts if (rails := _rails(standing, cables[host], Stand.UNKNOWN))},
        moved={host: names[home[host]] for host in hosts if at[host] != home[host]},
        uplinks_unseen=int(np.count_nonzero(standing.stand[uplinks] == Stand.UNKNOWN)),
        names={host: index.devices.names[host] for host in hosts}
        | {code: node.node for code, node in scheduler_nodes(publication).of.items()},
    )


def _seen(standing: RailStatus, cables: Codes) -> list[int]:
    """The switches on which these cables are seen."""
    ends: list[int] = standing.end[cables[standing.stand[cables] != Stand.UNKNOWN]].tolist()
    return [end for end in ends if end >= 0]


def _rails(standing: RailStatus, cables: Codes, stand: Stand) -> tuple[int, ...]:
    return tuple(sorted({int(rail) for rail in standing.index.rail[cables[standing.stand[cables] == stand]].tolist()}))


def _names(view: View, groups: Mapping[frozenset[int], Sequence[int]]) -> dict[frozenset[int], str]:
    """A unit is called after its pod, with a number where the pod has several."""
    devices = list(view.plan.devices.values())
    pods = {unit: {devices[host].pod for host in hosts} for unit, hosts in groups.items()}
    pod = {unit: _ODD.sub("-", next(iter(found))) if len(found) == 1 else "" for unit, found in pods.items()}
    many = list(pod.values())
    taken = set(view.index.devices.names)
    names: dict[frozenset[int], str] = {}
    for unit in groups:
        base = pod[unit] or "unit"
        alone = bool(pod[unit]) and many.count(pod[unit]) == 1
        names[unit] = _free(base if alone else f"{base}-1", taken)
    return names


def _free(name: str, taken: set[str]) -> str:
    """A name that no other unit and no device has: with the next number behind it."""
    base, _, number = name.rpartition("-")
    stem, at = (base, int(number)) if base and number.isdigit() else (name, 0)
    while name in taken:
        at += 1
        name = f"{stem}-{at}"
    taken.add(name)
    return name


def _upper(standing: RailStatus, lowest: list[tuple[str, frozenset[int]]], taken: set[str]) -> Iterator[Unit]:
    """The units above: groups whose switches lead to a common switch, tier by tier."""
    index = standing.index
    use = np.flatnonzero(~index.from_host & (standing.stand != Stand.OFF) & (standing.end >= 0))
    above = grouped(zip(index.a_device[use].tolist(), standing.end[use].tolist(), strict=True))
    groups: list[tuple[str, frozenset[int]]] = lowest
    for tier in _TIERS:
        joined = _joined((name, frozenset[int]().union(*(above.get(one, ()) for one in of))) for name, of in groups)
        several = sum(len(names) > 1 for names, _ in joined) > 1
        following: list[tuple[str, frozenset[int]]] = []
        for names, switches in joined:
            if len(names) == 1:
                following.append((names[0], switches))
                continue
            name = _free(f"{tier}-1" if several else tier, taken)
            yield Unit(name, children=tuple(names))
            following.append((name, switches))
        groups = following


def _joined(groups: Iterable[tuple[str, frozenset[int]]]) -> list[tuple[list[str], frozenset[int]]]:
    """Groups that share a switch, together."""
    found: list[tuple[list[str], frozenset[int]]] = []
    for name, switches in groups:
        touching = [one for one in found if one[1] & switches]
        names = [member for one in touching for member in one[0]] + [name]
        together = switches.union(*(one[1] for one in touching))
        found = [one for one in found if one not in touching]
        found.append((names, together))
    return found
