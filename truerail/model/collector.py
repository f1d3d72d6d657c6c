"""A collector: the commands for a kind of facts, and the parser of their answers. It opens no connection."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from types import MappingProxyType

from truerail.errors import NoAnswerError, OutOfBoundsError, ReaderFaultError, UnreadableError
from truerail.model.answer_limits import in_time, refuse_endless
from truerail.model.bounds import bounded, may_have_long_texts
from truerail.model.facts import Fact
from truerail.model.names import answer_file, printable
from truerail.model.plan import Device, Role
from truerail.model.terminal import untouched


@dataclass(frozen=True, slots=True)
class Command:
    """A read-only command. `platforms` limits it to network operating systems that have it; empty means any."""

    text: str
    platforms: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """The name of the answer's file in a capture."""
        return answer_file(self.text)


def commands(platforms: str, *texts: str) -> tuple[Command, ...]:
    """Commands of the same platforms, which blanks separate; the best first."""
    return tuple(Command(text, tuple(platforms.split())) for text in texts)


def saved_as(*texts: str) -> tuple[Command, ...]:
    """Other commands under which people save such an answer: read from a capture, never sent to a device."""
    return commands("capture", *texts)


BY_HAND = ("by hand",)
"""The platforms of a file that people give, or put into a capture: no device is one, so that none is asked for it."""
Parse = Callable[[str, Device], Iterable[Fact]]


@dataclass(frozen=True, slots=True)
class Collector:
    """The commands (the first that a device supports is used), and the facts in their answers."""

    name: str
    on: tuple[Role, ...]
    ask: tuple[Command, ...]
    every_seconds: float
    yields: tuple[type[Fact], ...]
    shared: bool
    """True if equal text means equal facts for every device, and equal text is common: it is then parsed once."""
    explanation: str
    parse: Parse
    optional: bool = False
    """True if many devices lack the tool: a device that refuses is not reported as unread. Facts that only it could
    report remain unknown.
    """
    volatile: Mapping[bytes, re.Pattern[bytes]] = field(default_factory=dict)
    """What changes from answer to answer although no fact does: a label, and what is left out of the digest where it
    follows the label. The first label that an answer has counts.
    """

    empty: bool = False
    """True if no output at all is an answer: that there is nothing."""
    megabytes: int = 4
    """Of an answer, at most (2**20 characters each): several times what a switch of 512 ports or a host says."""
    long_lines: bool = False
    """True if a line of text may be as long as the whole answer: node lists, logs of programs, octets."""

    def digest(self, answer: bytes) -> bytes:
        """SHA-256 of an answer without its volatile parts, 32 bytes. Equal digests mean equal facts, for one device."""
        for label, volatile in self.volatile.items():
            if (at := answer.find(label)) >= 0:
                return sha256(b"".join(_without_volatile(answer, at, label, volatile))).digest()
        return sha256(answer).digest()

    def read(self, answer: str, device: Device) -> tuple[Fact, ...]:
        """The facts in `answer`, grouped by kind. Raises `UnreadableError` if it is incomplete or not understood, and
        its `TooMuchError` if it is longer, or takes longer, than any answer of a device.
        """
        refuse_endless(answer, self.megabytes, long_lines=self.long_lines)
        return in_time(lambda: self._read(untouched(answer), device))

    def _read(self, answer: str, device: Device) -> tuple[Fact, ...]:
        if self.empty and not answer.strip():
            return ()
        if any(command.platforms != BY_HAND for command in self.ask):
            refuse_refusals(answer)
        try:
            facts = tuple(bounded(tuple(self.parse(answer, device)), texts=may_have_long_texts(answer)))
            return facts if len(self.yields) == 1 else tuple(sorted(facts, key=lambda fact: type(fact).__name__))
        except UnreadableError:
            raise
        except OutOfBoundsError as error:
            raise UnreadableError(str(error)) from error
        except Exception as error:  # a parser's bug is the error of this answer, not of the round
            raise ReaderFaultError(f"{type(error).__name__}: {printable(str(error), 80)}") from error


def _without_volatile(answer: bytes, at: int, label: bytes, volatile: re.Pattern[bytes]) -> list[memoryview]:
    """The rest of an answer, with the labels, of which the first is at `at`. In views: a switch answers with 300 kB."""
    view, kept, start = memoryview(answer), list[memoryview](), 0
    while at >= 0:
        at += len(label)
        if found := volatile.match(answer, at):
            kept.append(view[start:at])
            start = at = found.end()
        at = answer.find(label, at)
    kept.append(view[start:])
    return kept


SWITCHES = (Role.LEAF, Role.SPINE, Role.SUPERSPINE)
EVERYWHERE = (Role.HOST, *SWITCHES)

_HEAD, _SHORT = 600, 2000
"""Characters that are checked, and below which an answer is short."""
_REFUSALS = (
    "command not found",
    "permission denied",
    "no such file or directory",
    "traceback (most recent call last)",
    "% invalid",
    "% incomplete",
    "% unknown",
    "invalid command",
    "invalid input",
    "syntax error",
    "unknown command",
    "unrecognized command",
    "incomplete command",
    "ambiguous command",
    "wrong parameter",
    "too many parameters",
    "parsing error:",
    "unable to connect to socket",
    "failed to open netlink_rdma socket",
    "cannot find device",
    "operation not permitted",
    "connection refused",
    "failed to connect",
    "nvidia-smi has failed",
    "no devices were found",
)


_REFUSED_FORMAT = "error: unknown command set format"
"""A line of NCCL's RAS before 2.28.7, which then answers as text."""


_LEFT_OUT = ("...", "\u2026", "[...]", "[\u2026]")
"""Last lines by which people say that a paste goes on."""


def refuse_refusals(answer: str) -> None:
    """Raises `NoAnswerError` if an answer is empty or is the error message of a shell or a device, and
    `UnreadableError` for a paste that ends where somebody left out the rest.

    Only the first lines of a short answer are checked: a neighbour may well have the name "permission denied".
    """
    head = answer[:_HEAD].lstrip() or answer.strip()[:_HEAD]
    if not head:
        raise NoAnswerError("empty answer")
    last = answer[-_HEAD:].rstrip().rpartition("\n")[2].strip()
    if last in _LEFT_OUT:
        raise UnreadableError("the rest was left out", line=answer.rstrip().count("\n") + 1, text=last)
    if head[0] in "[{<" or not any(map(head.lower().__contains__, _REFUSALS)):
        return
    for number, line in enumerate(head.splitlines()[:5], 1):
        low = line.lower()
        if low.startswith(_REFUSED_FORMAT):
            continue
        if any(word in low for word in _REFUSALS) and (len(answer) < _SHORT or low.startswith("traceback")):
            raise NoAnswerError("the device refused", line=number, text=line)


def minutes(count: float) -> float:
    """Minutes in seconds, for `every=`."""
    return count * 60.0


def collector(
    *,
    on: Sequence[Role],
    ask: Sequence[Command],
    every: float,
    yields: Sequence[type[Fact]],
    shared: bool = False,
    optional: bool = False,
    volatile: Mapping[bytes, bytes] = MappingProxyType({}),
    empty: bool = False,
    megabytes: int = 4,
    long_lines: bool = False,
) -> Callable[[Parse], Collector]:
    """Declares a collector. The function's name is the collector's; its module's docstring explains it.

    `volatile` are regular expressions for `Collector.volatile`. Raises TypeError at import if the contract is broken,
    so that a broken collector cannot ship.
    """
    if not ask or not yields or not on:
        raise TypeError("a collector needs roles, commands and kinds of facts")

    def declare(parse: Parse) -> Collector:
        import sys

        name = getattr(parse, "__name__", "")
        module = sys.modules[parse.__module__]
        if module.__name__.rpartition(".")[2] not in (name, "__main__") or not module.__doc__:
            raise TypeError(f"collector {name!r}: file name and function name must agree, and the file must explain it")
        left_out = {label: re.compile(pattern) for label, pattern in volatile.items()}
        asked, kinds = tuple(ask), tuple(yields)
        more = optional, left_out, empty, megabytes, long_lines
        return Collector(name, tuple(on), asked, every, kinds, shared, module.__doc__, parse, *more)

    return declare
