"""An Ansible inventory in YAML: groups with `hosts`, `children` and `vars`, from `all` or from several roots.

Format: the `yaml` inventory plugin of ansible-core. Values behind `!vault` are left out as they are read.
"""

from truerail.files.nodesets import Budget
from truerail.files.problems import Faults
from truerail.inventory.ansible_groups import ALL, Groups, Variables, variable
from truerail.inventory.ansible_ini import add_hosts
from truerail.model.yaml_tree import Node

OPAQUE_TAGS = ("!vault", "!vault-encrypted", "!unsafe")
GROUP_KEYS = ("hosts", "children", "vars")


def read_groups(tree: Node, faults: Faults) -> Groups:
    """Groups, hosts and variables of a tree. Faults are noted, the caller raises them."""
    groups = Groups(faults)
    groups.group(ALL, 0)
    budget = Budget()
    for name, node in _pairs(tree, "groups", faults):
        _group(name, node, groups, budget)
    return groups


def _pairs(node: Node, what: str, faults: Faults) -> list[tuple[Node, Node]]:
    """The pairs of a mapping; none for an empty value. A value of another type is not shown."""
    if node.pairs is not None:
        return [(key, value) for key, value in node.pairs if key.text is not None]
    if node.text not in ("", "null", "~"):
        faults.add(node.line, "", f"expected a mapping of {what}, found {node.kind}")
    return []


def _group(key: Node, node: Node, groups: Groups, budget: Budget) -> None:
    name = key.text or ""
    group = groups.group(name, key.line)
    for part, value in _pairs(node, "hosts, children and vars", groups.faults):
        if part.text == "vars":
            group.variables.update(_variables(value, groups.faults))
        elif part.text == "hosts":
            for host, variables in _pairs(value, "hosts", groups.faults):
                add_hosts(groups, name, (host.text or "", host.line), _variables(variables, groups.faults), budget)
        elif part.text == "children":
            for child, inner in _pairs(value, "groups", groups.faults):
                group.children.setdefault(child.text or "", child.line)
                _group(child, inner, groups, budget)
        else:
            groups.faults.add(part.line, part.shown, f"expected one of {', '.join(GROUP_KEYS)} in the group {name}")


def _variables(node: Node, faults: Faults) -> Variables:
    """Variables of a mapping, what it merges in by `<<` among them."""
    found: Variables = {}
    for key, value in _pairs(node, "variables", faults):
        if key.text == "<<":
            for merged in [value] if value.items is None else value.items:
                found = _variables(merged, faults) | found
        else:
            found[key.text or ""] = variable(key.text or "", value.text or "", key.line)
    return found
