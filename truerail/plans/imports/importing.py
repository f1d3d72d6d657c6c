"""A plan from a cable list of another tool: its devices with roles, its cables each once, with rails and planes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from truerail.files.nodesets import name_fault
from truerail.files.problems import Faults, PlanError
from truerail.model import Cable, Device, Plan, Port, Rail, Role
from truerail.model.columns import grouped
from truerail.model.names import natural_key, port_key, some
from truerail.plans.imports.implied import first_ports, is_out_of_band, roles_of, with_names, with_rails
from truerail.plans.imports.import_row import End, ImportRow, Rows
from truerail.plans.imports.panels import joined
from truerail.plans.imports.recognized import recognized, recognized_text, unrecognized
from truerail.plans.imports.translated import pattern
from truerail.plans.orient import oriented


class Imported(NamedTuple):
    """A plan, and the format that it was read as."""

    plan: Plan
    format: str


def import_plan(path: Path, *, out_of_band: bool = False) -> Imported:
    """The plan in a cable list of any known format. `out_of_band` keeps the cables of the management network. Raises
    `PlanError` for a file of no known format, without cables, or with names that no device can have.
    """
    found = recognized(path)
    if found is None:
        raise unrecognized(str(path))
    return plan_of(*found, str(path), out_of_band=out_of_band)


def import_text(text: str, file: str, *, out_of_band: bool = False) -> Imported | None:
    """The same for a text; None if it is of no known format, as the project's own formats are."""
    found = recognized_text(text, file)
    return None if found is None else plan_of(*found, file, out_of_band=out_of_band)


def plan_of(form: str, rows: Rows, file: str, *, out_of_band: bool) -> Imported:
    """The plan of rows."""
    faults = Faults(file, PlanError)
    rows.without_ranges()
    segments = _once(_with_nodes(_with_sites(_spelled_once(rows)), rows.nodes), rows)
    _check(segments, rows, faults)
    found, gaps, panels = joined(segments, rows)
    roles = roles_of(gaps) | roles_of(found)
    in_band = [*found, *gaps] if out_of_band else _in_band([*found, *gaps], rows)
    kept, gaps = ([row for row in in_band if (row.b.device in panels) is gap] for gap in (False, True))
    devices = with_names(_devices(in_band, roles, panels), rows, kept)
    cables = with_rails([_cable(row, devices) for row in kept], roles, rows)
    cables = (*cables, *(_cable(row, devices) for row in gaps))
    rails = {rail: Rail(rail) for rail in sorted({cable.rail for cable in cables if cable.rail is not None})}
    places = dict(
        _places(row, cable) for row, cable in zip([*kept, *gaps], cables, strict=True) if row.a.column and row.b.column
    )
    plan = Plan(devices, cables, rails=rails, source=file, notes=tuple(rows.reported()), panels=panels, places=places)
    return Imported(plan, form)


def _places(row: ImportRow, cable: Cable) -> tuple[tuple[Port, Port], tuple[str, str]]:
    """The ends of a cable, and the cells of its row that name them."""
    ends = (row.a, row.b) if cable.a == (row.a.device, row.a.port) else (row.b, row.a)
    a, b = (f"{row.place}, column {end.column}" for end in ends)
    return (cable.a, cable.b), (a, b)


def _with_nodes(found: Sequence[ImportRow], nodes: Mapping[str, End]) -> list[ImportRow]:
    """The rows with what the file says of their devices beside the cables."""
    known = {name.lower(): end for name, end in nodes.items()}
    return [row.with_ends(lambda end: _of_node(end, known)) for row in found] if known else [*found]


def _of_node(end: End, nodes: Mapping[str, End]) -> End:
    node = nodes.get(end.device.lower())
    if node is None:
        return end
    rack, unit = (end.rack, end.unit) if end.rack else (node.rack, node.unit)
    return replace(end, rack=rack, unit=unit, kind=end.kind or node.kind)


def _check(found: Sequence[ImportRow], rows: Rows, faults: Faults) -> None:
    """Refuses names that cannot be a device's, cells that a spreadsheet turned into dates, and files without cables."""
    for row in found:
        for word in (row.a.device, row.a.port, row.b.device, row.b.port):
            if fault := name_fault(word):
                faults.add(row.line, word, fault)
            elif word.startswith("date ") or (word in (row.a.port, row.b.port) and _DATE.fullmatch(word)):
                faults.add(row.line, word, f"{row.place}: a date, made of a port by the spreadsheet; use text cells")
    if not found:
        faults.add(0, "", "; ".join(["no cable", *rows.reported()[:3]]))
    faults.raise_any()


def _spelled_once(rows: Rows) -> list[ImportRow]:
    """The rows with each device as it is spelled first: `GPU-1` and `gpu-1` are one, as they are where devices report
    their names.
    """
    first: dict[str, str] = {}
    for end in (end for row in rows.found for end in (row.a, row.b)):
        first.setdefault(end.device.lower(), end.device)
    other = {end.device for row in rows.found for end in (row.a, row.b)} - set(first.values())
    if not other:
        return rows.found
    shown = some([f"{name} as {first[name.lower()]}" for name in sorted(other)], _MOST_SPELLED)
    rows.notes.append(f"read as one device, because names differ in upper and lower case alone: {shown}")
    return [row.with_ends(lambda end: replace(end, device=first[end.device.lower()])) for row in rows.found]


_MOST_SPELLED: Final = 6
"""Listed in a note."""


_DATE: Final = pattern("date")
"""What a spreadsheet writes into CSV in the place of a port such as `1/3`: `3-Jan`, `03.01.2026`."""


def _with_sites(found: Sequence[ImportRow]) -> list[ImportRow]:
    """Devices that have one name in several sites get the site's name too."""
    sites = grouped({(end.device, end.site) for row in found for end in (row.a, row.b)})
    several = {device for device, known in sites.items() if len(known) > 1}

    def sited(end: End) -> End:
        return replace(end, device=f"{end.device} ({end.site})") if end.device in several else end

    return [row.with_ends(sited) for row in found]


def _once(found: Sequence[ImportRow], rows: Rows) -> list[ImportRow]:
    """Each cable once, also where both of its ends list it, and spell a port in two ways: `Ethernet1/1`, `Eth1/1`."""
    known: dict[frozenset[tuple[str, str]], ImportRow] = {}
    for row in found:
        ends = frozenset(((row.a.device, port_key(row.a.port)), (row.b.device, port_key(row.b.port))))
        known.setdefault(ends, row)
    if again := len(found) - len(known):
        listed = "1 row lists" if again == 1 else f"{again:,} rows list"
        rows.notes.append(f"{listed} a cable again, as its other end does")
    return list(known.values())


def _devices(found: Sequence[ImportRow], roles: Mapping[str, Role], panels: Collection[str]) -> dict[str, Device]:
    """Devices in natural order, as their lists read best, with the first rack and unit that the file gives each."""
    devices: dict[str, Device] = {}
    for end in (end for row in found for end in (row.a, row.b) if end.device not in panels):
        known = devices.setdefault(end.device, Device(end.device, roles[end.device]))
        if not known.rack and end.rack:
            devices[end.device] = replace(known, rack=end.rack, unit=end.unit)
    return {name: devices[name] for name in sorted(devices, key=natural_key)}


def _cable(row: ImportRow, devices: Mapping[str, Device]) -> Cable:
    ends = Port(row.a.device, row.a.port), Port(row.b.device, row.b.port)
    via = tuple(Port(end.device, end.port) for end in row.via)
    return oriented(Cable(*ends, row.rail, row.plane, row.speed_gbps, row.label, row.length_m, row.line, via), devices)


def _in_band(found: list[ImportRow], rows: Rows) -> list[ImportRow]:
    """Without the cables of the management network and of power, which are listed. A file that has no others is a plan
    of that network.
    """
    of_fabric = first_ports((Port(row.a.device, row.a.port), Port(row.b.device, row.b.port)) for row in found)

    def apart(end: End) -> bool:
        return is_out_of_band(Port(end.device, end.port), end.kind, alone=(end.device, end.port) in of_fabric)

    aside = [apart(row.a) or apart(row.b) for row in found]
    if all(aside):
        rows.notes.append("every cable is of the management network or of power: none has a rail")
        return found
    for row in (row for row, apart in zip(found, aside, strict=True) if apart):
        rows.leave_out("management network or power, not evaluated", row.place)
    return [row for row, apart in zip(found, aside, strict=True) if not apart]
