"""Traffic of a NIC on another rail's leaf through the spines, measured by conservation.

One NIC of a leaf of 32 uplinks adds 3 % to each of them: no threshold on an uplink shows that. The sum does: the leaf's
upward traffic in excess of the other leaves of its tier and pod, compared with the traffic that the NIC sends, and that
the others of its rail send to it.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.telemetry import LEAST_COVERAGE, LEAST_SAMPLES, Telemetry
from truerail.causes.telemetry.found import FabricContext
from truerail.model.columns import Codes, grouped
from truerail.model.plan import Device, Role

Numbers = npt.NDArray[np.float64]

IDLE_SHARE = 0.01
"""Share of its speed below which a NIC's traffic is negligible."""
WITHIN = 0.2
"""Largest relative difference of crossing traffic and the leaf's excess that still match (detection notes, C1)."""
CORRELATED, LEAST_POLLS = 0.8, 10
"""Least correlation and samples for two rates to match if their sizes differ (detection notes, C1)."""
MOST_PEERS = 32
"""Most leaves used for the usual traffic: their median is as good as that of more."""
MOSTLY = 0.5
"""Share of a leaf's upward traffic from which the wrong cable explains its uplinks' symptoms. Chosen by judgement."""


@dataclass(frozen=True)
class Crossing:
    """Traffic of wrong-rail NICs through the spines. Rates are in Gb/s, NaN where not reported."""

    nics: int
    unreported: tuple[int, ...]
    """Port codes of NICs that report no counters, on either end."""
    gbps: float
    share: float
    """Share of the leaves' upward traffic in excess of their peers; NaN where no peer or uplink reports."""
    idle: bool
    correlation: float
    mostly: tuple[int, ...] = ()
    """Leaves whose upward traffic is mostly this."""

    @property
    def confirmed(self) -> bool:
        """Whether the leaves' uplinks carry the NICs' traffic."""
        return not self.idle and (abs(self.share - 1) <= WITHIN or self.correlation >= CORRELATED)


@dataclass(frozen=True)
class Spines:
    """Leaves' traffic through the spines. `away` are all cables of hosts that end on another switch than planned."""

    ground: FabricContext
    away: Codes
    _upwards: dict[int, Numbers] = field(default_factory=dict)
    _usual: dict[str, Numbers] = field(default_factory=dict)

    def crossing(self, cables: Codes) -> Crossing | None:
        """The traffic of these cables' NICs there. None if none of them ends on another planned switch."""
        ground, reported, index = self.ground, self.ground.reported, self.ground.wiring.index
        cables = np.intersect1d(cables, self.away)
        stands = index.ports.device_of(ground.wiring.place[cables])
        cables, stands = cables[ground.tier[stands] > Role.HOST.tier], stands[ground.tier[stands] > Role.HOST.tier]
        if not len(cables):
            return None
        nics, ports = index.a[cables], ground.wiring.place[cables]
        out = _rates(reported, Quantity.RX_BYTES, ports, Quantity.TX_BYTES, nics)
        back = _rates(reported, Quantity.TX_BYTES, ports, Quantity.RX_BYTES, nics)
        known, mean = _reported(out), _mean(out)
        busy = mean[known] > IDLE_SHARE * np.nan_to_num(reported.speed()[nics[known]])
        crosses = _by_leaf(index.b_device[cables], stands, out, back)
        leaves = [self._leaf(leaf, rates) for leaf, rates in crosses.items()]
        beyond = sum(leaf.beyond for leaf in leaves)
        return Crossing(
            nics=len(cables),
            unreported=tuple(nics[~known].tolist()),
            gbps=float(np.nansum(mean)) * 8 / 1e9 if known.any() else float("nan"),
            share=sum(leaf.crosses for leaf in leaves) / beyond if beyond > 0 else float("nan"),
            idle=not busy.any(),
            correlation=max((leaf.correlation for leaf in leaves), default=float("nan")),
            mostly=tuple(leaf.device for leaf in leaves if leaf.crosses >= MOSTLY * leaf.sends),
        )

    def _leaf(self, leaf: int, crosses: Numbers) -> "_Leaf":
        upwards = self.upwards(leaf)
        more = upwards - self.usual(self._devices[leaf].pod)
        crossing, sends, beyond = (float(_mean(rates[None])[0]) for rates in (crosses, upwards, more))
        return _Leaf(leaf, crossing, sends, beyond, _pearson(crosses, more))

    def upwards(self, leaf: int) -> Numbers:
        """Bytes per second over all uplinks of a leaf in each sample; NaN where one of them does not report."""
        if leaf not in self._upwards:
            ports = self.ground.reported.ports_of(leaf)
            ports = ports[(self.ground.uplink[ports] == leaf) & ~self.ground.wiring.states.down(ports)]
            gained, span = self.ground.reported.part(Quantity.TX_BYTES, None, ports)
            none = np.full(self.ground.reported.samples, np.nan)
            self._upwards[leaf] = np.asarray((gained / span).sum(axis=0), dtype=np.float64) if len(ports) else none
        return self._upwards[leaf]

    def usual(self, pod: str) -> Numbers:
        """Usual upward traffic of a pod's leaf in each sample: the median of leaves without a wrong cable."""
        if pod not in self._usual:
            peers = np.array([self.upwards(leaf) for leaf in self._untouched.get(pod, ())[:MOST_PEERS]])
            usual = np.full(self.ground.reported.samples, np.nan)
            if len(peers):
                known = np.flatnonzero((~np.isnan(peers)).any(axis=0))
                usual[known] = np.nanmedian(peers[:, known], axis=0)
            self._usual[pod] = usual
        return self._usual[pod]

    @cached_property
    def _devices(self) -> list[Device]:
        return list(self.ground.wiring.index.plan.devices.values())

    @cached_property
    def _untouched(self) -> dict[str, list[int]]:
        index, place = self.ground.wiring.index, self.ground.wiring.place
        touched = {*index.b_device[self.away].tolist(), *index.ports.device_of(place[self.away]).tolist()}
        leaves = ((code, device) for code, device in enumerate(self._devices) if device.role is Role.LEAF)
        return grouped((device.pod, code) for code, device in leaves if code not in touched)


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A leaf with wrong-rail traffic to or from another one. Bytes per second, NaN where not reported."""

    device: int
    crosses: float
    sends: float
    """All its upward traffic."""
    beyond: float
    """Its upward traffic in excess of its peers."""
    correlation: float


def _by_leaf(homes: Codes, stands: Codes, out: Numbers, back: Numbers) -> dict[int, Numbers]:
    """Upward traffic of leaves due to these NICs: from a stray NIC on the leaf, and to a NIC that is away from it."""
    found: dict[int, Numbers] = {}
    for leaves, rates in ((stands, out), (homes, back)):
        for leaf, rate in zip(leaves.tolist(), rates, strict=True):
            found[leaf] = found[leaf] + rate if leaf in found else rate
    return found


def _rates(telemetry: Telemetry, here: Quantity, ports: Codes, there: Quantity, peers: Codes) -> Numbers:
    """Bytes per second in each sample, counted at one end, else at the other. Shape (ports, samples)."""
    rates = [gained / span for gained, span in (telemetry.part(here, None, ports), telemetry.part(there, None, peers))]
    better = _reported(rates[0])[:, None]
    return np.asarray(np.where(better, rates[0], rates[1]), dtype=np.float64)


def _reported(rates: npt.NDArray[np.floating]) -> npt.NDArray[np.bool_]:
    known = (~np.isnan(rates)).sum(axis=1)
    return np.asarray((known >= LEAST_SAMPLES) & (known >= LEAST_COVERAGE * rates.shape[1]), dtype=bool)


def _mean(rates: npt.NDArray[np.floating]) -> Numbers:
    """Mean of each row over the reported samples; NaN where they are too few."""
    known = ~np.isnan(rates)
    total = np.where(known, rates, 0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    return np.asarray(np.where(_reported(rates), total, np.nan), dtype=np.float64)


def _pearson(one: Numbers, other: Numbers) -> float:
    known = ~np.isnan(one) & ~np.isnan(other)
    one, other = one[known], other[known]
    if len(one) < LEAST_POLLS or np.ptp(one) == 0 or np.ptp(other) == 0:
        return float("nan")
    return float(np.corrcoef(one, other)[0, 1])
