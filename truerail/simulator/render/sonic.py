"""SONiC's tables, whose columns are as wide as their widest cell (sonic-utilities): `show lldp table` of
`scripts/lldpshow`, and `show interfaces status` of `scripts/intfutil`.
"""

from collections.abc import Callable, Iterable

from truerail.simulator.render.beacon import Heard
from truerail.simulator.render.links import Link, speed_word

_STATUS = ("Interface", "Lanes", "Speed", "MTU", "FEC", "Alias", "Vlan", "Oper", "Admin", "Type", "Asym PFC")
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


def status(links: Iterable[Link], mtu: int, alias: Callable[[int], str], lanes: int = 8) -> str:
    """`show interfaces status` in tabulate's style "simple", cells to the right; `alias` gives a port's, which has so
    many lanes.
    """
    rows = [_row(number, link, mtu, alias(number), lanes) for number, link in enumerate(links, 1)]
    widths = [max(len(row[column]) for row in (_STATUS, *rows)) for column in range(len(_STATUS))]
    ruler = "  ".join("-" * width for width in widths)
    header, *body = ("  ".join(map(str.rjust, row, widths)) for row in (_STATUS, *rows))
    return "\n".join((header, ruler, *body)) + "\n"


def _row(number: int, link: Link, mtu: int, alias: str, width: int) -> tuple[str, ...]:
    first = width * (number - 1)
    lanes = ",".join(map(str, range(first, first + width)))
    oper = "up" if link.up else "down"
    kind = "OSFP 8X Pluggable Transceiver" if link.module else "N/A"
    return (
        link.name, lanes, speed_word(link.gbps), str(mtu), "rs" if link.up else "N/A", alias, "routed", oper,
        "down" if link.off else "up", kind, "N/A",
    )  # fmt: skip


def _line(cells: Iterable[str], widths: list[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
