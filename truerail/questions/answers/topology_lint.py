"""`lint-topology`: a scheduler's switches against the tree of seen cabling.

The file may group hosts more finely than the cabling does, or give switches other names: neither is a fault. A host
whose place is not verified is not judged by it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from collector import collectors
from truerail.analysis.published import Published
from truerail.errors import QueryError, UnreadableError
from truerail.files.nodesets import fold
from truerail.model import Device, TopologyUnit
from truerail.model.names import natural_key, printable
from truerail.outputs.report_words import count
from truerail.questions.answers.fabric_tree import FabricTree, fabric_tree
from truerail.questions.lint_topology import LintedTopology, TopologyFault
from truerail.views.view import View, view_of

_MOST_NAMED = 8


def lint_topology(publication: Published, text: str) -> LintedTopology:
    """The faults of a topology. Raises QueryError for a text that is none."""
    units = read_units(text)
    view, tree = view_of(publication), fabric_tree(publication)
    faults = tuple(topology_faults(view, tree, units))
    nodes = list(dict.fromkeys(chain.from_iterable(unit.nodes for unit in units)))
    unknown = [node for node in nodes if not view.is_planned(view.device(node))]
    found = f"{count(len(faults), 'fault')} of the topology" if faults else "The topology fits what is seen"
    return LintedTopology(
        switches=len(units),
        nodes=len(nodes),
        unknown_nodes=fold(unknown),
        faults=faults,
        cables=tree.cables,
        verified=tree.verified,
        summary=f"{found}: {count(len(nodes), 'host')} in {count(len(units), 'switch', 'switches')}, verified "
        f"{tree.verified:,} of {count(tree.cables, 'cable')}",
    )


def read_units(text: str) -> list[TopologyUnit]:
    """The switches or blocks of a topology. Raises QueryError for a text without any."""
    try:
        facts = collectors()["slurm_topology"].read(text, Device("scheduler"))
    except UnreadableError as error:
        raise QueryError(f"not a topology.conf or topology.yaml: {error}") from error
    units = [fact for fact in facts if isinstance(fact, TopologyUnit)]
    if not units:
        raise QueryError("a topology without a switch or a block: there is nothing to compare")
    return units


def topology_faults(view: View, tree: FabricTree, units: Sequence[TopologyUnit]) -> Iterator[TopologyFault]:
    """The faults of a topology; of several topologies of one file, each for itself."""
    for name in dict.fromkeys(unit.topology for unit in units):
        yield from _of_one(view, tree, [unit for unit in units if unit.topology == name])


def _of_one(view: View, tree: FabricTree, units: Sequence[TopologyUnit]) -> Iterator[TopologyFault]:
    defined = Counter(unit.name for unit in units)
    for name, number in defined.items():
        if number > 1:
            yield TopologyFault("defined-twice", name, f"is defined {number} times")
    for unit in units:
        for child in dict.fromkeys(unit.children):
            if child not in defined:
                summary = f"has the child {printable(child, 80)}, which is not defined: slurmctld does not start"
                yield TopologyFault("undefined-switch", unit.name, summary)
    codes = {unit.name: [code for node in unit.nodes if view.is_planned(code := view.device(node))] for unit in units}
    times = Counter(chain.from_iterable(dict.fromkeys(found) for found in codes.values()))
    if twice := [code for code, number in times.items() if number > 1]:
        yield TopologyFault("in-two-switches", _hosts(view, twice), "in several switches: Slurm takes one of them")
    everyone = [host for unit in tree.units for host in unit.hosts]
    if absent := [host for host in everyone if host not in times]:
        yield TopologyFault("host-absent", _hosts(view, absent), "in no switch: a job on it waits for ever")
    yield from _places(view, tree, units, codes)
    yield from _parents(view, tree, units, codes)


def _places(
    view: View, tree: FabricTree, units: Sequence[TopologyUnit], codes: Mapping[str, list[int]]
) -> Iterator[TopologyFault]:
    """Switches without a planned host, and hosts that are not where most of their switch are."""
    seen = {host: unit.name for unit in tree.units for host in unit.hosts}
    for unit in units:
        here = [host for host in codes[unit.name] if host in seen]
        if not here and not unit.children:
            yield TopologyFault("no-planned-host", unit.name, "has no host of the plan")
            continue
        tally = Counter(seen[host] for host in here)
        if not tally:
            continue
        home, most = min(tally.items(), key=lambda one: (-one[1], natural_key(one[0])))
        for other in tally:
            strange = [host for host in here if seen[host] == other and host not in tree.unseen]
            if other == home or not strange:
                continue
            where = f"{count(most, 'host')} of {printable(unit.name, 80)} are in {home}"
            summary = f"in {printable(unit.name, 80)}, and seen in {other}, while {where}"
            yield TopologyFault("other-switch", _hosts(view, strange), summary)


def _parents(
    view: View, tree: FabricTree, units: Sequence[TopologyUnit], codes: Mapping[str, list[int]]
) -> Iterator[TopologyFault]:
    """Switches with children that no uplinks connect."""
    root = {host: _root(tree, unit.name) for unit in tree.units for host in unit.hosts}
    children = {unit.name: unit.children for unit in units}
    for unit in units:
        trees = dict.fromkeys(root[host] for host in _below(unit.name, children, codes) if host in root)
        if unit.children and len(trees) > 1:
            summary = f"joins {', '.join(list(trees)[:_MOST_NAMED])}, which no uplinks connect"
            yield TopologyFault("not-connected", unit.name, summary)


def _root(tree: FabricTree, name: str) -> str:
    parent = tree.parent
    while name in parent:
        name = parent[name]
    return name


def _below(name: str, children: Mapping[str, Iterable[str]], codes: Mapping[str, list[int]]) -> Iterator[int]:
    """The hosts below a switch; a circle is followed once."""
    waiting, done = [name], {name}
    while waiting:
        one = waiting.pop()
        yield from codes.get(one, ())
        following = [child for child in children.get(one, ()) if child not in done]
        done.update(following)
        waiting += following


def _hosts(view: View, codes: Iterable[int]) -> str:
    return fold(sorted((view.index.devices.names[code] for code in codes), key=natural_key))
