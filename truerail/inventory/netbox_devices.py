"""NetBox's devices as targets: role, platform, site, rack, unit, management address."""

from collections.abc import Iterable
from typing import Any

from truerail.inventory.inventory_checks import address_fault, device_name_fault, role_in
from truerail.inventory.netbox_api import Row
from truerail.inventory.netbox_file import NetBox
from truerail.inventory.value import several
from truerail.model import PLATFORMS, Role, Target
from truerail.model.platforms import APART, INFINIBAND

_PLATFORM_SIGNS = (
    ("cumulus", "cumulus"),
    ("sonic", "sonic"),
    ("nxos", "nxos"),
    ("nx-os", "nxos"),
    ("eos", "eos"),
    ("junos", "junos"),
    ("linux", "linux"),
    ("ubuntu", "linux"),
    ("debian", "linux"),
    ("rhel", "linux"),
    ("rocky", "linux"),
)
_SLUGS = frozenset(PLATFORMS) - set(APART)
"""Platforms that a slug names by itself. InfiniBand switches may well have the slug `infiniband`."""


def read_devices(rows: Iterable[Row], netbox: NetBox, file: str) -> tuple[dict[int, Target], list[str]]:
    """Targets by NetBox's device id, and notes on those left out."""
    targets: dict[int, Target] = {}
    names: set[str] = set()
    left_out: dict[str, list[str]] = {}
    unaddressed: list[str] = []
    for row in rows:
        name = str(row.get("name") or "")
        role = _role(row, netbox)
        reason = device_name_fault(name) if name else "it has no name in NetBox"
        if not reason and name in names:
            reason = "another device has the same name; filter by site to separate them"
        if not reason and role is None and _platform(row, netbox) != INFINIBAND:
            reason = f"its role {_slug(row, 'role', 'device_role')!r} is unknown; map it with `roles:`"
        if reason:
            left_out.setdefault(reason, []).append(name or f"device {row['id']}")
            continue
        names.add(name)
        target = _target(row, name, role, netbox, file)
        targets[int(row["id"])] = target
        if target.address == name:
            unaddressed.append(name)
    notes = [f"{several(devices)}: left out, {reason}" for reason, devices in left_out.items()]
    if unaddressed:
        notes.append(f"{several(unaddressed)}: no primary IP address in NetBox, reached by name")
    return targets, notes


def _target(row: Row, name: str, role: Role | None, netbox: NetBox, file: str) -> Target:
    access = netbox.access
    position = row.get("position")
    return Target(
        name=name,
        address=_address(row) or name,
        role=role,
        platform=_platform(row, netbox) or access.platform,
        pod=_pod(row, netbox.pod),
        rack=str(_nested(row, "rack").get("name") or ""),
        unit=int(float(position)) if position is not None else None,
        timeout_seconds=access.timeout_seconds,
        ssh=access.ssh,
        snmp=access.snmp,
        transport="" if role is Role.HOST else access.transport,
        gnmi=None if role is Role.HOST else access.gnmi,
        zone=access.zone,
        file=file,
        line=netbox.line,
    )


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
    return slug if slug in _SLUGS else next((ours for sign, ours in _PLATFORM_SIGNS if sign in slug), "")


def _address(row: Row) -> str:
    """The primary address without its prefix length; never the out-of-band one, that is the BMC's."""
    for key in ("primary_ip", "primary_ip4", "primary_ip6"):
        address = str(_nested(row, key).get("address") or "").partition("/")[0]
        if address and not address_fault(address):
            return address
    return ""


def _pod(row: Row, source: str) -> str:
    if source.startswith("cf:"):
        value = _nested(row, "custom_fields").get(source[3:])
        return "" if value is None else str(value)
    return _slug(row, source)
