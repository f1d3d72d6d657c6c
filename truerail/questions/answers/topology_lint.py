"""`lint-topology`: a scheduler's switches against the tree of seen cabling."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from collector import collectors
from truerail.analysis.host_groups import SeenGroups
from truerail.analysis.host_groups import topology_faults as faults_against
from truerail.analysis.published import Published
from truerail.errors import QueryError, UnreadableError
from truerail.files.nodesets import fold
from truerail.model import Device, TopologyUnit
from truerail.model.names import natural_key
from truerail.outputs.report_words import count
from truerail.questions.answers.fabric_tree import FabricTree, fabric_tree
from truerail.questions.lint_topology import LintedTopology, TopologyFault
from truerail.views.view import View, view_of


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
    group = {host: unit.name for unit in tree.units for host in unit.hosts}
    parent = tree.parent
    seen = SeenGroups(group, {host: _root(parent, name) for host, name in group.items()}, tree.unseen)
    for fault in faults_against(seen, units, lambda node: _planned(view, node)):
        yield TopologyFault(fault.kind, _hosts(view, fault.hosts) if fault.hosts else fault.switch, fault.summary)


def _planned(view: View, node: str) -> int:
    code = view.device(node)
    return code if view.is_planned(code) else -1


def _root(parent: Mapping[str, str], name: str) -> str:
    while name in parent:
        name = parent[name]
    return name


def _hosts(view: View, codes: Iterable[int]) -> str:
    return fold(sorted((view.index.devices.names[code] for code in codes), key=natural_key))
