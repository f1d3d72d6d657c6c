"""The planned cables: the state of each, counts by state, and whether their devices were read."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from truerail.analysis.cabling import State, Wiring
from truerail.analysis.cabling.named_by import VERIFIED, verified
from truerail.model.columns import Codes, Mask
from truerail.outputs.metrics.declared_links import (
    DEVICES,
    DEVICES_READ,
    HOSTS,
    LINKS,
    LINKS_VERIFIED,
    RAIL_RIGHT,
    RAIL_STATE,
    UPLINKS,
)
from truerail.outputs.metrics.declaring import Declared
from truerail.outputs.metrics.metric_series import Rows, Series
from truerail.outputs.metrics.plan_rows import HOST_STATES, Group, Layout

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
    yield _series(LINKS, layout.rail_links, layout.by_rail.count(state, len(State)))
    yield _series(LINKS_VERIFIED, layout.rail_verified, layout.by_rail.count(verified(wiring)[links], len(VERIFIED)))
    yield _series(UPLINKS, layout.uplink_states, layout.uplinks_by_pod.count(wiring.state[uplinks], len(State)))
    railed, rails = layout.whole_rails
    yield _series(RAIL_STATE, rails.rows, rails.worst(level[railed]))
    yield _series(RAIL_RIGHT, rails.rows, _share(rails, state[railed] == State.RIGHT))
    yield _hosts(layout, level)
    devices = layout.devices_by_role
    read = wiring.read[: len(devices.of)]
    yield _series(DEVICES, devices.rows, np.bincount(devices.of))
    yield _series(DEVICES_READ, devices.rows, devices.count(read.astype(np.int64), 2)[1::2])


def by_host(layout: Layout, wiring: Wiring) -> Codes:
    """Each host's links by state."""
    return layout.by_host.count(wiring.state[layout.links.number], len(State))


def _hosts(layout: Layout, level: Codes) -> Series:
    """Hosts with links, by their worst link."""
    group = layout.by_host
    linked = np.unique(group.of)
    worst = _HOST_STATE[group.worst(level)[linked]]
    pods, of = np.unique(group.rows.pod[linked], return_inverse=True)
    rows = layout.rows(pods)
    return _series(HOSTS, rows.crossed("state", HOST_STATES), Group(rows, of).count(worst, len(HOST_STATES)))


def _share(group: Group, chosen: Mask) -> npt.NDArray[np.float64]:
    return group.count(chosen.astype(np.int64), 2)[1::2] / np.bincount(group.of)


def _series(metric: Declared, rows: Rows, values: Codes | npt.NDArray[np.float64]) -> Series:
    return Series(metric, rows, values.tolist())
