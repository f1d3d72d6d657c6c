"""Cumulus Linux' `nv show interface` as text: one table of ports with their states and LLDP neighbours.

Columns stand under the runs of the ruler, in an order that releases change. Releases up to 5.5 mark a row with `+`. An
interface with several addresses has a line for each, the further ones with its name or without. Older releases have one
`State`, which does not show whether a port is administratively down. Source: Cumulus Linux' documentation, 5.0 to 5.10.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from collector._lldp_words import identified, reported
from collector._port_words import of_words
from collector._speed_status import PortStatus, gbps, status
from truerail.errors import UnreadableError
from truerail.model import Neighbor

_HEADER = re.compile(r"Interface +.*\bMTU\b.*")
_RULER = re.compile(r"-{2,}(?: +-{2,}…?)+ *")
_CUT = "…"
_PHYSICAL = frozenset(("swp", "eth"))


def is_table(text: Sequence[str]) -> bool:
    """Whether these lines have the header of such a table with neighbours."""
    return any(_HEADER.match(line) and "Remote Host" in line and "Remote Port" in line for line in _pasted(text))


def _pasted(text: Sequence[str]) -> list[str]:
    """The lines with words, without the indentation that all have."""
    said = [line for line in text if line.strip()]
    indent = min((len(line) - len(line.lstrip()) for line in said), default=0)
    return [line[indent:] for line in said]


def neighbors(text: Sequence[str]) -> Iterator[Neighbor]:
    """The neighbours. Raises `UnreadableError` if the answer ends inside a line."""
    for row in _rows(text):
        host, port = (None if _CUT in (cell := row.get(label, "")) else reported(cell) for label in ("host", "port"))
        if host or port:
            yield Neighbor(row["interface"], None, None, host, *identified(port))


def statuses(text: Sequence[str]) -> list[PortStatus]:
    """The states and speeds of the physical ports."""
    found = dict[str, PortStatus]()
    for row in _rows(text):
        if row.get("type") in _PHYSICAL:
            state = of_words(row.get("oper status", row.get("state", "")), row.get("admin status"))
            mtu = row.get("mtu", "")
            whole = status(row["interface"], state, gbps(row.get("speed", "")), int(mtu) if mtu.isdecimal() else None)
            found.setdefault(row["interface"], whole)
    return list(found.values())


def _rows(text: Sequence[str]) -> Iterator[Mapping[str, str]]:
    """The cells of each interface's first line, by their labels in lower case."""
    if text[-1].strip():
        raise UnreadableError("the last row is cut", line=len(text), text=text[-1])
    starts: list[int] = []
    labels: list[str] = []
    said = _pasted(text)
    for at, line in enumerate(said):
        below = said[at + 1].strip() if at + 1 < len(said) else ""
        if _HEADER.match(line) and _RULER.fullmatch(below):
            starts = [run.start() for run in re.finditer(r"\S+", said[at + 1])]
            labels = [cell.lower().removeprefix("remote ") for cell in _cells(line, starts)]
        elif starts and not _RULER.fullmatch(line.strip()):
            row = dict(zip(labels, _cells(line, starts), strict=True))
            row["interface"] = row["interface"].removeprefix("+ ").strip()
            if row["interface"] and row.get("mtu"):
                yield row


def _cells(line: str, starts: Sequence[int]) -> list[str]:
    return [line[start:end].strip() for start, end in zip(starts, [*starts[1:], None], strict=True)]
