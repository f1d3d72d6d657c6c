"""SONiC's `show lldp table` (sonic-utilities, scripts/lldpshow): columns as wide as their widest cell, then a count."""

from collections.abc import Iterable

from truerail.simulator.render.beacon import Heard

_HEADER = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")


def lldp_table(neighbors: Iterable[Heard]) -> str:
    """The table. A neighbour's port id and description stand beside each other, the kind of id does not."""
    rows = [
        (heard.local, heard.speaker.name, heard.port.id, "R" if heard.speaker.router else "O", heard.port.description)
        for heard in neighbors
    ]
    widths = [max(len(row[column]) for row in (_HEADER, *rows)) for column in range(len(_HEADER))]
    lines = [
        "Capability codes: (R) Router, (B) Bridge, (O) Other",
        _line(_HEADER, widths),
        _line(["-" * width for width in widths], widths),
        *(_line(row, widths) for row in rows),
        "-" * 50,
        f"Total entries displayed:  {len(rows)}",
    ]
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str], widths: list[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
