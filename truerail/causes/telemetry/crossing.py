"""What a NIC on another rail's leaf sends through the spines, measured by conservation.

One NIC of a leaf of 32 uplinks adds 3 % to each of them: no threshold on an uplink shows that. What shows it is the
sum: all that its leaf sends upwards beyond what the other leaves of its tier and pod do, held against what the NIC
itself sends, and what the others of its rail send to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from truerail.causes.telemetry.found import Ground
from truerail.model.counters.quantities import Quantity
from truerail.model.counters.telemetry import LEAST_COVERAGE, LEAST_SAMPLES, Telemetry
from truerail.model.plan import Role
from truerail.model.snapshot import Codes

Numbers = npt.NDArray[np.float64]

IDLE_SHARE = 0.01
"""A NIC that carries less of its speed carries nothing worth naming."""
WITHIN = 0.2
"""How far what crosses and what the leaf sends beyond its peers may be apart to be one (detection notes, C1)."""
CORRELATED, LEAST_POLLS = 0.8, 10
"""From which correlation over how many samples two rates are one where their sizes differ (detection notes, C1)."""
MOSTLY = 0.5
"""From which share of all that a leaf sends upwards the wrong cable is to blame for what its uplinks suffer. Judgement."""


@dataclass(frozen=True)
class Crossing:
    """What wrong-rail NICs send through the spines. Rates are in Gb/s, NaN where not told."""

    nics: int
    untold: tuple[int, ...]
    """Port codes of those NICs that neither they themselves nor their switch count."""
    gbps: float
    share: float
    """Of what the leaves send upwards beyond their peers; NaN where no peer or uplink tells."""
    idle: bool
    correlation: float
    mostly: tuple[int, ...] = ()
    """Leaves of whose upward traffic this is the greater part."""

    @property
    def confirmed(self) -> bool:
        """Whether the leaves' uplinks carry what the NICs send."""
        near = abs(self.share - 1) <= WITHIN
        return not self.idle and (near or self.correlation >= CORRELATED)


def crossing_of(ground: Ground, told: Telemetry, cables: Codes, away: Codes) -> Crossing | None:
    """What the NICs of these cables send through the spines; `away` are all wrong-rail cables of the fabric.

    None where none of the cables ends on another leaf than planned.
    """
    index, place = ground.wiring.index, ground.wiring.place
    stands = index.ports.device_of(place[cables])
    keep = (stands >= 0) & (stands != index.b_device[cables]) & index.from_host[cables]
    cables, stands = cables[keep], stands[keep]
    if not len(cables):
        return None
    nics, ports = index.a[cables], place[cables]
    out = _rates(told, Quantity.RX_BYTES, ports, Quantity.TX_BYTES, nics)
    back = _rates(told, Quantity.TX_BYTES, ports, Quantity.RX_BYTES, nics)
    known = _told(out)
    sent = float(np.nansum(_mean(out)))
    idle = not (_mean(out)[known] > IDLE_SHARE * np.nan_to_num(told.speed()[nics[known]])).any()
    crosses = _by_leaf(index.b_device[cables], stands, out, back)
    leaves = [_Leaf.of(ground, told, leaf, rates, away) for leaf, rates in crosses.items()]
    extra, beyond = sum(leaf.crosses for leaf in leaves), sum(leaf.beyond for leaf in leaves)
    return Crossing(
        len(cables),
        tuple(nics[~known].tolist()),
        sent * 8 / 1e9 if known.any() else float("nan"),
        extra / beyond if beyond > 0 else float("nan"),
        idle,
        max((leaf.correlation for leaf in leaves), default=float("nan")),
        tuple(leaf.device for leaf in leaves if leaf.crosses >= MOSTLY * leaf.sends),
    )


@dataclass(frozen=True)
class _Leaf:
    """A leaf between which and its rail's other leaf wrong cables send. Bytes per second, NaN where not told."""

    device: int
    crosses: float
    sends: float
    """All that it sends upwards."""
    beyond: float
    """More than its peers do."""
    correlation: float

    @classmethod
    def of(cls, ground: Ground, told: Telemetry, leaf: int, crosses: Numbers, away: Codes) -> "_Leaf":
        index = ground.wiring.index
        upwards = _upwards(told, ground, leaf)
        touched = {*index.b_device[away].tolist(), *index.ports.device_of(ground.wiring.place[away]).tolist()}
        peers = [_upwards(told, ground, peer) for peer in _peers(ground, leaf) if peer not in touched]
        usual = np.nanmedian(peers, axis=0) if _some(peers) else np.full(told.samples, np.nan)
        beyond = float(_mean((upwards - usual)[None])[0])
        return cls(
            leaf, float(_mean(crosses[None])[0]), float(_mean(upwards[None])[0]), beyond, _pearson(crosses, upwards - usual)
        )


_MOST_PEERS = 32


def _peers(ground: Ground, leaf: int) -> list[int]:
    """Other leaves of the same pod: what they send upwards is what this one would."""
    devices = list(ground.wiring.index.plan.devices.values())
    own = devices[leaf]
    alike = [
        code for code, device in enumerate(devices)
        if device.role is Role.LEAF and device.pod == own.pod and code != leaf
    ]  # fmt: skip
    return alike[:_MOST_PEERS]


def _by_leaf(homes: Codes, stands: Codes, out: Numbers, back: Numbers) -> dict[int, Numbers]:
    """What leaves must send upwards for these NICs: what a stranger there sends, what is sent to one that is away."""
    found: dict[int, Numbers] = {}
    for leaves, rates in ((stands, out), (homes, back)):
        for leaf, rate in zip(leaves.tolist(), rates, strict=True):
            found[leaf] = found[leaf] + rate if leaf in found else rate
    return found


def _upwards(told: Telemetry, ground: Ground, leaf: int) -> Numbers:
    """What a leaf sends over all of its uplinks in each sample; NaN where an uplink does not tell."""
    ports = told.ports_of(leaf)
    ports = ports[ground.uplink[ports] == leaf]
    if not len(ports):
        return np.full(told.samples, np.nan)
    states = ground.wiring.states
    ports = ports[~states.down(ports)]
    gained, span = told.part(Quantity.TX_BYTES, None, ports)
    return np.asarray((gained / span).sum(axis=0), dtype=np.float64)


def _rates(told: Telemetry, here: Quantity, ports: Codes, there: Quantity, peers: Codes) -> Numbers:
    """Bytes per second in each sample as one end counts, else the other. Shape (ports, samples)."""
    rates = [gained / span for gained, span in (told.part(here, None, ports), told.part(there, None, peers))]
    better = _told(rates[0])[:, None]
    return np.asarray(np.where(better, rates[0], rates[1]), dtype=np.float64)


def _told(rates: Numbers) -> npt.NDArray[np.bool_]:
    known = (~np.isnan(rates)).sum(axis=1)
    return np.asarray((known >= LEAST_SAMPLES) & (known >= LEAST_COVERAGE * rates.shape[1]), dtype=bool)


def _mean(rates: Numbers) -> Numbers:
    """By row over what is told; NaN where that is too little."""
    known = ~np.isnan(rates)
    total = np.where(known, rates, 0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    return np.asarray(np.where(_told(rates), total, np.nan), dtype=np.float64)


def _some(peers: Sequence[Numbers]) -> bool:
    return bool(peers) and bool((~np.isnan(peers)).any(axis=0).all())


def _pearson(one: Numbers, other: Numbers) -> float:
    known = ~np.isnan(one) & ~np.isnan(other)
    one, other = one[known], other[known]
    if len(one) < LEAST_POLLS or np.ptp(one) == 0 or np.ptp(other) == 0:
        return float("nan")
    return float(np.corrcoef(one, other)[0, 1])
