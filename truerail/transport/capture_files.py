"""Which file of a capture answers which question.

A file is named after its command. People add an ending, write `-` and blanks where a capture has `_`, or give options
and words in another order: such names count as well, where no file has the exact one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from operator import itemgetter
from typing import NamedTuple

from collector import collectors
from truerail.model import Collector, Command, Role
from truerail.model.names import answer_file
from truerail.model.session_log import without_pager

PORT = "{port}"
"""Placeholder in a command for the name of a port, if the command must run once per port."""

ENDINGS = (".txt", ".text", ".log", ".out", ".json", ".xml")
"""Endings of files that say nothing of the command: no port and no command ends so."""

_WORD = re.compile(r"[a-z0-9]+")
_NO_MATTER = frozenset(("show", "no", "more"))
"""Words that change nothing in what a command answers: `ip link show`, `| no-more`."""

JOB = "{job}"
"""Placeholder for the id of a job, if the command is for one job alone: no capture has its answer."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A collector that reads a file. Of several files for one question the lowest `rank` is the best."""

    collector: Collector
    rank: int
    command: str = ""
    """The command that was answered, where it names a port and the answer does not."""


class Files(NamedTuple):
    """Files of one folder that together hold one answer: one, or one for each port."""

    rank: int
    names: list[tuple[str, str]]
    """Name, and the command where the answer does not name its port."""


@dataclass(slots=True)
class ByQuestion:
    """The names in a folder by what they answer: for each collector its answers in order of rank, and the rest."""

    answers: list[tuple[Collector, list[Files]]] = field(default_factory=list)
    """In the order of the collectors."""
    unclaimed: list[str] = field(default_factory=list)


_MOST_FOLDERS = 4096
"""Different folders that are known at once: devices of one model have the same files."""


class Questions:
    """The collectors that apply to a role (all where it is None), by the names of the files that answer them; `only`
    those of these names.
    """

    def __init__(self, role: Role | None = None, only: frozenset[str] | None = None) -> None:
        self._only = only
        self.collectors = tuple(
            c for name, c in collectors().items() if (role is None or role in c.on) and (only is None or name in only)
        )
        self._by_file: dict[str, list[Claim]] = {}
        self._by_start: dict[str, tuple[str, list[Claim]]] = {}
        self.by_question = lru_cache(_MOST_FOLDERS)(self._by_question)
        """The names in a folder by what they answer; the same object for equal folders."""
        for collector in self.collectors:
            for rank, command in enumerate(collector.ask):
                self._claim(command, Claim(collector, rank))

    def on(self, role: Role) -> "Questions":
        """Those of them that apply to a role."""
        return questions_of(role, self._only)

    def _claim(self, command: Command, claim: Claim) -> None:
        if command.text.endswith(JOB):
            return
        if command.text.endswith(PORT):
            text = command.text.removesuffix(PORT)
            self._by_start.setdefault(answer_file(text + "x")[:-1], (text, []))[1].append(claim)
        else:
            claims = self._by_file.setdefault(command.file, [])
            if all(other.collector is not claim.collector for other in claims):
                claims.append(claim)

    def _by_question(self, names: frozenset[str]) -> ByQuestion:
        found, answers = ByQuestion(), dict[str, dict[tuple[int, str], Files]]()
        for name in sorted(names):
            claims = self.claims(name)
            for claim in claims:
                alone = "" if claim.command else name
                of = answers.setdefault(claim.collector.name, {})
                of.setdefault((claim.rank, alone), Files(claim.rank, [])).names.append((name, claim.command))
            if not claims:
                found.unclaimed.append(name)
        for one in self.collectors:
            if one.name in answers:
                found.answers.append((one, sorted(answers[one.name].values(), key=itemgetter(0))))
        return found

    def claims(self, file: str) -> Sequence[Claim]:
        """The collectors that read a file of this name."""
        found: Sequence[Claim] | None = self._by_file.get(file)
        if found is None and (stem := without_ending(file)):
            found = self._by_file.get(stem) or self._of_port(stem) or self._by_folded.get(_folded(stem))
        return found or ()

    def file_of(self, command: str) -> str:
        """The name of the file of a command that is asked, as it is typed; empty if it is none."""
        words = without_pager(command).split()
        file = answer_file(" ".join(words))
        claims = self.claims(file) if words else ()
        one_port = all(not claim.command or len(claim.command.split()) == len(words) for claim in claims)
        return file if claims and one_port else ""

    @cached_property
    def _by_folded(self) -> dict[str, list[Claim]]:
        folded: dict[str, list[Claim]] = {}
        for file, claims in self._by_file.items():
            of_name = folded.setdefault(_folded(file), [])
            of_name += (claim for claim in claims if all(claim.collector is not other.collector for other in of_name))
        return folded

    def _of_port(self, file: str) -> Sequence[Claim]:
        """By the longest command that fits: `ethtool_-S_eth0` is not `ethtool` of a port `-S_eth0`."""
        fits = [start for start in self._by_start if file.startswith(start) and len(file) > len(start)]
        if not fits or file.removeprefix(start := max(fits, key=len)).startswith("-"):
            return ()
        text, claims = self._by_start[start]
        return [Claim(claim.collector, claim.rank, text + file.removeprefix(start)) for claim in claims]


def without_ending(file: str) -> str:
    """The name without one of `ENDINGS`, in either case."""
    return next((file[: -len(ending)] for ending in ENDINGS if file.lower().endswith(ending)), file)


def _folded(name: str) -> str:
    """Its words in one order, without those that change nothing: `rdma -j link show` is `rdma link -j`."""
    return "_".join(sorted(word for word in _WORD.findall(name.lower()) if word not in _NO_MATTER))


@cache
def questions_of(role: Role | None = None, only: frozenset[str] | None = None) -> Questions:
    """The same object each time: collectors stay as they are, and each round needs all of them and every role's."""
    return Questions(role, only)
