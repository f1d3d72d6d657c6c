"""The topology that a Slurm cluster places its jobs by: switches or blocks, and the nodes in them.

Question: which hosts does the scheduler take for neighbours?
Needs: any user on a machine with Slurm's clients. Files are read from captures and by `truerail lint-topology`.

Formats: `scontrol show topology`, `topology.conf` of the plugins tree and block, and `topology.yaml` (25.05 and later).
Sources: measured with Slurm 22.05.8; topology.conf(5), topology.yaml(5); Slurm's test suite (test_133_1, test_150_9).

Traps:

- `scontrol show topology` prints for a switch all nodes below it: only those of a switch without switches are its own.
- `Nodes=` without a value is a switch without nodes; `AggregatedBlock` is made of blocks that have lines of their own.
- Where a cluster has both files, `topology.yaml` alone counts.
- A topology of the plugin `flat` has no units.
- Keys come in any case; a line may go on behind `\\`; `#` begins a comment.
"""

import re
from collections.abc import Iterator
from typing import Any

from collector.formats.slurm_words import Names
from collector.formats.text import object_of
from truerail.errors import UnreadableError
from truerail.model import Command, Device, Role, TopologyUnit, collector, saved_as
from truerail.model.yaml_tree import plain, read_tree

_PAIR = re.compile(r"\s*([A-Za-z]+)\s*=[ \t]*(?!\w+=)(\S*)")
_SHOWN = re.compile(r"^(?:SwitchName=\S+ Level=|BlockName=\S+ BlockIndex=)", re.MULTILINE)
"""What `scontrol` prints always ends with its line; a file that people write may not."""
_IGNORED = frozenset(("level", "linkspeed", "blocksizes", "blockindex", "blocksize", "topologyname"))
_YAML = re.compile(r"^(?:---\s*$|-\s+[A-Za-z_]+:)", re.MULTILINE)
_CONF = re.compile(r"^[ \t]*(?:Switch|Block)Name[ \t]*=", re.IGNORECASE | re.MULTILINE)
_MOST_YAML = 8 << 20
_MOST_TOPOLOGIES = 32
"""Each is compared with all hosts. `slurm.conf` gives a partition one, and sites have a few."""
_PLUGINS = {
    "tree": ("switches", "switch", "switch"),
    "block": ("blocks", "block", "block"),
    "ring": ("rings", "ring", "ring"),
    "torus3d": ("toruses", "name", "torus"),
}
"""The list of each plugin's units, the key of their names, and what they are."""
_UNITS = {"switchname": "switch", "blockname": "block", "ringname": "ring"}


ASK = (
    Command("scontrol show topology", ("slurm",)),
    *saved_as("cat /etc/slurm/topology.yaml", "cat /etc/slurm/topology.conf"),
)


@collector(
    on=[Role.HOST],
    ask=ASK,
    every=300.0,
    yields=[TopologyUnit],
    megabytes=16,
    long_lines=True,
    optional=True,
    empty=True,
)
def slurm_topology(answer: str, device: Device) -> Iterator[TopologyUnit]:
    """One `TopologyUnit` for each switch or block. Raises `UnreadableError`."""
    return _from_yaml(answer) if _YAML.search(answer) and not _CONF.search(answer) else _from_conf(answer)


def _from_conf(answer: str) -> Iterator[TopologyUnit]:
    names = Names()
    found = answer.replace("\r", "").split("\n")  # not `lines`: a file of comments alone is one
    if found[-1] and _SHOWN.search(answer):
        raise UnreadableError("cut short: its last line has no end", line=len(found), text=found[-1])
    held, begun = "", 0
    for at, raw in enumerate(found, 1):
        line = raw.partition("#")[0].rstrip()
        begun = begun if held else at
        if line.endswith("\\"):
            held += line[:-1] + " "
            continue
        text, held = (held + line).strip(), ""
        if text:
            yield from _unit(text, names, begun)


def _unit(text: str, names: Names, at: int) -> Iterator[TopologyUnit]:
    pairs: dict[str, str] = {}
    end = 0
    while end < len(text):
        found = _PAIR.match(text, end)
        if found is None:
            raise UnreadableError("not a line of a topology", line=at, text=text[end:].lstrip())
        pairs[found[1].lower()] = found[2]
        end = found.end()
    if "aggregatedblock" in pairs:
        return
    unknown = pairs.keys() - _IGNORED - {*_UNITS, "nodes", "switches"}
    name, kind = next(((pairs[key], kind) for key, kind in _UNITS.items() if pairs.get(key)), (None, ""))
    if unknown or (name is None and pairs.keys() - _IGNORED):
        raise UnreadableError(
            f"not a line of a topology: {', '.join(sorted(unknown)) or 'no name'}", line=at, text=text
        )
    if name is not None:
        children = names.expand(pairs.get("switches", ""), at)
        nodes = () if children else names.expand(pairs.get("nodes", ""), at)
        yield TopologyUnit(name, kind, nodes, children)


class _Faults:
    """Raises the first problem of a file."""

    def add(self, line: int, value: str, summary: str) -> None:
        raise UnreadableError(summary, line=line, text=value)


def _from_yaml(answer: str) -> Iterator[TopologyUnit]:
    if len(answer) > _MOST_YAML:
        raise UnreadableError(f"larger than {_MOST_YAML:,} characters")
    tree = read_tree(answer, _Faults())
    document = plain(tree, _Faults()) if tree else None
    names, topologies = Names(), _list(document, "topologies")
    if len(topologies) > _MOST_TOPOLOGIES:
        raise UnreadableError(f"more than {_MOST_TOPOLOGIES} topologies")
    for at, entry in enumerate(topologies):
        if not isinstance(entry, dict) or not isinstance(entry.get("topology"), str):
            raise UnreadableError(f"topology {at + 1} has no name", text=str(entry)[:80])
        yield from _named(entry, names)


def _named(entry: dict[str, Any], names: Names) -> Iterator[TopologyUnit]:
    known = [plugin for plugin in (*_PLUGINS, "flat") if plugin in entry]
    if len(known) != 1:
        raise UnreadableError(
            f"topology {entry['topology']}: not one of {', '.join(_PLUGINS)} and flat", text=str(list(entry))
        )
    if known == ["flat"]:
        return
    listed, key, kind = _PLUGINS[known[0]]
    rows = _list(object_of(entry[known[0]]).get(listed), listed)
    for row in rows:
        name = row.get(key) if isinstance(row, dict) else None
        if not isinstance(name, str):
            raise UnreadableError(f"topology {entry['topology']}: a {key} without a name", text=str(row)[:80])
        children, nodes = (names.expand(_text(row.get(part))) for part in ("children", "nodes"))
        regions = row.get("regions") or ()  # of a torus, in the place of its nodes
        nodes += tuple(node for region in regions for node in names.expand(_text(object_of(region).get("nodes"))))
        yield TopologyUnit(name, kind, nodes, children, entry["topology"])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise UnreadableError(f"no list of {what}", text=str(value)[:80])
    return value
