"""Two hosts in each other's places: their rail cables, while their other cables are right, or hosts without switches.

Cables of storage or management show that the hosts have their own names: if these were swapped, such cables would
be wrong as well. So it is neither the labels (`relabel`) nor a fault of each rail: the hosts' bundles are crossed.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from truerail.analysis.cabling import DEVICE_ONLY, Wiring
from truerail.causes.candidate import CauseCandidate, joined_names, names_of_devices
from truerail.causes.labels import relabel_draft
from truerail.causes.moved import WIRING, moves, moves_on
from truerail.causes.observed_links import ObservedLinks
from truerail.causes.relabel import Relabelling
from truerail.model import Role
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import NONE, Codes, distinct

MIN_CABLES = 2
"""Least number of cables of each host: one of each is a swap of two cables."""


def crossed_hosts(s: ObservedLinks, before: Sequence[Relabelling]) -> Iterator[CauseCandidate]:
    """One draft for each pair; its cables count as right from then on."""
    index = s.index
    own, resident = s.taken_for, s.resident()
    host, other = index.a_device[own], np.where(resident >= 0, index.a_device[resident], -1)
    railed = index.from_host[own] & (index.rail[own] >= 0)
    shown = distinct(host[index.from_host[own] & ~railed & ~s.wrong])
    here = railed & s.wrong & (s.slots.of[own] == s.slots.of[resident]) & (s.sure > DEVICE_ONLY)
    here &= np.isin(host, shown) & np.isin(other, shown)
    whole = np.bincount(host[railed], minlength=len(index.devices.names) + 1)
    pairs, count = np.unique(host[here] << 32 | other[here], return_counts=True)
    crossed = {(pair >> 32, pair & 0xFFFFFFFF): n for pair, n in zip(pairs.tolist(), count.tolist(), strict=True)}
    for (one, two), n in crossed.items():
        if one < two and n == crossed.get((two, one)) == whole[one] == whole[two] and n >= MIN_CABLES:
            yield _draft(s, np.flatnonzero(railed & np.isin(host, [one, two])), (one, two), before)


def swapped_peers(s: ObservedLinks, wiring: Wiring) -> Iterator[CauseCandidate]:
    """One draft for each pair of hosts that are wired to other hosts, each as the other is planned: their names may be
    swapped as well as their cables. Their cables count as right from then on.
    """
    index, ports = s.index, s.index.ports
    tier = index.devices.tiers
    between = s.wrong & index.from_host[s.taken_for] & (tier[index.b_device[s.taken_for]] == Role.HOST.tier)
    there = ports.device_of(s.place)
    pairs = np.sort(np.stack([index.b_device[s.taken_for], there], axis=1)[between], axis=1)
    for one, other in np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0).tolist():
        table = np.arange(len(index.devices.names) + 1)
        table[[one, other]] = other, one

        def renamed(port: Codes, table: Codes = table) -> Codes:
            return ports.find(np.where(port >= 0, table[ports.device_of(port)], NONE), ports.name_of(port))

        own = np.flatnonzero(np.isin(ports.device_of(np.arange(index.planned_ports)), [one, other]))
        far = renamed(np.where(renamed(own) >= 0, wiring.partner[renamed(own)], NONE))
        ends = [index.a_device[s.taken_for], index.b_device[s.taken_for], there]
        rows = np.flatnonzero(between & np.isin(ends, [one, other]).any(axis=0))
        if len(rows) > MIN_CABLES and (far == index.far_ends(own))[far >= 0].all():
            steps = moves(s, rows.tolist())
            s.place[rows] = index.b[s.taken_for[rows]]
            found = Relabelling(CauseKind.HOST_SWAP, (one, other), {one: other, other: one}, len(rows), decided=False)
            yield relabel_draft(s, found, steps, rows, announced=False)


def _draft(s: ObservedLinks, rows: Codes, hosts: tuple[int, int], before: Sequence[Relabelling]) -> CauseCandidate:
    names = names_of_devices(s.index, hosts)
    both = joined_names(names)
    rows = rows[np.argsort(s.slots.of[s.taken_for[rows]], kind="stable")]  # each plug with that in its place
    steps = moves_on(s, rows.tolist(), before)
    s.place[rows] = s.index.b[s.taken_for[rows]]
    summary = f"all rail cables of {both} are crossed; their other cables are not, so the hosts have their own names"
    action = f"Swap the cables of {both} rail by rail: {len(steps)} moves."
    cables, sure = s.cable[rows].tolist(), float(s.sure[rows].min())
    return CauseCandidate(CauseKind.HOST_SWAP, names, summary, action, cables, names, WIRING, steps, confidence=sure)
