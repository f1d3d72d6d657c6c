"""Two hosts whose rail cables are in each other's places, while their other cables are right.

Cables of storage or management show that the hosts have their own names: if these were swapped, such cables would
be wrong as well. So it is neither the labels (`relabel`) nor a fault of each rail: the hosts' bundles are crossed.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from truerail.analysis.cabling import DEVICE_ONLY
from truerail.causes.candidate import CauseCandidate
from truerail.causes.moved import WIRING, moves_on
from truerail.causes.observed_links import ObservedLinks
from truerail.causes.relabel import Relabelling
from truerail.model.columns import Codes
from truerail.model.finding import CauseKind
from truerail.model.names import natural_key

MIN_CABLES = 2
"""Least number of cables of each host: one of each is a swap of two cables."""


def crossed_hosts(s: ObservedLinks, before: Sequence[Relabelling]) -> Iterator[CauseCandidate]:
    """One draft for each pair; its cables count as right from then on."""
    index = s.index
    own, resident = s.taken_for, s.resident()
    host, other = index.a_device[own], np.where(resident >= 0, index.a_device[resident], -1)
    railed = index.from_host[own] & (index.rail[own] >= 0)
    shown = np.unique(host[index.from_host[own] & ~railed & ~s.wrong])
    here = railed & s.wrong & (s.slots.of[own] == s.slots.of[resident]) & (s.sure > DEVICE_ONLY)
    here &= np.isin(host, shown) & np.isin(other, shown)
    whole = np.bincount(host[railed], minlength=len(index.devices.names) + 1)
    pairs, count = np.unique(host[here] << 32 | other[here], return_counts=True)
    crossed = {(pair >> 32, pair & 0xFFFFFFFF): n for pair, n in zip(pairs.tolist(), count.tolist(), strict=True)}
    for (one, two), n in crossed.items():
        if one < two and n == crossed.get((two, one)) == whole[one] == whole[two] and n >= MIN_CABLES:
            yield _draft(s, np.flatnonzero(railed & np.isin(host, [one, two])), (one, two), before)


def _draft(s: ObservedLinks, rows: Codes, hosts: tuple[int, int], before: Sequence[Relabelling]) -> CauseCandidate:
    names = tuple(sorted((s.index.devices.names[host] for host in hosts), key=natural_key))
    both = " and ".join(names)
    steps = moves_on(s, rows.tolist(), before)
    s.place[rows] = s.index.b[s.taken_for[rows]]
    return CauseCandidate(
        CauseKind.HOST_SWAP,
        names,
        f"all rail cables of {both} are crossed; their other cables are not, so the hosts have their own names",
        f"Swap the cables of {both} rail by rail: {len(steps)} moves.",
        s.cable[rows].tolist(),
        names,
        WIRING,
        moves=steps,
        confidence=float(s.sure[rows].min()),
    )
