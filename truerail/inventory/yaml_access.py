"""How devices are reached, in the same keys of `defaults`, a device entry and a NetBox file."""

from dataclasses import replace

from truerail.inventory.inventory_checks import (
    HIGHEST_PORT,
    address_fault,
    hop_fault,
    target_fault,
    user_fault,
    zone_fault,
)
from truerail.inventory.inventory_keys import AUTH_PROTOCOLS, ENGINES, GNMI, PRIVACY_PROTOCOLS, ROLES, SNMP, TRANSPORTS
from truerail.inventory.inventory_yaml_values import InventoryValues
from truerail.model import DEFAULT_ZONE, PLATFORMS, GnmiAccess, Role, Secret, SnmpAccess, SshAccess, Target
from truerail.model.yaml_tree import Node

_V3_KEYS = ("user", "auth_protocol", "auth", "privacy_protocol", "privacy")
_SSH, _SNMP, _GNMI = SshAccess(), SnmpAccess(), GnmiAccess()
NO_ACCESS = Target("", "")


def read_access(keys: dict[str, Node], values: InventoryValues) -> Target:
    """The access in an entry's keys, those of `defaults` among them: a target without name and address, which has what
    the entry gives all its devices.
    """
    snmp, gnmi = keys.get("snmp"), keys.get("gnmi")
    transport = values.word(keys.get("transport"), TRANSPORTS)
    platform = values.word(keys.get("platform"), PLATFORMS)
    role = values.word(keys.get("role"), ROLES)
    return replace(
        NO_ACCESS,
        role=Role(role) if role else None,
        platform=platform,
        zone=values.checked(keys.get("zone"), zone_fault) or DEFAULT_ZONE,
        timeout_seconds=values.seconds(keys.get("timeout_seconds"), NO_ACCESS.timeout_seconds),
        ssh=_ssh(keys, values),
        snmp=None if snmp is None else _snmp(snmp, values),
        transport="" if transport == TRANSPORTS[0] else transport,
        gnmi=None if gnmi is None else _gnmi(gnmi, values),
    )


def _ssh(keys: dict[str, Node], values: InventoryValues) -> SshAccess:
    return SshAccess(
        user=values.checked(keys.get("user"), user_fault),
        key=values.text(keys.get("key")),
        password=values.secret("password", keys.get("password")),
        known_hosts=values.text(keys.get("known_hosts")) or _SSH.known_hosts,
        port=_port(keys.get("port"), _SSH.port, values),
        jump=_jump(keys.get("jump"), values),
        agent=values.yes(keys.get("agent"), _SSH.agent),
        keyboard_interactive=values.yes(keys.get("keyboard_interactive"), _SSH.keyboard_interactive),
        legacy_algorithms=values.yes(keys.get("legacy_algorithms"), _SSH.legacy_algorithms),
    )


def _port(node: Node | None, default: int, values: InventoryValues) -> int:
    port = values.number(node, HIGHEST_PORT)
    if node is not None and port == 0:
        values.wrong(node, f"expected a port from 1 to {HIGHEST_PORT}")
    return port or default


def _jump(node: Node | None, values: InventoryValues) -> tuple[str, ...]:
    hops = values.texts(node)
    for hop in hops:
        if node is not None and (fault := hop_fault(hop)):
            values.faults.add(node.line, "", fault)
    return tuple(hops)


def _gnmi(node: Node, values: InventoryValues) -> GnmiAccess:
    keys = values.fields(node, GNMI)
    access = GnmiAccess(
        ca=values.text(keys.get("ca")),
        user=values.checked(keys.get("user"), user_fault),
        password=values.secret("password", keys.get("password")),
        port=_port(keys.get("port"), _GNMI.port, values),
        server_name=values.checked(keys.get("server_name"), address_fault),
        certificate=values.text(keys.get("certificate")),
        key=values.text(keys.get("key")),
        target=values.checked(keys.get("target"), target_fault),
    )
    for one, other in (("password", "user"), ("certificate", "key"), ("key", "certificate")):
        if one in keys and other not in keys:
            values.faults.add(node.line, "", f"gNMI: {one!r} without {other!r}")
    return access


def _snmp(node: Node, values: InventoryValues) -> SnmpAccess | None:
    keys = values.fields(node, SNMP)
    version = values.word(keys.get("version"), ("2c", "3"), _SNMP.version)
    access = SnmpAccess(
        version=version,
        community=values.secret("community", keys.get("community")),
        user=values.checked(keys.get("user"), user_fault),
        auth_protocol=values.word(keys.get("auth_protocol"), AUTH_PROTOCOLS, _SNMP.auth_protocol),
        auth=values.secret("auth", keys.get("auth")),
        privacy_protocol=values.word(keys.get("privacy_protocol"), PRIVACY_PROTOCOLS, _SNMP.privacy_protocol),
        privacy=values.secret("privacy", keys.get("privacy")),
        port=_port(keys.get("port"), _SNMP.port, values),
        engine=values.word(keys.get("engine"), ENGINES, _SNMP.engine),
    )
    if node.pairs is not None and len(keys) == len(node.pairs):  # an unknown key is likely the missing one
        for summary in _misfits(version, keys, access.auth, access.privacy):
            values.faults.add(node.line, "", summary)
    return access


def _misfits(version: str, keys: dict[str, Node], auth: Secret | None, privacy: Secret | None) -> list[str]:
    """Keys that do not fit the version, or are missing for it."""
    if version == "2c":
        summary = [f"{key!r} is for version 3, this is version 2c" for key in _V3_KEYS if key in keys]
        return summary if "community" in keys else [*summary, "SNMP version 2c: the key 'community' is missing"]
    summary = ["'community' is for version 2c, this is version 3"] if "community" in keys else []
    if "user" not in keys:
        summary.append("SNMP version 3: the key 'user' is missing")
    if privacy and not auth:
        summary.append("'privacy' without 'auth': SNMP version 3 encrypts only what it authenticates")
    alone = (key for key in ("auth", "privacy") if f"{key}_protocol" in keys and key not in keys)
    return [*summary, *(f"'{key}_protocol' without {key!r}" for key in alone)]
