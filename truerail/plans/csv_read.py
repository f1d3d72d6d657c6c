"""A plan from native CSV: one line per cable.

Lines repeat themselves: 100,000 cables name a few thousand devices, eight rails and one speed. So the cells for a
device and for the link are read and checked once for each distinct text.
"""

import csv
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from truerail.files.nodesets import name_fault
from truerail.files.problems import Faults, nearest
from truerail.files.together import MOST_UNITS
from truerail.files.yaml_values import whole
from truerail.model import Cable, Device, LoadBalancing, Panel, Plan, Port, Rail, Role, Transport
from truerail.plans import numbers
from truerail.plans.csv_columns import COLUMNS, DEVICE_FIELDS, FRONT, LINK_COLUMNS, NEEDED, PANEL, cells_of, unguarded
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
        """All lines; with a fault noted, there will be no plan."""
        cables: list[Cable] = []
        width, a_port, b_port = len(self.header), self.header.index("a_port"), self.header.index("b_port")
        label_at = self.header.index("label") if "label" in self.header else -1
        ends_a: dict[Cells, tuple[str, int]] = {}
        ends_b: dict[Cells, tuple[str, int]] = ends_a if self.fields["a"] == self.fields["b"] else {}
        links: dict[Cells, LinkValues] = {}
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
            (near, tier), (far, tier_b), (rail, plane, speed, length) = ends_a[cells_a], ends_b[cells_b], links[cells]
            a = Port(near, ports.get(row[a_port]) or self._port(line, row[a_port]))
            b = Port(far, ports.get(row[b_port]) or self._port(line, row[b_port]))
            label = unguarded(row[label_at]) if label_at >= 0 else ""
            via = self._via(line, row) if self.has_via else ()
            cable = Cable(a, b, rail, plane, speed, label, length, line, via)
            cables.append(turned(cable) if tier_b < tier else cable)
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
        if fault := name_fault(name):
            self.faults.add(line, cell, f"expected a port, {fault}")
            return ""
        self.ports[cell] = name
        return name


_ROLES = {role.value: role for role in Role}
_SINGLE = ("rack", "pod", "platform", "address")
_LISTS = ("aliases", "chassis_ids", "serials")
_FABRIC: dict[str, type[StrEnum] | None] = {"fabric": None, "transport": Transport, "load_balancing": LoadBalancing}


def _words(names: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    return {name: unguarded(cell.strip()) for name, cell in zip(names, cells, strict=True)}


class DeviceCells:
    """Gathers devices; lines that contradict each other about one are faults."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.devices: dict[str, Device] = {}
        self.panels: dict[str, Panel] = {}
        self.first_line: dict[str, int] = {}

    def read(self, line: int, names: Sequence[str], cells: Sequence[str]) -> tuple[str, int]:
        """The device's name and tier; a fault is noted if the cells do not contain them."""
        words = _words(names, cells)
        name, word = words["device"], words["role"].lower()
        role = Role.SUPERSPINE if word == PANEL else _ROLES.get(word)
        if fault := name_fault(name) or ("it must not contain / [ ] or a comma" if set("/[],") & set(name) else ""):
            self.faults.add(line, name, f"expected a device's name, {fault}")
        if role is None:
            self.faults.add(line, words["role"], f"expected a role: {', '.join(_ROLES)}")
        elif word == PANEL:
            self.panels.setdefault(name, Panel())
        elif not fault:
            self._merge(line, Device(name, role, **self._details(line, words), line=line))
        return name, role.tier if role else 0

    def _details(self, line: int, words: dict[str, str]) -> dict[str, Any]:
        details: dict[str, Any] = {name: words[name] for name in _SINGLE if name in words}
        details |= {name: tuple(words[name].split()) for name in _LISTS if name in words}
        for name, most in (("unit", MOST_UNITS), ("gpus", numbers.MOST_GPUS)):
            if words.get(name):
                details[name] = whole(words[name], most)
                if details[name] is None:
                    self.faults.add(line, words[name], f"expected {name} as a whole number from 0 to {most}")
        return details

    def _merge(self, line: int, device: Device) -> None:
        """Merges this line's values of a device with those of earlier lines."""
        old = self.devices.setdefault(device.name, device)
        first = self.first_line.setdefault(device.name, line)
        if old is device:
            return
        for field in ("role", "unit", "gpus", *_SINGLE, *_LISTS):
            before, now = getattr(old, field), getattr(device, field)
            if before in ("", None, ()):
                old = replace(old, **{field: now})
            elif now not in ("", None, (), before):
                self.faults.add(line, str(now), f"{device.name} has {field} {before!s} on line {first}")
        self.devices[device.name] = old


class LinkCells:
    """Reads a line's values of links, of the fabric, and of its rails."""

    def __init__(self, names: Sequence[str], faults: Faults) -> None:
        self.names = names
        self.faults = faults
        self.rails: dict[int, Rail] = {}
        self.fabric: dict[str, str] = {}

    def read(self, line: int, cells: Sequence[str]) -> numbers.LinkValues:
        """Rail, plane, speed and length; None where there is none, or a wrong one, which is a fault."""
        words = _words(self.names, cells)
        found = numbers.link_values({**words, "speed": words.get("speed_gbps", "")}, line, self.faults)
        self._fabric(line, words)
        self._rail(line, found[0], words)
        return found

    def _fabric(self, line: int, words: dict[str, str]) -> None:
        """A value of the whole fabric must be the same on every line that has it."""
        for name, known in _FABRIC.items():
            text = words.get(name, "")
            if not text:
                continue
            if known is not None and text not in list(known):
                self.faults.add(line, text, f"expected one of {', '.join(known)}")
            elif self.fabric.setdefault(name, text) != text:
                self.faults.add(line, text, f"{name} is {self.fabric[name]!r} on an earlier line")

    def _rail(self, line: int, index: int | None, words: dict[str, str]) -> None:
        name, vlans, subnets = (words.get(key, "") for key in ("rail_name", "rail_vlans", "rail_subnets"))
        if index is None or not (name or vlans or subnets):
            return
        found = [whole(text, numbers.HIGHEST_VLAN) for text in vlans.split()]
        if not all(found):
            self.faults.add(line, vlans, f"expected VLANs from 1 to {numbers.HIGHEST_VLAN}")
        for text in subnets.split():
            if fault := numbers.subnet_fault(text):
                self.faults.add(line, text, fault)
        rail = Rail(index, name, tuple(filter(None, found)), tuple(subnets.split()), line)
        if self.rails.setdefault(index, rail) != rail:
            self.faults.add(line, " ".join((name, vlans, subnets)), f"rail {index} differs from an earlier line")

    def plan(self, devices: dict[str, Device], cables: list[Cable], file: str) -> Plan:
        """All of it together."""
        return Plan(
            devices=devices,
            cables=tuple(cables),
            name=self.fabric.get("fabric", ""),
            rails=self.rails,
            transport=Transport(self.fabric.get("transport", Plan.transport)),
            load_balancing=LoadBalancing(self.fabric.get("load_balancing", Plan.load_balancing)),
            source=file,
        )
