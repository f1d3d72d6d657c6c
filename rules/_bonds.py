"""Hosts whose bonds hide which planned NIC is which."""

import numpy as np

from truerail.model.wiring import Wiring

_SHOWN = 4


def blind_bonds(wiring: Wiring) -> str:
    """Which planned hosts have RDMA devices on bonds whose members were not read, in words; empty where none has."""
    planned = np.unique(wiring.index.a_device[wiring.index.from_host])
    names = [wiring.index.devices.names[code] for code in planned[wiring.blind_bonds[planned]].tolist()]
    more = ", ..." if len(names) > _SHOWN else ""
    shown = f"{', '.join(names[:_SHOWN])}{more}"
    count = f"{len(names)} host{'s' if len(names) > 1 else ''}"
    return f"the members of the bonds of {count} ({shown}) were not read: `ip -j -d link` lists them" if names else ""
