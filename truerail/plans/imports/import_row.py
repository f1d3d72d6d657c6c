"""What every reader yields: the cables of a file as rows, and the rows that are no cables."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from truerail.model.names import printable, some
from truerail.plans.imports.table_places import place_in
from truerail.plans.imports.translated import pattern

NO_VALUE = pattern("no_value")
_SEVERAL = pattern("several_ports")
"""Ports in one cell: `1,2`, `Eth1/1 & Eth1/2`, `eth0 + eth1`, or one below the other."""
_RANGE = re.compile(r"(?:swp|eth(?:ernet)?)(?:\d+/)*(\d+)-(\d+).*", re.IGNORECASE)
"""`swp1-4`; where ports count down too, as `Eth2-1` does, it is a half of a cage."""
_PATTERN = re.compile(r"[^{}]*\{[^{}]*(?:\.\.|,)[^{}]*\}.*")
"""Names in one: `leaf-{01..04}`."""
UNNAMED = "?"
"""Begins the name of a port that the file does not name: `?1` is the first such port of its device."""
_MOST_LISTED = 12


@dataclass(frozen=True, slots=True)
class End:
    """One end of a row. `kind` is the file's word for the role or type of the device, or for the kind of port; empty if
    it has none.
    """

    device: str
    port: str
    rack: str = ""
    unit: int | None = None
    kind: str = ""
    site: str = ""
    mac: str = ""
    column: str = ""
    """The column of the port in a table, as spreadsheets count: `A`, `B`, ... `AA`."""


@dataclass(frozen=True, slots=True)
class ImportRow:
    """One cable of a file. `line` is the row of `sheet`, or the line of the file, counted from one; 0 is unknown.
    `where` names the place in a file that is not read by lines: `link 3`.
    """

    a: End
    b: End
    line: int = 0
    sheet: str = ""
    speed_gbps: float | None = None
    length_m: float | None = None
    label: str = ""
    rail: int | None = None
    plane: int | None = None
    where: str = ""
    via: tuple[End, ...] = ()
    """The panel ports between the ends."""

    @property
    def place(self) -> str:
        """Where the row is, for messages: `sheet 'IB' row 12`, `row 12`, `link 3`."""
        return place_in(self.sheet, self.line) if self.line else self.where or f"{self.a.device}/{self.a.port}"

    def with_ends(self, change: Callable[[End], End]) -> "ImportRow":
        """The row with both ends changed, and the panel ports."""
        return replace(self, a=change(self.a), b=change(self.b), via=tuple(map(change, self.via)))


@dataclass(slots=True)
class Rows:
    """The cables of a file in its order. `left_out` has places by what is said of them, such as why a row is no cable;
    `nodes` what the file says of a device beside its cables.
    """

    found: list[ImportRow] = field(default_factory=list)
    left_out: dict[str, dict[str, None]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    nodes: dict[str, End] = field(default_factory=dict)
    inside: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    """Of patch panels: a panel and its front port, to the rear port behind it and the position there."""
    names: list[tuple[str, str]] = field(default_factory=list)
    """A device, and another name of it."""

    @classmethod
    def of(cls, cables: Iterable[ImportRow]) -> "Rows":
        """The rows of a file that are cables, or are listed as none."""
        rows = cls()
        for cable in cables:
            rows.add(cable)
        return rows

    @classmethod
    def of_links(cls, links: Iterable[Sequence[End]], between: str = "devices") -> "Rows":
        """The links of a file, by their number."""
        rows = cls()
        for number, ends in enumerate(links, 1):
            rows.add_link(ends, f"link {number}", between)
        return rows

    def add(self, row: ImportRow) -> None:
        """Takes a row in, or lists it among those that are no cables."""
        if reason := why_no_cable(row):
            self.leave_out(reason, row.place)
        else:
            self.found.append(row)

    def add_link(self, ends: Sequence[End], where: str, between: str = "devices", **values: Any) -> None:
        """Takes in a link of two ends with further values of its row, or lists one of fewer or more ends."""
        if len(ends) == 2:
            self.add(ImportRow(ends[0], ends[1], where=where, **values))
        else:
            self.leave_out(f"not a cable between two {between}", where)

    def without_ranges(self) -> None:
        """Lists the rows with ports such as `swp1-4` among those that are no cables."""
        ranges = [
            (row, range_) for row in self.found for end in (row.a, row.b) if (range_ := _RANGE.fullmatch(end.port))
        ]
        if all(int(range_[1]) < int(range_[2]) for _, range_ in ranges):
            for row, range_ in ranges:
                self.leave_out(_several_ports(range_[0]), row.place)
            aside = {row for row, _ in ranges}
            self.found = [row for row in self.found if row not in aside]

    def leave_out(self, reason: str, where: str) -> None:
        """Lists a place in the file under what is said of it."""
        self.left_out.setdefault(reason, {})[where] = None

    def reported(self) -> list[str]:
        """One line for each reason, then the notes."""
        return [f"{some([*places], _MOST_LISTED)}: {why}" for why, places in self.left_out.items()] + self.notes


class UnnamedPorts(Counter[str]):
    """Gives ports that a file does not name the names `?1`, `?2`, ...: for each device in the order of the file."""

    def next(self, device: str) -> str:
        """The next name on a device."""
        self[device] += 1
        return f"{UNNAMED}{self[device]}"


def why_no_cable(row: ImportRow) -> str:
    """Why a row is no cable; empty if it is one."""
    words = (row.a.device, row.a.port, row.b.device, row.b.port)
    if not all(words):
        return "not a cable, because a device or a port is empty"
    if vague := next((word for word in words if NO_VALUE.fullmatch(word)), ""):
        return f"not a cable, because it says {printable(vague, 40)!r}"
    if several := next((port for port in (row.a.port, row.b.port) if _SEVERAL.fullmatch(port)), ""):
        return _several_ports(several)
    if several := next((device for device in words[::2] if "\n" in device or "|" in device), ""):
        return f"not a cable, because {_in_one_line(several)} names several devices"
    if several := next((word for word in words if _PATTERN.fullmatch(word)), ""):
        return f"not a cable, because {printable(several, 40)!r} is a pattern of names"
    return "not a cable, because both ends are the same port" if words[:2] == words[2:] else ""


def _several_ports(cell: str) -> str:
    return f"not a cable, because {_in_one_line(cell)} names several ports"


def _in_one_line(cell: str) -> str:
    return repr(printable(" | ".join(cell.split("\n")), 40))


# ----------------------------------------------------------------------------------------------------------------------
# Values out of a parsed JSON or YAML file, whatever it has in their places.


def get(value: Any, *path: str) -> Any:
    """A nested value; None where a step is missing."""
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def text(value: Any) -> str:
    """A name or a number; empty for what is neither."""
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def dicts(value: Any) -> list[Mapping[str, Any]]:
    """The mappings of a list; none of what is no list."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def end_at(value: Any, device: str, port: str, kind: str = "") -> End:
    """An end by the paths of its device, port and kind, such as `system.label`."""
    device, port, kind = (text(get(value, *path.split("."))) if path else "" for path in (device, port, kind))
    return End(device, port, kind=kind)
