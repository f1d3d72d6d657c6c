"""What names the actual place of a cable: LLDP at one or both of its ends, and the other witnesses."""

from collections.abc import Iterator

import numpy as np

from truerail.analysis.cabling.joined import State, Wiring
from truerail.analysis.cabling.port_pairs import BOTH_ENDS, ONE_END
from truerail.analysis.cabling.witnesses import WITNESSES, Source
from truerail.model.columns import Codes

VERIFIED = ("none", "device only", "other sources", "one end", "both ends")
"""What confirms a cable's actual place: neighbours reported at both ends or at one end, other sources than LLDP alone,
or a device named without its port.
"""

_ALONE = ", the device alone"


def named_by(wiring: Wiring, cable: int) -> tuple[str, ...]:
    """The witnesses of a cable's actual place, in words, LLDP first: `LLDP at both ends`, `MAC table`, ...; empty for a
    cable that is not seen. On InfiniBand, `discovery`.
    """
    a, b = int(wiring.index.a[cable]), int(wiring.index.b[cable])
    port = a if wiring.partner[a] >= 0 or wiring.heard[a] >= 0 else b
    if wiring.partner[port] >= 0:
        return tuple(dict.fromkeys(_of_ports(wiring, port, int(wiring.partner[port]))))
    if wiring.heard[port] >= 0:
        return tuple(dict.fromkeys(_of_device(wiring, port, int(wiring.heard[port]))))
    return ()


def verified(wiring: Wiring) -> Codes:
    """What confirms each cable's actual place, as an index of `VERIFIED`; 0 if it is unknown. Shape (cables,)."""
    a, lldp = wiring.index.a, wiring.corroborated.lldp[wiring.index.a]
    by_ports = np.select([lldp >= BOTH_ENDS, lldp >= ONE_END], [4, 3], 2)
    level = np.where(wiring.partner[a] >= 0, by_ports, 1)
    return np.where((wiring.state == State.RIGHT) | (wiring.state == State.WRONG), level, 0)


def _of_ports(wiring: Wiring, port: int, far: int) -> Iterator[str]:
    lldp = float(wiring.corroborated.lldp[port])
    if lldp >= BOTH_ENDS:
        yield "LLDP at both ends"
    elif lldp >= ONE_END:
        yield "discovery" if wiring.met else "LLDP at one end"
    claims = wiring.testimony
    for row in claims.at(port):
        if {int(claims.u[row]), int(claims.v[row])} == {port, far}:
            yield WITNESSES[Source(int(claims.source[row]))].words


def _of_device(wiring: Wiring, port: int, device: int) -> Iterator[str]:
    claims = wiring.testimony
    found = [row for row in claims.at(port) if int(claims.u[row]) == port and int(claims.w[row]) == device]
    if wiring.corroborated.heard[port] == device or not found:
        yield f"LLDP{_ALONE}"
    yield from (f"{WITNESSES[Source(int(claims.source[row]))].words}{_ALONE}" for row in found)


def said_beside(wiring: Wiring, port: int) -> Iterator[str]:
    """What other witnesses than LLDP say of a port: `the MAC table of leaf-3 names gpu-7/nic0 at leaf-3/swp12`."""
    claims, spell = wiring.testimony, wiring.index.spell
    for row in claims.at(port):
        words = WITNESSES[Source(int(claims.source[row]))].words
        far, device = int(claims.v[row]), wiring.index.devices.names[int(claims.w[row])]
        yield f"{words} names {spell(far) if far >= 0 else device} at {spell(int(claims.u[row]))}"
