"""Hosts whose bonds hide which planned NIC is which."""

import numpy as np

from truerail.analysis.cabling import Wiring
from truerail.model import NotEvaluated

_SHOWN = 4


def blind_bonds(wiring: Wiring) -> tuple[NotEvaluated, ...]:
    """The planned hosts that have RDMA devices on bonds whose members were not read; empty where none has."""
    planned = np.unique(wiring.index.a_device[wiring.index.from_host])
    names = tuple(wiring.index.devices.names[code] for code in planned[wiring.blind_bonds[planned]].tolist())
    if not names:
        return ()
    more = ", ..." if len(names) > _SHOWN else ""
    shown = f"{', '.join(names[:_SHOWN])}{more}"
    count = f"{len(names)} host{'s' if len(names) > 1 else ''}"
    why = f"the members of the bonds of {count} ({shown}) were not read: `ip -j -d link` lists them"
    return (NotEvaluated(why, what="host", count=len(names), of=len(planned), subjects=names, rest_evaluated=True),)
