"""Groups, hosts and variables of an Ansible inventory, and which of a host's variables win.

Precedence as ansible-core has it (`ansible.inventory.helpers.sort_groups`): the groups of a host in the order of their
depth below `all`, then of their names; later ones win, the host's own variables over all.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from truerail.files.problems import Faults, hint
from truerail.model.columns import grouped

ALL, UNGROUPED = "all", "ungrouped"
READ = {
    "ansible_host": "address",
    "ansible_ssh_host": "address",
    "ansible_port": "port",
    "ansible_ssh_port": "port",
    "ansible_user": "user",
    "ansible_ssh_user": "user",
    "ansible_ssh_private_key_file": "key",
    "ansible_private_key_file": "key",
    "ansible_network_os": "platform",
    "truerail_device_platform": "own platform",
    "ansible_ssh_common_args": "arguments",
}
"""Variables whose values are stored, and their meaning. Of all others only the name is stored."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable's value and its position. The value is empty unless the variable is one of `READ`."""

    value: str = field(repr=False)
    line: int = 0


Variables = dict[str, Variable]


def variable(name: str, value: str, line: int) -> Variable:
    """Stores only the values that are read: passwords never get into memory that could be shown."""
    return Variable(value if name in READ else "", line)


@dataclass(slots=True)
class Group:
    """A group as the file has it."""

    name: str
    line: int = 0
    children: dict[str, int] = field(default_factory=dict)
    """Group name to line."""
    hosts: dict[str, int] = field(default_factory=dict)
    """Host name to line."""
    variables: Variables = field(default_factory=dict)


@dataclass
class Groups:
    """A complete inventory. Fill it before queries."""

    faults: Faults
    groups: dict[str, Group] = field(default_factory=dict)
    hosts: dict[str, Variables] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    """The line that names a host first."""

    def group(self, name: str, line: int) -> Group:
        """The group of that name, a new one if there is none."""
        return self.groups.setdefault(name, Group(name, line))

    def add_host(self, group: str, name: str, variables: Variables, line: int) -> None:
        """A host of a group; its values from several places add up."""
        self.groups[group].hosts.setdefault(name, line)
        self.hosts.setdefault(name, {}).update(variables)
        self.lines.setdefault(name, line)

    def check(self) -> None:
        """Notes children that no section declares, and groups that contain themselves."""
        for group in self.groups.values():
            for child, line in group.children.items():
                if child not in self.groups:
                    self.faults.add(line, child, f"no group of this name{hint(child, self.groups)}")
        for name, group in self.groups.items():
            if name in self._above(name):
                self.faults.add(group.line, name, "the group contains itself")

    @cached_property
    def _parents(self) -> dict[str, list[str]]:
        return grouped((child, group.name) for group in self.groups.values() for child in group.children)

    def _above(self, name: str) -> set[str]:
        """All groups that contain this one, including itself only if the file has a cycle."""
        above: set[str] = set()
        open_names = list(self._parents.get(name, ()))
        while open_names:
            parent = open_names.pop()
            if parent not in above:
                above.add(parent)
                open_names += self._parents.get(parent, ())
        return above

    @cached_property
    def _depths(self) -> dict[str, int]:
        """The depth of each group below `all`, by the longest path. The file must have no cycle."""
        depths: dict[str, int] = {}
        for name in sorted(self.groups, key=lambda name: len(self._above(name))):
            known = [depths[parent] for parent in self._parents.get(name, ())]
            depths[name] = 0 if name == ALL else 1 + max(known, default=0)
        return depths

    @cached_property
    def _direct(self) -> dict[str, list[str]]:
        return grouped((host, group.name) for group in self.groups.values() for host in group.hosts)

    def groups_of(self, host: str) -> list[tuple[int, Group]]:
        """Depth and group of all groups that a host is in, the winning ones last."""
        names = set(self._direct.get(host, ())) | {ALL} & self.groups.keys()
        for name in list(names):
            names |= self._above(name)
        return sorted(
            ((self._depths[name], self.groups[name]) for name in names), key=lambda one: (one[0], one[1].name)
        )

    def variables_of(self, host: str) -> Variables:
        """The variables of a host, its groups' among them."""
        found: Variables = {}
        for _, group in self.groups_of(host):
            found.update(group.variables)
        return found | self.hosts[host]

    def all_variables(self) -> Iterator[tuple[str, str, Variable]]:
        """Where (host or group), name and variable, for all that the file sets."""
        for group in self.groups.values():
            yield from ((group.name, name, one) for name, one in group.variables.items())
        for host, variables in self.hosts.items():
            yield from ((host, name, one) for name, one in variables.items())
