"""All commands of a round in one session: the script that runs them, and the frames that separate their answers.

The script is one line of POSIX sh. It reads a nonce of 128 random bits from its standard input, keeps it in a variable
that no command inherits, and prints it with a number and an exit status behind each answer, on standard output and on
standard error. An answer ends at the nonce. A command's output cannot contain it: the nonce is new for every session,
is in no argument list and in no environment, and the numbers must come in order. The script writes no file on the
device and holds no answer in its memory. The text of the script depends on the commands alone, so that a forced command
on the device can allow it word for word.
"""

import secrets
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from truerail.model.names import printable
from truerail.transport.protocol import Answer

_SAY = 'say() { echo "$truerail_nonce $1 $2"; echo "$truerail_nonce $1 $2" >&2; }'
_BEGIN = f"unset truerail_nonce; read -r truerail_nonce; PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin; {_SAY}; say 0 0"
"""sshd gives users a PATH without the sbin folders, where Debian keeps lldpcli and rdma."""
_LONGEST_FRAME = 64
"""Bytes; a nonce of 32 digits, a number, an exit status of at most three digits."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a device's output is taken, in bytes."""

    answer_bytes: int = 16 << 20
    """Of one command's standard output: a longer answer is dropped, and the next commands are still read."""
    device_bytes: int = 64 << 20
    """Of everything in one session: beyond it the session ends."""
    complaint_bytes: int = 4096
    """Limit for one command's standard error; the rest is dropped."""


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class _Segment:
    """The output before one frame."""

    status: int
    content: bytes
    too_long: bool


class _Stream:
    """Cuts one stream of output into segments at its frames.

    A segment longer than `limit` bytes is dropped, or with `kept` cut to its beginning. Memory is bounded by
    the limit either way.
    """

    def __init__(self, nonce: bytes, limit: int, *, kept: bool) -> None:
        self._mark = nonce + b" "
        self._limit = limit
        self._kept = limit if kept else 0
        self._held = bytearray()
        self._searched = 0
        self._too_long = False
        self.segments: list[_Segment] = []

    def feed(self, data: bytes) -> int:
        """Takes output as it arrives. Returns the number of complete frames so far."""
        self._held += data
        while (at := self._held.find(self._mark, self._searched)) >= 0:
            end = self._held.find(b"\n", at)
            if end < 0:
                self._searched = at
                break
            self._cut(at, end)
        else:
            self._searched = max(0, len(self._held) - len(self._mark) + 1)
        self._bound()
        return len(self.segments)

    def _cut(self, at: int, end: int) -> None:
        """Takes the segment before the frame at `at`. What has a nonce but is no frame in its turn stays output."""
        number, _, status = bytes(self._held[at + len(self._mark) : end]).partition(b" ")
        if number != b"%d" % len(self.segments) or not status.isdigit():
            self._searched = at + 1
            return
        too_long = self._too_long or at > self._limit
        content = bytes(self._held[: min(at, self._kept) if too_long else at])
        self.segments.append(_Segment(int(status), content, too_long))
        del self._held[: end + 1]
        self._searched = 0
        self._too_long = False

    def _bound(self) -> None:
        """Drops what is too much, but for the end, where a frame may have begun."""
        dropped = len(self._held) - _LONGEST_FRAME - self._kept
        if dropped > 0 and (self._too_long or dropped > self._limit - self._kept):
            self._too_long = True
            del self._held[self._kept : self._kept + dropped]
            self._searched = max(self._kept, self._searched - dropped)

    def of(self, number: int) -> str:
        """The first line of a segment, or of what no frame has ended yet, for a message."""
        return first_line(self.segments[number].content if number < len(self.segments) else self._held)


class Frames:
    """One session's output, as it comes in, turned into answers. `clock` gives seconds."""

    def __init__(
        self, commands: Sequence[str], limits: Limits = LIMITS, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        nonce = secrets.token_hex(16).encode()
        self.opening = nonce + b"\n"
        """What the script waits for on its standard input."""
        self.script = script(commands)
        self.commands = commands
        self.limits = limits
        self._clock = clock
        self._out = _Stream(nonce, limits.answer_bytes, kept=False)
        self._err = _Stream(nonce, limits.complaint_bytes, kept=True)
        self._taken = 0
        self._times: list[float] = []
        self.since = clock()
        """When the last frame came, else when this began."""

    @property
    def started(self) -> bool:
        """Whether the script has reported that it runs."""
        return bool(self._times)

    @property
    def finished(self) -> bool:
        """Whether all commands have ended."""
        return len(self._times) > len(self.commands)

    @property
    def flooded(self) -> bool:
        """Whether the device printed more than is taken from it."""
        return self._taken > self.limits.device_bytes

    def out(self, data: bytes) -> None:
        """Takes standard output as it comes."""
        self._taken += len(data)
        whole = self._out.feed(data)
        if whole > len(self._times):
            now = self._clock()
            self._times += [now - self.since] + [0.0] * (whole - len(self._times) - 1)
            self.since = now

    def err(self, data: bytes) -> None:
        """Takes standard error as it comes."""
        self._taken += len(data)
        self._err.feed(data)

    def answers(self) -> list[Answer]:
        """The complete answers, in order."""
        asked = zip(self.commands, self._out.segments[1:], self._times[1:], strict=False)
        return [self._answer(n, command, segment, took) for n, (command, segment, took) in enumerate(asked, 1)]

    def complaint(self) -> str:
        """The device's last output outside a complete answer, for a message; empty if there is none."""
        return self._err.of(len(self._err.segments)) or self._out.of(len(self._out.segments))

    def _answer(self, number: int, command: str, segment: _Segment, took: float) -> Answer:
        if segment.too_long:
            error = f"more than {self.limits.answer_bytes} bytes of output, not read"
        else:
            error = refusal(segment.status, self._err.of(number))
        refused = bool(error) and not segment.too_long
        return Answer(command, segment.content.decode(errors="replace"), error, took, refused)


def script(commands: Sequence[str]) -> str:
    """One line that makes any login shell run the commands under sh, each with frames behind it.

    A command has a subshell of its own and no standard input: it cannot end the script, change it or read on in it.
    """
    asked = "".join(f"; ( {command} ) </dev/null; say {number} $?" for number, command in enumerate(commands, 1))
    return f"exec sh -c {shlex.quote(_BEGIN + asked)}"


def refusal(status: int, complaint: str) -> str:
    """What an exit status means, with the first line of the command's standard error; empty for 0."""
    if not status:
        return ""
    meaning = {126: "command not allowed to run", 127: "command not found"}.get(status, f"exit status {status}")
    return f"{meaning}: {complaint}" if complaint else meaning


def first_line(said: bytes | bytearray) -> str:
    """The first line that is not blank, made safe to show; empty where there is none."""
    lines = bytes(said[:400]).decode(errors="replace").strip().splitlines()
    return printable(lines[0], 160) if lines else ""
