"""Why a cable without link carries nothing, and how to repair it: one text for the finding and for its cause.

A switch that reports a reason narrows the repair down to one port. A cable at its planned place is never moved: it is
reseated or replaced, or the module is.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from truerail.model.facts import DownReason

if TYPE_CHECKING:
    from truerail.analysis.cabling.joined import Wiring

_SAYS: Mapping[DownReason, str] = {
    "no module": "{port} has no module",
    "module not accepted": "{device} does not accept the module in {port}",
    "hardware failure": "{device} reports a hardware failure at {port}",
    "error-disabled": "{device} shut {port} after an error",
    "no light": "{port} receives no light",
}
"""Order of the reasons where the two ends report different ones: a missing part before a dark one."""
_DO: Mapping[DownReason, str] = {
    "no module": "Put a module into {port}, or reseat the one in it, and seat the cable of {other} there.",
    "module not accepted": "Replace the module in {port} by one that {device} supports at this speed.",
    "hardware failure": "Replace the module in {port}; if that does not help, have the port of {device} repaired.",
    "error-disabled": "Check the log of {device} for why it shut {port}, fix that, then switch the port off and on.",
}
_RESEAT = "Reseat the cable at {port} and at {other}; if it stays down, try another cable, then another transceiver."
_UNREAD = " First check with `ip link` on {device} whether the interface is switched off: it was not read."


def link_repair(wiring: "Wiring", cable: int) -> tuple[str, str]:
    """Why the planned cable has no link, as its ports report it (empty where none does), and the likely repair."""
    index, states = wiring.index, wiring.states
    a, b = index.a_port(cable), index.b_port(cable)
    codes = np.array([index.a[cable], index.b[cable]])
    given = dict(zip((a, b), states.down_reasons(codes), strict=True))
    for reason, summary in _SAYS.items():
        for port, other in ((a, b), (b, a)):
            if given[port] == reason:
                words = {"port": port, "other": other, "device": port.device}
                return summary.format(**words), _DO.get(reason, _RESEAT).format(**words)
    action = _RESEAT if not states.unread_below_rdma(codes[:1])[0] else _RESEAT + _UNREAD
    return "", action.format(port=a, other=b, device=a.device)
