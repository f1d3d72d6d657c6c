"""Pairs ports of two devices that hear only each other's device, where no other ports are possible.

A brief table may name the neighbour and not its port (Junos without `lldp-remote-port-id`, and numbers without a
translation). Where only one port of a host hears a leaf, and only one port of that leaf hears the host, they are the
two ends of one cable: unless another cable between the two is heard at neither of them. So every planned port of one of
the two devices must hear a neighbour, and each of the two ports one device alone.
"""

from collections.abc import Collection

import numpy as np

from truerail.model.columns import NONE, Codes, Mask
from truerail.model.index import PlanIndex


def only_pairs(index: PlanIndex, u: Codes, v: Codes, w: Codes, usable: Mask, split: Collection[int]) -> Codes:
    """The far ports `v` of what ports `u` hear of devices `w`, completed at the lower ends of such cables. Shapes
    (rows,). Rows that are not `usable` hear a device whose port is in doubt; `split` names belong to several devices.
    """
    heard = np.flatnonzero((u >= 0) & (w >= 0))
    pairs = np.unique(np.stack([u[heard], w[heard]], axis=1), axis=0)
    port, device = pairs[:, 0], pairs[:, 1]
    owner = index.ports.device_of(port)
    key, at, count = np.unique(owner << 32 | device, return_inverse=True, return_counts=True)
    of_port = dict(zip(*(one.tolist() for one in np.unique(port, return_counts=True)), strict=True))
    only = {int(k): int(p) for k, p, n in zip(key[at], port, count[at], strict=True) if n == 1 and of_port[int(p)] == 1}
    silent = _silent_ports(index, port)
    tier = np.array([*index.devices.tier, NONE], dtype=np.int64)
    mine = index.ports.device_of(u)
    open_ = (v < 0) & usable & (u >= 0) & (w >= 0) & (w < index.devices.planned) & (tier[mine] < tier[w])
    open_ &= ~np.isin(w, list(split)) & ~np.isin(mine, list(split)) & ((silent[mine] == 0) | (silent[w] == 0))
    vague = {int(p) for p in u[(v < 0) & usable]}
    found = v.copy()
    for row in np.flatnonzero(open_).tolist():
        there = only.get(int(w[row]) << 32 | int(mine[row]), NONE)
        if only.get(int(mine[row]) << 32 | int(w[row])) == u[row] and there in vague:
            found[row] = there
    return found


def _silent_ports(index: PlanIndex, hearing: Codes) -> Codes:
    """The number of planned ports of each device that hear nothing, shape (devices + 1,)."""
    planned = np.arange(index.planned_ports)
    silent = planned[~np.isin(planned, hearing)]
    return np.bincount(index.ports.device_of(silent), minlength=len(index.devices.names) + 1)
