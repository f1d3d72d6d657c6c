"""An Ansible inventory in INI: `[group]`, `[group:vars]`, `[group:children]`, ranges.

Format: the `ini` inventory plugin of ansible-core. Values are kept as text. A line that cannot be parsed is reported by
its number and never shown: it may contain a password.
"""

import re
import shlex

from truerail.errors import NodeSetError
from truerail.files.nodesets import Budget
from truerail.files.problems import Faults
from truerail.inventory.ansible_groups import ALL, UNGROUPED, Groups, Variables, variable
from truerail.inventory.ansible_ranges import host_names

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
