"""Devices by the MACs of their ports and by further names, where a cable list has them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from truerail.model import Device
from truerail.model.columns import grouped
from truerail.plans.imports.import_row import ImportRow, Rows

_MOST_SHARED: Final = 3
"""Listed in a note."""


def with_names(devices: dict[str, Device], rows: Rows, found: Sequence[ImportRow] | None = None) -> dict[str, Device]:
    """Devices with the MACs of their ports and their further names, by which they are recognized. What two devices have
    identifies neither.

    `found` are the rows to use, all by default.
    """
    ends = [end for row in (rows.found if found is None else found) for end in (row.a, row.b)]
    macs = _owned("MAC", ((end.device, end.mac) for end in ends if end.mac), rows)
    spelled = {name.lower(): name for name in devices}
    more = ((spelled[device.lower()], name) for device, name in rows.names if device.lower() in spelled)
    names = _owned("name", (*((name, name) for name in devices), *more), rows) if rows.names else {}
    return {
        name: replace(
            device,
            chassis_ids=tuple(macs.get(name, device.chassis_ids)),
            aliases=tuple(alias for alias in names.get(name, ()) if alias.lower() != name.lower()),
        )
        for name, device in devices.items()
    }


def _owned(what: str, named: Iterable[tuple[str, str]], rows: Rows) -> dict[str, list[str]]:
    """What each device has alone, by device; what two have is a note."""
    owners: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for device, name in named:
        owners[name.lower()].setdefault(device, name)
    shared = sorted(name for name, known in owners.items() if len(known) > 1)
    if shared:
        rows.notes.append(f"on two devices, so that it identifies neither: {what} {', '.join(shared[:_MOST_SHARED])}")
    return grouped(pair for known in owners.values() if len(known) == 1 for pair in known.items())
