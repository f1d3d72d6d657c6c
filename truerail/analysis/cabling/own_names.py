"""A switch's own names of ports that the plan names otherwise.

A plan may name a switch's ports by their aliases (`etp1`), while the switch reports `Ethernet0`. Where it does not
report itself which are one port, two sources do: the scheme of its platform's aliases, with which most of its cables
must agree; and the other end, which hears the alias on the cable on which the switch hears that end. What neither shows
stays unknown: that a name is not in the plan does not show that the port is another one (`of_unnamed_ports`).
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from truerail.analysis.cabling.alias_schemes import agreeing, schemes
from truerail.analysis.cabling.claims import Claims
from truerail.analysis.cabling.local import LocalNames
from truerail.model.columns import NONE, Codes, Mask, distinct_pairs
from truerail.model.index import PlanIndex


def own_names(names: LocalNames, claims: Claims) -> tuple[Mapping[int, int], Mapping[int, int]]:
    """Ports of switches under their own names to the planned ports that they are; and those of them that a scheme
    shows.
    """
    index, ports = names.index, names.index.ports
    tier = np.array([*index.devices.tier, NONE], dtype=np.int64)
    own = (claims.u >= index.planned_ports) & (tier[ports.device_of(claims.u)] > 0)
    if not own.any():
        return {}, {}
    found = dict(_by_scheme(names, claims, own))
    planned = np.fromiter(found.values(), dtype=np.int64, count=len(found))
    reported = np.concatenate([planned, claims.u, names.own_link_ports()])
    return {**_by_other_end(index, claims, own, reported), **found}, found


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
    _, inverse, count = np.unique(meant, return_inverse=True, return_counts=True)
    use = (meant >= index.planned_ports) & (count[inverse] == 1)  # two aliases that give one port are not understood
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


def of_unnamed_ports(names: LocalNames, claims: Claims, by_scheme: Mapping[int, int]) -> Claims:
    """The claims of switches that may not have been understood, as those of the other end: it hears the switch, at an
    unknown port.

    A planned port is unnamed if its switch reports no port under a planned name of this form, nothing shows which of
    the switch's own names it has, and no scheme explains the names of this form: of the cables planned there, fewer are
    in ports whose own names one explains than in others. Each own name that has the form of no planned one may then be
    that port.
    """
    index, ports = names.index, names.index.ports
    tier = np.array([*index.devices.tier, NONE], dtype=np.int64)
    device = ports.device_of(claims.u)
    rows = np.flatnonzero((tier[device] > 0) & (claims.u >= index.planned_ports) & (claims.v >= 0))
    rows = rows[claims.v[rows] < index.planned_ports]
    if not len(rows):
        return claims
    planned = np.unique(np.concatenate([index.a, index.b]))
    planned = planned[np.isin(ports.device_of(planned), np.unique(device[rows]))]
    form = ports.forms(ports.name_of(np.concatenate([planned, claims.u[rows]])))
    form_of = ports.device_of(planned) << 32 | form[: len(planned)]
    known = np.isin(planned, list(names.planned.values()))
    named = np.isin(planned, np.concatenate([claims.u, names.own_link_ports()])) & ~known
    far = index.far_ends(claims.v[rows])
    at_home = (far >= 0) & (ports.device_of(far) == device[rows])
    _, of = np.unique(form_of, return_inverse=True)
    size = len(form_of) + 1
    explained = np.isin(planned, np.intersect1d(claims.u, list(by_scheme.values())))
    understood = np.bincount(of[explained], minlength=size)
    not_understood = np.bincount(of[np.searchsorted(planned, far[at_home])], minlength=size)
    unnamed = planned[~known & (understood < not_understood)[of] & ~np.isin(form_of, form_of[named])]
    open_ = np.isin(device[rows], ports.device_of(unnamed)) & (~at_home | np.isin(far, unnamed))
    open_ &= ~np.isin(device[rows] << 32 | form[len(planned) :], form_of)
    rows = rows[open_]
    u, v, w = claims.u.copy(), claims.v.copy(), claims.w.copy()
    u[rows], v[rows], w[rows] = claims.v[rows], NONE, device[rows]
    return replace(claims, u=u, v=v, w=w)
