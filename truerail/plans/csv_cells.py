"""The cells of a CSV line for a device and for a link. Each distinct text is read once."""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, TypeVar

from truerail.files.nodesets import name_fault
from truerail.files.problems import Faults
from truerail.files.together import MOST_UNITS
from truerail.files.yaml_values import whole
from truerail.model import Cable, Device, LoadBalancing, Panel, Plan, Rail, Role, Transport
from truerail.plans import numbers
from truerail.plans.csv_columns import PANEL, unguarded

E = TypeVar("E", bound=StrEnum)

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

    def read(self, line: int, names: Sequence[str], cells: Sequence[str]) -> tuple[str, int] | None:
        """The device's name and tier; None with a fault noted if the cells do not contain them."""
        words = _words(names, cells)
        name, word = words["device"], words["role"].lower()
        role = Role.SUPERSPINE if word == PANEL else _ROLES.get(word)
        fault = name_fault(name) or ("it must not contain / [ ] or a comma" if set("/[],") & set(name) else "")
        if fault:
            self.faults.add(line, name, f"expected a device's name, {fault}")
        if role is None:
            self.faults.add(line, words["role"], f"expected a role: {', '.join(_ROLES)}")
        if fault or role is None:
            return None
        if word == PANEL:
            self.panels.setdefault(name, Panel())
            return name, role.tier
        self._merge(line, Device(name, role, **self._details(line, words), line=line))
        return name, role.tier

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

    def read(self, line: int, cells: Sequence[str]) -> numbers.LinkValues | None:
        """Rail, plane, speed and length; None with a fault noted where a cell is wrong."""
        words = _words(self.names, cells)
        before = len(self.faults.found) + self.faults.unreported
        found = numbers.link_values({**words, "speed": words.get("speed_gbps", "")}, line, self.faults)
        self._fabric(line, words)
        self._rail(line, found[0], words)
        if len(self.faults.found) + self.faults.unreported > before:
            return None
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
            transport=_known(Transport, self.fabric.get("transport"), Transport.ROCE),
            load_balancing=_known(LoadBalancing, self.fabric.get("load_balancing"), LoadBalancing.ECMP),
            source=file,
        )


def _known(kind: type[E], word: str | None, default: E) -> E:
    return kind(word) if word in list(kind) else default
