"""How the links are: light, temperature, errors, falls and speed at both ends of each planned cable, worst first.

What no device reported is None, never zero. Counters are sums over the window of counters; light is that of a module's
worst lane.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters import Quantity
from truerail.analysis.counters.denominators import rate_ports
from truerail.analysis.counters.hygiene import Floats
from truerail.analysis.optics_lanes import Lanes, lanes_of
from truerail.analysis.trends.declines import declines_of
from truerail.model.columns import NONE, Codes, Mask
from truerail.model.facts import BitErrorRate
from truerail.model.names import printable
from truerail.views.findings import SEVERITIES, highest_at, severity_of
from truerail.views.lines import finding_lines_of
from truerail.views.list_rows import RowList, on_nodes, on_rail, on_words
from truerail.views.pieces import FindingLine
from truerail.views.view import View

Numbers = npt.NDArray[np.float64]
ABOUT_LINKS = "LNK"
"""The rules of links: their codes begin with it."""
_COUNTED = {
    "flaps": Quantity.LINK_DOWNS,
    "fec_corrected": Quantity.FEC_CORRECTED,
    "fec_uncorrected": Quantity.FEC_UNCORRECTED,
    "symbol_errors": Quantity.SYMBOL_ERRORS,
}


@dataclass(frozen=True, slots=True)
class LinkEnd:
    """One end of a planned cable as its own device reports it. None is not reported."""

    port: str
    role: str
    link: str | None
    """`up`, `down` or `disabled`."""
    speed_gbps: float | None
    rx_dbm: float | None
    """Of the lane that receives least."""
    tx_dbm: float | None
    """Of the lane that sends least."""
    celsius: float | None
    lanes: int
    """Lanes with a reading of light; 0 for copper, and where the module is not read."""
    vendor: str | None
    part: str | None
    serial: str | None
    flaps: int | None
    fec_corrected: int | None
    """Codewords."""
    fec_uncorrected: int | None
    symbol_errors: int | None
    ber_before_fec: float | None
    """The share of wrong bits that the device computed itself."""
    ber_after_fec: float | None
    ber_seconds: float | None
    """The time that both rates cover, if the device reports it."""
    rx_dbm_days: tuple[float | None, ...]
    """Received light as daily means, the oldest first, of a link that gets worse (LNK006); empty for others."""
    margin_db_days: tuple[float | None, ...]
    """The same of the margin over the bit error rate that FEC corrects, in optical decibels."""


@dataclass(frozen=True, slots=True)
class LinkHealth:
    """A planned cable with both ends."""

    subject: str
    rail: int | None
    plane: int | None
    label: str
    planned_speed_gbps: float | None
    severity: str | None
    """The highest severity of its unmuted findings of rules of links."""
    findings: tuple[FindingLine, ...]
    """Those findings, muted ones included."""
    reported: bool
    """Whether any end reports a module, a counter of errors or a bit error rate."""
    ends: tuple[LinkEnd, LinkEnd]


@dataclass(frozen=True)
class _Ends:
    """Columns over planned ports; NaN is not reported."""

    lanes: Lanes
    lane_of: tuple[Codes, Codes]
    """Lanes ordered by port, and the port of each."""
    counted: dict[str, Numbers]
    rates: dict[int, BitErrorRate]
    rank: Codes
    """Per cable: the highest `Severity.rank` of its findings; -1 without any."""
    reported: Mask
    """Per cable."""
    order: Codes
    """All cables, worst first."""


def _line(view: View, cable: int) -> LinkHealth:
    ends = view.once(_ends)
    planned, index = view.plan.cables[cable], view.index
    names = (str(planned.a), str(planned.b))
    found = [one for one in view.findings_on(names) if one.rule.startswith(ABOUT_LINKS)]
    return LinkHealth(
        subject=names[0],
        rail=planned.rail,
        plane=planned.plane,
        label=planned.label,
        planned_speed_gbps=planned.speed_gbps,
        severity=severity_of(ends.rank[cable]),
        findings=finding_lines_of(view, found),
        reported=bool(ends.reported[cable]),
        ends=(
            _end(view, ends, int(index.a[cable]), names[0], _days(view, cable, 0)),
            _end(view, ends, int(index.b[cable]), names[1], _days(view, cable, 1)),
        ),
    )


Days = tuple[float | None, ...]


def _days(view: View, cable: int, end: int) -> tuple[Days, Days]:
    """Light and margin of each day, of an end of a link that gets worse; empty for others."""
    if view.round.earlier is None:
        return (), ()
    declines = view.round.past.links.once(declines_of)
    light, margin = (of[cable][:, end] if cable in of else np.empty(0) for of in (declines.light, declines.margin))
    return _known_days(light), _known_days(margin)


def _known_days(values: Numbers | Floats) -> Days:
    """Days as numbers; none where no day is known."""
    return tuple(_number(float(value)) for value in values) if not np.isnan(values).all() else ()


def _end(view: View, ends: _Ends, port: int, name: str, days: tuple[Days, Days]) -> LinkEnd:
    ordered, of_port = ends.lane_of
    lanes = ordered[slice(*np.searchsorted(of_port, [port, port + 1]).tolist())]
    fact = ends.lanes.fact(int(lanes[0])) if len(lanes) else None
    rate = ends.rates.get(port, BitErrorRate(""))
    speed = float(view.wiring.states.speed_gbps[port])
    device = view.plan.devices.get(name.partition("/")[0])
    totals = ((word, float(column[port])) for word, column in ends.counted.items())
    counted = {word: None if np.isnan(total) else round(total) for word, total in totals}
    return LinkEnd(
        port=name,
        role=device.role.value if device else "",
        link=view.nics.link_state(port),
        speed_gbps=None if np.isnan(speed) else speed,
        rx_dbm=_least(ends.lanes.rx[lanes]),
        tx_dbm=_least(ends.lanes.tx[lanes]),
        celsius=_number(np.fmax.reduce(ends.lanes.celsius[lanes], initial=np.nan)),
        lanes=int(np.count_nonzero(~np.isnan(ends.lanes.rx[lanes]))),
        vendor=_safe(fact.vendor if fact else None),
        part=_safe(fact.part if fact else None),
        serial=_safe(fact.serial if fact else None),
        ber_before_fec=rate.before_fec,
        ber_after_fec=rate.after_fec,
        ber_seconds=rate.seconds,
        rx_dbm_days=days[0],
        margin_db_days=days[1],
        **counted,
    )


def _least(values: Numbers) -> float | None:
    return _number(np.fmin.reduce(values, initial=np.nan))


def _number(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 3)


def _safe(text: str | None) -> str | None:
    return printable(text, 64) if text else None


def _ends(view: View) -> _Ends:
    """The columns of an evaluation."""
    telemetry, index, lanes = view.round.telemetry, view.index, lanes_of(view.wiring)
    counted = {word: telemetry.summed(quantity).gained for word, quantity in _COUNTED.items()}
    rates = dict(_rates(view))
    known = np.zeros(index.planned_ports, dtype=bool)
    known[lanes.port] = True
    known[list(rates)] = True
    for column in counted.values():
        known |= ~np.isnan(column)
    lane_order = np.argsort(lanes.port, kind="stable")
    rank, reported = _rank(view), np.logical_or(*_both(view, known, missing=False))
    weakest = np.full(index.planned_ports, np.inf)
    np.fmin.at(weakest, lanes.port, lanes.rx)
    least = np.minimum(*_both(view, weakest, np.inf))
    flaps, lost = (sum(_both(view, np.nan_to_num(counted[word]), 0.0)) for word in ("flaps", "fec_uncorrected"))
    order = np.lexsort((view.layout.place, ~reported, least, -np.asarray(lost), -np.asarray(flaps), -rank))
    return _Ends(lanes, (lane_order, lanes.port[lane_order]), counted, rates, rank, reported, order)


def _both(view: View, column: Numbers | Mask, missing: float) -> tuple[Numbers, Numbers]:
    """A column of planned ports at both ends of each cable."""
    padded = np.append(column, missing)
    return padded[view.index.a], padded[view.index.b]


def _rank(view: View) -> Codes:
    """The highest severity of unmuted findings of links, per cable."""
    findings = view.findings
    about = np.char.startswith(findings.rule, ABOUT_LINKS) if len(findings) else np.zeros(0, dtype=bool)
    return highest_at(np.where(about & ~view.muted, findings.cable, NONE), findings.rank, len(view.layout.rail))


def _rates(view: View) -> Iterator[tuple[int, BitErrorRate]]:
    """The bit error rates of planned ports, by port."""
    rates = view.wiring.seen.table(BitErrorRate).rows
    for port, row in zip(*(column.tolist() for column in rate_ports(view.wiring)), strict=True):
        yield port, rates[row]


link_health = RowList(
    order=lambda view: view.once(_ends).order,
    filters={
        "nodes": lambda view, text: on_nodes(view, text, view.layout.a_device, view.layout.b_device),
        "rail": lambda view, rail: on_rail(view, rail, view.layout.rail),
        "severity": lambda view, text: on_words("severity", text, SEVERITIES, [*SEVERITIES, ""], view.once(_ends).rank),
        "reported": lambda view, reported: view.once(_ends).reported == reported,
    },
    line=_line,
)
"""Planned cables, worst first: by severity of their findings of links, then falls, lost frames, and least light."""
