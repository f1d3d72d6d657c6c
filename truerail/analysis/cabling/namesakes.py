"""Names of hosts that cannot be where they are heard.

A cloned machine id, or a name given twice, makes one host send another's name. If that other host is switched off, its
name is heard in one place only and nothing contradicts it but the links: the host of that place answers that its own
NIC has carrier, no switch hears it, and the place of the named host is dark.
"""

from dataclasses import replace

import numpy as np

from truerail.analysis.cabling.claims import Claims
from truerail.analysis.cabling.links import PortStates
from truerail.model.columns import NONE, Mask
from truerail.model.index import PlanIndex


def without_namesakes(index: PlanIndex, claims: Claims, states: PortStates, read: Mask) -> Claims:
    """The claims, with such a name as a sign that something else is there: its port unknown, and in doubt. `read` are
    the devices that answered.

    A MAC that belongs to the host heard decides; then nothing is in doubt.
    """
    u, v, w = claims.u, claims.v, claims.w
    owner = index.ports.device_of(index.far_ends(u))
    tier = index.devices.tiers
    suspect = (v >= 0) & (w >= 0) & (claims.witness < 0) & (owner >= 0) & (owner != w)
    suspect &= (tier[w] == 0) & (tier[owner] == 0) & read[owner] & ~read[w]
    if not suspect.any():
        return claims
    rows = np.flatnonzero(suspect & ~np.isin(owner, w))
    place, home = index.far_ends(u[rows]), index.far_ends(v[rows])
    rows = rows[states.up(place) & (home >= 0) & states.dark(home)]
    far, doubt = v.copy(), claims.doubt.copy()
    far[rows], doubt[rows] = NONE, True
    return replace(claims, v=far, doubt=doubt)


def without_the_past(claims: Claims, states: PortStates) -> Claims:
    """The claims without those of a port that has no carrier by its own device's report, unless the port heard reports
    carrier: no frame came since, and the entry shows the previous cabling.
    """
    return claims.where(~(states.dark(claims.u) & ~states.up(claims.v)))
