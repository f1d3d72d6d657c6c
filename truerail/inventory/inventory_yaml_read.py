"""Native YAML: `defaults` and `devices`, and the `netbox:` file. docs/inventory.md explains every key."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from truerail.files.yaml_keys import Keys
from truerail.files.yaml_values import Values, W, one_each, spread, units
from truerail.inventory.inventory_checks import (
    HIGHEST_PORT,
    SSH,
    address_fault,
    device_name_fault,
    hop_fault,
    target_fault,
    user_fault,
    zone_fault,
)
from truerail.inventory.inventory_keys import (
    AUTH_PROTOCOLS,
    DEFAULTS,
    DEVICE,
    ENGINES,
    GNMI,
    NATIVE,
    NETBOX,
    NETBOX_FILE,
    PRIVACY_PROTOCOLS,
    SNMP,
    TRANSPORTS,
)
from truerail.inventory.value import Inventory, InventoryFaults, shared_addresses
from truerail.model import DEFAULT_ZONE, PLATFORMS, GnmiAccess, Role, Secret, SnmpAccess, SshAccess, Target
from truerail.model.platforms import APART
from truerail.model.yaml_tree import Node

# ----------------------------------------------------------------------------------------------------------------------
# Typed values of an inventory in YAML. What may be a secret is never shown.

_ENV = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
_CREDENTIAL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,127}", re.ASCII)
_SECONDS = re.compile(r"\d{1,4}(?:\.\d{1,3})?", re.ASCII)
_REFERENCE = "expected {env: NAME}, {file: PATH} or {credential: NAME}; an inventory never contains the secret itself"


def _seconds(text: str) -> float | None:
    return float(text) or None if _SECONDS.fullmatch(text) else None


class InventoryValues(Values):
    """Reads the nodes of an inventory."""

    def fields(self, node: Node, declared: Keys) -> dict[str, Node]:
        """The keys and values of a mapping. A value in a mapping's place, or a key without a value, is not shown."""
        if node.pairs is None:
            self.faults.add(node.line, "", f"expected a mapping with {', '.join(declared.names)}, found {node.kind}")
            return {}
        bare = [key for key, value in node.pairs if value.text == "" and key.text not in declared.names]
        for key in bare:
            self.faults.add(key.line, "", "a key without a value in a mapping")
        if not bare:
            return super().fields(node, declared)
        return self.known([(key, value) for key, value in node.pairs if key not in bare], declared)

    def checked(self, node: Node | None, fault: Callable[[str], str]) -> str:
        """One value as text that passes `fault`; empty if the key is absent. An invalid one is not shown: it may be
        `user:password`.
        """
        text = self.text(node)
        if node is not None and node.text is not None and (summary := fault(text)):
            self.faults.add(node.line, "", summary)
            return ""
        return text

    def texts(self, node: Node | None) -> list[str]:
        """A list of texts, or one text with commas."""
        if node is None or node.text == "":
            return []
        if node.items is not None:
            return [self.text(one) for one in node.items]
        return [part.strip() for part in self.text(node).split(",")]

    def seconds(self, node: Node | None, default: float) -> float:
        """A time above 0."""
        return self.read(node, _seconds, "expected seconds such as 10 or 2.5") or default

    def secret(self, key: str, node: Node | None) -> Secret | None:
        """A reference to a secret; `key` is what the file calls it. `~` in a path is the user's home."""
        if node is None:
            return None
        pairs = node.pairs or []
        source, name = (pairs[0][0].text, pairs[0][1].text or "") if len(pairs) == 1 else (None, "")
        if source == "file" and name:
            return Secret("file", str(Path(name).expanduser()))
        if (source == "env" and _ENV.fullmatch(name)) or (source == "credential" and _CREDENTIAL.fullmatch(name)):
            return Secret(source, name)
        self.faults.add(node.line, "", f"{key}: {_REFERENCE}")
        return None


# ----------------------------------------------------------------------------------------------------------------------
# How devices are reached, in the same keys of `defaults`, a device entry and a NetBox file.

_V3_KEYS = ("user", "auth_protocol", "auth", "privacy_protocol", "privacy")
_SNMP, _GNMI = SnmpAccess(), GnmiAccess()
NO_ACCESS = Target("", "")


def read_access(keys: dict[str, Node], values: InventoryValues) -> Target:
    """The access in an entry's keys, those of `defaults` among them: a target without name and address, which has what
    the entry gives all its devices.
    """
    snmp, gnmi = keys.get("snmp"), keys.get("gnmi")
    transport = values.choice(keys.get("transport"), TRANSPORTS, "")
    return replace(
        NO_ACCESS,
        platform=values.choice(keys.get("platform"), PLATFORMS, ""),
        role=values.choice(keys.get("role"), Role, None),
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
        known_hosts=values.text(keys.get("known_hosts")) or SSH.known_hosts,
        port=_port(keys.get("port"), SSH.port, values),
        jump=_jump(keys.get("jump"), values),
        agent=values.yes(keys.get("agent"), SSH.agent),
        keyboard_interactive=values.yes(keys.get("keyboard_interactive"), SSH.keyboard_interactive),
        legacy_algorithms=values.yes(keys.get("legacy_algorithms"), SSH.legacy_algorithms),
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
    version = values.choice(keys.get("version"), ("2c", "3"), _SNMP.version)
    access = SnmpAccess(
        version=version,
        community=values.secret("community", keys.get("community")),
        user=values.checked(keys.get("user"), user_fault),
        auth_protocol=values.choice(keys.get("auth_protocol"), AUTH_PROTOCOLS, _SNMP.auth_protocol),
        auth=values.secret("auth", keys.get("auth")),
        privacy_protocol=values.choice(keys.get("privacy_protocol"), PRIVACY_PROTOCOLS, _SNMP.privacy_protocol),
        privacy=values.secret("privacy", keys.get("privacy")),
        port=_port(keys.get("port"), _SNMP.port, values),
        engine=values.choice(keys.get("engine"), ENGINES, _SNMP.engine),
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


# ----------------------------------------------------------------------------------------------------------------------
# The inventory.


def read_native(tree: Node, faults: InventoryFaults) -> Inventory:
    """The inventory in a tree. Faults are noted, the caller raises them."""
    values = InventoryValues(faults)
    sections = values.fields(tree, NATIVE)
    defaults = read_defaults(sections.get("defaults"), values)
    targets: dict[str, Target] = {}
    for entry in values.entries(sections.get("devices")):
        for target in _targets(entry, defaults, values):
            if target.name in targets:
                faults.add(entry.line, target.name, f"a duplicate device, first in line {targets[target.name].line}")
            targets.setdefault(target.name, target)
    if not targets and not faults.found:
        faults.add(tree.line, "", "no device")
    return Inventory(tuple(targets.values()), notes=tuple(shared_addresses([*targets.values()])), source=faults.file)


def read_defaults(node: Node | None, values: InventoryValues) -> dict[str, Node]:
    """The keys of `defaults`; their values are checked here once, so that a fault is reported with its own line."""
    if node is None or node.text == "":
        return {}
    keys = values.fields(node, DEFAULTS)
    read_access(keys, values)
    return keys


def _targets(entry: Node, defaults: dict[str, Node], values: InventoryValues) -> list[Target]:
    """The devices of one entry; what is a node set expands together with the names."""
    own = values.fields(entry, DEVICE)
    names = values.names(own.get("name"))
    for name in names:
        if fault := device_name_fault(name):
            values.faults.add(own["name"].line, name, fault)
    addresses = _addresses(own.get("address"), names, values)
    keys = {**defaults, **own}
    pods = spread(keys.get("pod"), len(names), values)
    racks = spread(keys.get("rack"), len(names), values)
    places = units(keys.get("unit"), racks, values)
    access = read_access(keys, values)
    if access.platform == "snmp" and "snmp" not in keys:
        values.faults.add(keys["platform"].line, "", "the platform is snmp: the key 'snmp' is missing")
    transport = _transport(access, own, values)
    if transport and "gnmi" not in keys:
        values.faults.add(keys["transport"].line, "", "the transport is gnmi: the key 'gnmi' is missing")
    return [
        replace(
            access,
            name=name,
            address=addresses[at],
            pod=pods[at],
            rack=racks[at],
            unit=places[at],
            transport=transport,
            gnmi=access.gnmi if transport else None,
            file=values.faults.file,
            line=entry.line,
        )
        for at, name in enumerate(names)
    ]


def _transport(access: Target, own: dict[str, Node], values: InventoryValues) -> str:
    """The transport of an entry. That of `defaults` is not for hosts: they do not speak gNMI."""
    if access.transport and (access.role is Role.HOST or access.platform in ("snmp", *APART)):
        if "transport" in own:
            what = access.platform or Role.HOST.value
            values.faults.add(own["transport"].line, "", f"the transport is gnmi: it is for switches, this is {what}")
        return ""
    return access.transport


def _addresses(node: Node | None, names: list[str], values: InventoryValues) -> list[str]:
    """One address a device: its name where the entry has none."""
    if node is None:
        return names
    addresses = one_each(node, len(names), values)
    for address in addresses:
        if address and (fault := address_fault(address)):
            values.faults.add(node.line, address, fault)
    return addresses


# ----------------------------------------------------------------------------------------------------------------------
# The `netbox:` file: NetBox's URL, the token's reference, the devices, and the mapping of NetBox's terms.

PODS = ("site", "location", "tenant")
"""Attributes of a NetBox device that can be its pod; `cf:NAME` is a custom field."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class NetBox:
    """How to query a NetBox, and how to read its answers."""

    url: str
    token: Secret
    filter: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    roles: Mapping[str, Role] = field(default_factory=dict)
    platforms: Mapping[str, str] = field(default_factory=dict)
    pod: str = "site"
    timeout_seconds: float = 30.0
    access: Target = NO_ACCESS
    line: int = 0


def read_netbox_file(tree: Node, faults: InventoryFaults) -> NetBox:
    """The content of a tree with the key `netbox`. Raises InventoryError with every problem."""
    values = InventoryValues(faults)
    sections = values.fields(tree, NETBOX_FILE)
    access = read_access(read_defaults(sections.get("defaults"), values), values)
    keys = values.fields(sections["netbox"], NETBOX)
    token = values.secret("token", keys.get("token"))
    found = NetBox(
        url=values.checked(keys.get("url"), _url_fault).rstrip("/"),
        token=token or Secret("env", ""),
        filter=_filter(keys.get("filter"), values),
        roles=_map(keys.get("roles"), tuple(Role), values),
        platforms=_map(keys.get("platforms"), PLATFORMS, values),
        pod=values.checked(keys.get("pod"), _pod_fault) or "site",
        timeout_seconds=values.seconds(keys.get("timeout_seconds"), 30.0),
        access=access,
        line=sections["netbox"].line,
    )
    faults.raise_any()
    return found


def _url_fault(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return "expected an address such as https://netbox.example.com"
    if parts.username or parts.password:
        return "an address without user and password; the token is given by reference"
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        return "expected an address such as https://netbox.example.com"
    if parts.scheme == "http" and host not in _LOOPBACK:
        return "expected https: http would expose the token"
    return ""


def _pod_fault(text: str) -> str:
    return "" if text in PODS or text.startswith("cf:") else f"expected one of {', '.join(PODS)}, cf:CUSTOM_FIELD"


def _filter(node: Node | None, values: InventoryValues) -> dict[str, str | tuple[str, ...]]:
    """Query parameters of `dcim/devices/`: each one value, or a list."""
    found: dict[str, str | tuple[str, ...]] = {}
    if node is not None and node.pairs is None:
        values.wrong(node, "expected a mapping of NetBox's filters, such as {site: dc1, status: active}")
    for key, value in (node.pairs if node else None) or []:
        found[key.text or ""] = values.text(value) if value.items is None else tuple(values.texts(value))
    return found


def _map(node: Node | None, known: tuple[W, ...], values: InventoryValues) -> dict[str, W]:
    """NetBox's slugs to our words."""
    if node is not None and node.pairs is None:
        values.wrong(node, "expected a mapping from NetBox's slugs")
    pairs = (node.pairs if node else None) or []
    return {key.text or "": values.choice(value, known, known[0]) for key, value in pairs}
