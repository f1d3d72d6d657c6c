"""Cables above the leaves, as observed; and which switches are spines and superspines."""

from itertools import pairwise

from truerail.model import Cable, Port, Role
from truerail.model.columns import grouped
from truerail.model.names import natural_key
from truerail.plans.infer_wires import Wires


def uplinks(wires: Wires, leaves: set[str], renamed: dict[str, str]) -> tuple[dict[str, Role], list[Cable]]:
    """The roles of the switches above the leaves, and the cables to them.

    `renamed` are leaves whose names seem swapped. Where the ports above then follow the order of the leaves better,
    they confirm the swap, and the cables are planned under the expected names.
    """
    tiers = _tiers(wires, leaves)
    level = {Role.LEAF: 1, Role.SPINE: 2, Role.SUPERSPINE: 3}
    rank = {**dict.fromkeys(leaves, 1), **{name: level[role] for name, role in tiers.items()}}
    pairs = [
        (low, high)
        for low, high in wires.peer.items()
        if low.device in rank and high.device in rank and rank[low.device] < rank[high.device]
    ]
    if renamed:
        swapped = [(Port(renamed.get(low.device, low.device), low.name), high) for low, high in pairs]
        pairs = swapped if _disorder(swapped) < _disorder(pairs) else pairs
    pairs.sort(key=lambda pair: (natural_key(pair[0].device), natural_key(pair[0].name)))
    return tiers, [Cable(low, high) for low, high in pairs]


def _tiers(wires: Wires, leaves: set[str]) -> dict[str, Role]:
    """Switches next to leaves are spines, switches next to those superspines. One that serves hosts is neither."""
    serves = {peer.device for port, peer in wires.peer.items() if port.device in wires.hosts}
    found: dict[str, Role] = {}
    for below, role in ((leaves, Role.SPINE), (found.keys(), Role.SUPERSPINE)):
        near = {peer.device for port, peer in wires.peer.items() if port.device in below}
        new = (near & wires.switches) - leaves - found.keys() - serves
        found |= dict.fromkeys(sorted(new, key=natural_key), role)
    return found


def _disorder(pairs: list[tuple[Port, Port]]) -> int:
    """How often, going up the ports of a switch above, the device below goes down."""
    by_device = grouped((high.device, (natural_key(high.name), natural_key(low.device))) for low, high in pairs)
    count = 0
    for rows in by_device.values():
        devices = [device for _, device in sorted(rows)]
        count += sum(one > other for one, other in pairwise(devices))
    return count
