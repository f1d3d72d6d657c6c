"""`lint-topology FILE`: an existing topology of a scheduler against the cabling that is seen."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from rich.console import RenderableType
from rich.text import Text

from collector import collectors
from truerail.analysis.host_groups import SeenGroups
from truerail.analysis.host_groups import topology_faults as faults_against
from truerail.analysis.published import Published
from truerail.errors import QueryError, UnreadableError
from truerail.files.nodesets import fold
from truerail.model import Device, TopologyUnit
from truerail.model.columns import grouped
from truerail.model.names import natural_key
from truerail.outputs.options import Options
from truerail.outputs.report_words import count, name, sentence
from truerail.outputs.text.blocks import hanging
from truerail.questions.fabric_tree import FabricTree, fabric_tree
from truerail.questions.question import Form, Kind, Parameter, Question
from truerail.views.view import View, view_of


@dataclass(frozen=True, slots=True)
class TopologyFault:
    """One fault of a topology. `kind` is `undefined-switch`, `defined-twice`, `in-two-switches`, `host-absent`,
    `other-switch`, `no-planned-host` or `not-connected`; `subject` a switch or hosts as a node set.
    """

    kind: str
    subject: str
    summary: str


@dataclass(frozen=True, slots=True)
class LintedTopology:
    """`lint-topology`. `switches` and `nodes` are those of the file, `unknown_nodes` its nodes that the plan lacks."""

    switches: int
    nodes: int
    unknown_nodes: str
    faults: tuple[TopologyFault, ...]
    cables: int
    verified: int
    summary: str


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
    paths = tree.paths
    seen = SeenGroups(group, {host: paths[name][-1] for host, name in group.items()}, tree.unseen)
    for fault in faults_against(seen, units, lambda node: _planned(view, node)):
        hosts = fold(sorted((view.index.devices.names[code] for code in fault.hosts), key=natural_key))
        yield TopologyFault(fault.kind, hosts or fault.switch, fault.summary)


def _planned(view: View, node: str) -> int:
    code = view.device(node)
    return code if view.is_planned(code) else -1


def _text(answer: LintedTopology, options: Options) -> Iterator[RenderableType]:
    for summary, subjects in grouped((fault.summary, fault.subject) for fault in answer.faults).items():
        who = subjects[0] if len(subjects) == 1 else f"{len(subjects):,} ({fold(subjects)})"
        yield hanging("!", Text(f"{name(who)}: {sentence(summary)}"))
    if answer.unknown_nodes:
        yield hanging("?", Text(f"not in the plan: {name(answer.unknown_nodes)}"))


QUESTION = Question(
    "lint-topology",
    LintedTopology,
    (
        Parameter(
            "text", help="A topology.conf or topology.yaml.", kind=Kind.TEXT, metavar="FILE", label="topology.conf"
        ),
    ),
    lambda asked, given: lint_topology(asked.publication, given["text"]),
    "Compare a topology.conf or topology.yaml with the cabling that is seen. Ends with 1 if they differ.",
    good=lambda answer: not answer.faults,
    text=_text,
    operation="the_topology_lint",
    form=Form("Is the scheduler's topology right?", "Compare"),
)
