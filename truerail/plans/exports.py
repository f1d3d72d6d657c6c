"""Plans in the formats of other tools: each is read back by `truerail.plans.imports` to the same cables.

What a format cannot hold is in `LOSES`, for the message; nothing is put where it has no column.
"""

from collections.abc import Callable
from typing import Final

from truerail.errors import QueryError
from truerail.files.spreadsheet import Row, Sheet, workbook
from truerail.files.yaml_text import json_quoted
from truerail.model import Cable, Device, Plan, Port, Role
from truerail.model.columns import grouped
from truerail.plans.csv_plans import delimited
from truerail.plans.numbers import plain

LOSES: Final = {
    "ndt": "roles, racks, rails, planes, speeds, lengths, labels and panels",
    "netbox": "roles, racks, rails, planes, speeds and panels",
    "containerlab": "racks, rails, planes, speeds, lengths, labels and panels",
    "topo": "racks, rails, planes, speeds, lengths, labels and panels",
}
"""By format, what it cannot hold."""
_CVT_COLUMNS: Final = (
    *("A-Rack", "A-U", "A-Node Name", "A-Type", "A-Port", "Z-Rack", "Z-RU", "Z-Node Name", "Z-Type", "Z-Port"),
    *("Speed", "Length", "Label", "Rail", "Plane"),
)
"""UFM Cable Validation Tool 1.5, P2P File (docs.nvidia.com/networking/display/cablevalidationtool150/p2p+file), then
columns of a cable that this project reads back.
"""
_KINDS: Final = {
    "cumulus": "cumulus_cvx",
    "eos": "arista_ceos",
    "junos": "juniper_crpd",
    "nxos": "cisco_n9kv",
    "sonic": "sonic-vs",
}
"""containerlab.dev/manual/kinds, by platform."""


def dump_ndt(plan: Plan) -> str:
    """UFM's network diff topology: `StartDevice,StartPort,EndDevice,EndPort,LinkType`."""
    rows = ((*cable.a, *cable.b, "Data") for cable in plan.cables)
    return delimited(("#StartDevice", "StartPort", "EndDevice", "EndPort", "LinkType"), rows)


def dump_netbox(plan: Plan) -> str:
    """NetBox's bulk import of cables (Cables, Import, in CSV): both ends are interfaces, lengths are metres."""
    sides = ("side_a_device", "side_a_type", "side_a_name", "side_b_device", "side_b_type", "side_b_name")
    rows = (
        (*_interface(one.a), *_interface(one.b), one.label, plain(one.length_m), "m" if one.length_m else "")
        for one in plan.cables
    )
    return delimited((*sides, "label", "length", "length_unit"), rows)


def _interface(port: Port) -> tuple[str, str, str]:
    return port.device, "dcim.interface", port.name


def dump_workbook(plan: Plan) -> bytes:
    """A P2P workbook of UFM's Cable Validation Tool. Names are text: no spreadsheet makes dates or formulas of them."""
    rows = [_p2p(cable, plan) for cable in plan.cables]
    widths = [
        min(_WIDEST, 2 + max(len(str(cell)) for cell in cells if cell is not None))
        for cells in zip(_CVT_COLUMNS, *rows, strict=True)
    ]
    return workbook([Sheet("P2P", _CVT_COLUMNS, widths, rows)])


_WIDEST: Final = 60
"""Characters of a column of a workbook."""


def _p2p(cable: Cable, plan: Plan) -> Row:
    ends = (*_p2p_end(cable.a, plan), *_p2p_end(cable.b, plan))
    return (*ends, cable.speed_gbps, cable.length_m, cable.label, cable.rail, cable.plane)


def _p2p_end(port: Port, plan: Plan) -> Row:
    device = plan.devices.get(port.device, Device(port.device))
    kind = "Host" if device.role is Role.HOST else "Switch"
    return device.rack, device.unit, device.name, kind, port.name


def dump_containerlab(plan: Plan) -> str:
    """A containerlab topology: add the images of its kinds. Interfaces keep their names."""
    lines = [f"name: {json_quoted(plan.name or 'fabric')}", "", "topology:", "  nodes:"]
    for device in plan.devices.values():
        lines += [f"    {json_quoted(device.name)}:", f"      kind: {_KINDS.get(device.platform, 'linux')}"]
    lines += ["  links:"]
    for cable in plan.cables:
        ends = ", ".join(json_quoted(f"{end.device}:{end.name}") for end in cable[:2])
        lines.append(f"    - endpoints: [{ends}]")
    return "\n".join((*lines, ""))


def dump_topology(plan: Plan) -> str:
    """A topology file of ibdm and ibtopodiff: `SWITCH name`, and below it `  P1 -> HCA name P1`. Raises QueryError for
    a name with a blank, which the format ends a word at.
    """
    for word in (word for cable in plan.cables for end in cable[:2] for word in end):
        if word.split() != [word] or "#" in word:
            raise QueryError(f"{word!r} has a blank or #, which a topology file cannot hold")
    below = grouped((cable.b.device, cable) for cable in plan.cables)
    lines: list[str] = []
    for name, cables in below.items():
        lines += [f"{_model(name, plan)} {name}"]
        lines += [f"   {one.b.name} -> {_model(one.a.device, plan)} {one.a.device} {one.a.name}" for one in cables]
        lines += [""]
    return "\n".join(lines)


def _model(name: str, plan: Plan) -> str:
    return "HCA" if plan.role_of(name) is Role.HOST else "SWITCH"


TEXTS: Final[dict[str, Callable[[Plan], str]]] = {
    "ndt": dump_ndt,
    "netbox": dump_netbox,
    "containerlab": dump_containerlab,
    "topo": dump_topology,
}
"""Writers of text, by format; the workbook is bytes."""
