"""`counters PORT|DEVICE`: the totals and rates of its ports' counters over the kept samples."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from truerail.analysis.counters.quantities import Kind, Quantity, kind_of
from truerail.analysis.counters.telemetry import Telemetry
from truerail.analysis.published import Published
from truerail.errors import QueryError
from truerail.model.columns import Codes
from truerail.outputs.report_words import count
from truerail.questions.answers.moments import moment
from truerail.questions.answers.rates import BITS_TO_GBPS, place_of, ports_meant, speed_of
from truerail.questions.answers.resolve import recognise
from truerail.questions.counters import CounterLine, Counters, PortCounts
from truerail.views.lines import finding_lines_of
from truerail.views.view import View, view_of

Q = Quantity
GROUPS = ("traffic", "pauses", "errors", "fec", "congestion", "queues")
"""In the order of the answer."""


@dataclass(frozen=True, slots=True)
class _Measure:
    """A quantity's group and units: a total is the increment times `scale`, a rate that per second times `rate`."""

    group: str
    unit: str
    rate_unit: str
    scale: float = 1.0
    rate: float = 1.0


_BYTES = _Measure("traffic", "B", "Gb/s", rate=BITS_TO_GBPS)
_PAUSED = _Measure("pauses", "s", "share of time", scale=1e-6, rate=1e-6)
_ERRORS = _Measure("errors", "events", "events/s")
_MEASURES = {
    Q.TX_BYTES: _BYTES,
    Q.RX_BYTES: _BYTES,
    Q.TX_PAUSE_US: _PAUSED,
    Q.RX_PAUSE_US: _PAUSED,
    Q.LINK_DOWNS: _ERRORS,
    Q.RX_PAUSE_TRANSITIONS: _Measure("pauses", "pauses", "pauses/s"),
    Q.RX_BITS: _Measure("fec", "bits", "bits/s"),
    Q.CORRECTED_BITS: _Measure("fec", "bits", "bits/s"),
    Q.FEC_SYMBOLS: _Measure("fec", "symbols", "symbols/s"),
    Q.FEC_CORRECTED: _Measure("fec", "codewords", "codewords/s"),
    Q.FEC_UNCORRECTED: _Measure("fec", "codewords", "codewords/s"),
    Q.SYMBOL_ERRORS: _Measure("errors", "symbols", "symbols/s"),
    Q.CNP_SENT: _Measure("congestion", "packets", "packets/s"),
    Q.CNP_HANDLED: _Measure("congestion", "packets", "packets/s"),
    Q.CNP_IGNORED: _Measure("congestion", "packets", "packets/s"),
    Q.TRANSMIT_WAIT: _Measure("congestion", "ticks", "ticks/s"),
    Q.PCI_STALLED_EVENTS: _Measure("congestion", "events", "events/s"),
    Q.QUEUE_PACKETS: _Measure("queues", "packets", "packets/s"),
    Q.QUEUE_DROPS: _Measure("queues", "packets", "packets/s"),
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
    findings = finding_lines_of(
        view, view.findings_on([meant.name, *(str(view.index.spell(p)) for p in ports.tolist())])
    )
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
    bad = [line for line in lines if any(one.total for one in line.counters if one.group == "errors")]
    uncorrected = [
        line for line in lines if any(one.total for one in line.counters if one.counter == Q.FEC_UNCORRECTED)
    ]
    errors = len({line.port for line in (*bad, *uncorrected)})
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


def _line(
    quantity: Quantity,
    priority: int | None,
    gained: np.ndarray[tuple[int], np.dtype[np.float32]],
    span: np.ndarray[tuple[int], np.dtype[np.float32]],
) -> CounterLine:
    known = ~np.isnan(gained)
    measure, level = _measure(quantity), kind_of(quantity) is Kind.GAUGE
    seconds = float(np.nansum(span[known], dtype=np.float64))
    total = float(gained[known][-1]) if level else float(gained[known].sum(dtype=np.float64))
    rate = None if level or not seconds else round(total / seconds * measure.rate, 6)
    scaled = round(total * measure.scale, 6)
    return CounterLine(
        quantity.value, priority, measure.group, scaled, measure.unit, rate, measure.rate_unit, round(seconds, 1)
    )


def _measure(quantity: Quantity) -> _Measure:
    if quantity in _MEASURES:
        return _MEASURES[quantity]
    if "pause" in quantity.value or "storm" in quantity.value:
        return (
            _Measure("pauses", "frames", "frames/s")
            if "frames" in quantity.value
            else _Measure("pauses", "events", "events/s")
        )
    if quantity.value.startswith("ecn"):
        return _Measure("congestion", "packets", "packets/s")
    return _Measure("traffic" if kind_of(quantity) is Kind.TRAFFIC else "errors", "packets", "packets/s")


def _error_rate(lines: tuple[CounterLine, ...]) -> float | None:
    """The share of received bits that FEC corrected."""
    totals = {line.counter: line.total for line in lines}
    corrected, received = totals.get(Q.CORRECTED_BITS.value), totals.get(Q.RX_BITS.value)
    return corrected / received if corrected is not None and received else None
