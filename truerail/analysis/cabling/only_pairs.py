"""Pairs ports of two devices that hear only each other's device, where no other ports are possible.

A brief table may name the neighbour and not its port (Junos without `lldp-remote-port-id`, and numbers without a
translation). Where only one port of a host hears a leaf, and only one port of that leaf hears the host, they are the
two ends of one cable: unless another cable between the two is heard at neither of them. So every planned port of one of
the two devices must hear a neighbour, and each of the two ports one device alone.
"""

from collections.abc import Collection

import numpy as np

from truerail.model.columns import NONE, Codes, Mask, distinct_pairs
from truerail.model.index import PlanIndex


def only_pairs(index: PlanIndex, u: Codes, v: Codes, w: Codes, usable: Mask, split: Collection[int]) -> Codes:
    """The far ports `v` of what ports `u` hear of devices `w`, completed at the lower ends of such cables. Shapes
    (rows,). Rows that are not `usable` hear a device whose port is in doubt; `split` names belong to several devices.
    """
    tier = index.devices.tiers
    mine = index.ports.device_of(u)
    vague = (v < 0) & usable & (u >= 0)
    open_ = vague & (w >= 0) & (w < index.devices.planned) & (tier[mine] < tier[w])
    open_ &= ~np.isin(w, list(split)) & ~np.isin(mine, list(split))
    if not open_.any():
        return v
    heard = np.flatnonzero((u >= 0) & (w >= 0))
    port, device = distinct_pairs(u[heard], w[heard])
    silent = _silent_ports(index, port)
    open_ &= (silent[mine] == 0) | (silent[w] == 0)
    only = _only_ports(index, port, device)
    without_port = set(u[vague].tolist())
    found = v.copy()
    for row in np.flatnonzero(open_).tolist():
        there = only.get(int(w[row]) << 32 | int(mine[row]), NONE)
        if only.get(int(mine[row]) << 32 | int(w[row])) == u[row] and there in without_port:
            found[row] = there
    return found


def _only_ports(index: PlanIndex, port: Codes, device: Codes) -> dict[int, int]:
    """Of distinct ports and devices that they hear: by device << 32 | device heard, the port that alone hears it and
    hears nothing else.
    """
    _, place, times = np.unique(port, return_inverse=True, return_counts=True)
    key, at, count = np.unique(index.ports.device_of(port) << 32 | device, return_inverse=True, return_counts=True)
    alone = (count[at] == 1) & (times[place] == 1)
    return dict(zip(key[at[alone]].tolist(), port[alone].tolist(), strict=True))


def _silent_ports(index: PlanIndex, hearing: Codes) -> Codes:
    """The number of planned ports of each device that hear nothing, shape (devices + 1,)."""
    planned = np.arange(index.planned_ports)
    silent = planned[~np.isin(planned, hearing)]
    return np.bincount(index.ports.device_of(silent), minlength=len(index.devices.names) + 1)
