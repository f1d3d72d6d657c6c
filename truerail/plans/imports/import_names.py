"""Devices by the MACs of their ports, where a cable list has them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from truerail.model import Device
from truerail.plans.imports.import_row import ImportRow, Rows

_MOST_MACS: Final = 3
"""Listed in a note."""


def with_macs(devices: dict[str, Device], rows: Rows, found: Sequence[ImportRow] | None = None) -> dict[str, Device]:
    """Devices with the MACs of their ports, by which they are recognized. A MAC of two devices is none of either.

    `found` are the rows to use, all by default.
    """
    owners: dict[str, str] = {}
    for end in (end for row in (rows.found if found is None else found) for end in (row.a, row.b) if end.mac):
        owners[end.mac] = end.device if owners.get(end.mac, end.device) == end.device else ""
    shared = sorted(mac for mac, owner in owners.items() if not owner)
    if shared:
        rows.notes.append(f"on two devices, so that it identifies neither: MAC {', '.join(shared[:_MOST_MACS])}")
    macs: defaultdict[str, list[str]] = defaultdict(list)
    for mac, owner in owners.items():
        macs[owner].append(mac)
    return {
        name: replace(device, chassis_ids=tuple(macs[name])) if name in macs else device
        for name, device in devices.items()
    }
