"""Targets from an Ansible inventory: its groups, hosts and variables, and what these mean.

`ansible-inventory --list` reads the same, as a test shows, and is not run: it executes a file that may be executed, and
of a file with a fault it prints the line with its password and lists no host, as a success.
"""

import re
import shlex
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from truerail.files.problems import Faults, hint
from truerail.inventory.inventory_checks import (
    SSH,
    address_fault,
    device_name_fault,
    hop_fault,
    role_in,
    ssh_port,
    user_fault,
)
from truerail.inventory.value import Inventory, several, shared_addresses
from truerail.model import PLATFORMS, Role, SshAccess, Target
from truerail.model.columns import grouped

# ----------------------------------------------------------------------------------------------------------------------
# Groups, hosts and variables, and which of a host's variables win.
#
# Precedence as ansible-core has it (`ansible.inventory.helpers.sort_groups`): the groups of a host in the order of
# their depth below `all`, then of their names; later ones win, the host's own variables over all.

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


# ----------------------------------------------------------------------------------------------------------------------
# What they mean.

_SECRET = re.compile(r"pass(?:word|phrase|wd)?(?:$|_)|_pass$|secret|token|community|_key$", re.IGNORECASE)
_PLATFORM_WORDS = {"nvue": "cumulus", "enterprise_sonic": "sonic", **{name: name for name in PLATFORMS}}
"""The last part of `ansible_network_os`: `arista.eos.eos`, `nvidia.nvue.nvue`, `dellemc.enterprise_sonic.sonic`."""


Notes = defaultdict[str, list[str]]
"""Devices by what is noted about them, so that each note is reported once for all of them."""


def targets_of(groups: Groups, file: str) -> Inventory:
    """The inventory in groups that were read. Faults are noted, the caller raises them."""
    groups.check()
    if groups.faults.found:
        return Inventory((), source=file)
    notes = Notes(list)
    targets = [_target(name, groups, file, notes) for name in groups.hosts]
    if not targets:
        groups.faults.add(0, "", "no host")
    reported = (f"{several(devices)}: {summary}" for summary, devices in notes.items())
    return Inventory(tuple(targets), notes=(*_secrets(groups), *reported, *shared_addresses(targets)), source=file)


def _secrets(groups: Groups) -> list[str]:
    """A note for each variable that holds a password or the like: it is never read."""
    where = grouped(
        (name, owner)
        for owner, name, _ in groups.all_variables()
        if name.startswith("ansible_") and name not in READ and _SECRET.search(name)
    )
    advice = "use a key or an agent, or native YAML with `password: {env: NAME}`"
    return [f"{name} is never read ({several(owners)}): {advice}" for name, owners in where.items()]


def _target(name: str, groups: Groups, file: str, notes: Notes) -> Target:
    line = groups.lines[name]
    if fault := device_name_fault(name):
        groups.faults.add(line, name, fault)
    said = {READ[key]: one for key, one in groups.variables_of(name).items() if key in READ}
    arguments = said.pop("arguments", None)
    for what, one in list(said.items()):
        if "{{" in one.value or "{%" in one.value:
            del said[what]
            if what in ("address", "port"):
                groups.faults.add(one.line, "", f"a template as {what} of {name}; plain values only are read")
            else:
                notes[f"the {what} is a template and is not read"].append(name)
    return Target(
        name=name,
        address=_checked(said, "address", groups) or name,
        role=_role(name, groups, notes),
        platform=_platform(said, name, notes),
        ssh=SshAccess(
            user=_checked(said, "user", groups),
            key=said["key"].value if "key" in said else "",
            port=ssh_port(said["port"].value, said["port"].line, groups.faults) if "port" in said else SSH.port,
            jump=_jump(arguments, name, notes),
        ),
        file=file,
        line=line,
    )


def _checked(said: dict[str, Variable], what: str, groups: Groups) -> str:
    """A valid address or user."""
    if what not in said:
        return ""
    one = said[what]
    fault = address_fault(one.value) if what == "address" else user_fault(one.value)
    if fault:
        groups.faults.add(one.line, one.value if what == "address" else "", fault)
    return one.value


def _role(name: str, groups: Groups, notes: Notes) -> Role | None:
    """The role that the host's groups name, the nearest groups first; none where those of one depth disagree."""
    by_depth: dict[int, dict[Role, str]] = {}
    for depth, group in groups.groups_of(name):
        if role := role_in(group.name):
            by_depth.setdefault(depth, {})[role] = group.name
    if not by_depth:
        return None
    roles = by_depth[max(by_depth)]
    if len(roles) > 1:
        notes[f"its groups {', '.join(sorted(roles.values()))} disagree about the role"].append(name)
        return None
    return next(iter(roles))


def _platform(said: dict[str, Variable], name: str, notes: Notes) -> str:
    """The value of truerail's own variable, which its Ansible role reads too, else Ansible's for network devices."""
    what = "own platform" if "own platform" in said else "platform"
    if what not in said:
        return ""
    word = said[what].value.lower().rpartition(".")[2]
    if word not in _PLATFORM_WORDS:
        variable = next(variable for variable, means in READ.items() if means == what)
        notes[f"{variable} is {word}, which is unknown; the platform is probed instead"].append(name)
    return _PLATFORM_WORDS.get(word, "")


def _jump(arguments: Variable | None, name: str, notes: Notes) -> tuple[str, ...]:
    """The jump hosts in `ansible_ssh_common_args`: `-J ops@bastion` or `-o ProxyJump=ops@bastion`."""
    if arguments is None or not arguments.value:
        return ()
    try:
        words = shlex.split(arguments.value)
    except ValueError:
        words = []
    text = " ".join(words)
    shape = re.fullmatch(r"(?:-J ?|-o ?ProxyJump[= ])(\S+)", text)
    hops = tuple(shape[1].split(",")) if shape else ()
    if not hops or any(map(hop_fault, hops)):
        notes["ansible_ssh_common_args is not read, but for a plain ProxyJump"].append(name)
        return ()
    return hops
