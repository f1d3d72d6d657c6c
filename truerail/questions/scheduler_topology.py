"""The fabric's tree in the formats of schedulers.

`topology.conf` (topology.conf(5)), `topology.yaml` (topology.yaml(5), Slurm 25.05), the model of NVIDIA's topograph
(`tests/models` there), labels of Kubernetes nodes under topograph's keys (`fabric.topograph.run/tier-N`, the closest
tier first), and NCCL_IB_HCA by kind of host. A text that the reader of `truerail lint-topology` would refuse, or that
Slurm would not start with, is not printed.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from hashlib import sha256

import truerail
from truerail.analysis.published import Published
from truerail.errors import QueryError
from truerail.files.nodesets import node_set
from truerail.files.problems import nearest
from truerail.model.columns import NONE, grouped
from truerail.model.names import printable
from truerail.outputs.report_words import count
from truerail.questions.fabric_tree import FabricTree, fabric_tree, kubernetes_drain, slurm_drain
from truerail.questions.lint_topology import read_units, topology_faults
from truerail.questions.question import Option, Question
from truerail.questions.resolve import rail_words
from truerail.views.view import View, view_of

_WITH_RAILS = (2, 30, 0)
"""The version of NCCL from which on an entry of NCCL_IB_HCA takes rail and plane: `mlx5_0:1:0:0` (NCCL 2.30.7,
`src/transport/net_ib`).
"""
_LONGEST_LABEL = 63
"""Characters of a label's value in Kubernetes."""
_MOST_REMARKS = 200


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


def topology(publication: Published, format: str, nccl: str | None = None) -> Topology:  # noqa: A002 - as in the API
    """The tree in one format; that of NCCL for a version of it. Raises QueryError for an unknown one, and for a fabric
    that it cannot be made of.
    """
    make = FORMATS.get(format)
    if make is None:
        raise QueryError(f"no format {format!r}{nearest(format, list(FORMATS))}")
    if nccl is not None:
        if make is not _nccl:
            raise QueryError(f"a version of NCCL goes with the format nccl, not with {format}")
        if _version(nccl) >= _WITH_RAILS:
            make = partial(_nccl, entry="{device}:{port}:{rail}:{plane}")
    tree = fabric_tree(publication)
    header = _header(publication, tree, kubernetes_drain if make is _labels else slurm_drain)
    text = "\n".join([*header, *make(publication, tree), ""])
    # Slurm would not start with some faults
    faults = [*topology_faults(view_of(publication), tree, read_units(text))] if make in (_slurm, _slurm_yaml) else []
    if faults:
        raise QueryError(f"no topology can be made of this plan: {faults[0].subject} {faults[0].summary}")
    misplaced, unseen, moved = (_nodes(tree, of) for of in (tree.misplaced, tree.unseen, tree.moved))
    beside = [f"{word} {names}" for word, names in (("miscabled", misplaced), ("not verified", unseen)) if names]
    summary = f"verified {tree.verified:,} of {count(tree.cables, 'cable')}{''.join(f'; {one}' for one in beside)}"
    return Topology(format, text, publication.at, tree.cables, tree.verified, misplaced, unseen, moved, summary)


def _nodes(tree: FabricTree, hosts: Iterable[int]) -> str:
    """Hosts as a list that Slurm reads: without steps."""
    return node_set([tree.names[host] for host in hosts])


def _header(publication: Published, tree: FabricTree, drain: Callable[[str, str], str]) -> Iterator[str]:
    """What a reader must know before using it, as comments."""
    yield f"# made by truerail {truerail.__version__} from the cabling seen at {publication.at:%Y-%m-%dT%H:%M:%SZ}"
    yield f"# verified {tree.verified:,} of {tree.cables:,} cables"
    yield from _remarks(tree, "not verified", tree.unseen)
    if tree.uplinks_unseen:
        yield f"# not verified: {count(tree.uplinks_unseen, 'uplink')}"
    yield from _remarks(tree, "miscabled, kept in its planned group", tree.misplaced)
    for host, rails in list(tree.misplaced.items())[:_MOST_REMARKS]:
        yield f"#   {drain(tree.names[host], f'truerail: miscabled on {_rails(rails)}')}"
    for host, planned in tree.moved.items():
        yield f"# planned in {planned}, cabled as a whole to another group: {tree.names[host]}"
    if len(tree.roots) > 1:
        yield f"# no common root: no uplinks lead from one to another of {', '.join(tree.roots)}"


def _remarks(tree: FabricTree, what: str, found: Mapping[int, tuple[int, ...]]) -> Iterator[str]:
    by_rails = grouped((rails, host) for host, rails in found.items())
    for rails, hosts in list(by_rails.items())[:_MOST_REMARKS]:
        yield f"# {what}: {_nodes(tree, hosts)} {_rails(rails)}"
    if len(by_rails) > _MOST_REMARKS:
        yield f"# {what}: and {len(by_rails) - _MOST_REMARKS:,} more groups of hosts"


def _rails(rails: Iterable[int]) -> str:
    return rail_words(rail for rail in rails if rail != NONE) or "cables without a rail"


def _slurm(publication: Published, tree: FabricTree) -> Iterator[str]:
    for unit in reversed(tree.units):
        inside = f"Switches={node_set(unit.children)}" if unit.children else f"Nodes={_nodes(tree, unit.hosts)}"
        yield f"SwitchName={unit.name} {inside}"


def _slurm_yaml(publication: Published, tree: FabricTree) -> Iterator[str]:
    yield from ("---", "- topology: truerail", "  cluster_default: true", "  tree:", "    switches:")
    for unit in reversed(tree.units):
        names = node_set(unit.children) if unit.children else _nodes(tree, unit.hosts)
        yield f"      - switch: {json.dumps(unit.name)}"
        yield f"        {'children' if unit.children else 'nodes'}: {json.dumps(names)}"


def _topograph(publication: Published, tree: FabricTree) -> Iterator[str]:
    yield "switches:"
    for unit in reversed(tree.units):
        members = unit.children or tuple(tree.names[host] for host in unit.hosts)
        yield from (f"  {json.dumps(unit.name)}:", f"    {'switches' if unit.children else 'nodes'}:")
        yield from (f"    - {json.dumps(member)}" for member in members)
    yield "nodes:"
    yield from (f"  {json.dumps(tree.names[host])}: {{}}" for unit in tree.units for host in unit.hosts)


def _labels(publication: Published, tree: FabricTree) -> Iterator[str]:
    paths = tree.paths
    for unit in tree.units:
        path = enumerate(paths[unit.name])
        labels = " ".join(f"fabric.topograph.run/tier-{tier}={_label(name)}" for tier, name in path)
        yield from (f"kubectl label node {tree.names[host]} --overwrite {labels}" for host in unit.hosts)


def _label(name: str) -> str:
    """A value that Kubernetes takes: at most 63 characters; a longer one as its hash."""
    return name if len(name) <= _LONGEST_LABEL else f"truerail-{sha256(name.encode()).hexdigest()[:32]}"


def _version(text: str) -> tuple[int, ...]:
    found = re.fullmatch(r"(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?", text, re.ASCII)
    if found is None:
        raise QueryError(f"not a version of NCCL, such as 2.30 or 2.30.7: {printable(text, 40)!r}")
    return tuple(int(part or 0) for part in found.groups())


def _nccl(publication: Published, tree: FabricTree, entry: str = "{device}:{port}") -> Iterator[str]:
    """NCCL_IB_HCA in the order of rails, for each kind of host: those with the same devices on their rails. With rail
    and plane of each device in its `entry` NCCL does not have to guess them.
    """
    wrong = [finding.subject for finding in publication.evaluation.findings if finding.rule == "NIC001"]
    if wrong:
        raise QueryError(f"the order of GPUs and NICs is not as planned on {', '.join(wrong[:5])}: see NIC001")
    view = view_of(publication)
    kinds = grouped((_devices(view, host, entry), host) for unit in tree.units for host in unit.hosts)
    alone = not any(unit.children for unit in tree.units)
    for devices, hosts in kinds.items():
        yield f"# {_nodes(tree, hosts)}"
        if None in devices or not devices:
            yield "# not known: these hosts do not report an RDMA device for every rail"
            continue
        yield f"NCCL_IB_HCA=={','.join(filter(None, devices))}"
        yield from ["NCCL_CROSS_NIC=0"] * alone


def _devices(view: View, host: int, entry: str) -> tuple[str | None, ...]:
    """The RDMA devices of a host as entries of NCCL_IB_HCA, in the order of its rails and planes; None where it reports
    none.
    """
    index = view.index
    cables = sorted(view.layout.host_cables_of(host).tolist(), key=lambda one: (index.rail[one], index.plane[one]))
    found = [view.nics.rdma(int(index.a[cable])) for cable in cables if index.rail[cable] != NONE]
    places = [(int(index.rail[one]), max(int(index.plane[one]), 0)) for one in cables if index.rail[one] != NONE]
    return tuple(
        entry.format(device=one.device, port=one.port, rail=rail, plane=plane) if one else None
        for one, (rail, plane) in zip(found, places, strict=True)
    )


FORMATS: Mapping[str, Callable[[Published, FabricTree], Iterator[str]]] = {
    "slurm": _slurm,
    "slurm-yaml": _slurm_yaml,
    "topograph": _topograph,
    "k8s-labels": _labels,
    "nccl": _nccl,
}
QUESTION = Question(
    "scheduler-topology",
    Topology,
    (
        Option(
            "format",
            help="slurm (topology.conf), slurm-yaml (topology.yaml), topograph, k8s-labels or nccl (NCCL_IB_HCA).",
            metavar="FORMAT",
            default="slurm",
            label="Format",
        ),
        Option(
            "nccl",
            help="With the format nccl: the version that reads it; from 2.30 on each device has rail and plane.",
            metavar="VERSION",
            label="NCCL's version",
            example="2.30",
        ),
    ),
    lambda asked, given: topology(asked.publication, given["format"], given["nccl"]),
    "The tree of hosts and switches for a scheduler, from where cables are seen: text to review.",
    good=lambda answer: None if answer.misplaced or answer.unseen or answer.moved else True,
)
