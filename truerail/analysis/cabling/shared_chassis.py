"""Which of two switches is meant by a chassis id that both send.

An MLAG pair, or a stack, may have one chassis id. lldpd keeps one name for each id: that of the switch whose frame came
last, for the ports of both. Such a name is no witness of which of them is meant, but the other end is.
"""

import numpy as np

from truerail.model.columns import Codes, Objects, distinct_pairs, factorize
from truerail.model.index import PlanIndex


def of_shared_chassis(index: PlanIndex, u: Codes, v: Codes, w: Codes, chassis: Objects) -> tuple[Codes, Codes]:
    """The far ports `v`, and their devices `w`, of what ports `u` hear: where switches share its chassis id, those of
    the switch of which the port with this name hears `u`. Where none of them does, or several do, it stays as named,
    and in conflict with what is named elsewhere. Shapes (rows,).
    """
    tier = index.devices.tiers
    of_switch = (u >= 0) & (v >= 0) & (w >= 0) & (w < index.devices.planned) & (tier[w] > 0)
    wanted = index.far_ends(u)
    elsewhere = of_switch & (wanted >= 0) & (index.ports.device_of(wanted) != w)
    if not elsewhere.any():
        return v, w
    code, _ = factorize(chassis)
    known = np.flatnonzero(of_switch & np.isin(code, code[elsewhere & (code >= 0)]))
    switches: dict[int, set[int]] = {}
    for id_, device in zip(*(one.tolist() for one in distinct_pairs(code[known], w[known])), strict=True):
        switches.setdefault(id_, set()).add(device)
    hears = u << 32 | v  # of rows with both: others are negative, or equal no pair
    open_ = known[np.isin(u[known], v) & ~np.isin(v[known] << 32 | u[known], hears)]
    said, v, w = set(hears[np.isin(v, u[open_])].tolist()), v.copy(), w.copy()
    for row in open_.tolist():
        here, own = int(u[row]), int(w[row])
        devices = np.array(sorted(switches[int(code[row])] - {own}), dtype=np.int64)
        same = index.ports.find(devices, np.repeat(index.ports.name_of(v[row : row + 1]), len(devices)))
        meant = [at for at, port in enumerate(same.tolist()) if port << 32 | here in said]
        if len(meant) == 1:
            v[row], w[row] = same[meant[0]], devices[meant[0]]
    return v, w
