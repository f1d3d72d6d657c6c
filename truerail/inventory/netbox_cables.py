"""NetBox's cables as a plan: interface to interface, through patch panels, with rails, speeds and labels.

Each cabled interface names its `connected_endpoints`: what NetBox's own trace reaches through front and rear ports.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from truerail.inventory.netbox_api import Row
from truerail.inventory.value import several
from truerail.model import Cable, Device, Plan, Port, Rail, Role, Target, Transport

_RAIL = re.compile(r"rail[-_ ]?(\d{1,4})", re.ASCII | re.IGNORECASE)
_GBPS = re.compile(r"(\d+(?:\.\d+)?)([gt])base", re.ASCII)
_INFINIBAND_GBPS = {"fdr": 56.0, "edr": 100.0, "hdr": 200.0, "ndr": 400.0, "xdr": 800.0}
"""Four lanes, as NetBox's interface types have them: `infiniband-ndr`."""
_METRES = {"km": 1000.0, "m": 1.0, "cm": 0.01, "mi": 1609.344, "ft": 0.3048, "in": 0.0254}


@dataclass(slots=True)
class _End:
    """One cabled interface of a device of the inventory."""

    port: Port
    tier: int
    row: Row
    device: Row


@dataclass(slots=True)
class _Left:
    """Interfaces whose cables are no part of the plan, by the reason."""

    ports: dict[str, list[str]] = field(default_factory=dict)

    def out(self, reason: str, port: Port) -> None:
        """Notes one."""
        self.ports.setdefault(reason, []).append(str(port))

    def notes(self) -> list[str]:
        """A line for each reason."""
        return [f"{several(ports)}: not in the plan, {reason}" for reason, ports in self.ports.items()]


def read_cables(
    targets: Mapping[int, Target], devices: Iterable[Row], interfaces: Iterable[Row], cables: Iterable[Row], source: str
) -> tuple[Plan, list[str]]:
    """The plan of the cables between the targets, and notes on cables left out. `targets` is by device id."""
    by_id = {int(row["id"]): row for row in devices}
    ends = _ends(targets, by_id, interfaces)
    details = {int(row["id"]): row for row in cables}
    left = _Left()
    found: list[Cable] = []
    done: set[int] = set()
    infiniband: list[bool] = []
    for number, end in ends.items():
        other = _other(end, ends, left) if number not in done else None
        if other is None:
            continue
        done |= {number, int(other.row["id"])}
        near, far = (end, other) if end.tier <= other.tier else (other, end)
        found.append(_cable(near, far, details))
        infiniband.append(str(_value(near.row, "type")).startswith("infiniband"))
    known = {target.name: _device(target) for target in targets.values()}
    rails = {cable.rail: Rail(cable.rail) for cable in found if cable.rail is not None}
    transport = Transport.INFINIBAND if infiniband and all(infiniband) else Transport.ROCE
    plan = Plan(known, tuple(found), rails=dict(sorted(rails.items())), transport=transport, source=source)
    return plan, [*left.notes(), *_railless(plan)]


def _ends(targets: Mapping[int, Target], devices: Mapping[int, Row], interfaces: Iterable[Row]) -> dict[int, _End]:
    """The fabric's cabled interfaces by id, without management interfaces."""
    found: dict[int, _End] = {}
    for row in interfaces:
        device = int(row["device"]["id"])
        target = targets.get(device)
        if target is not None and not row.get("mgmt_only"):
            tier = (target.role or Role.HOST).tier
            found[int(row["id"])] = _End(Port(target.name, str(row["name"])), tier, row, devices[device])
    return found


def _other(end: _End, ends: Mapping[int, _End], left: _Left) -> _End | None:
    """The end that NetBox traces to, where it is one interface of the inventory that traces back."""
    far: Sequence[Row] = end.row.get("connected_endpoints") or ()
    if not far:
        left.out("its path ends in a patch panel or at a device without ports", end.port)
    elif len(far) > 1:
        left.out("it connects several ports (a breakout); give each its own cable in NetBox", end.port)
    elif end.row.get("connected_endpoints_type") != "dcim.interface" or int(far[0]["id"]) not in ends:
        left.out("its other end is not in this inventory", end.port)
    else:
        return ends[int(far[0]["id"])]
    return None


def _cable(near: _End, far: _End, details: Mapping[int, Row]) -> Cable:
    segments = [details.get(int(cable["id"]), cable) for end in (near, far) if (cable := end.row.get("cable"))]
    return Cable(
        near.port,
        far.port,
        _rail([near.row, far.row, *segments, far.device]) if near.tier == 0 else None,
        None,
        _speed(near.row) or _speed(far.row),
        next((str(row["label"]) for row in segments if row.get("label")), ""),
        _length(segments),
    )


def _rail(rows: Sequence[Row]) -> int | None:
    """The first one set: custom field `rail`, or tag `rail-N`. Interfaces first, then cables, then the leaf."""
    for row in rows:
        value = (row.get("custom_fields") or {}).get("rail")
        if isinstance(value, int) or (isinstance(value, str) and value.isdecimal()):
            return int(value)
        for tag in row.get("tags") or ():
            if shape := _RAIL.fullmatch(str(tag.get("slug") or tag.get("name") if isinstance(tag, dict) else tag)):
                return int(shape[1])
    return None


def _value(row: Row, key: str) -> Any:
    """The value of a choice, which NetBox gives as `{value, label}`."""
    choice = row.get(key)
    return choice.get("value") if isinstance(choice, dict) else choice


def _speed(row: Row) -> float | None:
    """Gb/s: `speed` is in kb/s, else the type's: `400gbase-x-qsfpdd`, `infiniband-ndr`."""
    if row.get("speed"):
        return float(row["speed"]) / 1e6
    kind = str(_value(row, "type") or "")
    if shape := _GBPS.match(kind):
        return float(shape[1]) * (1000.0 if shape[2] == "t" else 1.0)
    return _INFINIBAND_GBPS.get(kind.removeprefix("infiniband-")) if kind.startswith("infiniband-") else None


def _length(segments: Sequence[Row]) -> float | None:
    """Metres of one cable; unknown for a path of several, because those between panels are not known."""
    if len({row["id"] for row in segments}) != 1:
        return None
    length, unit = segments[0].get("length"), _value(segments[0], "length_unit")
    return round(float(length) * _METRES[unit], 3) if length and unit in _METRES else None


def _device(target: Target) -> Device:
    return Device(
        target.name,
        target.role or Role.HOST,
        target.pod,
        target.address,
        target.platform,
        target.rack,
        target.unit,
    )


def _railless(plan: Plan) -> list[str]:
    """A note on host cables without a rail."""
    ports = [str(cable.a) for cable in plan.host_cables if cable.rail is None]
    summary = "no rail in NetBox: give the interface, its cable or its leaf the custom field `rail` or a tag `rail-N`"
    return [f"{several(ports)}: {summary}"] if ports else []
