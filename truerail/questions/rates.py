"""`rates DEVICE|PORT`: recent traffic, pause time and errors of its ports.

Reads only these ports from the arrays of the window.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isnan

import numpy as np

from truerail.analysis.counters.hygiene import Floats
from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.telemetry import Telemetry
from truerail.analysis.pfc.edges import QUANTUM_BITS
from truerail.analysis.published import Published
from truerail.model.columns import NONE, Codes, Mask
from truerail.model.names import natural_key
from truerail.outputs.report_words import count
from truerail.questions.question import Parameter, Question
from truerail.questions.resolve import ResolvedTarget, recognise
from truerail.views.lines import place_of
from truerail.views.view import View, view_of

Q = Quantity
ERRORS = (
    Q.RX_ERRORS, Q.TX_ERRORS, Q.CRC_ERRORS, Q.SYMBOL_ERRORS, Q.FEC_UNCORRECTED, Q.RX_DISCARDS, Q.TX_DISCARDS,
    Q.LINK_DOWNS,
)  # fmt: skip
"""Counters that should stay at zero on a healthy link. Bits corrected by FEC are left out: every fast link has them."""
BITS_TO_GBPS = 8 / 1e9


@dataclass(frozen=True, slots=True)
class PortRates:
    """A port's counters, one value for each sample, oldest first: None where a sample has no data; empty where there is
    no counter. `peer` is the planned other end.
    """

    port: str
    rail: int | None
    plane: int | None
    peer: str | None
    speed_gbps: float | None
    tx_gbps: tuple[float | None, ...]
    rx_gbps: tuple[float | None, ...]
    paused: tuple[float | None, ...]
    """Share of time, 0..1, for which its neighbour paused it, on the priority that was paused longest."""
    paused_exact: bool
    """Measured if True; otherwise an upper bound from frames."""
    pausing: tuple[float | None, ...]
    """Share of time for which it paused its neighbour."""
    pausing_exact: bool
    errors: Mapping[str, int]
    """Totals over all samples, by kind; a kind without a counter is left out."""


@dataclass(frozen=True, slots=True)
class Rates:
    """`rates DEVICE|PORT`. `begins` contains the start of each sample; `reported` is False where there is no counter at
    all.
    """

    query: str
    begins: tuple[datetime, ...]
    ports: tuple[PortRates, ...]
    reported: bool
    summary: str


def rates(publication: Published, of: str) -> Rates:
    """The counters of a device's planned ports, or of one port, by any spelling. Raises NotFoundError with the nearest
    name.
    """
    view = view_of(publication)
    meant = recognise(view, of)
    reported = publication.round.telemetry
    if reported.counters is None:
        return Rates(of, (), (), False, "no device was polled for counters")
    ports = ports_meant(view, meant)
    lines = _lines(view, reported, ports, speed_of(reported, ports))
    begun = reported.counters.begun[reported.counters.order].tolist()
    begins = tuple(datetime.fromtimestamp(at, tz=UTC) for at in begun)
    counting = sum(bool(line.tx_gbps or line.rx_gbps or line.paused or line.pausing or line.errors) for line in lines)
    return Rates(of, begins, lines, counting > 0, _says(meant.name, counting, len(ports)))


def _says(name: str, counting: int, ports: int) -> str:
    if not ports:
        return f"the plan has no cable on {name}"
    if not counting:
        return f"no device reported counters of {name}"
    if ports == 1:
        return f"counters of {name} are reported"
    return f"{counting:,} of {count(ports, 'port')} of {name} have counters"


def ports_meant(view: View, meant: ResolvedTarget) -> Codes:
    """The requested ports: one, those of a host in order of its rails, those of a switch in natural order."""
    index = view.index
    if meant.port != NONE:
        return np.array([meant.port])
    own = index.ports.device_of(index.a[meant.cables]) == meant.device
    ports = np.where(own | (meant.device == NONE), index.a[meant.cables], index.b[meant.cables])
    if meant.matched_type != "switch":
        return np.asarray(ports)
    return np.array(sorted(ports.tolist(), key=lambda port: natural_key(index.spell(port).name)), dtype=np.int64)


def _lines(view: View, telemetry: Telemetry, ports: Codes, speed: Floats) -> tuple[PortRates, ...]:
    tx, rx = (_rate(telemetry, quantity, None, ports) * BITS_TO_GBPS for quantity in (Q.TX_BYTES, Q.RX_BYTES))
    paused, paused_exact = _share(telemetry, (Q.RX_PAUSE_US, Q.RX_PAUSE_FRAMES), ports, speed)
    pausing, pausing_exact = _share(telemetry, (Q.TX_PAUSE_US, Q.TX_PAUSE_FRAMES), ports, speed)
    errors = {quantity.value: _total(telemetry, quantity, ports) for quantity in ERRORS}
    return tuple(
        PortRates(
            *place_of(view, port),
            speed_gbps=None if np.isnan(speed[n]) else round(float(speed[n]) * BITS_TO_GBPS, 3),
            tx_gbps=_reported(tx[n], 3),
            rx_gbps=_reported(rx[n], 3),
            paused=_reported(paused[n], 4),
            paused_exact=bool(paused_exact[n]),
            pausing=_reported(pausing[n], 4),
            pausing_exact=bool(pausing_exact[n]),
            errors={word: round(row[n]) for word, row in errors.items() if not isnan(row[n])},
        )
        for n, port in enumerate(ports.tolist())
    )


def _rate(telemetry: Telemetry, quantity: Quantity, priority: int | None, ports: Codes) -> Floats:
    """Counted per second, shape (ports, samples)."""
    gained, span = telemetry.part(quantity, priority, ports)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(gained / span, dtype=np.float32)


def _total(telemetry: Telemetry, quantity: Quantity, ports: Codes) -> list[float]:
    """Total of each port over all samples; NaN without data."""
    gained = telemetry.part(quantity, None, ports)[0]
    counted = np.nansum(gained, axis=1, dtype=np.float64)
    return [float(one) for one in np.where(np.isnan(gained).all(axis=1), np.nan, counted)]


def speed_of(telemetry: Telemetry, ports: Codes) -> Floats:
    """Bytes per second of each port's link; NaN if unknown, or if the port is not planned."""
    planned = (ports >= 0) & (ports < telemetry.ports)
    return np.where(planned, telemetry.speed()[np.where(planned, ports, 0)], np.nan).astype(np.float32)


def _share(telemetry: Telemetry, pair: tuple[Quantity, Quantity], ports: Codes, speed: Floats) -> tuple[Floats, Mask]:
    """Share of time of the priority with most of it, shape (ports, samples), and whether it was measured: from
    durations where a port counts any, else the upper bound from frames.
    """
    duration, frames = pair
    measured = _most(telemetry, duration, ports) / 1e6
    bound = _most(telemetry, frames, ports) * QUANTUM_BITS / (speed[:, None] * 8)
    exact: Mask = np.logical_not(np.isnan(measured)).any(axis=1)
    return np.minimum(np.where(exact[:, None], measured, bound), 1.0), exact


def _most(telemetry: Telemetry, quantity: Quantity, ports: Codes) -> Floats:
    """The highest rate among the priorities of a quantity."""
    found: Floats = np.full((len(ports), telemetry.samples), np.nan, dtype=np.float32)
    for priority in telemetry.priorities(quantity):
        found = np.fmax(found, _rate(telemetry, quantity, priority, ports))
    return found


def _reported(row: Floats, digits: int) -> tuple[float | None, ...]:
    """A row of samples, None for a sample without data; empty if none has data."""
    values = row.astype(np.float64).round(digits).tolist()
    return () if all(map(isnan, values)) else tuple(None if isnan(value) else value for value in values)


QUESTION = Question(
    "rates",
    Rates,
    (Parameter("of", help="A device or a port."),),
    lambda asked, given: rates(asked.publication, given["of"]),
    "Traffic, pause time and errors of its ports, sample by sample.",
)
