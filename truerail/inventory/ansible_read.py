"""An Ansible inventory in INI (`[group]`, `[group:vars]`, `[group:children]`, ranges), and in YAML.

Format: the `ini` inventory plugin of ansible-core. Values are kept as text. A line that cannot be parsed is reported by
its number and never shown: it may contain a password.
"""

import re
import shlex
from itertools import product
from math import prod
from string import ascii_letters

from truerail.errors import NodeSetError
from truerail.files.nodesets import Budget
from truerail.files.problems import Faults
from truerail.inventory.ansible import ALL, UNGROUPED, Groups, Variables, variable
from truerail.model.yaml_tree import Node

# ----------------------------------------------------------------------------------------------------------------------
# Host patterns of Ansible: `gpu[001:064].example.com`, `leaf-[a:d]`, `gpu[1:63:2]:2222`.
#
# Format: "Adding ranges of hosts" in Ansible's guide to inventories; ends are inclusive, a third number is the step,
# leading zeros in the first number pad all.

_RANGE = re.compile(r"\[([0-9]{1,9}|[A-Za-z]):([0-9]{1,9}|[A-Za-z])(?::([0-9]{1,9}))?\]", re.ASCII)
_PORT = re.compile(r"^((?:[^:\[\]]|\[[^\[\]]*\])+):(\d{1,5})$", re.ASCII)


def host_names(pattern: str, budget: Budget) -> tuple[list[str], str]:
    """The names that a pattern expands to, and the port behind it, empty if there is none. Raises NodeSetError."""
    shape = _PORT.match(pattern)
    pattern, port = (shape[1], shape[2]) if shape else (pattern, "")
    choices: list[list[str]] = []
    end = 0
    for found in _RANGE.finditer(pattern):
        choices += [[pattern[end : found.start()]], _expanded(found[1], found[2], found[3], budget)]
        end = found.end()
    choices.append([pattern[end:]])
    if "[" in "".join(choice[0] for choice in choices[::2]):
        raise NodeSetError("expected a range such as [01:64] or [a:f]")
    budget.take(prod(map(len, choices)))
    return ["".join(chosen) for chosen in product(*choices)], port


def _expanded(first: str, last: str, step: str | None, budget: Budget) -> list[str]:
    stride = int(step or 1)
    if first.isdigit() != last.isdigit() or not stride:
        raise NodeSetError(f"[{first}:{last}{f':{step}' if step else ''}] is no range")
    padded = first.isdigit() and first.startswith("0") and len(first) > 1
    if padded and len(first) != len(last):
        raise NodeSetError(f"[{first}:{last}]: both ends of a padded range need as many digits")
    alphabet = None if first.isdigit() else ascii_letters
    low, high = (int(first), int(last)) if alphabet is None else (alphabet.index(first), alphabet.index(last))
    if high < low:
        raise NodeSetError(f"the range [{first}:{last}] runs backwards")
    budget.take((high - low) // stride + 1)
    width = len(first) if padded else 0
    return [str(at).zfill(width) if alphabet is None else alphabet[at] for at in range(low, high + 1, stride)]


# ----------------------------------------------------------------------------------------------------------------------
# An Ansible inventory in INI: `[group]`, `[group:vars]`, `[group:children]`, ranges.

_SECTION = re.compile(r"\[([^:\]\s]+)(?::(\w+))?\]\s*(?:#.*)?")
_KINDS = (None, "vars", "children")


def read_ini(text: str, faults: Faults) -> Groups:
    """Groups, hosts and variables of the text. Faults are noted, the caller raises them."""
    groups = Groups(faults)
    groups.group(ALL, 0)
    declared: dict[str, int] = {ALL: 0, UNGROUPED: 0}
    groups.group(UNGROUPED, 0)
    section: tuple[str, str | None] | None = (UNGROUPED, None)
    budget = Budget()
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if shape := _SECTION.fullmatch(line):
            section = _section(shape[1], shape[2], groups, number)
            if shape[2] != "vars":
                declared.setdefault(shape[1], number)
        elif line.startswith("[") and line.endswith("]"):
            faults.add(number, line, "expected [group], [group:vars] or [group:children]")
            section = None
        elif section is not None:
            _line(line, section, groups, budget, number)
    for name, group in groups.groups.items():
        if name not in declared and not any(name in other.children for other in groups.groups.values()):
            faults.add(group.line, name, "variables for a group that no section declares")
    return groups


def _section(name: str, kind: str | None, groups: Groups, line: int) -> tuple[str, str | None] | None:
    if kind not in _KINDS:
        groups.faults.add(line, kind or "", "expected [group], [group:vars] or [group:children]")
        return None
    groups.group(name, line)
    return name, kind


def _line(line: str, section: tuple[str, str | None], groups: Groups, budget: Budget, number: int) -> None:
    name, kind = section
    if kind == "vars":
        key, equals, value = line.partition("=")
        if not equals:
            groups.faults.add(number, "", "expected key=value")
        else:
            groups.groups[name].variables[key.strip()] = variable(key.strip(), _unquoted(value.strip()), number)
    elif kind == "children":
        groups.groups[name].children.setdefault(line.partition("#")[0].strip(), number)
    else:
        _host(line, name, groups, budget, number)


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _host(line: str, group: str, groups: Groups, budget: Budget, number: int) -> None:
    """`gpu[01:64]:2222 ansible_host=10.0.0.1 key="a value"`."""
    try:
        pattern, *words = shlex.split(line, comments=True)
    except ValueError:
        groups.faults.add(number, "", "a quote is not closed")
        return
    variables: Variables = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            groups.faults.add(number, "", "expected key=value after the host's name")
            return
        variables[key] = variable(key, value, number)
    add_hosts(groups, group, (pattern, number), variables, budget)


def add_hosts(groups: Groups, group: str, where: tuple[str, int], variables: Variables, budget: Budget) -> None:
    """The hosts of a pattern, into a group; `where` is the pattern and its line."""
    pattern, line = where
    try:
        names, port = host_names(pattern, budget)
    except NodeSetError as error:
        groups.faults.add(line, pattern, str(error))
        return
    implied = {"ansible_port": variable("ansible_port", port, line)} if port else {}
    for name in names:
        groups.add_host(group, name, implied | variables, line)


# ----------------------------------------------------------------------------------------------------------------------
# An Ansible inventory in YAML: groups with `hosts`, `children` and `vars`, from `all` or from several roots.
#
# Format: the `yaml` inventory plugin of ansible-core. Values behind `!vault` are left out as they are read.

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
