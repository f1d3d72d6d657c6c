"""How evenly switches load their uplinks, as series: the load, the share explained by chance, and the findings."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from truerail.analysis.counters.minute import Numbers
from truerail.analysis.ecmp.spread import Spread
from truerail.model.columns import Codes
from truerail.model.finding import Finding
from truerail.outputs.metrics.declared_traffic import UPLINK_BALANCE, UPLINK_PEAK, UPLINK_PEAK_EXPECTED
from truerail.outputs.metrics.declaring import Declared
from truerail.outputs.metrics.metric_series import Rows, Series
from truerail.outputs.metrics.plan_rows import Layout

EVEN, UNKNOWN = 0, 1
LEVELS = {"LBL001": 3, "LBL002": 2, "LBL003": 2}
"""Values of `truerail_switch_uplink_balance_state`, by the rule of the finding."""


def spread_series(layout: Layout, spread: Spread, findings: Iterable[Finding]) -> Iterator[Series]:
    """The series of every switch that has uplinks in the plan."""
    codes, rows = layout.lower_switches
    place = np.full(max((*codes.tolist(), *spread.switch.tolist()), default=0) + 1, len(spread.switch))
    place[spread.switch] = np.arange(len(spread.switch))
    at = place[codes]
    for metric, values in ((UPLINK_PEAK, spread.peak), (UPLINK_PEAK_EXPECTED, spread.expected)):
        yield _known(metric, rows, np.append(values, np.nan)[at])
    state = np.where(np.append(spread.evaluated, False)[at], EVEN, UNKNOWN)
    yield Series(UPLINK_BALANCE, rows, np.maximum(state, _found(rows.labels["switch"], findings)).tolist())


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
