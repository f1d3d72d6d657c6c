"""Names of nodes and switches changed in Slurm's `topology.conf`, as a diff to review. Nothing here is applied.

Format: topology.conf(5), plugins tree and block: `SwitchName=`, `Switches=`, `Nodes=` and `BlockName=`, keys in any
case, a comment behind `#`. A list whose set of names stays the same keeps its spelling; others are folded without steps
(`[0-8/4]`), which Slurm does not read.
"""

import re
from collections.abc import Mapping
from typing import Final

from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

from truerail.errors import NodeSetError, QueryError
from truerail.files.nodesets import Budget, expand
from truerail.model.names import printable
from truerail.outputs.renaming import diff_line

_NAMES: Final = re.compile(r"(?i)(?<![^\s])(SwitchName|Switches|Nodes|BlockName)(\s*=\s*)([^\s#]+)")
_ALL: Final = ("all", "all_nodes")


def topology_diff(text: str, names: Mapping[str, str]) -> str:
    """The unified diff of a `topology.conf` in which these devices have their new names; empty if none of them is in
    it. Raises QueryError for a text that is none, or that has a list that cannot be read.
    """
    budget, hunks, found = Budget(), [], False
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        code, mark, comment = line.partition("#")
        found = found or _NAMES.search(code) is not None
        try:
            changed = _NAMES.sub(lambda match: _changed(match, names, budget), code) + mark + comment
            hunks += [] if changed == line else [f"@@ -{number} +{number} @@\n", f"-{line}", f"+{changed}"]
        except NodeSetError as error:
            raise QueryError(f"topology.conf:{number}: {error} (value {printable(code.strip(), 80)!r})") from error
    if not found:
        raise QueryError("topology.conf: no line has SwitchName=, Switches=, Nodes= or BlockName=")
    return "".join(map(diff_line, ["--- topology.conf\n", "+++ topology.conf\n", *hunks])) if hunks else ""


def _changed(match: re.Match[str], names: Mapping[str, str], budget: Budget) -> str:
    key, sign, value = match.groups()
    if value.lower() in _ALL:
        return match.group()
    before = expand(value, budget)
    after = [names.get(name, name) for name in before]
    if set(after) == set(before):
        return match.group()
    return f"{key}{sign}{NodeSet.fromlist(after, resolver=RESOLVER_NOGROUP)}"
