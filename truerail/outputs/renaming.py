"""Names of devices and ports that change, as text to review: in the plan, in an inventory, on a host. Nothing here is
applied.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from difflib import unified_diff
from typing import Final

from truerail.model.names import printable
from truerail.model.plan import Device, Plan, Port
from truerail.plans.csv_plans import dump_csv

_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_NAME: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
"""A host name: https://www.rfc-editor.org/rfc/rfc1123 section 2.1. It needs no quotes in any command line."""
_LONGEST: Final = 253


def is_name(name: str) -> bool:
    """Whether this is a host name, so that pasting it is safe."""
    return len(name) <= _LONGEST and _NAME.fullmatch(name) is not None


def why_unsafe(name: str) -> str:
    """Why a device does not get this name."""
    return f"{printable(name, 80)!r} is no host name (letters, digits, hyphens and dots): rename it by hand"


def renamed_plan(plan: Plan, names: Mapping[str, str]) -> Plan:
    """The plan with these names, by the present ones: of devices, and of ports as `device/port`. A device that gets
    another's name has the other's own properties and stays in its place; cables stay where they are.
    """
    cables = tuple(one._replace(a=_renamed(one.a, names), b=_renamed(one.b, names)) for one in plan.cables)
    devices = {names.get(name, name): _moved(plan, name, names) for name in plan.devices}
    return replace(plan, cables=cables, devices=devices)


def _moved(plan: Plan, name: str, names: Mapping[str, str]) -> Device:
    """The device that has the place of `name`: its platform, aliases, addresses and chassis ids are its own."""
    place, new = plan.devices[name], names.get(name, name)
    named = plan.devices.get(new, replace(place, name=new))
    return replace(named, role=place.role, pod=place.pod, rack=place.rack, unit=place.unit, gpus=place.gpus)


def _renamed(port: Port, names: Mapping[str, str]) -> Port:
    device = names.get(port.device, port.device)
    return Port(device, names.get(str(port), str(port)).partition("/")[2])


def plan_diff(plan: Plan, names: Mapping[str, str]) -> str:
    """The change of the plan, in its CSV form, as a unified diff for `patch`."""
    before, after = (dump_csv(one) for one in (plan, renamed_plan(plan, names)))
    return text_diff(before, after, "plan.csv", context=0)


def text_diff(before: str, after: str, file: str, context: int = 3) -> str:
    """A unified diff of a file for `patch`; empty if nothing changes. A file that does not exist yet has no text."""
    old, new = (text.splitlines(keepends=True) for text in (before, after))
    return "".join(map(_diff_line, unified_diff(old, new, file if before else "/dev/null", file, n=context)))


def _diff_line(line: str) -> str:
    """A line of a unified diff, with the mark for a last line of a file that has no end."""
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def inventory_changes(names: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Names of devices or ports as NetBox or Nautobot change them, one after the other: (its name, its new name). A
    name is unique there, so that of those that exchange names the first has a name for the time between.
    """
    holder = {new: old for old, new in names.items()}
    left, steps = dict(names), []
    while left:
        last = next((old for old, new in left.items() if new not in left), None)
        if last is None:  # all names that are left are exchanged
            first = next(iter(left))
            between = f"{first}-renamed"
            steps.append((first, between))
            left[between] = left.pop(first)
            last = holder[first]
        while last in left:
            steps.append((last, left.pop(last)))
            last = holder.get(last, "")
    return tuple(steps)


# ----------------------------------------------------------------------------------------------------------------------
# Names of a host's network interfaces as systemd's `.link` files, as a patch to review. Nothing here is applied.
#
# Format: systemd.link(5). `PermanentMACAddress=` matches the card, whatever name the kernel gave it. Without a
# `NamePolicy=` in the same file `Name=` decides; of several files the first by name applies, before `99-default.link`.
# The names are in use until the interfaces are renamed, so that a file takes effect at the next boot.

_FOLDER: Final = "etc/systemd/network"
_INTERFACE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,14}")
"""A name that Linux takes for an interface (15 characters), without those that would need quotes."""


def link_files(macs: Mapping[str, str]) -> str:
    """A patch for `patch -p0 -d /` that adds a file for each interface: `macs` are the permanent MAC addresses by the
    name that each gets.
    """
    return "".join(
        text_diff("", f"[Match]\nPermanentMACAddress={mac}\n\n[Link]\nName={name}\n", f"{_FOLDER}/10-{name}.link")
        for name, mac in macs.items()
    )


def unfit_name(name: str) -> str:
    """Why an interface cannot have this name; empty if it can."""
    return "" if _INTERFACE.fullmatch(name) else f"{printable(name, 80)!r} is no name of a network interface"
