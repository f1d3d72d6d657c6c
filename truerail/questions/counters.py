"""`counters PORT|DEVICE`: totals and rates of its ports' counters over the kept samples, each with its unit."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from truerail.analysis.counters.hygiene import Floats
from truerail.analysis.counters.quantities import Kind as QuantityKind
from truerail.analysis.counters.quantities import Quantity, kind_of
from truerail.analysis.counters.telemetry import Telemetry
from truerail.analysis.published import Published
from truerail.errors import QueryError
from truerail.model.columns import Codes
from truerail.outputs.options import Options
from truerail.outputs.report_words import count, name
from truerail.outputs.text.blocks import PORT, QUIET, heading
from truerail.questions.answer_text import finding, grid, more, section, when
from truerail.questions.moments import moment
from truerail.questions.question import Form, Kind, Option, Parameter, Question
from truerail.questions.rates import BITS_TO_GBPS, ports_meant, speed_of
from truerail.questions.resolve import recognise
from truerail.views.lines import finding_lines_of, place_of
from truerail.views.pieces import FindingLine
from truerail.views.view import View, view_of

Q = Quantity
GROUPS = ("traffic", "pauses", "errors", "fec", "congestion", "queues")
"""In the order of the answer."""
MOST_PORTS = 40
WORDS = {"fec": "FEC"}
"""Groups whose word is not their name."""


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


@dataclass(frozen=True, slots=True)
class _Measure:
    """A quantity's group and units: a total is the increment times `scale`, a rate that per second times `rate`."""

    group: str
    unit: str
    rate_unit: str
    scale: float = 1.0
    rate: float = 1.0


_MEASURES = {
    **dict.fromkeys((Q.TX_BYTES, Q.RX_BYTES), _Measure("traffic", "B", "Gb/s", rate=BITS_TO_GBPS)),
    **dict.fromkeys((Q.TX_PAUSE_US, Q.RX_PAUSE_US), _Measure("pauses", "s", "share of time", scale=1e-6, rate=1e-6)),
    Q.LINK_DOWNS: _Measure("errors", "events", "events/s"),
    Q.RX_PAUSE_TRANSITIONS: _Measure("pauses", "pauses", "pauses/s"),
    **dict.fromkeys((Q.RX_BITS, Q.CORRECTED_BITS), _Measure("fec", "bits", "bits/s")),
    Q.FEC_SYMBOLS: _Measure("fec", "symbols", "symbols/s"),
    **dict.fromkeys((Q.FEC_CORRECTED, Q.FEC_UNCORRECTED), _Measure("fec", "codewords", "codewords/s")),
    Q.SYMBOL_ERRORS: _Measure("errors", "symbols", "symbols/s"),
    **dict.fromkeys((Q.CNP_SENT, Q.CNP_HANDLED, Q.CNP_IGNORED), _Measure("congestion", "packets", "packets/s")),
    Q.TRANSMIT_WAIT: _Measure("congestion", "ticks", "ticks/s"),
    Q.PCI_STALLED_EVENTS: _Measure("congestion", "events", "events/s"),
    **dict.fromkeys((Q.QUEUE_PACKETS, Q.QUEUE_DROPS), _Measure("queues", "packets", "packets/s")),
    Q.QUEUE_BYTES: _Measure("queues", "B", "Gb/s", rate=BITS_TO_GBPS),
    Q.QUEUE_WATERMARK_BYTES: _Measure("queues", "B", ""),
    Q.FLOWS: _Measure("traffic", "queue pairs", ""),
}  # fmt: skip
"""Quantities whose name does not show their unit. The others count packets or frames; see `_measure`."""


def counters(publication: Published, of: str, since: str | None, now: datetime) -> Counters:
    """The counters of a device's planned ports, or of one port, by any spelling. `since` counts back from the newest
    sample, so that it also fits an old capture. Raises NotFoundError with the nearest name, and QueryError for a time.
    """
    if since is not None:
        moment(since, now)
    view = view_of(publication)
    meant = recognise(view, of)
    telemetry = publication.round.telemetry
    ports = ports_meant(view, meant)
    findings = finding_lines_of(view, view.findings_on([meant.name, *map(str, map(view.index.spell, ports.tolist()))]))
    if telemetry.counters is None or not len(telemetry.counters.order):
        return Counters(of, None, None, (), False, findings, "no device was polled for counters")
    begun = telemetry.counters.begun[telemetry.counters.order]
    last = _samples(begun, since, now)
    first = len(begun) - last
    start, end = (datetime.fromtimestamp(float(at), tz=UTC) for at in (begun[max(first - 1, 0)], begun[-1]))
    lines = tuple(_ports(view, telemetry, ports, last))
    counting = sum(bool(line.counters) for line in lines)
    return Counters(of, start, end, lines, counting > 0, findings, _summary(meant.name, lines, counting))


def _samples(begun: np.ndarray[tuple[int], np.dtype[np.float64]], since: str | None, now: datetime) -> int:
    """How many of the newest samples lie in the time in question. Raises QueryError for a time after all of them."""
    if since is None:
        return len(begun)
    newest = datetime.fromtimestamp(float(begun[-1]), tz=UTC)
    start = moment(since, min(newest, now)).timestamp()
    last = int(np.count_nonzero(begun > start))
    if not last:
        raise QueryError(f"since {since}: the newest counters are of {newest:%Y-%m-%d %H:%M:%S UTC}")
    return last


def _summary(name: str, lines: tuple[PortCounts, ...], counting: int) -> str:
    if not lines:
        return f"the plan has no cable on {name}"
    if not counting:
        return f"no device reported counters of {name}"
    gained = ((line.port, one) for line in lines for one in line.counters if one.total)
    errors = len({port for port, one in gained if one.group == "errors" or one.counter == Q.FEC_UNCORRECTED})
    if len(lines) == 1:
        return f"counters of {name}: {'errors were counted' if errors else 'no errors in what it counts'}"
    silent = len(lines) - counting
    return (
        f"{count(len(lines), 'port')} of {name}: {errors or 'none'} with errors"
        f"{f', {silent:,} without counters' if silent else ''}"
    )


def _ports(view: View, telemetry: Telemetry, ports: Codes, last: int) -> Iterator[PortCounts]:
    speed = speed_of(telemetry, ports)
    counted: list[list[CounterLine]] = [[] for _ in ports]
    for quantity in Quantity:
        for priority in telemetry.priorities(quantity):
            gained, span = telemetry.part(quantity, priority, ports, last)
            for row in np.flatnonzero((~np.isnan(gained)).any(axis=1)).tolist():
                counted[row].append(_line(quantity, priority, gained[row], span[row]))
    for row, port in enumerate(ports.tolist()):
        lines = tuple(sorted(counted[row], key=lambda line: GROUPS.index(line.group)))
        known = {line.group for line in lines}
        yield PortCounts(
            *place_of(view, port),
            speed_gbps=None if np.isnan(speed[row]) else round(float(speed[row]) * BITS_TO_GBPS, 3),
            counters=lines,
            fec_ber=_error_rate(lines),
            without=tuple(group for group in GROUPS if group not in known),
        )


def _line(quantity: Quantity, priority: int | None, gained: Floats, span: Floats) -> CounterLine:
    known = ~np.isnan(gained)
    kind, level = _measure(quantity), kind_of(quantity) is QuantityKind.GAUGE
    seconds = float(np.nansum(span[known], dtype=np.float64))
    total = float(gained[known][-1]) if level else float(gained[known].sum(dtype=np.float64))
    rate = None if level or not seconds else round(total / seconds * kind.rate, 6)
    scaled = round(total * kind.scale, 6)
    return CounterLine(quantity.value, priority, kind.group, scaled, kind.unit, rate, kind.rate_unit, round(seconds, 1))


def _measure(quantity: Quantity) -> _Measure:
    if quantity in _MEASURES:
        return _MEASURES[quantity]
    if "pause" in quantity.value or "storm" in quantity.value:
        unit = "frames" if "frames" in quantity.value else "events"
        return _Measure("pauses", unit, f"{unit}/s")
    if quantity.value.startswith("ecn"):
        return _Measure("congestion", "packets", "packets/s")
    return _Measure("traffic" if kind_of(quantity) is QuantityKind.TRAFFIC else "errors", "packets", "packets/s")


def _error_rate(lines: tuple[CounterLine, ...]) -> float | None:
    """The share of received bits that FEC corrected."""
    totals = {line.counter: line.total for line in lines}
    corrected, received = totals.get(Q.CORRECTED_BITS.value), totals.get(Q.RX_BITS.value)
    return corrected / received if corrected is not None and received else None


def counters_text(answer: Counters, options: Options) -> Iterator[RenderableType]:
    """The time, the ports, and the findings on them."""
    if answer.start and answer.end:
        yield Text(f"  {when(answer.start)} to {answer.end:%H:%M:%S %Z}", QUIET)
    if len(answer.ports) == 1 or options.details:
        for port in answer.ports:
            yield from _port(port, options)
    else:
        yield _table(answer.ports[:MOST_PORTS])
        yield from more(len(answer.ports) - MOST_PORTS, "ports", "--details shows all, with every counter")
    yield from section(answer.findings, finding, "findings", "Findings", most=MOST_PORTS)


def _port(port: PortCounts, options: Options) -> Iterator[RenderableType]:
    rail = "" if port.rail is None else f"rail {port.rail}, "
    speed = "speed unknown" if port.speed_gbps is None else f"{port.speed_gbps:g} Gb/s"
    peer = f", planned to {name(port.peer)}" if port.peer else ""
    yield heading(name(port.port), f"{rail}{speed}{peer}")
    shown = [line for line in port.counters if options.details or line.total or line.group == "traffic"]
    if shown:
        yield _lines(shown)
    if port.fec_ber is not None:
        yield Text(f"  FEC corrected {port.fec_ber:.1e} of the received bits", QUIET)
    if zero := len(port.counters) - len(shown):
        yield Text(f"  {count(zero, 'counter')} at zero", QUIET)
    if port.without:
        yield Text(f"  unknown, since it reports none: {', '.join(map(_word, port.without))}", "bold magenta")


def _word(group: str) -> str:
    return WORDS.get(group, name(group))


def _lines(lines: list[CounterLine]) -> RenderableType:
    table = grid("left", "left", "right", "right")
    before = ""
    for line in lines:
        priority = "" if line.priority is None else f" priority {line.priority}"
        group = "" if line.group == before else _word(line.group)
        before = line.group
        table.add_row(Text(f"  {group}", style=QUIET), f"{name(line.counter)}{priority}", rate(line), total(line))
    return table


def rate(line: CounterLine) -> str:
    """A counter's rate with its unit; `level` for one that has none."""
    if line.rate is None:
        return "level"
    if line.rate_unit == "share of time":
        return f"{line.rate:.1%} of the time"
    return f"{line.rate:{',.4g' if line.rate < 1000 else ',.0f'}} {name(line.rate_unit)}"


def total(line: CounterLine) -> str:
    """A counter's total with its unit."""
    return f"{line.total:,.0f} {name(line.unit)}" if line.unit != "s" else f"{line.total:,.3f} s"


def _table(ports: tuple[PortCounts, ...]) -> RenderableType:
    grid = Table.grid(padding=(0, 2, 0, 0))
    heads = ("  port", "rail", "sent", "received", "pause received", "pause sent", "errors", "FEC uncorrected")
    for number, _ in enumerate(heads):
        grid.add_column(justify="left" if number < 2 else "right", no_wrap=number > 0)
    grid.add_row(*(Text(head, style=QUIET) for head in heads))
    for port in ports:
        rail = "-" if port.rail is None else str(port.rail)
        grid.add_row(Text(f"  {name(port.port.partition('/')[2])}", style=PORT), rail, *_cells(port))
    return grid


def _cells(port: PortCounts) -> Iterator[str]:
    """Rates of traffic in Gb/s, the longest pause as a share of time, sums of errors; `?` where there is no counter."""
    for wanted in ("tx_bytes", "rx_bytes"):
        rates = [line.rate for line in port.counters if line.counter == wanted and line.rate is not None]
        yield f"{max(rates):.1f} Gb/s" if rates else "?"
    yield from (_pause(port, wanted) for wanted in ("rx_pause", "tx_pause"))
    for wanted in ("errors", "fec_uncorrected"):
        totals = [line.total for line in port.counters if wanted in (line.group, line.counter)]
        yield f"{sum(totals):,.0f}" if totals else "?"


def _pause(port: PortCounts, direction: str) -> str:
    shares = [line.rate for line in port.counters if line.counter == f"{direction}_us" and line.rate is not None]
    if shares:
        return f"{max(shares):.1%}"
    frames = [line.rate for line in port.counters if line.counter == f"{direction}_frames" and line.rate is not None]
    return f"{max(frames):,.0f} frames/s" if frames else "?"


def _good(answer: Counters) -> bool | None:
    """Bad with a finding on one of the ports; unknown unless all of them report counters."""
    if any(line.severity != "info" for line in answer.findings):
        return False
    return True if answer.ports and all(port.counters for port in answer.ports) else None


QUESTION = Question(
    "counters",
    Counters,
    (
        Parameter(
            "of",
            help="A port or a device: gpu-012/enp26s0f0np0, leaf-3/swp12, leaf-3.",
            label="Port or device",
            example="leaf-3/swp12",
        ),
        Option(
            "since",
            help="Count from this time on: 2m, 14:00. [default: all that is kept, some minutes]",
            kind=Kind.TIME,
            metavar="TIME",
            label="Since",
            example="2m",
        ),
    ),
    lambda asked, given: counters(asked.publication, given["of"], given["since"], asked.now),
    "What a port counted, with units: traffic, pauses, errors, FEC; what it does not report is unknown.",
    good=_good,
    text=counters_text,
    form=Form("What did this port count?", "Show counters"),
)
