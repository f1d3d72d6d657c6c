"""How much of a fabric a run of probes speaks for: pairs of NICs of one rail that were tried, implied, and neither.

A pair is *implied* where another pair of the same two leaves and rail was tried and arrived: the network between the
leaves is the same, the two NICs are not. What is neither tried nor implied is untried, and never fine.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from truerail.analysis.probes.reached import reached
from truerail.model.columns import Codes, distinct

if TYPE_CHECKING:
    from truerail.analysis.round import Round


class Coverage(NamedTuple):
    """Ordered pairs of planned NICs of one rail and plane, and NICs."""

    tried: int
    implied: int
    untried: int
    nics_tried: int
    nics: int

    @property
    def words(self) -> str:
        """One sentence for people."""
        pairs = f"{self.tried:,} pairs of NICs of one rail tried, {self.implied:,} implied, {self.untried:,} untried"
        return f"Probes: {pairs}; {self.nics_tried:,} of {self.nics:,} NICs tried."


class Pairs(NamedTuple):
    """Ordered pairs of planned NICs of one rail and plane, as matrices by the leaves of the two: all, those that were
    tried, and those that are implied. `rail` is that of each row.
    """

    total: Codes
    tried: Codes
    implied: Codes
    rail: Codes
    nics_tried: int
    nics: int

    @property
    def rest_by_rail(self) -> dict[int, tuple[int, int]]:
        """By rail, how many pairs are implied, and how many neither tried nor implied."""
        untried = self.total - self.tried - self.implied
        rails = ((rail, self.rail == rail) for rail in distinct(self.rail).tolist())
        return {rail: (int(self.implied[here].sum()), int(untried[here].sum())) for rail, here in rails}


def coverage(round: "Round") -> Coverage | None:
    """The coverage of the probes of a round; None if it has none."""
    if not len(reached(round).row):
        return None
    pairs = pairs_of(round)
    tried, implied = int(pairs.tried.sum()), int(pairs.implied.sum())
    return Coverage(tried, implied, int(pairs.total.sum()) - tried - implied, pairs.nics_tried, pairs.nics)


def pairs_of(round: "Round") -> Pairs:
    """The pairs of a round's plan, with what its probes say of them."""
    return round.once(_pairs)


def _pairs(round: "Round") -> Pairs:
    flows, index = reached(round), round.cabling.index
    nics = np.flatnonzero(index.from_host & (index.rail >= 0))
    places = np.stack([index.rail[nics], index.plane[nics], index.b_device[nics]], axis=1)
    group = np.unique(places, axis=0, return_inverse=True)
    of_nic = np.full(len(index.rail), -1, dtype=np.int64)
    of_nic[nics] = group[1].ravel()
    size = np.bincount(group[1].ravel(), minlength=len(group[0]))
    same_rail = (group[0][:, None, :2] == group[0][None, :, :2]).all(axis=2)
    total = np.where(same_rail, size[:, None] * size[None, :] - np.diag(size), 0)
    spoken = (flows.cable >= 0) & (flows.peer_cable >= 0) & flows.judged
    of = of_nic[flows.cable[spoken]], of_nic[flows.peer_cable[spoken]]
    spoken[spoken] = (of[0] >= 0) & (of[1] >= 0) & same_rail[of]
    pairs = np.unique(np.stack([flows.cable[spoken], flows.peer_cable[spoken]], axis=1), axis=0)
    tried = np.zeros_like(total)
    np.add.at(tried, (of_nic[pairs[:, 0]], of_nic[pairs[:, 1]]), 1)
    good = spoken & flows.arrived
    arrived = np.zeros(total.shape, dtype=bool)
    arrived[of_nic[flows.cable[good]], of_nic[flows.peer_cable[good]]] = True
    implied = np.where(arrived, total - tried, 0)
    both = distinct(np.concatenate([pairs[:, 0], pairs[:, 1]]))
    return Pairs(total, tried, implied, group[0][:, 0], len(both), len(nics))
