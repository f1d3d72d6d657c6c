"""The groups of hosts that share their leaves, and a scheduler's topology against them.

A topology may group hosts more finely than the cabling does, or give switches other names: neither is a fault. A host
whose place is not verified is not judged by it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from truerail.model.columns import grouped
from truerail.model.job_facts import TopologyUnit
from truerail.model.names import natural_key, printable

_MOST_NAMED = 8


def groups_of(planned: Mapping[int, frozenset[int]]) -> list[frozenset[int]]:
    """The different sets of leaves, without those that another one contains; in the order of their first hosts."""
    found = list(dict.fromkeys(planned.values()))
    largest = sorted(found, key=len, reverse=True)
    kept = [one for at, one in enumerate(largest) if not any(one < other for other in largest[:at])]
    return [one for one in found if one in set(kept)] or [frozenset()]


def group_of(home: frozenset[int], seen: Sequence[int], cables: int, units: Iterable[frozenset[int]]) -> frozenset[int]:
    """The unit of a host: another than its own only if most of its cables are seen, and all of these there."""
    if not seen or 2 * len(seen) <= cables or any(end in home for end in seen):
        return home
    return next((unit for unit in units if all(end in unit for end in seen)), home)


@dataclass(frozen=True)
class SeenGroups:
    """By host code: the name of the group in which it is seen, and of the tree that the group is in. `unseen` are hosts
    with cables in unknown state.
    """

    group: Mapping[int, str]
    root: Mapping[int, str]
    unseen: Collection[int]


@dataclass(frozen=True, slots=True)
class TreeFault:
    """One fault of a topology: of a switch, or of hosts by their codes."""

    kind: str
    switch: str
    hosts: tuple[int, ...]
    summary: str


def topology_faults(seen: SeenGroups, units: Sequence[TopologyUnit], find: Callable[[str], int]) -> Iterator[TreeFault]:
    """The faults of a topology; of several topologies of one file, each for itself. `find` is the code of a planned
    host, -1 for other nodes.
    """
    topologies = grouped((unit.topology, unit) for unit in units)
    for found in topologies.values():
        yield from _of_one(seen, found, find)


def _of_one(seen: SeenGroups, units: Sequence[TopologyUnit], find: Callable[[str], int]) -> Iterator[TreeFault]:
    defined = Counter(unit.name for unit in units)
    for name, number in defined.items():
        if number > 1:
            yield TreeFault("defined-twice", name, (), f"is defined {number} times")
    for unit in units:
        for child in dict.fromkeys(unit.children):
            if child not in defined:
                summary = f"has the child {printable(child, 80)}, which is not defined: slurmctld does not start"
                yield TreeFault("undefined-switch", unit.name, (), summary)
    codes = {unit.name: [code for node in unit.nodes if (code := find(node)) >= 0] for unit in units}
    times = Counter(chain.from_iterable(dict.fromkeys(found) for found in codes.values()))
    if twice := tuple(code for code, number in times.items() if number > 1):
        yield TreeFault("in-two-switches", "", twice, "in several switches: Slurm takes one of them")
    if missing := tuple(host for host in seen.group if host not in times):
        yield TreeFault("host-absent", "", missing, "in no switch: a job on it waits for ever")
    yield from _places(seen, units, codes)
    yield from _parents(seen, units, codes)


def _places(seen: SeenGroups, units: Sequence[TopologyUnit], codes: Mapping[str, list[int]]) -> Iterator[TreeFault]:
    """Switches without a planned host, and hosts that are not where most of their switch are."""
    for unit in units:
        here = [host for host in codes[unit.name] if host in seen.group]
        if not here and not unit.children:
            yield TreeFault("no-planned-host", unit.name, (), "has no host of the plan")
            continue
        groups = grouped((seen.group[host], host) for host in here)
        if not groups:
            continue
        home, most = min(groups.items(), key=lambda one: (-len(one[1]), natural_key(one[0])))
        for other, hosts in groups.items():
            strange = tuple(host for host in hosts if host not in seen.unseen)
            if other == home or not strange:
                continue
            where = f"{len(most):,} host{'s' if len(most) > 1 else ''} of {printable(unit.name, 80)} are in {home}"
            summary = f"in {printable(unit.name, 80)}, and seen in {other}, while {where}"
            yield TreeFault("other-switch", "", strange, summary)


def _parents(seen: SeenGroups, units: Sequence[TopologyUnit], codes: Mapping[str, list[int]]) -> Iterator[TreeFault]:
    """Switches with children that no uplinks connect."""
    trees = _trees(seen, {unit.name: unit.children for unit in units}, codes)
    for unit in units:
        found = trees.get(unit.name, ())
        if unit.children and len(found) > 1:
            summary = f"joins {', '.join(found)}, which no uplinks connect"
            yield TreeFault("not-connected", unit.name, (), summary)


def _trees(
    seen: SeenGroups, children: Mapping[str, Iterable[str]], codes: Mapping[str, list[int]]
) -> dict[str, list[str]]:
    """The trees of the hosts below each switch, the first few by name: each is followed upwards. What is above a switch
    that has enough of them has as many, so that no switch is met more often.
    """
    above = grouped((child, name) for name, below in children.items() for child in below)
    roots = {name: {seen.root[host] for host in hosts if host in seen.root} for name, hosts in codes.items()}
    holds = grouped((root, name) for name, its in roots.items() for root in its)
    trees: dict[str, list[str]] = {}
    for root in sorted(holds, key=natural_key):
        waiting = holds[root]
        while waiting:
            name = waiting.pop()
            found = trees.setdefault(name, [])
            if len(found) < _MOST_NAMED and root not in found[-1:]:
                found.append(root)
                waiting += above.get(name, ())
    return trees
