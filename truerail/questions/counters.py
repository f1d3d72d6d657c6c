"""`counters PORT|DEVICE`: what its ports counted: traffic, pauses, errors, FEC, each with its unit."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from truerail.questions.question import Asked, Form, Given, Kind, Parameter, Question
from truerail.views.pieces import FindingLine

if TYPE_CHECKING:
    from rich.console import RenderableType

    from truerail.outputs.options import Options


@dataclass(frozen=True, slots=True)
class CounterLine:
    """One counter of a port over the time in question. `group` is `traffic`, `pauses`, `errors`, `fec`, `congestion`,
    or `queues`.

    `total` is in `unit` (`B`, `s`, `frames`, ...). `rate` is in `rate_unit`: `Gb/s`, `share of time` (0..1), or a
    number per second; None for a level, of which `total` is the newest value. `seconds` is the time that was covered.
    """

    counter: str
    priority: int | None
    group: str
    total: float
    unit: str
    rate: float | None
    rate_unit: str
    seconds: float


@dataclass(frozen=True, slots=True)
class PortCounts:
    """A port's counters. `without` are the groups of which it reports none: unknown, never zero. `fec_ber` is the share
    of received bits that FEC corrected, None where one of the two is not counted.
    """

    port: str
    rail: int | None
    plane: int | None
    peer: str | None
    speed_gbps: float | None
    counters: tuple[CounterLine, ...]
    fec_ber: float | None
    without: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Counters:
    """`counters PORT|DEVICE`, from `start` to `end`: what is kept of the time in question, None if nothing is."""

    query: str
    start: datetime | None
    end: datetime | None
    ports: tuple[PortCounts, ...]
    reported: bool
    findings: tuple[FindingLine, ...]
    """On these ports."""
    summary: str


def _find(asked: Asked, given: Given) -> Counters:
    from truerail.questions.answers.counts import counters

    return counters(asked.publication, given["of"], given["since"], asked.now)


def _good(answer: Counters) -> bool | None:
    """Bad with a finding on one of the ports; unknown unless all of them report counters."""
    if any(line.severity != "info" for line in answer.findings):
        return False
    return True if answer.ports and all(port.counters for port in answer.ports) else None


def _text(answer: Counters, options: "Options") -> Iterator["RenderableType"]:
    from truerail.questions.text.counts import counters_text

    return counters_text(answer, options)


QUESTION = Question(
    "counters",
    9,
    Counters,
    (
        Parameter(
            "of",
            help="A port or a device: gpu-012/enp26s0f0np0, leaf-3/swp12, leaf-3.",
            description="a device or a port",
            label="Port or device",
            example="leaf-3/swp12",
        ),
        Parameter(
            "since",
            help="Count from this time on: 2m, 14:00. [default: all that is kept, some minutes]",
            description="count from this time on; by default all that is kept, some minutes",
            kind=Kind.TIME,
            needed=False,
            option=True,
            metavar="TIME",
            label="Since",
            example="2m",
        ),
    ),
    _find,
    "What its ports counted, with units: traffic, pauses, errors, FEC, congestion; what they do not report is unknown.",
    short="On call: a port's rates, errors, pauses and FEC.",
    help="What a port counted, with units: traffic, pauses, errors, FEC; what it does not report is unknown.",
    good=_good,
    text=_text,
    form=Form(
        "What did this port count?",
        "Rates, pauses, errors and FEC with their units, and what the port does not report.",
        "Show counters",
    ),
)
