"""The two ends of a cable by the serial number that is read at both: evidence of the cable, not of a name.

Both ends of a copper or active optical cable carry one serial number, with a suffix `-A` and `-B` on some; the legs of
a fan-out cable have `-CH1` to `-CH8` and its head, on all its subports, none (recorded inventories of genieparser and
ntc-templates: 20 copper and 4 active optical cables with both ends in one box). Traps:

- Optical modules never pair. A placeholder (blank, one character repeated) is no number.
- One number on more than two ports is a batch number or a clone, unless it is one fan-out cable.
- `-A` twice, or two legs, are ends of different cables or of one end. Two makers use one number for two cables.
- A clone may be read at two ports alone. So a pair counts as a claim, and `corroborated` asks for more evidence where
  the plan has another cable.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from truerail.analysis.cabling.local import LocalNames
from truerail.model.columns import Codes
from truerail.model.facts import Optic
from truerail.model.snapshot import Table

_SUFFIX = re.compile(r"(.{4,}?)-(A|B|CH\d{1,2})", re.IGNORECASE)
_SUBPORT = re.compile(r"(.*)[/:](\d{1,2})")
_SHORTEST = 5
_PLACEHOLDERS = frozenset(("BUILTIN", "DEFAULT", "UNKNOWN", "0123456789", "1234567890", "SERIAL"))


class _End(NamedTuple):
    """One end of a cable: its port, the row of the Optic table, the suffix of its number, its maker and part."""

    port: int
    row: int
    suffix: str
    vendor: str
    part: str


def cable_ends(names: LocalNames, optics: Table[Optic]) -> tuple[Codes, Codes, Codes, Codes]:
    """Both ports of each cable whose serial number is read at both, and the rows of the Optic table: shapes (cables,).

    The first port is that of the lower tier.
    """
    by_number: dict[str, dict[int, _End]] = {}
    for number, end in _ends(names, optics):
        by_number.setdefault(number, {}).setdefault(end.port, end)
    tier = names.index.devices.tiers
    device = names.index.ports.device_of(np.arange(len(names.index.ports)))
    found: list[tuple[int, int, int, int]] = []
    for ends in by_number.values():
        for one, other in _pairs(names, list(ends.values())):
            tiers = tier[int(device[one.port])], tier[int(device[other.port])]
            if tiers[0] != tiers[1] and min(tiers) >= 0:
                low, high = (one, other) if tiers[0] < tiers[1] else (other, one)
                found.append((low.port, high.port, low.row, high.row))
    u, v, row, other_row = np.array(found, dtype=np.int64).reshape(-1, 4).T
    return u, v, row, other_row


def _ends(names: LocalNames, table: Table[Optic]) -> Iterator[tuple[str, _End]]:
    """Every read end of a cable, with its number without suffix."""
    ports = names.index.ports
    rows = [row for row, optic in enumerate(table.rows) if optic.medium == "cable" and optic.lane in (None, 1)]
    if not rows:
        return
    device = np.array([names.filed(name) for name in table.devices], dtype=np.int64)[table.device[rows]]
    spelled = [table.rows[row].port for row in rows]
    port = names.ports(device, ports.name_codes(spelled))
    first = ports.find(device, ports.name_codes(f"{name}/1" for name in spelled))  # EOS' inventory names cages
    planned = names.index.planned_ports
    port = np.where((port >= planned) & (first >= 0) & (first < planned), first, port)
    for at, row in zip(port.tolist(), rows, strict=True):
        optic = table.rows[row]
        number = _number(optic.serial)
        if number is not None and at >= 0:
            cut = _SUFFIX.fullmatch(number)
            base, suffix = (cut[1], cut[2]) if cut else (number, "")
            yield base, _End(at, row, suffix, _plain(optic.vendor), _plain(optic.part))


def _number(serial: str | None) -> str | None:
    """A serial number in capitals; None for a placeholder."""
    text = (serial or "").strip().upper()
    useless = len(text) < _SHORTEST or len(set(text)) < 3 or text in _PLACEHOLDERS
    return None if useless or not any(letter.isdigit() for letter in text) else text


def _plain(word: str | None) -> str:
    return "".join(letter for letter in (word or "").upper() if letter.isalnum())


def _pairs(names: LocalNames, ends: Sequence[_End]) -> Iterator[tuple[_End, _End]]:
    """The cables among the ends that share a number."""
    if len({end.vendor for end in ends} - {""}) > 1:
        return
    if len(ends) == 2:
        one, other = ends
        if {one.suffix, other.suffix} in ({""}, {"A", "B"}):
            yield one, other
            return
    heads = {number: end for end in ends if not end.suffix and (number := _subport(names, end.port)[1])}
    legs = {int(end.suffix[2:]): end for end in ends if end.suffix.startswith("CH")}
    cages = {_subport(names, end.port)[0] for end in heads.values()}
    if len(cages) == 1 and len(heads) + len(legs) == len(ends):
        yield from ((heads[number], leg) for number, leg in legs.items() if number in heads)


def _subport(names: LocalNames, port: int) -> tuple[str, int]:
    """The device and cage of a port, and its number in there; 0 without one."""
    whole = str(names.index.spell(port))
    found = _SUBPORT.fullmatch(whole)
    return (found[1], int(found[2])) if found else (whole, 0)
