"""An inventory and a plan from NetBox: its devices as targets, its cables as a plan."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from truerail.errors import SecretMissingError
from truerail.extras import require
from truerail.inventory.inventory_checks import address_fault, device_name_fault, role_in
from truerail.inventory.inventory_yaml_read import NetBox
from truerail.inventory.value import Inventory, InventoryError, InventoryFaults, several, shared_addresses
from truerail.model import PLATFORMS, Cable, Device, Panel, Plan, Port, Rail, Role, Target, Transport
from truerail.model.names import printable
from truerail.model.platforms import APART, INFINIBAND

if TYPE_CHECKING:
    import requests

# ----------------------------------------------------------------------------------------------------------------------
# Queries NetBox through pynetbox. The only code of inventories that opens a connection; it only reads.
#
# pynetbox makes requests of its own when an absent attribute is touched, so each record becomes a plain mapping at
# once.


Row = Mapping[str, Any]
"""One object as NetBox's REST API gives it, nested objects in short form."""
_PAGE = 500
_IDS_IN_ONE_REQUEST = 100
"""`device_id=` this many times keeps the address line under the 4 KB that small servers take."""


class Api:
    """The parts of NetBox that an inventory needs. Raises InventoryError if a query fails."""

    def __init__(self, netbox: NetBox, faults: InventoryFaults) -> None:
        require("netbox", "NetBox")
        import pynetbox

        self._netbox = netbox
        self._faults = faults
        self._token = ""
        try:
            self._token = netbox.token.read()
        except SecretMissingError as error:
            self._fail(f"token: {error}")
        self._api = pynetbox.api(netbox.url, token=self._token)
        self._api.http_session = _session(netbox)

    def devices(self) -> list[Row]:
        """The devices that the file's filter chooses."""
        return self._rows("devices", dict(self._netbox.filter))

    def interfaces(self, devices: Sequence[int]) -> list[Row]:
        """The cabled interfaces of devices by their ids, each with the far end of its path."""
        return self._of_devices("interfaces", devices, {"cabled": "true"})

    def cables(self, devices: Sequence[int]) -> list[Row]:
        """The cables that end at devices: labels, lengths, tags, custom fields. One that ends at two comes once."""
        return list({row["id"]: row for row in self._of_devices("cables", devices, {})}.values())

    def _of_devices(self, what: str, devices: Sequence[int], more: dict[str, str]) -> list[Row]:
        rows: list[Row] = []
        for start in range(0, len(devices), _IDS_IN_ONE_REQUEST):
            rows += self._rows(what, {"device_id": devices[start : start + _IDS_IN_ONE_REQUEST], **more})
        return rows

    def _rows(self, what: str, query: Mapping[str, object]) -> list[Row]:
        import pynetbox
        import requests

        try:
            return [dict(record) for record in getattr(self._api.dcim, what).filter(limit=_PAGE, **query)]
        except pynetbox.RequestError as error:
            self._fail(f"{what}: {error.req.status_code} {error.req.reason}: {printable(error.error.strip(), 160)}")
        except pynetbox.ContentError:
            self._fail(f"{what}: the answer is not JSON; is this NetBox's address?")
        except (requests.RequestException, ValueError) as error:
            self._fail(f"{what}: {type(error).__name__}: {printable(str(error))}")

    def _fail(self, summary: str) -> NoReturn:
        clean = summary.replace(self._token, "***") if self._token else summary
        self._faults.add(self._netbox.line, self._netbox.url, f"NetBox: {clean}")
        raise InventoryError(self._faults.found) from None


def _session(netbox: NetBox) -> "requests.Session":
    """A session with a time limit that connects only to this NetBox: `next` links come from the server."""
    import requests

    class OneServer(requests.Session):
        def request(self, method: str, url: str | bytes, **options: Any) -> requests.Response:  # type: ignore[override]  # takes what requests' own takes, by name
            if not str(url).startswith(f"{netbox.url}/"):
                raise requests.exceptions.InvalidURL("a link to another server")
            options.setdefault("timeout", netbox.timeout_seconds)
            return super().request(method, url, **{**options, "allow_redirects": False})

    session = OneServer()
    session.auth = lambda request: request  # otherwise ~/.netrc would replace the token
    return session


# ----------------------------------------------------------------------------------------------------------------------
# An inventory and a plan from NetBox: its devices as targets, its cables as a plan.


Left = defaultdict[str, list[str]]
"""Devices, or interfaces whose cables are not part of the plan, by the reason."""
_PLATFORM_SIGNS = {
    **{name: name for name in ("cumulus", "sonic", "nxos")},
    "nx-os": "nxos",
    "eos": "eos",
    "junos": "junos",
    **dict.fromkeys(("linux", "ubuntu", "debian", "rhel", "rocky"), "linux"),
}
_SLUGS = frozenset(PLATFORMS) - set(APART)
"""Platforms that a slug names by itself. InfiniBand switches may well have the slug `infiniband`."""


def read_devices(rows: Iterable[Row], netbox: NetBox, file: str) -> tuple[dict[int, Target], list[str]]:
    """Targets by NetBox's device id, and notes on those left out."""
    targets: dict[int, Target] = {}
    names: set[str] = set()
    left_out = Left(list)
    for row in rows:
        name = str(row.get("name") or "")
        role = _role(row, netbox)
        reason = device_name_fault(name) if name else "it has no name in NetBox"
        if not reason and name in names:
            reason = "another device has the same name; filter by site to separate them"
        if not reason and role is None and _platform(row, netbox) != INFINIBAND:
            reason = f"its role {_slug(row, 'role', 'device_role')!r} is unknown; map it with `roles:`"
        if reason:
            left_out[reason].append(name or f"device {row['id']}")
        else:
            names.add(name)
            targets[int(row["id"])] = _target(row, name, role, netbox, file)
    notes = [f"{several(devices)}: left out, {reason}" for reason, devices in left_out.items()]
    if unaddressed := [target.name for target in targets.values() if target.address == target.name]:
        notes.append(f"{several(unaddressed)}: no primary IP address in NetBox, reached by name")
    return targets, notes


def _target(row: Row, name: str, role: Role | None, netbox: NetBox, file: str) -> Target:
    access, place = netbox.access, _place(row)
    return replace(
        access,
        name=name,
        address=_address(row) or name,
        role=role,
        platform=_platform(row, netbox) or access.platform,
        pod=_pod(row, netbox.pod),
        rack=place.rack,
        unit=place.unit,
        transport="" if role is Role.HOST else access.transport,
        gnmi=None if role is Role.HOST else access.gnmi,
        file=file,
        line=netbox.line,
    )


def _place(row: Row) -> Panel:
    """Rack and lowest unit."""
    position = row.get("position")
    return Panel(str(_nested(row, "rack").get("name") or ""), None if position is None else int(float(position)))


def _nested(row: Row, key: str) -> dict[str, Any]:
    value = row.get(key)
    return value if isinstance(value, dict) else {}


def _slug(row: Row, *keys: str) -> str:
    """The slug of a nested object; NetBox before 3.6 calls a device's role `device_role`."""
    return next((str(nested["slug"]) for key in keys if (nested := _nested(row, key)).get("slug")), "")


def _role(row: Row, netbox: NetBox) -> Role | None:
    slug = _slug(row, "role", "device_role")
    return netbox.roles.get(slug) or role_in(slug) or netbox.access.role


def _platform(row: Row, netbox: NetBox) -> str:
    """The file's entry for the platform's slug, else what the slug itself names; empty: query the device."""
    slug = _slug(row, "platform")
    if slug in netbox.platforms:
        return netbox.platforms[slug]
    return slug if slug in _SLUGS else next((ours for sign, ours in _PLATFORM_SIGNS.items() if sign in slug), "")


def _address(row: Row) -> str:
    """The primary address without its prefix length; never the out-of-band one, that is the BMC's."""
    keys = ("primary_ip", "primary_ip4", "primary_ip6")
    addresses = (str(_nested(row, key).get("address") or "").partition("/")[0] for key in keys)
    return next((address for address in addresses if address and not address_fault(address)), "")


def _pod(row: Row, source: str) -> str:
    if source.startswith("cf:"):
        value = _nested(row, "custom_fields").get(source[3:])
        return "" if value is None else str(value)
    return _slug(row, source)


# ----------------------------------------------------------------------------------------------------------------------
# NetBox's cables as a plan: interface to interface, through patch panels, with rails, speeds and labels.
#
# Each cabled interface names its `connected_endpoints`: what NetBox's own trace reaches through front and rear ports,
# and its `link_peers`: where its own cord ends.

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


def read_cables(
    targets: Mapping[int, Target], devices: Iterable[Row], interfaces: Iterable[Row], cables: Iterable[Row], source: str
) -> tuple[Plan, list[str]]:
    """The plan of the cables between the targets, and notes on cables left out. `targets` is by device id."""
    by_id = {int(row["id"]): row for row in devices}
    ends = _ends(targets, by_id, interfaces)
    details = {int(row["id"]): row for row in cables}
    left = Left(list)
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
    rails = {rail: Rail(rail) for rail in sorted({cable.rail for cable in found if cable.rail is not None})}
    transport = Transport.INFINIBAND if infiniband and all(infiniband) else Transport.ROCE
    panels = {port.device for cable in found for port in cable.via}
    places = {name: _place(row) for row in by_id.values() if (name := str(row.get("name"))) in panels}
    plan = Plan(known, tuple(found), rails=rails, transport=transport, source=source, panels=places)
    return plan, [*(f"{several(ports)}: not in the plan, {why}" for why, ports in left.items()), *_railless(plan)]


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


def _other(end: _End, ends: Mapping[int, _End], left: Left) -> _End | None:
    """The end that NetBox traces to, where it is one interface of the inventory that traces back."""
    far: Sequence[Row] = end.row.get("connected_endpoints") or ()
    if not far:
        left["its path ends in a patch panel or at a device without ports"].append(str(end.port))
    elif len(far) > 1:
        left["it connects several ports (a breakout); give each its own cable in NetBox"].append(str(end.port))
    elif end.row.get("connected_endpoints_type") != "dcim.interface" or int(far[0]["id"]) not in ends:
        left["its other end is not in this inventory"].append(str(end.port))
    else:
        return ends[int(far[0]["id"])]
    return None


def _cable(near: _End, far: _End, details: Mapping[int, Row]) -> Cable:
    segments = [details.get(int(cable["id"]), cable) for end in (near, far) if (cable := end.row.get("cable"))]
    rail = _rail([near.row, far.row, *segments, far.device]) if near.tier == 0 else None
    label = next((str(row["label"]) for row in segments if row.get("label")), "")
    speed, via = _speed(near.row) or _speed(far.row), tuple(filter(None, map(_front, (near.row, far.row))))
    return Cable(near.port, far.port, rail, None, speed, label, _length(segments), via=via)


def _front(row: Row) -> Port | None:
    """The front port of a patch panel in which the cord of an interface ends."""
    peers: Sequence[Row] = row.get("link_peers") or ()
    if len(peers) != 1 or row.get("link_peers_type") != "dcim.frontport":
        return None
    return Port(str(_nested(peers[0], "device").get("name") or ""), str(peers[0]["name"]))


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
        target.name, target.role or Role.HOST, target.pod, target.address, target.platform, target.rack, target.unit
    )


def _railless(plan: Plan) -> list[str]:
    """A note on host cables without a rail."""
    ports = [str(cable.a) for cable in plan.host_cables if cable.rail is None]
    summary = "no rail in NetBox: give the interface, its cable or its leaf the custom field `rail` or a tag `rail-N`"
    return [f"{several(ports)}: {summary}"] if ports else []


# ----------------------------------------------------------------------------------------------------------------------
# An inventory and a plan from NetBox.


def read_netbox(netbox: NetBox, faults: InventoryFaults) -> Inventory:
    """Queries NetBox for devices, cabled interfaces and cables. Raises InventoryError if the query fails."""
    api = Api(netbox, faults)
    rows = api.devices()
    targets, notes = read_devices(rows, netbox, faults.file)
    if not targets:
        why = f": {'; '.join(notes)}" if notes else ""
        summary = f"NetBox has no device for this filter that is a host or a switch of the fabric{why}"
        faults.add(netbox.line, "", summary)
    ids = [device for device, target in targets.items() if not target.apart]
    plan, left_out = read_cables(
        {device: targets[device] for device in ids}, rows, api.interfaces(ids), api.cables(ids), netbox.url
    )
    reported = (*notes, *left_out, *shared_addresses([*targets.values()]))
    return Inventory(tuple(targets.values()), plan if plan.cables else None, reported, netbox.url)
