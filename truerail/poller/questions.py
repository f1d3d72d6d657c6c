"""Which commands a device is asked: for each collector the one that worked before, else the preferred one."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from collector import collectors
from truerail.model import Collector, Role
from truerail.model.names import answer_file
from truerail.model.target import INFINIBAND
from truerail.transport.declared import fits
from truerail.transport.questions import PORT

SNMP = "snmp"
MOST_ALTERNATIVES = 32
"""Commands that are tried for one collector in the further ask; no collector declares as many for one platform."""
ASK_AGAIN_SECONDS = 3600.0
"""After this a device is asked anew for what it had no tool for: somebody may have installed it."""


@dataclass(slots=True)
class Known:
    """What is known of one device from rounds before: its platform, its role, and the command that each collector's
    answer came from.
    """

    platform: str = ""
    role: Role | None = None
    command: dict[str, str] = field(default_factory=dict)
    refused: dict[str, float] = field(default_factory=dict)
    """Optional questions that the device has no answer to, and when it said so, in seconds of the clock."""

    def asks(self, collector: str, now: float) -> bool:
        """Whether to ask a question: an optional one that was refused is asked again after a while only."""
        return now - self.refused.get(collector, -ASK_AGAIN_SECONDS) >= ASK_AGAIN_SECONDS


@cache
def applicable(role: Role, platform: str) -> Mapping[str, tuple[str, ...]]:
    """The collectors that a device of this role and platform is asked for, and their commands, best first."""
    found = {}
    for collector in collectors().values():
        commands = tuple(_commands(collector, platform)) if role in collector.on else ()
        if commands:
            found[collector.name] = commands
    return found


def fabric_questions(collectors: Collection[str] | None) -> tuple[str, ...]:
    """Those of these questions, or of all, that a machine is asked that tells a fabric."""
    return tuple(name for name in applicable(Role.HOST, INFINIBAND) if collectors is None or name in collectors)


@cache
def by_file(role: Role, platform: str) -> Mapping[tuple[str, str], str]:
    """The command that a collector's answer in a file came from: (collector, file) to command."""
    asked = applicable(role, platform)
    return {(name, answer_file(text)): text for name, texts in asked.items() for text in texts}


def _commands(collector: Collector, platform: str) -> Iterator[str]:
    """The commands of this platform. An SNMP agent is only walked; nothing is walked but an SNMP agent.

    Commands that ask for one port at a time are for captures made by hand; so are names of files among the walks.
    """
    for command in collector.ask:
        asks = PORT not in command.text and (platform != SNMP or command.text.startswith("snmpbulkwalk -On "))
        if asks and fits(command, platform):
            yield command.text


def first_commands(asked: Mapping[str, tuple[str, ...]], known: Known) -> list[str]:
    """One command for each collector, each command once."""
    return _unique(known.command.get(name, commands[0]) for name, commands in asked.items())


def further_commands(asked: Mapping[str, tuple[str, ...]], failed: Iterable[str], sent: Sequence[str]) -> list[str]:
    """The other commands of the collectors that `failed`, each once."""
    done = set(sent)
    wanted = [[text for text in asked[name] if text not in done][:MOST_ALTERNATIVES] for name in failed]
    return _unique(text for texts in wanted for text in texts)


def _unique(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


@cache
def optional() -> frozenset[str]:
    """The collectors that many devices have no tool for."""
    return frozenset(name for name, found in collectors().items() if found.optional)
