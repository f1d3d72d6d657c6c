"""The traffic of links and uplinks, as series. There are no series without counters, or if they are disabled."""

from collections.abc import Iterator

import numpy as np

from truerail.analysis.counters.minute import Numbers
from truerail.analysis.counters.traffic import Traffic
from truerail.analysis.published import Published
from truerail.model.columns import Codes, Mask
from truerail.model.index import PlanIndex
from truerail.outputs.metrics.declared_traffic import FIGURES, LINKS_COUNTED, UPLINKS_COUNTED
from truerail.outputs.metrics.declaring import Wanted, every
from truerail.outputs.metrics.measured import Measured
from truerail.outputs.metrics.metric_series import Block, Series
from truerail.outputs.metrics.plan_rows import Group, Layout
from truerail.outputs.metrics.uplink_series import spread_series


class TrafficText:
    """The series of a plan's cables. The text of one evaluation is reused for the next."""

    def __init__(self, layout: Layout, index: PlanIndex) -> None:
        self._layout = layout
        self._links, self._uplinks = (index.a[cables.number] for cables in (layout.links, layout.uplinks))
        links, uplinks = layout.links.rows, layout.uplinks.rows
        self._metrics = [
            *((figure.field, self._links, Measured(figure.link, links)) for figure in FIGURES),
            *((figure.field, self._uplinks, Measured(figure.uplink, uplinks)) for figure in FIGURES),
        ]

    def blocks(self, publication: Published) -> Iterator[Block]:
        """The text."""
        if (traffic := publication.traffic) is not None:
            yield from (metric.block(_of(traffic, field, ports)) for field, ports, metric in self._metrics)
            yield from (series.block() for series in self._few(traffic, publication))

    def series(self, publication: Published, wanted: Wanted = every) -> Iterator[Series]:
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
            (LINKS_COUNTED, layout.by_rail, self._links),
            (UPLINKS_COUNTED, layout.uplinks_by_pod, self._uplinks),
        ):
            yield Series(metric, group.rows, _number(group, counted[ports]).tolist())


def _of(traffic: Traffic, field: str, ports: Codes) -> Numbers:
    """A value of these ports; NaN if a device is not in the plan, so that its port is -1."""
    values: Numbers = np.append(getattr(traffic, field), np.nan)
    return values[ports]


def _number(group: Group, chosen: Mask) -> Codes:
    return group.count(chosen.astype(np.int64), 2)[1::2]
