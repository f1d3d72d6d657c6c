"""DPUs whose own systems send LLDP under names made of their host's: `dpu-gpu-001`, `gpu-001-bf3`.

The number in such a name may be the DPU's place in its host (`bf0` to `bf7`), and may be its model (`bf3`), and no
standard says in which order places are counted. So the hosts decide: a number, with the port that is sent, is the NIC
that most hosts have where it is heard.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from truerail.model.columns import NONE, Codes
from truerail.model.index import PlanIndex
from truerail.model.names import host_of_dpu

FEWEST_VOTES = 3
"""Hosts that must agree, and be over two thirds of all, before their vote alone decides: of two, either may be the
wrong one.
"""


def dpu_hosts(index: PlanIndex, system_names: Sequence[str]) -> Codes:
    """The planned host whose DPU has each name; -1 where no DPU has it. The DPU's cable is the host's. The last slot is
    for no name.
    """
    found = np.full(len(system_names) + 1, NONE, dtype=np.int64)
    for number, name in enumerate(system_names):
        host, _ = host_of_dpu(name)
        if host and not 0 <= index.devices.find(name) < index.devices.planned:
            code = index.devices.find(host)
            found[number] = code if 0 <= code < index.devices.planned and index.devices.is_host(code) else NONE
    return found


def numbered_ports(index: PlanIndex, u: Codes, host: Codes, names: Sequence[str], sent: Iterable[str | None]) -> Codes:
    """The NIC of each DPU by the number in its name; -1 where it has none, or the hosts do not agree on what it means.

    Shapes (claims,): `u` the port that hears it, `host` whose DPU it is, `sent` its port id, None where that is a MAC.
    """
    if not len(index.a):  # a plan without cables, as inference begins with
        return np.full(len(u), NONE, dtype=np.int64)
    tags = [(host_of_dpu(name)[1], port) for name, port in zip(names, sent, strict=True)]
    order = {tag: code for code, tag in enumerate(dict.fromkeys(tags))}
    tag = np.array([order[one] for one in tags], dtype=np.int64)
    slot = (index.rail + 1) << 32 | index.plane + 1
    cable = index.cables_at(u)
    votes = (cable >= 0) & (index.a_device[cable] == host)
    (voted, at), count = np.unique(np.stack([tag[votes], slot[cable[votes]]]), axis=1, return_counts=True)
    total = np.bincount(voted, weights=count, minlength=len(order))
    clear = (count >= FEWEST_VOTES) & (3 * count > 2 * total[voted])
    meant = dict(zip(voted[clear].tolist(), at[clear].tolist(), strict=True))
    if len({*meant.values()}) < len(meant):
        return np.full(len(u), NONE, dtype=np.int64)
    nics = dict(zip(zip(index.a_device.tolist(), slot.tolist(), strict=True), index.a.tolist(), strict=True))
    wanted = zip(host.tolist(), (meant.get(one, NONE) for one in tag.tolist()), strict=True)
    return np.fromiter((nics.get(one, NONE) for one in wanted), dtype=np.int64, count=len(u))
