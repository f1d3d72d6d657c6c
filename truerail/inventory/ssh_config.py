"""Targets from an OpenSSH client configuration: HostName, Port, User, IdentityFile, ProxyJump, UserKnownHostsFile."""

import glob
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from truerail.files.file_text import read_text
from truerail.files.problems import Faults
from truerail.inventory.inventory_checks import (
    SSH,
    address_fault,
    device_name_fault,
    hop_fault,
    role_in,
    ssh_port,
    user_fault,
)
from truerail.inventory.value import Inventory, InventoryError, several, shared_addresses
from truerail.model import SshAccess, Target
from truerail.model.columns import grouped

# ----------------------------------------------------------------------------------------------------------------------
# The `Host` blocks of an OpenSSH client configuration, as ssh_config(5) has them; `Include` is followed.


MOST_BYTES = 4 << 20
DEEPEST_INCLUDE = 16
"""OpenSSH's READCONF_MAX_DEPTH."""
_LINE = re.compile(r"(\w+)(?:\s*=\s*|\s+)(.*)")
_PATTERN_SIGNS = set("*?![")
"""`[` is no wildcard in OpenSSH, but `Host gpu-[1-4]` is not meant as one host of that name."""


@dataclass(slots=True)
class Block:
    """The options for the names that match `patterns`. Keywords in lower case; the first value of each counts."""

    patterns: tuple[str, ...]
    file: str
    line: int
    options: dict[str, str] = field(default_factory=dict)

    def matches(self, name: str) -> bool:
        """Whether the block applies to a name: one pattern fits and no negated one does."""
        if any(pattern[0] == "!" and _fits(name, pattern[1:]) for pattern in self.patterns):
            return False
        return any(pattern[0] != "!" and _fits(name, pattern) for pattern in self.patterns)


def _fits(name: str, pattern: str) -> bool:
    """Whether a pattern of `*` and `?` fits; brackets have no meaning in OpenSSH."""
    return fnmatchcase(name, pattern.replace("[", "[[]"))


@dataclass
class Config:
    """The blocks in the order of the file, and what was skipped. Complete before any query."""

    faults: Faults
    blocks: list[Block] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def options(self, name: str) -> dict[str, str]:
        """The options of one host: of each keyword the first value that any matching block gives."""
        found: dict[str, str] = {}
        for at in sorted({*self._by_name.get(name, ()), *self._by_pattern}):
            if self.blocks[at].matches(name):
                found = self.blocks[at].options | found
        return found

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        """The indexes of the blocks that contain a literal name: thousands of hosts are not compared with
        each other.
        """
        return grouped((pattern, at) for at, block in enumerate(self.blocks) for pattern in block.patterns)

    @cached_property
    def _by_pattern(self) -> list[int]:
        """The indexes of the blocks with a pattern."""
        return [at for at, block in enumerate(self.blocks) if any(_PATTERN_SIGNS & set(one) for one in block.patterns)]

    @cached_property
    def concrete(self) -> dict[str, Block]:
        """The `Host` names without `*`, `?` and `!`, each with its first block."""
        names: dict[str, Block] = {}
        for block in self.blocks:
            for pattern in block.patterns if block.line else ():
                if not _PATTERN_SIGNS & set(pattern):
                    names.setdefault(pattern, block)
        return names

    def patterns(self) -> list[str]:
        """The `Host` patterns that name no single host, except a bare `*`, which is for defaults."""
        found = (pattern for block in self.blocks for pattern in block.patterns if block.line)
        return [pattern for pattern in dict.fromkeys(found) if _PATTERN_SIGNS & set(pattern) and pattern != "*"]


def read_blocks(text: str, path: Path, faults: Faults) -> Config:
    """The blocks of a configuration and of the files it includes, relative to its own folder."""
    config = Config(faults)
    _read(text, path, ("*",), config, 0)
    return config


def _read(text: str, path: Path, patterns: tuple[str, ...], config: Config, depth: int) -> None:
    """Lines before the first `Host` apply to the names of the block that includes the file; to all, in the
    first file.
    """
    block = Block(patterns, str(path), 0)
    config.blocks.append(block)
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        shape = _LINE.fullmatch(line)
        words = _words(shape[2]) if shape else []
        if shape is None or not words:
            config.faults.add(number, "", f"expected a keyword and its value{_elsewhere(path, config)}")
            continue
        keyword = shape[1].lower()
        if keyword in ("host", "match"):
            block = _block(keyword, words, number, path, config)
            config.blocks.append(block)
        elif keyword == "include":
            _include(words, path, block, config, depth)
            block = Block(block.patterns, block.file, 0)  # the following lines come after the included ones
            config.blocks.append(block)
        else:
            block.options.setdefault(keyword, words[0])


def _elsewhere(path: Path, config: Config) -> str:
    return "" if str(path) == config.faults.file else f", in {path}"


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return []


def _block(keyword: str, words: list[str], number: int, path: Path, config: Config) -> Block:
    if keyword == "host":
        return Block(tuple(words), str(path), number)
    if [word.lower() for word in words] == ["all"]:
        return Block(("*",), str(path), number)
    config.notes.append(f"{path}:{number}: a Match block is not read")
    return Block((), str(path), number)


def _include(words: list[str], path: Path, block: Block, config: Config, depth: int) -> None:
    if depth >= DEEPEST_INCLUDE:
        config.faults.add(0, "", f"files include each other more than {DEEPEST_INCLUDE} deep")
        return
    for word in words:
        for name in sorted(glob.glob(str(path.parent / Path(word).expanduser()))):
            try:
                text = read_text(Path(name), MOST_BYTES, InventoryError)
            except InventoryError as error:
                config.notes.append(f"not included: {error}")
                continue
            _read(text, Path(name), block.patterns, config, depth + 1)


# ----------------------------------------------------------------------------------------------------------------------
# Targets from these blocks.


_MOST_HOPS = 8


def read_ssh_config(text: str, path: Path, names: Sequence[str], faults: Faults) -> Inventory:
    """The named hosts, patterns applied to them; without names, every `Host` entry that is no pattern and not only a
    jump host of others. Faults are noted, the caller raises them.
    """
    config = read_blocks(text, path, faults)
    concrete = config.concrete
    notes = list(config.notes)
    wanted = list(names)
    if not names:
        hops = _jump_hosts(config, list(concrete))
        wanted = [name for name in concrete if name not in hops]
        if hops:
            notes.append(f"{several(sorted(hops))}: left out, it is a jump host of others")
        if patterns := config.patterns():
            notes.append(f"Host {several(patterns)}: a pattern names no device; list the devices by name")
    targets = [_target(name, config, notes) for name in wanted]
    if not targets:
        faults.add(0, "", "no Host entry that names a device")
    return Inventory(tuple(targets), notes=(*dict.fromkeys(notes), *shared_addresses(targets)), source=faults.file)


def _jump_hosts(config: Config, names: list[str]) -> set[str]:
    """The names of the configuration that others jump through."""
    known = set(names)
    jumps = (config.options(name).get("proxyjump", "") for name in names)
    return {_host_of(hop) for jump in jumps for hop in jump.split(",")} & known


def _host_of(hop: str) -> str:
    """`bastion` of `ops@bastion:22`."""
    return hop.rpartition("@")[2].partition(":")[0]


def _target(name: str, config: Config, notes: list[str]) -> Target:
    options = config.options(name)
    block = config.concrete.get(name)
    line = block.line if block else 0
    address = _tokens(options.get("hostname", name), name, "")
    user = options.get("user", "")
    for value, fault in (
        (name, device_name_fault(name)),
        (address, address_fault(address)),
        ("", user_fault(user) if user else ""),
    ):
        if fault:
            config.faults.add(line, value, fault)
    if options.get("stricthostkeychecking", "yes").lower() not in ("yes", "ask"):
        notes.append("StrictHostKeyChecking is not read: host keys are always checked")
    if "proxycommand" in options and "proxyjump" not in options:
        notes.append(f"{name}: ProxyCommand is not used; ProxyJump is")
    return Target(
        name=name,
        address=address,
        role=role_in(name),
        ssh=SshAccess(
            user=user,
            key=_path(options.get("identityfile"), name, address),
            known_hosts=_path(options.get("userknownhostsfile"), name, address) or SSH.known_hosts,
            port=ssh_port(options.get("port", str(SSH.port)), line, config.faults),
            jump=_jump(name, config, line),
        ),
        file=block.file if block else config.faults.file,
        line=line,
    )


def _tokens(text: str, name: str, address: str) -> str:
    """`%h`, `%n`, `%d` and `%%` filled in; `%h` is the name where the address is not known yet."""
    filled = {"%h": address or name, "%n": name, "%d": "~", "%%": "%"}
    return re.sub("%.", lambda found: filled.get(found[0], found[0]), text)


def _path(text: str | None, name: str, address: str) -> str:
    return "" if text is None or text.lower() == "none" else _tokens(text, name, address)


def _jump(name: str, config: Config, line: int) -> tuple[str, ...]:
    """The chain of jump hosts, first hop first, each with the address, user and port that its own entry gives it."""
    hops: list[str] = []
    waiting = _hops(name, config)
    while waiting:
        hop = waiting.pop()
        hops.insert(0, _resolved(hop, config))
        if hop_fault(hops[0]):
            config.faults.add(line, hop, f"{name}: {hop_fault(hops[0])}")
            return ()
        if len(hops) > _MOST_HOPS:
            config.faults.add(line, name, f"jumps through more than {_MOST_HOPS} hosts, or through itself")
            return ()
        if not waiting:  # the jump hosts of the first hop itself
            waiting = _hops(_host_of(hop), config)
    return tuple(hops)


def _hops(name: str, config: Config) -> list[str]:
    jump = config.options(name).get("proxyjump", "none")
    return [] if jump.lower() == "none" else [hop.strip().removeprefix("ssh://") for hop in jump.split(",")]


def _resolved(hop: str, config: Config) -> str:
    """`ops@10.0.0.5:2222` for a hop that is an entry of the configuration; the hop's own values win."""
    login, _, place = hop.rpartition("@")
    alias, _, own_port = place.partition(":") if not place.startswith("[") else (place, "", "")
    options = config.options(alias)
    address = _tokens(options.get("hostname", alias), alias, "")
    user, port = login or options.get("user", ""), own_port or options.get("port", "")
    shown = f"[{address}]" if ":" in address and not address.startswith("[") else address
    return f"{user}@{shown}" * bool(user) + shown * (not user) + (f":{port}" if port else "")
