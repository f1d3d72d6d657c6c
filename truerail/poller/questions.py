"""Commands to send to a device: for each collector the one that worked before, else the preferred one."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from collector import collectors
from truerail.errors import TooMuchError
from truerail.model import Collector, Device, Neighbor, Role, Target
from truerail.model.answer_limits import refuse_endless
from truerail.model.names import answer_file
from truerail.transport.capture_files import JOB
from truerail.transport.command_gate import asked_platform, fits
from truerail.transport.protocol import Answer

SNMP = "snmp"
FIRST_REST_SECONDS, MOST_DOUBLINGS = 60.0, 6
"""Of a device whose answers take too long to read; doubled each time, up to about an hour."""
ASK_AGAIN_SECONDS = 3600.0
"""After this time what the device had no tool for is repeated: it may be installed by now."""


@dataclass(slots=True)
class Known:
    """Results of earlier rounds for one device: its platform, its role, and the command that each collector's answer
    came from.
    """

    platform: str = ""
    role: Role | None = None
    command: dict[str, str] = field(default_factory=dict)
    refused: dict[str, tuple[float, Answer]] = field(default_factory=dict)
    """What the device cannot answer: optional questions, those whose answer takes too long to read, and the other
    commands of a question, with its reason. When it said so is in seconds of the clock.
    """
    slow: bool = False
    """Its last answers took longer to read than others wait for."""
    rests: int = 0
    """How often in a row they took too long even so."""
    rests_until: float = 0.0
    """When it is asked again, in seconds of the clock."""
    waits: bool = False
    """The last round ended before it had its time: it is among the first in the next one."""

    def rest(self, now: float) -> None:
        """Its answers took too long to read: it is not asked for a while."""
        if now >= self.rests_until:
            self.rests_until = now + FIRST_REST_SECONDS * 2 ** min(self.rests, MOST_DOUBLINGS)
            self.rests += 1

    def forget(self, now: float) -> None:
        """What was `refused` is asked again after a while."""
        self.refused = {what: said for what, said in self.refused.items() if now - said[0] < ASK_AGAIN_SECONDS}


@cache
def applicable(role: Role, platform: str) -> Mapping[str, tuple[str, ...]]:
    """The collectors for a device of this role and platform, and their commands, best first."""
    found = {}
    for collector in collectors().values():
        commands = tuple(_commands(collector, platform)) if role in collector.on else ()
        if commands:
            found[collector.name] = commands
    return found


def questions_apart(platform: str, collectors: Collection[str] | None) -> tuple[str, ...]:
    """The questions among these, or of all, for a machine that reports an InfiniBand fabric or a scheduler's jobs."""
    return tuple(name for name in applicable(Role.HOST, platform) if collectors is None or name in collectors)


def neighbor_question(target: Target, device: Device) -> str:
    """The collector that reports what is at the other ends of this device's cables; "" where there is none."""
    return "" if target.apart else _neighbor_question(device.role, asked_platform(target) or "linux")


@cache
def neighbor_collectors() -> frozenset[str]:
    """The collectors that report neighbors, on any platform."""
    return frozenset(name for name, one in collectors().items() if Neighbor in one.yields)


@cache
def _neighbor_question(role: Role, platform: str) -> str:
    asked = (collectors()[name] for name in applicable(role, platform))
    return next((one.name for one in asked if Neighbor in one.yields and not one.optional), "")


@cache
def by_file(role: Role, platform: str) -> Mapping[tuple[str, str], str]:
    """The command behind a collector's answer in a file: (collector, file) to command."""
    asked = applicable(role, platform)
    return {(name, answer_file(text)): text for name, texts in asked.items() for text in texts}


def _commands(collector: Collector, platform: str) -> Iterator[str]:
    """The commands of this platform. Walks are for SNMP agents only, and SNMP agents are only walked.

    Commands that ask for one job at a time, and file names among the walks, are for captures made by hand.
    """
    for command in collector.ask:
        asks = not command.text.endswith(JOB) and (platform != SNMP or command.text.startswith("snmpbulkwalk -On "))
        if asks and fits(command, platform):
            yield command.text


def first_commands(asked: Mapping[str, tuple[str, ...]], known: Known) -> list[str]:
    """One command for each collector, each command once."""
    return list(dict.fromkeys(known.command.get(name, commands[0]) for name, commands in asked.items()))


def further_commands(asked: Mapping[str, tuple[str, ...]], failed: Iterable[str], sent: Sequence[str]) -> list[str]:
    """The other commands of the collectors that `failed`, each once."""
    done = set(sent)
    return list(dict.fromkeys(text for name in failed for text in asked[name] if text not in done))


@cache
def _bounds() -> Mapping[str, tuple[int, bool]]:
    """Of the answer to each command: megabytes, and whether lines are long, as the most patient of its collectors has
    it.
    """
    found: dict[str, tuple[int, bool]] = {}
    for one in collectors().values():
        for command in one.ask:
            size, long_lines = found.get(command.text, (0, False))
            found[command.text] = max(one.megabytes, size), one.long_lines or long_lines
    return found


def bounded(answer: Answer) -> Answer:
    """The answer, without its text if that is longer than any collector reads, or endless."""
    size, long_lines = _bounds().get(answer.command, (1, False))
    try:
        refuse_endless(answer.text, size, long_lines=long_lines)
    except TooMuchError as error:
        return replace(answer, text="", error=answer.error or str(error))
    return answer


@cache
def optional() -> frozenset[str]:
    """The collectors that many devices have no tool for."""
    return frozenset(name for name, found in collectors().items() if found.optional)
