"""A plan from native CSV: one line per cable.

Lines repeat themselves: 100,000 cables name a few thousand devices, eight rails and one speed. So the cells for a
device and for the link are read and checked once for each distinct text.
"""

import csv
from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING

from truerail.files.nodesets import name_fault
from truerail.files.problems import Faults, nearest
from truerail.model import Cable, Panel, Plan, Port
from truerail.plans.csv_cells import DeviceCells, LinkCells
from truerail.plans.csv_columns import COLUMNS, DEVICE_FIELDS, FRONT, LINK_COLUMNS, NEEDED, cells_of, unguarded
from truerail.plans.numbers import LinkValues
from truerail.plans.orient import path_of, turned
from truerail.plans.plan_error import PlanError

if TYPE_CHECKING:
    from _csv import Reader

Row = Sequence[str]
Cells = tuple[str, ...]
Pick = Callable[[Row], Cells]


def read_csv(text: str, file: str) -> Plan:
    """The plan in `text`, its delimiter a comma, semicolon or tab. Raises `PlanError` with every problem."""
    faults = Faults(file, PlanError)
    lines = cells_of(text)
    plan = None
    try:
        header = [cell.strip().lower() for cell in next(lines, [])]
        if _header_stands(header, faults):
            plan = _Rows(header, faults).read(lines, file)
    except csv.Error as error:
        faults.add(lines.line_num, "", f"not CSV: {error}")
    faults.raise_any()
    if plan is None:
        raise AssertionError("a file without a plan has a fault")
    return plan


def _header_stands(header: list[str], faults: Faults) -> bool:
    if header and not {*header} & {*NEEDED}:
        faults.add(1, ",".join(header), f"unknown columns: expected {', '.join(NEEDED)}, or other words for them")
        return False
    for name in header:
        if name not in COLUMNS:
            faults.add(1, name, f"unknown column{nearest(name, COLUMNS)}")
    for name in {name for name in header if header.count(name) > 1}:
        faults.add(1, name, "a duplicate column")
    missing = [name for name in NEEDED if name not in header]
    if missing:
        faults.add(1, ",".join(header)[:80], f"missing {', '.join(missing)}; a header has {', '.join(FRONT)}")
    return not faults.found


def _pick(header: list[str], names: list[str]) -> Pick:
    """A function from a row to the cells of `names`."""
    places = [header.index(name) for name in names]
    if len(places) == 1:
        return lambda row: (row[places[0]],)
    return itemgetter(*places)


class _Rows:
    """Reads the lines below a header."""

    def __init__(self, header: list[str], faults: Faults) -> None:
        self.header = header
        self.faults = faults
        self.devices = DeviceCells(faults)
        self.fields = {side: [name for name in DEVICE_FIELDS if f"{side}_{name}" in header] for side in "ab"}
        self.pick_a, self.pick_b = (_pick(header, [f"{side}_{name}" for name in self.fields[side]]) for side in "ab")
        link_columns = [name for name in LINK_COLUMNS if name in header]
        self.links = LinkCells(link_columns, faults)
        self.has_via = "via" in header
        self.pick_link = _pick(header, link_columns)
        self.ports: dict[str, str] = {}

    def read(self, lines: "Reader", file: str) -> Plan:
        """All lines; a line with a fault is noted and left out."""
        cables: list[Cable] = []
        width, a_port, b_port = len(self.header), self.header.index("a_port"), self.header.index("b_port")
        label_at = self.header.index("label") if "label" in self.header else -1
        ends_a: dict[Cells, tuple[str, int] | None] = {}
        ends_b: dict[Cells, tuple[str, int] | None] = ends_a if self.fields["a"] == self.fields["b"] else {}
        links: dict[Cells, LinkValues | None] = {}
        pick_a, pick_b, pick_link, ports = self.pick_a, self.pick_b, self.pick_link, self.ports
        for row in lines:
            line = lines.line_num
            if len(row) != width:
                if any(row):
                    self.faults.add(line, "", f"expected {width} columns, found {len(row)}")
                continue
            cells_a, cells_b, cells = pick_a(row), pick_b(row), pick_link(row)
            if cells_a not in ends_a:
                ends_a[cells_a] = self.devices.read(line, self.fields["a"], cells_a)
            if cells_b not in ends_b:
                ends_b[cells_b] = self.devices.read(line, self.fields["b"], cells_b)
            if cells not in links:
                links[cells] = self.links.read(line, cells)
            near, far, link = ends_a[cells_a], ends_b[cells_b], links[cells]
            port_a = ports.get(row[a_port]) or self._port(line, row[a_port])
            port_b = ports.get(row[b_port]) or self._port(line, row[b_port])
            if not (near and far and link and port_a and port_b):
                continue
            rail, plane, speed, length = link
            label = unguarded(row[label_at]) if label_at >= 0 else ""
            via = self._via(line, row) if self.has_via else ()
            cable = Cable(Port(near[0], port_a), Port(far[0], port_b), rail, plane, speed, label, length, line, via)
            cables.append(turned(cable) if far[1] < near[1] else cable)
        return replace(self.links.plan(self.devices.devices, cables, file), panels=self.devices.panels)

    def _via(self, line: int, row: Row) -> tuple[Port, ...]:
        """The panel ports of a line; takes in where their panels are, `r1:42 > r9:40`, one for each."""
        text, places = (
            unguarded(row[self.header.index(name)]) if name in self.header else "" for name in ("via", "via_places")
        )
        try:
            via = path_of(text)
        except ValueError as error:
            self.faults.add(line, text, str(error))
            return ()
        for port, place in zip(via, places.split(">"), strict=False):
            rack, _, unit = place.strip().rpartition(":")
            if place.strip():
                self.devices.panels.setdefault(port.device, Panel(rack, int(unit) if unit.isdecimal() else None))
        return via

    def _port(self, line: int, cell: str) -> str:
        """A port's name, interned; empty with a fault noted if it is not a valid name."""
        name = unguarded(cell.strip())
        fault = name_fault(name)
        if fault:
            self.faults.add(line, cell, f"expected a port, {fault}")
            return ""
        self.ports[cell] = name
        return name
