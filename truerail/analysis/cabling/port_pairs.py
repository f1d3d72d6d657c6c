"""Claims of neighbours joined into pairs of ports: which are valid, how certain, and where claims contradict.

Some names of hosts cannot be where they are heard (`_without_namesakes`). A cloned machine id, or a name given twice,
makes one host send another's name. If that other host is switched off, its name is heard in one place only and nothing
contradicts it but the links: the host of that place answers that its own NIC has carrier, no switch hears it, and the
place of the named host is dark.
"""

import numpy as np

from truerail.analysis.cabling.claims import Claims
from truerail.analysis.cabling.links import PortStates
from truerail.model.columns import NONE, Codes, Mask, Numbers, distinct_pairs
from truerail.model.index import PlanIndex

BOTH_ENDS, ONE_END, DEVICE_ONLY = 0.99, 0.9, 0.7
"""Confidence in an observation by its source: detection.md's source reliabilities, and a leaf named without
its port.
"""


def partners(index: PlanIndex, claims: Claims, size: int) -> tuple[Codes, Numbers, Mask]:
    """Joins claims into pairs and decides which are valid. Linear in claims but for sorting."""
    partner = np.full(size + 1, NONE, dtype=np.int64)
    sure = np.zeros(size + 1)
    ambiguous = np.zeros(size + 1, dtype=bool)
    use = (claims.v >= 0) & (claims.u != claims.v)
    u, v = claims.u[use], claims.v[use]
    low, high = np.minimum(u, v), np.maximum(u, v)
    packed, inverse = np.unique(low << 32 | high, return_inverse=True)
    says = np.zeros(len(packed), dtype=np.int64)
    np.bitwise_or.at(says, inverse, np.where(u == low, 1, 2))
    low, high = packed >> 32, packed & 0xFFFFFFFF
    strong = says == 3
    strong_at = _count(size, low[strong], high[strong])

    single = strong & (strong_at[low] == 1) & (strong_at[high] == 1)
    if not single.all():
        single &= ~_remembered(index, claims, low, high, says, single)
    _marry(partner, sure, low[single], high[single], BOTH_ENDS)
    contested = strong & ~single  # a port that hears only a port that others claim as well does not decide either
    ambiguous[low[contested]] = ambiguous[high[contested]] = True

    speaker, silent = np.where(says == 1, low, high)[~strong], np.where(says == 1, high, low)[~strong]
    free = (strong_at[speaker] == 0) & (strong_at[silent] == 0)
    ambiguous[speaker[(strong_at[speaker] == 0) & (strong_at[silent] > 0)]] = True
    speaker, silent = speaker[free], silent[free]
    planned = silent < index.planned_ports
    has_planned = np.zeros(size + 1, dtype=bool)
    has_planned[speaker[planned]] = True
    keep = planned | ~has_planned[speaker]  # a bridge or a DPU's own system beside the planned device does not count
    speaker, silent = speaker[keep], silent[keep]
    at = _count(size, speaker, silent)
    alone = (at[speaker] == 1) & (at[silent] == 1) & ~_of_two_switches(index, claims, speaker, silent)
    _marry(partner, sure, speaker[alone], silent[alone], ONE_END)
    ambiguous[speaker[~alone]] = ambiguous[silent[~alone]] = True
    return partner, sure, ambiguous


def _remembered(index: PlanIndex, claims: Claims, low: Codes, high: Codes, says: Codes, single: Mask) -> Mask:
    """Pairs that hear each other, both ends of which hear another port of the plan as well: one of the two is an old
    neighbour, and both ends may remember it since a cable was moved. Another port that has its own pair is the old one.

    A switch that is heard without its port is another port, too. Between two switches it may also be the same port
    under another id; then it counts only where the other end hears another one for certain.
    """
    size = len(index.ports)
    tier = index.devices.tiers
    of_host = tier[index.ports.device_of(claims.u)] == 0
    second = (claims.v < 0) & (claims.w >= 0) & (claims.w < index.devices.planned) & (tier[claims.w] > 0)
    far = np.full(size + 1, NONE, dtype=np.int64)
    far[low[single]], far[high[single]] = high[single], low[single]
    other = of_host | (claims.w != index.ports.device_of(far[claims.u]))
    vague, perhaps = _count(size, claims.u[second & other]), _count(size, claims.u[second & ~other])
    others = ~single & (high < index.planned_ports)
    found = single
    while True:
        sure = np.zeros(size + 1, dtype=bool)
        sure[low[single & ~found]] = sure[high[single & ~found]] = True
        open_ = others & ~sure[low] & ~sure[high]
        more = vague + _count(size, low[open_ & (says & 1 > 0)], high[open_ & (says & 2 > 0)])
        any_ = more + perhaps
        left = single & (any_[low] > 0) & (any_[high] > 0) & (more[low] + more[high] > 0)
        if (left == found).all():
            return np.asarray(found, dtype=bool)
        found = left


def _of_two_switches(index: PlanIndex, claims: Claims, speaker: Codes, silent: Codes) -> Mask:
    """Pairs of switches that one end names, where that end hears another planned switch as well, without its port: one
    of the two is an old neighbour.
    """
    tier = index.devices.tiers
    device = index.ports.device_of(claims.u)
    vague = (claims.v < 0) & (claims.w >= 0) & (claims.w < index.devices.planned)
    vague &= (tier[claims.w] > 0) & (tier[device] > 0)
    far = np.full(len(index.ports) + 1, NONE, dtype=np.int64)
    far[speaker] = index.ports.device_of(silent)
    torn = np.zeros(len(far), dtype=bool)
    torn[claims.u[vague & (far[claims.u] >= 0) & (claims.w != far[claims.u])]] = True
    return np.asarray(torn[speaker] & (tier[far[speaker]] > 0), dtype=bool)


def heard_devices(claims: Claims, planned: int, ambiguous: Mask) -> Codes:
    """The device at each port that hears one without its port. Two on one port contradict each other; a bridge or a
    virtual machine beside a planned device does not count.
    """
    heard = np.full(len(ambiguous), NONE, dtype=np.int64)
    vague = (claims.v < 0) & (claims.w >= 0)
    for chosen in (claims.w < planned, claims.w >= planned):
        use = vague & chosen & (heard[claims.u] < 0)
        u, w = claims.u[use], claims.w[use]
        heard[u] = w
        ambiguous[u[heard[u] != w]] = True
    ambiguous[claims.u[vague & claims.doubt]] = True
    return heard


def places_by_name(index: PlanIndex, heard: Codes, partner: Codes) -> Codes:
    """The number of switch ports that hear each device by its name alone, shape (devices,): its port is unknown. From
    two such ports on, the answers do not show which of its ports is in which place.
    """
    ports = np.flatnonzero((heard >= 0) & (partner[: len(heard)] < 0))
    ports = ports[index.devices.tiers[index.ports.device_of(ports)] > 0]
    return np.bincount(heard[ports], minlength=len(index.devices.names))


def may_be_other_nic(index: PlanIndex, heard: Codes, partner: Codes) -> Mask:
    """Cables of hosts that several places hear by name alone, and whose cables are of several rails or planes."""
    own = index.from_host
    several = places_by_name(index, heard, partner)[: index.devices.planned] > 1
    kinds = distinct_pairs(index.a_device[own], (index.rail << 16 | (index.plane + 1))[own])[0]
    several &= np.bincount(kinds, minlength=len(several)) > 1
    return np.asarray(own & several[index.a_device], dtype=bool)


def _count(size: int, *ports: Codes) -> Codes:
    return np.bincount(np.concatenate(ports), minlength=size + 1) if ports else np.zeros(size + 1, dtype=np.int64)


def _marry(partner: Codes, sure: Numbers, a: Codes, b: Codes, confidence: float) -> None:
    partner[a], partner[b] = b, a
    sure[a] = sure[b] = confidence


def current_claims(index: PlanIndex, claims: Claims, states: PortStates, read: Mask) -> Claims:
    """The claims without names of hosts that cannot be there, and without those of a port that has no carrier by its
    own device's report, unless the port heard reports carrier: no frame came since, and the entry shows the previous
    cabling. `read` are the devices that answered.
    """
    shown = claims.where(~(states.dark(claims.u) & ~states.up(claims.v)))
    return _without_namesakes(index, shown, states, read)


def _without_namesakes(index: PlanIndex, claims: Claims, states: PortStates, read: Mask) -> Claims:
    """The claims, with such a name as a sign that something else is there: its port unknown, and in doubt.

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
    return claims._replace(v=far, doubt=doubt)
