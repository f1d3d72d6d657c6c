"""The traffic of links and uplinks, and how even it is, as series: none without counters, or if they are disabled."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress, pairwise, repeat

import numpy as np

from truerail.analysis.counters.traffic import Traffic
from truerail.analysis.ecmp.spread import Spread
from truerail.analysis.published import Published
from truerail.model.columns import Codes, Mask, Numbers
from truerail.model.finding import Finding
from truerail.model.index import PlanIndex
from truerail.outputs.metrics.declared import Declared, Wanted, declared
from truerail.outputs.metrics.metric_series import Block, Rows, Series, head
from truerail.outputs.metrics.plan_rows import Layout

# ----------------------------------------------------------------------------------------------------------------------
# How evenly switches load their uplinks, as series: the load, the share explained by chance, and the findings.

EVEN, UNKNOWN = 0, 1
LEVELS = {"LBL001": 3, "LBL002": 2, "LBL003": 2}
"""Values of `truerail_switch_uplink_balance_state`, by the rule of the finding."""


def spread_series(layout: Layout, spread: Spread, findings: Iterable[Finding]) -> Iterator[Series]:
    """The series of every switch that has uplinks in the plan."""
    codes, rows = layout.lower_switches
    place = np.full(max((*codes.tolist(), *spread.switch.tolist()), default=0) + 1, len(spread.switch))
    place[spread.switch] = np.arange(len(spread.switch))
    at = place[codes]
    for name, values in (("peak", spread.peak), ("peak_expected", spread.expected)):
        yield _known(declared(f"switch_uplink_{name}_ratio"), rows, np.append(values, np.nan)[at])
    state = np.where(np.append(spread.evaluated, False)[at], EVEN, UNKNOWN)
    worst = np.maximum(state, _found(rows.labels["switch"], findings))
    yield Series(declared("switch_uplink_balance_state"), rows, worst.tolist())


def _known(metric: Declared, rows: Rows, values: Numbers) -> Series:
    known = np.flatnonzero(~np.isnan(values))
    return Series(metric, rows.take(known), [float(f"{value:.4g}") for value in values[known].tolist()])


def _found(switches: Sequence[str], findings: Iterable[Finding]) -> Codes:
    """The worst of each switch's findings on its uplinks, 0 without any; shape (switches,)."""
    gravest: dict[str, int] = {}
    for finding in findings:
        if level := LEVELS.get(finding.rule, EVEN):
            gravest[finding.device] = max(level, gravest.get(finding.device, EVEN))
    return np.array([gravest.get(switch, EVEN) for switch in switches], dtype=np.int64)


# ----------------------------------------------------------------------------------------------------------------------
# Metrics whose values are measured: five significant digits of fixed width, `4.8123e+10`.
#
# So the text of an evaluation is that of the last one with other digits, and 100,000 values are written by numpy, not
# one by one: a tenth of the cost. Five digits exceed the precision of a counter that is read every ten seconds.

DIGITS = 5
_ZERO = "0.0000e+00"
_TAIL = f"}} {_ZERO}\n"
_PLACES = (0, 2, 3, 4, 5)
"""The positions of the mantissa's digits; the exponent's follow its sign."""
_SIGN, _TENS, _ONES = 7, 8, 9


class Measured:
    """A metric with one series for each row with a value. The template is rebuilt only if other rows have values than
    in the last evaluation.
    """

    def __init__(self, metric: Declared, rows: Rows) -> None:
        self.metric, self._rows = metric, rows
        self._reported: Mask = np.zeros(len(rows.pod), dtype=bool)
        self._values: Numbers = np.empty(0)
        self._block = Block(head(metric), (b"",) * rows.pods)
        self._text = b""
        self._ends: Codes = np.empty(0, dtype=np.int64)

    def block(self, values: Numbers) -> Block:
        """The text with these values, shape (rows,), none of them negative; NaN has no series."""
        reported = np.logical_not(np.isnan(values))
        if not np.array_equal(reported, self._reported):
            self._cut(reported)
        elif np.array_equal(values[reported], self._values):
            return self._block
        self._values = values[reported]
        self._block = self._filled(self._values)
        return self._block

    def series(self, values: Numbers) -> Series:
        """The same as a series."""
        reported = np.flatnonzero(~np.isnan(values))
        mantissa, exponent = (column.tolist() for column in _written(values[reported]))
        shown = [float(f"{m}e{e - DIGITS + 1}") for m, e in zip(mantissa, exponent, strict=True)]
        return Series(self.metric, self._rows.take(reported), shown)

    def _cut(self, reported: Mask) -> None:
        rows = self._rows
        lines = zip(repeat(self.metric.name), compress(rows.text, reported), repeat(_TAIL))
        self._reported, self._text = reported, "".join(chain.from_iterable(lines)).encode()
        around = len(self.metric.name) + len(_TAIL)
        self._ends = np.cumsum(rows.sizes[reported] + around)

    def _filled(self, values: Numbers) -> Block:
        text = bytearray(self._text)
        mantissa, exponent = _written(values)
        digits = np.frombuffer(text, dtype=np.uint8)
        first = self._ends - 1 - len(_ZERO)
        for place in reversed(_PLACES):
            mantissa, digit = np.divmod(mantissa, 10)
            digits[first + place] = digit + ord("0")
        digits[first + _SIGN] = np.where(exponent < 0, ord("-"), ord("+"))
        digits[first + _TENS], digits[first + _ONES] = (d + ord("0") for d in np.divmod(np.abs(exponent), 10))
        cuts = np.searchsorted(np.flatnonzero(self._reported), self._rows.bounds)
        whole, bounds = memoryview(text), np.r_[0, self._ends][cuts].tolist()
        return Block(head(self.metric), tuple(whole[a:b] for a, b in pairwise(bounds)))


def _written(values: Numbers) -> tuple[Codes, Codes]:
    """Mantissas of five digits and exponents, as `4.8123e+10` has them: (48123, 10). What is under 1e-99 is 0."""
    values = np.where(values < 1e-99, 0.0, values).astype(np.float64)
    exponent = np.floor(np.log10(np.where(values > 0, values, 1.0)))
    mantissa = np.rint(values / 10.0 ** (exponent - DIGITS + 1))
    over = mantissa >= 10**DIGITS  # 9.99996 is 10
    mantissa, exponent = np.where(over, mantissa // 10, mantissa), exponent + over
    return mantissa.astype(np.int64), exponent.astype(np.int64)


# ----------------------------------------------------------------------------------------------------------------------
# The traffic of links and uplinks, as series. There are no series without counters, or if they are disabled.


FIGURES = {
    "speed": "speed_bytes_per_second",
    "sent": "transmit_bytes_per_second",
    "received": "receive_bytes_per_second",
    "pause_received": "pause_received_ratio",
    "pause_sent": "pause_sent_ratio",
    "marked": "ecn_marked_ratio",
    "broken": "errors_per_second",
}
"""The measured values of a cable, by their names in `Traffic`: the metrics of hosts' links and of uplinks."""


class TrafficText:
    """The series of a plan's cables. The text of one evaluation is reused for the next."""

    def __init__(self, layout: Layout, index: PlanIndex) -> None:
        self._layout = layout
        self._links, self._uplinks = (index.a[cables.number] for cables in (layout.links, layout.uplinks))
        links, uplinks = layout.links.rows, layout.uplinks.rows
        self._metrics = [
            *((field, self._links, Measured(declared(f"link_{name}"), links)) for field, name in FIGURES.items()),
            *((field, self._uplinks, Measured(declared(f"uplink_{name}"), uplinks)) for field, name in FIGURES.items()),
        ]

    def blocks(self, publication: Published) -> Iterator[Block]:
        """The text."""
        if (traffic := publication.traffic) is not None:
            yield from (metric.block(_of(traffic, field, ports)) for field, ports, metric in self._metrics)
            yield from (series.block for series in self._few(traffic, publication))

    def series(self, publication: Published, wanted: Wanted) -> Iterator[Series]:
        """The same as series, those of large metrics only where they are wanted."""
        if (traffic := publication.traffic) is not None:
            chosen = (one for one in self._metrics if wanted(one[2].metric))
            yield from (metric.series(_of(traffic, field, ports)) for field, ports, metric in chosen)
            yield from self._few(traffic, publication)

    def _few(self, traffic: Traffic, publication: Published) -> Iterator[Series]:
        """The series of pods and switches."""
        yield from self._counted(traffic)
        yield from spread_series(self._layout, traffic.spread, publication.evaluation.findings)

    def _counted(self, traffic: Traffic) -> Iterator[Series]:
        layout, counted = self._layout, np.append(traffic.counted, False)
        for metric, group, ports in (
            (declared("links_counted"), layout.by_rail, self._links),
            (declared("uplinks_counted"), layout.uplinks_by_pod, self._uplinks),
        ):
            yield Series(metric, group.rows, group.chosen(counted[ports]).tolist())


def _of(traffic: Traffic, field: str, ports: Codes) -> Numbers:
    """A value of these ports; NaN if a device is not in the plan, so that its port is -1."""
    values: Numbers = np.append(getattr(traffic, field), np.nan)
    return values[ports]
