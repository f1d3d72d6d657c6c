"""The page that Prometheus scrapes: rendered once for a publication, sent for every scrape.

Text format 0.0.4 only: every Prometheus reads it, and the additions of OpenMetrics (exemplars, created times) are not
used here.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from threading import Lock

import numpy as np
import numpy.typing as npt
from prometheus_client import Metric, generate_latest

from truerail.analysis.cabling import State, Wiring
from truerail.analysis.cabling.named_by import VERIFIED, verified
from truerail.analysis.published import Published
from truerail.model.columns import Codes, distinct
from truerail.model.pause import garbage_collection_paused
from truerail.outputs.metrics.declared import Wanted, declared
from truerail.outputs.metrics.families import FabricWide
from truerail.outputs.metrics.fault_series import device_findings, fault_series
from truerail.outputs.metrics.link_info import Affinity, LinkInfo, gpus, seen_instead, uplink_info
from truerail.outputs.metrics.metric_series import Block, Rows, Series
from truerail.outputs.metrics.plan_rows import HOST_STATES, REST, Cables, Group, Layout
from truerail.outputs.metrics.scrape_page import PackedText, ScrapePage
from truerail.outputs.metrics.scrape_values import Live, declaration_of, newest_answers
from truerail.outputs.metrics.traffic_series import TrafficText

# ----------------------------------------------------------------------------------------------------------------------
# The planned cables: the state of each, counts by state, and whether their devices were read.

_LEVEL = np.array([0, 3, 2, 1], dtype=np.int64)
"""By `State`: its badness. Unknown is worse than right and better than known to be missing or wrong."""
_HOST_STATE = np.array([0, 1, 2, 2], dtype=np.int64)
"""By level of a host's worst link: the index in `HOST_STATES`."""


def levels(wiring: Wiring, cables: Codes) -> Codes:
    """The badness of each of these cables: 0 right, 1 unknown, 2 missing, 3 wrong."""
    return _LEVEL[wiring.state[cables]]


def counts(layout: Layout, wiring: Wiring) -> Iterator[Series]:
    """Every count over cables and devices, except those of each host."""
    links, uplinks = layout.links.number, layout.uplinks.number
    state, level = wiring.state[links], levels(wiring, links)
    yield _series("links", layout.rail_links, layout.by_rail.count(state, len(State)))
    yield _series("links_verified", layout.rail_verified, layout.by_rail.count(verified(wiring)[links], len(VERIFIED)))
    yield _series("uplinks", layout.uplink_states, layout.uplinks_by_pod.count(wiring.state[uplinks], len(State)))
    railed, rails = layout.whole_rails
    yield _series("rail_state", rails.rows, rails.worst(level[railed]))
    yield _series("rail_right_ratio", rails.rows, rails.chosen(state[railed] == State.RIGHT) / np.bincount(rails.of))
    yield _hosts(layout, level)
    devices = layout.devices_by_role
    read = wiring.read[: len(devices.of)]
    yield _series("devices", devices.rows, np.bincount(devices.of))
    yield _series("devices_read", devices.rows, devices.chosen(read))


def _hosts(layout: Layout, level: Codes) -> Series:
    """Hosts with links, by their worst link."""
    group = layout.by_host
    linked = distinct(group.of)
    worst = _HOST_STATE[group.worst(level)[linked]]
    pods, of = np.unique(group.rows.pod[linked], return_inverse=True)
    rows = layout.rows(pods)
    return _series("hosts", rows.crossed("state", HOST_STATES), Group(rows, of).count(worst, len(HOST_STATES)))


def _states(name: str, cables: Cables, wiring: Wiring) -> Series:
    """The badness of each cable."""
    return _series(name, cables.rows, levels(wiring, cables.number))


def _by_host(layout: Layout, wiring: Wiring) -> Series:
    """Each host's links by state."""
    return _series("host_links", layout.host_links, layout.by_host.count(wiring.state[layout.links.number], len(State)))


def _series(name: str, rows: Rows, values: Codes | npt.NDArray[np.float64]) -> Series:
    return Series(declared(name), rows, values.tolist())


# ----------------------------------------------------------------------------------------------------------------------
# The page that Prometheus scrapes: rendered once for a publication, sent for every scrape.

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Exposition:
    """Caches the text of the newest publication, and the parts that the next one can reuse. Thread-safe."""

    def __init__(self) -> None:
        self._lock, self._packing = Lock(), Lock()
        self._plan: _OfPlan | None = None
        self._last: _Rendered | None = None

    def render(
        self, publication: Published | None, pod: str | None, counters: Mapping[str, float], now: datetime
    ) -> bytes:
        """The full page, or one pod's series; before the first evaluation the service's own metrics alone. `-` means
        everything without a pod: the slices of all pods and this one add up to the full page, without duplicate series.
        Raises LookupError for a pod that is not in the plan.
        """
        if publication is None:
            return _of_moment(None, {}, counters, now, pod)
        page = self.page_of(publication)
        return b"".join([*page.text(pod), _of_moment(publication, page.answered, counters, now, pod)])

    def packed(
        self, publication: Published | None, pod: str | None, counters: Mapping[str, float], now: datetime
    ) -> bytes:
        """The same as gzip: compressed once for a publication, except values of the moment. Raises LookupError."""
        if publication is None:
            return PackedText(()).followed_by(_of_moment(None, {}, counters, now, pod))
        page = self.page_of(publication)
        with self._packing:
            if pod not in page.packed:
                page.packed[pod] = PackedText(page.text(pod))
        return page.packed[pod].followed_by(_of_moment(publication, page.answered, counters, now, pod))

    def series(
        self, publication: Published, counters: Mapping[str, float], now: datetime, wanted: Wanted
    ) -> Iterator[Series | Metric]:
        """The wanted metrics of the page as values, for other formats than text."""
        page, plan = self.page_of(publication), self._plan
        if plan is None or not plan.fits(publication):
            return  # another plan is in force by now
        of_cables = chain(plan.series(publication, wanted), plan.traffic.series(publication, wanted))
        for series in chain(of_cables, _of_faults(plan.layout, publication)):
            if wanted(series.metric):
                yield series
        live = Live(publication, page.answered, counters, now)
        for family in chain(FabricWide(publication).collect(), live.collect()):
            if wanted(declaration_of(family)):
                yield family

    def page_of(self, publication: Published) -> ScrapePage:
        """The text of a publication, without the values of the moment."""
        with self._lock:
            if self._last is None or self._last.publication is not publication:
                with garbage_collection_paused():
                    self._last = self._rendered(publication, self._last)
            return self._last.page

    def _rendered(self, publication: Published, last: "_Rendered | None") -> "_Rendered":
        if self._plan is None or not self._plan.fits(publication):
            self._plan = _OfPlan(publication)
        layout = self._plan.layout
        same = last is not None and last.publication.evaluation is publication.evaluation and last.layout is layout
        if last is not None and same:
            cables, answered = last.cables, last.page.answered
        else:
            every = self._plan.series(publication, lambda metric: True)
            cables = (*(series.block for series in every), *self._plan.traffic.blocks(publication))
            answered = newest_answers(publication.snapshot.readings)
        found = tuple(series.block for series in _of_faults(layout, publication))
        wide = generate_latest(FabricWide(publication))
        return _Rendered(publication, layout, cables, ScrapePage(layout.pods, (*cables, *found), wide, answered))


class _OfPlan:
    """The parts that depend on the plan alone."""

    def __init__(self, publication: Published) -> None:
        self.layout = Layout(publication.fabric, publication.wiring.index)
        self._info, self._affinity = LinkInfo(self.layout), Affinity(self.layout)
        self._uplinks = uplink_info(self.layout)
        self.traffic = TrafficText(self.layout, publication.wiring.index)

    def fits(self, publication: Published) -> bool:
        """Whether it was made for the same plan."""
        return self.layout.plan is publication.plan and self.layout.fabric == publication.fabric

    def series(self, publication: Published, wanted: Wanted) -> Iterator[Series]:
        """The series of cables and devices without their traffic, those of large metrics only where they are wanted."""
        layout, wiring = self.layout, publication.wiring
        near = gpus(layout, wiring)
        large: dict[str, Callable[[], Series]] = {
            "link_state": lambda: _states("link_state", layout.links, wiring),
            "link_info": lambda: self._info.series(wiring, near),
            "uplink_state": lambda: _states("uplink_state", layout.uplinks, wiring),
            "uplink_info": lambda: self._uplinks,
            "gpu_nic_affinity": lambda: self._affinity.series(near),
            "host_links": lambda: _by_host(layout, wiring),
        }
        yield from (series() for name, series in large.items() if wanted(declared(name)))
        yield from (seen_instead(layout, publication), *counts(layout, wiring))


@dataclass(frozen=True)
class _Rendered:
    """A publication with its text, and the parts of the text that the next one can reuse."""

    publication: Published
    layout: Layout
    cables: tuple[Block, ...]
    page: ScrapePage


def _of_moment(
    publication: Published | None,
    answered: Mapping[str, datetime],
    counters: Mapping[str, float],
    now: datetime,
    pod: str | None,
) -> bytes:
    """The values of the moment; a pod has none."""
    return generate_latest(Live(publication, answered, counters, now)) if pod in (None, REST) else b""


def _of_faults(layout: Layout, publication: Published) -> Iterator[Series]:
    """What also depends on mutes."""
    yield device_findings(layout, publication)
    yield from fault_series(layout, publication)
