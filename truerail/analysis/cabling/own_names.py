"""A switch's own names of ports that the plan names otherwise.

A plan may name a switch's ports by their aliases (`etp1`), while the switch reports `Ethernet0`. Where it does not
report itself which are one port, two sources do: the scheme of its platform's aliases, with which most of its cables
must agree; and the other end, which hears the alias on the cable on which the switch hears that end.
"""

from collections.abc import Mapping

import numpy as np

from truerail.analysis.cabling.alias_schemes import agreeing, schemes
from truerail.analysis.cabling.claims import Claims
from truerail.analysis.cabling.local import LocalNames
from truerail.model.columns import NONE, Codes, Mask, distinct_pairs
from truerail.model.index import PlanIndex


def own_names(names: LocalNames, claims: Claims) -> Mapping[int, int]:
    """Ports of switches under their own names to the planned ports that they are."""
    index, ports = names.index, names.index.ports
    tier = np.array([*index.devices.tier, NONE], dtype=np.int64)
    own = (claims.u >= index.planned_ports) & (tier[ports.device_of(claims.u)] > 0)
    if not own.any():
        return {}
    found = dict(_by_scheme(names, claims, own))
    planned = np.fromiter(found.values(), dtype=np.int64, count=len(found))
    reported = np.concatenate([planned, claims.u, names.own_link_ports()])
    return {**_by_other_end(index, claims, own, reported), **found}


def _by_scheme(names: LocalNames, claims: Claims, own: Mask) -> Mapping[int, int]:
    """By the aliases' scheme: the planned ports of these switches, read as aliases of their own names."""
    index, ports = names.index, names.index.ports
    planned = np.unique(np.concatenate([index.a, index.b]))
    planned = planned[(planned >= 0) & np.isin(ports.device_of(planned), np.unique(ports.device_of(claims.u[own])))]
    device = ports.device_of(planned)
    rows = np.flatnonzero(own & (claims.v >= 0))
    far = index.far_ends(claims.v[rows])
    rows = rows[(far >= 0) & (ports.device_of(far) == ports.device_of(claims.u[rows]))]
    reference = np.full(len(ports), NONE, dtype=np.int64)
    reference[index.far_ends(claims.v[rows])] = ports.name_of(claims.u[rows])
    offers = [offer for offer in schemes(names, device, ports.name_of(planned)) if offer[1].any()]
    if not offers:
        return {}
    meant, _ = agreeing(ports, device, reference[planned], offers)
    use = meant >= index.planned_ports
    return dict(zip(meant[use].tolist(), planned[use].tolist(), strict=True))


def _by_other_end(index: PlanIndex, claims: Claims, own: Mask, known: Codes) -> Mapping[int, int]:
    """By cables of which one end hears a planned port that is none of the switch's own (`known`), and the other end is
    another. Where that end also hears the other's own name, the switch sends its own names, and the planned port is an
    old neighbour.
    """
    ports = index.ports
    hears = np.flatnonzero((claims.v >= 0) & (claims.v < index.planned_ports) & ~np.isin(claims.v, known))
    here = np.flatnonzero(own & (claims.v >= 0))
    key = claims.u[hears] << 32 | ports.device_of(claims.v[hears])
    wanted = claims.v[here] << 32 | ports.device_of(claims.u[here])
    keys, first, count = np.unique(key, return_index=True, return_counts=True)
    if not len(keys) or not len(wanted):
        return {}
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    _, inverse, times = np.unique(wanted, return_inverse=True, return_counts=True)
    hit = (keys[place] == wanted) & (count[place] == 1) & (times[inverse] == 1)
    hit &= ~np.isin(claims.u[here] << 32 | claims.v[here], claims.v << 32 | claims.u)
    pairs = np.stack(distinct_pairs(claims.u[here[hit]], claims.v[hears[first[place[hit]]]]), axis=1)
    for column in (0, 1):
        _, inverse, times = np.unique(pairs[:, column], return_inverse=True, return_counts=True)
        pairs = pairs[times[inverse] == 1]
    return dict(pairs.tolist())
