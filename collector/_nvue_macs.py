"""Cumulus Linux' `nv show bridge domain NAME mac-table` as text: the kernel's bridge in a table.

Columns stand under the runs of the ruler, in an order that releases change. A learned entry has no type. Where the
terminal is narrow, MACs are cut. Source: Cumulus Linux' documentation, 5.0 to 5.13.
"""

import re
from collections.abc import Sequence

from truerail.errors import UnreadableError

_HEADER = re.compile(r"(?=.*\binterface\b)(?=.*\bentry-type\b)(?=.*\blast-update\b)[\w \t-]{1,400}")
_RULER = re.compile(r"[ \t]*-{2,}(?:[ \t]+-+…?)+[ \t]*")
_CUT = "…"
_BLANK = dict.fromkeys(("interface", "mac", "vlan", "entry-type", "remote-dst"), "")


def table(text: Sequence[str]) -> list[tuple[str, str, str, set[str]]] | None:
    """Port, MAC, VLAN and words of each entry; None for anything else. The last line is left out: a line feed follows
    each. Raises `UnreadableError` where a MAC is cut."""
    for at, line in enumerate(text[:-1]):
        if _HEADER.fullmatch(line) and _RULER.fullmatch(text[at + 1]):
            starts = [run.start() for run in re.finditer(r"\S+", text[at + 1])]
            labels = [cell.lower().removesuffix(" address") for cell in _cells(line, starts)]
            rows = list[tuple[str, str, str, set[str]]]()
            for number, below in enumerate(text[at + 2 : -1], at + 3):
                cells = _BLANK | dict(zip(labels, _cells(below, starts), strict=True))
                if _CUT in cells["mac"] + cells["interface"]:
                    raise UnreadableError("cells are cut: the terminal was too narrow", line=number, text=below)
                words = {cells["entry-type"], "dst" if cells["remote-dst"] else ""}
                rows.append((cells["interface"], cells["mac"], cells["vlan"], words))
            return rows
    return None


def _cells(line: str, starts: Sequence[int]) -> list[str]:
    return [line[start:end].strip() for start, end in zip(starts, [*starts[1:], None], strict=True)]
