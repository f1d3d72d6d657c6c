"""The messages between pollers and a judge, as msgpack arrays.

Fields are only ever appended, with a default: a reader takes what a newer or an older writer sent. Times are Unix
seconds of the sender's clock; `truerail.bus.clocks` moves them onto the reader's.
"""

from typing import Any

from msgspec import Raw, Struct

SCHEMA = 1
"""Changes only if a reader of the former version could misread a message."""
OBSERVATION, COUNTS, ROUND, BEAT, COMMAND = "obs", "cnt", "round", "beat", "cmd"


class Envelope(Struct, array_like=True, frozen=True):
    """Around each message: who sent it, when, and its place in the order.

    `start` is the id of one run of a poller, `number` counts its messages from 1, `epoch` rises with each change of
    the devices that it polls: of two messages on one device that with the higher (epoch, number) is the newer one.
    """

    schema: int
    kind: str
    zone: str
    poller: str
    start: str
    epoch: int
    number: int
    sent_at: float
    body: Raw


class KindRows(Struct, array_like=True, frozen=True):
    """The facts of one kind in an answer: the class name, and an array of rows."""

    kind: str
    rows: Raw


class Entry(Struct, array_like=True, frozen=True):
    """One `Reading` without counters."""

    collector: str
    source: str
    error: str
    at: float
    read_at: float
    took_seconds: float
    facts: list[KindRows] = []
    facts_at: float = 0.0
    """When the answer came that the facts were read from, if it was an earlier one; else 0."""
    polled: bool = True


class Observation(Struct, array_like=True, frozen=True):
    """`obs`: all answers of one device but its counters. Sent when one of them differs from what was sent last."""

    device: str
    entries: list[Entry]


class Slot(Struct, array_like=True, frozen=True):
    """Where a run of counter values belongs: sent once, then named by its place in the order of definition.

    `layouts` has the index of one of the message's lists of names for each of the `ports`.
    """

    device: str
    collector: str
    source: str
    ports: list[str]
    layouts: list[int]


class CountRow(Struct, array_like=True, frozen=True):
    """One reading of counters: the number of its slot, its times, and how far each port lags, if one does."""

    slot: int
    at: float
    read_at: float
    took_seconds: float
    lags: list[float | None] | None = None


class CountGroup(Struct, array_like=True, frozen=True):
    """Rows with the same number of values. `data`: differences to the values sent before, modulo 2**64, counter by
    counter over all rows, the first bytes of all numbers first, then the second ones.
    """

    rows: list[CountRow]
    data: bytes


class Counts(Struct, array_like=True, frozen=True):
    """`cnt`: counters of many devices, compressed with zlib.

    `base` is the number of the sender's `cnt` before, 0 if all slots begin again at zero: differences to a message that
    was not received have no meaning.
    """

    base: int
    layouts: list[list[tuple[str, int | None]]]
    slots: list[Slot]
    groups: list[CountGroup]


class Run(Struct, array_like=True, frozen=True):
    """Statistics of one collector's rounds: the fields of `CollectorRun`."""

    collector: str
    every_seconds: float
    last_at: float | None
    took_seconds: float
    devices_asked: int
    devices_answered: int
    rounds_total: int
    failures_total: int
    missed_total: int


class Same(Struct, array_like=True, frozen=True):
    """Devices that answered these collectors the same again, at `read_at`. `numbers` has for each the number of the
    `obs` that still describes it.
    """

    collectors: list[str]
    devices: list[str]
    numbers: list[int]
    read_at: list[float]


class RoundDone(Struct, array_like=True, frozen=True):
    """`round`: a round has ended, or goes on without its slow devices; and what it found unchanged."""

    at: float
    same: list[Same]
    runs: list[Run]
    rounds_total: int = 0
    waiting: int = 0


class Beat(Struct, array_like=True, frozen=True):
    """`beat`: this poller runs. `dropped_total` counters were older than a judge that does not read can get back."""

    devices: int
    spool_bytes: int = 0
    dropped_total: int = 0
    problem: str = ""
    """The last thing that went wrong inside, for the log of the judge."""
    differences_total: int = 0
    """Answers that counted as unchanged and had other facts."""
    agents_running: int = 0
    agents_silent: int = 0
    agent_dropped_total: int = 0
    """Messages of agents, and answers in them, that did not count."""
    clock_set_by: float = 0.0
    """Seconds by which the clock of its system was set since it began: its own clock, of all times here, was not."""


class Command(Struct, array_like=True, frozen=True):
    """`cmd`: `poll` these devices now, `resend` what is known of them, or `report` when each answer was read. None: all
    devices. To a process of the same service also `work`: what to poll from now on.
    """

    action: str
    devices: list[str] | None = None
    work: bytes = b""


BODIES: dict[str, Any] = {
    OBSERVATION: Observation,
    COUNTS: Counts,
    ROUND: RoundDone,
    BEAT: Beat,
    COMMAND: Command,
}
"""The type of each kind's body. A kind that is not here comes from a newer version: it is counted and left."""
