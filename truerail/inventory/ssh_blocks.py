"""The `Host` blocks of an OpenSSH client configuration, as ssh_config(5) has them; `Include` is followed.

asyncssh's reader lists no hosts, reads the file again for each of them (8.6 s for 512 hosts, this one 0.05 s), ends at
the first fault, and runs the commands of `Match exec`; paramiko's follows no `Include`.
"""

import glob
import re
import shlex
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from truerail.files.file_text import read_text
from truerail.files.problems import Faults
from truerail.inventory.inventory_error import InventoryError
from truerail.model.columns import grouped

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
