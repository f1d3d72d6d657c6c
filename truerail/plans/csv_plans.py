"""Plans in native CSV: one line per cable.

Lines repeat themselves: 100,000 cables name a few thousand devices, eight rails and one speed. So the cells for a
device and for the link are read and checked once for each distinct text.
"""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from truerail.files.nodesets import name_fault
from truerail.files.problems import Faults, PlanError, nearest
from truerail.files.yaml_values import MOST_UNITS, whole
from truerail.model import Cable, Device, LoadBalancing, Panel, Plan, Port, Rail, Role, Transport
from truerail.plans import numbers
from truerail.plans.orient import cable_words, path_of, turned

if TYPE_CHECKING:
    from _csv import Reader

NEEDED = ("a_device", "a_role", "a_port", "b_device", "b_role", "b_port", "rail")
"""Columns that a file must have."""
DEVICE_FIELDS = (
    *("device", "role", "rack", "unit", "pod", "gpus", "platform", "address"),
    *("aliases", "chassis_ids", "serials"),
)
"""Columns for the device at each end, as `a_...` and `b_...`; names after `address` are lists, split at blanks."""
PANEL = "panel"
"""In place of a role, where a cable ends in a patch panel because its path has a gap."""
LINK_COLUMNS = (
    *("rail", "plane", "speed_gbps", "length_m"),
    *("fabric", "transport", "load_balancing", "rail_name", "rail_vlans", "rail_subnets"),
)
"""Columns for the cable, the fabric and its rail, besides the ends' names and the label."""
FRONT = (*NEEDED, "plane", "speed_gbps")
"""The columns that every written file has, in this order."""
BACK = (
    *("label", "a_rack", "a_unit", "b_rack", "b_unit", "length_m", "via", "via_places", "a_pod", "b_pod", "a_gpus"),
    *("a_platform", "b_platform"),
    *("a_address", "b_address", "a_aliases", "b_aliases", "a_chassis_ids", "b_chassis_ids"),
    *("a_serials", "b_serials"),
    *("fabric", "transport", "load_balancing", "rail_name", "rail_vlans", "rail_subnets"),
)
"""The columns that are written if any line has a value in them."""
COLUMNS = (*FRONT, *BACK, "b_gpus")

DELIMITERS = (",", ";", "\t")
_RISKY = tuple("=+-@\t\r'")


def guarded(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula: an apostrophe before what would start one."""
    return f"'{cell}" if cell.startswith(_RISKY) else cell


def unguarded(cell: str) -> str:
    """The cell without the apostrophe that `guarded` put there."""
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(_RISKY) else cell


def cells_of(text: str) -> "Reader":
    """The lines of delimited text as cells, their delimiter the one that the first line with any has most. Iterating
    raises `csv.Error`.
    """
    head = next((line for line in text[:4096].split("\n") if any(sign in line for sign in DELIMITERS)), "")
    delimiter = max(DELIMITERS, key=head.count)
    return csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter, strict=True)


# ----------------------------------------------------------------------------------------------------------------------
# Reading.

Row = Sequence[str]
Cells = tuple[str, ...]
Pick = Callable[[Row], Cells]


def read_csv(text: str, file: str) -> Plan:
    """The plan in `text`, its delimiter a comma, semicolon or tab. Raises `PlanError` with every problem."""
    faults = Faults(file, PlanError)
    lines = cells_of(text)
    plan = Plan({}, ())
    try:
        header = [cell.strip().lower() for cell in next(lines, [])]
        if _header_stands(header, faults):
            plan = _Lines(header, faults).read(lines, file)
    except csv.Error as error:
        faults.add(lines.line_num, "", f"not CSV: {error}")
    faults.raise_any()  # a file without a plan has a fault
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


def _pick(header: list[str], names: Sequence[str]) -> Pick:
    """A function from a row to the cells of `names`."""
    places = [header.index(name) for name in names]
    return itemgetter(*places) if len(places) > 1 else lambda row: (row[places[0]],)


class _Lines:
    """Reads the lines below a header. What contradicts an earlier line is a fault."""

    def __init__(self, header: list[str], faults: Faults) -> None:
        self.header = header
        self.faults = faults
        self.line = 0
        self.devices: dict[str, Device] = {}
        self.panels: dict[str, Panel] = {}
        self.ports: dict[str, str] = {}
        self.rails: dict[int, Rail] = {}
        self.fabric: dict[str, str] = {}

    def read(self, lines: "Reader", file: str) -> Plan:
        """All lines; with a fault noted, there will be no plan."""
        cables: list[Cable] = []
        header, ports = self.header, self.ports
        width, a_port, b_port = len(header), header.index("a_port"), header.index("b_port")
        label_at, via_at = (header.index(name) if name in header else -1 for name in ("label", "via"))
        of_a, of_b = (tuple(name for name in DEVICE_FIELDS if f"{side}_{name}" in header) for side in "ab")
        of_link = tuple(name for name in LINK_COLUMNS if name in header)
        pick_a, pick_b = (_pick(header, [f"{side}_{name}" for name in of]) for side, of in (("a", of_a), ("b", of_b)))
        pick_link, device, link = _pick(header, of_link), cache(self._device), cache(self._link)
        for row in lines:
            self.line = lines.line_num
            if len(row) != width:
                if any(row):
                    self._fault("", f"expected {width} columns, found {len(row)}")
                continue
            (near, tier), (far, tier_b) = device(of_a, pick_a(row)), device(of_b, pick_b(row))
            rail, plane, speed, length = link(of_link, pick_link(row))
            a = Port(near, ports.get(row[a_port]) or self._port(row[a_port]))
            b = Port(far, ports.get(row[b_port]) or self._port(row[b_port]))
            label = unguarded(row[label_at]) if label_at >= 0 else ""
            via = self._via(row) if via_at >= 0 else ()
            cable = Cable(a, b, rail, plane, speed, label, length, self.line, via)
            cables.append(turned(cable) if tier_b < tier else cable)
        return Plan(
            devices=self.devices,
            cables=tuple(cables),
            name=self.fabric.get("fabric", ""),
            rails=self.rails,
            transport=Transport(self.fabric.get("transport", Plan.transport)),
            load_balancing=LoadBalancing(self.fabric.get("load_balancing", Plan.load_balancing)),
            panels=self.panels,
            source=file,
        )

    def _fault(self, value: str, says: str) -> None:
        self.faults.add(self.line, value, says)

    def _via(self, row: Row) -> tuple[Port, ...]:
        """The panel ports of a line; takes in where their panels are, `r1:42 > r9:40`, one for each."""
        text, places = (
            unguarded(row[self.header.index(name)]) if name in self.header else "" for name in ("via", "via_places")
        )
        try:
            via = path_of(text)
        except ValueError as error:
            self._fault(text, str(error))
            return ()
        for port, place in zip(via, places.split(">"), strict=False):
            rack, _, unit = place.strip().rpartition(":")
            if place.strip():
                self.panels.setdefault(port.device, Panel(rack, int(unit) if unit.isdecimal() else None))
        return via

    def _port(self, cell: str) -> str:
        """A port's name, interned; empty with a fault noted if it is not a valid name."""
        name = unguarded(cell.strip())
        if fault := name_fault(name):
            self._fault(cell, f"expected a port, {fault}")
            return ""
        self.ports[cell] = name
        return name

    def _device(self, names: Cells, cells: Cells) -> tuple[str, int]:
        """The device's name and tier; a fault is noted if the cells do not contain them."""
        words = _words(names, cells)
        name, word = words["device"], words["role"].lower()
        role = Role.SUPERSPINE if word == PANEL else _ROLES.get(word)
        if fault := name_fault(name) or ("it must not contain / [ ] or a comma" if set("/[],") & set(name) else ""):
            self._fault(name, f"expected a device's name, {fault}")
        if role is None:
            self._fault(words["role"], f"expected a role: {', '.join(_ROLES)}")
        elif word == PANEL:
            self.panels.setdefault(name, Panel())
        elif not fault:
            self._merge(Device(name, role, **self._details(words), line=self.line))
        return name, role.tier if role else 0

    def _details(self, words: dict[str, str]) -> dict[str, Any]:
        details: dict[str, Any] = {name: words[name] for name in _SINGLE if name in words}
        details |= {name: tuple(words[name].split()) for name in _LISTS if name in words}
        for name, most in (("unit", MOST_UNITS), ("gpus", numbers.MOST_GPUS)):
            if words.get(name):
                details[name] = whole(words[name], most)
                if details[name] is None:
                    self._fault(words[name], f"expected {name} as a whole number from 0 to {most}")
        return details

    def _merge(self, device: Device) -> None:
        """Merges this line's values of a device with those of earlier lines."""
        old = self.devices.setdefault(device.name, device)
        for field in ("role", "unit", "gpus", *_SINGLE, *_LISTS):
            before, now = getattr(old, field), getattr(device, field)
            if before != now and before in ("", None, ()):
                old = replace(old, **{field: now})
            elif now not in ("", None, (), before):
                self._fault(str(now), f"{device.name} has {field} {before!s} on line {old.line}")
        self.devices[device.name] = old

    def _link(self, names: Cells, cells: Cells) -> numbers.LinkValues:
        """Rail, plane, speed and length; None where there is none, or a wrong one, which is a fault."""
        words = _words(names, cells)
        found = numbers.link_values({**words, "speed": words.get("speed_gbps", "")}, self.line, self.faults)
        self._of_fabric(words)
        self._of_rail(found[0], words)
        return found

    def _of_fabric(self, words: dict[str, str]) -> None:
        """A value of the whole fabric must be the same on every line that has it."""
        for name, known in _FABRIC.items():
            text = words.get(name, "")
            if text and known is not None and text not in list(known):
                self._fault(text, f"expected one of {', '.join(known)}")
            elif text and self.fabric.setdefault(name, text) != text:
                self._fault(text, f"{name} is {self.fabric[name]!r} on an earlier line")

    def _of_rail(self, index: int | None, words: dict[str, str]) -> None:
        name, vlans, subnets = (words.get(key, "") for key in ("rail_name", "rail_vlans", "rail_subnets"))
        if index is None or not (name or vlans or subnets):
            return
        found = [whole(text, numbers.HIGHEST_VLAN) for text in vlans.split()]
        if not all(found):
            self._fault(vlans, f"expected VLANs from 1 to {numbers.HIGHEST_VLAN}")
        for text in subnets.split():
            if fault := numbers.subnet_fault(text):
                self._fault(text, fault)
        rail = Rail(index, name, tuple(filter(None, found)), tuple(subnets.split()), self.line)
        if self.rails.setdefault(index, rail) != rail:
            self._fault(" ".join((name, vlans, subnets)), f"rail {index} differs from an earlier line")


_ROLES = {role.value: role for role in Role}
_SINGLE = ("rack", "pod", "platform", "address")
_LISTS = ("aliases", "chassis_ids", "serials")
_FABRIC: dict[str, type[StrEnum] | None] = {"fabric": None, "transport": Transport, "load_balancing": LoadBalancing}


def _words(names: Cells, cells: Cells) -> dict[str, str]:
    return {name: unguarded(cell.strip()) for name, cell in zip(names, cells, strict=True)}


# ----------------------------------------------------------------------------------------------------------------------
# Writing: nothing is implied.


def dump_csv(plan: Plan) -> str:
    """The plan as CSV that `load` reads back: all cables, the devices they join, and their properties.

    Devices without a cable have no line and are left out. So are empty columns.
    """
    rows = [_row(cable, plan) for cable in plan.cables]
    used = {name for row in rows for name, cell in row.items() if cell}
    columns = [*FRONT, *(name for name in BACK if name in used)]
    return delimited(columns, ([row.get(name, "") for name in columns] for row in rows))


def delimited(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """CSV, in which no cell is a spreadsheet's formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([guarded(cell) for cell in row] for row in rows)
    return out.getvalue()


def _row(cable: Cable, plan: Plan) -> dict[str, str]:
    rail = plan.rails.get(-1 if cable.rail is None else cable.rail, Rail(-1))
    return {
        **_end("a", cable.a.device, plan),
        **_end("b", cable.b.device, plan),
        "a_port": cable.a.name,
        "b_port": cable.b.name,
        **cable_words(cable),
        "speed_gbps": numbers.plain(cable.speed_gbps),
        "via_places": _places(plan, cable.via),
        "fabric": plan.name,
        "transport": plan.transport.value if plan.transport is not Plan.transport else "",
        "load_balancing": plan.load_balancing.value if plan.load_balancing is not Plan.load_balancing else "",
        "rail_name": rail.name,
        "rail_vlans": " ".join(map(str, rail.vlans)),
        "rail_subnets": " ".join(rail.subnets),
    }


def _end(side: str, name: str, plan: Plan) -> dict[str, str]:
    device = plan.devices.get(name, Device(name))
    values = {field: getattr(device, field) for field in DEVICE_FIELDS[1:]} | {"device": name}
    values |= {"role": PANEL} if name in plan.panels else {}
    values |= {field: numbers.plain(values[field]) for field in ("unit", "gpus")}
    return {f"{side}_{field}": " ".join(of) if isinstance(of, tuple) else str(of) for field, of in values.items()}


def _places(plan: Plan, via: Sequence[Port]) -> str:
    """`r1:42 > r9:40`; empty where the plan does not say it."""
    panels = [plan.panels.get(port.device, Panel()) for port in via]
    return " > ".join(f"{panel.rack}:{numbers.plain(panel.unit)}" for panel in panels) if any(map(any, panels)) else ""
