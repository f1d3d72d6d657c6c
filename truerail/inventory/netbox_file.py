"""The `netbox:` file: NetBox's URL, the token's reference, the devices, and the mapping of NetBox's terms."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from truerail.files.yaml_values import W
from truerail.inventory.inventory_keys import NETBOX, NETBOX_FILE
from truerail.inventory.inventory_yaml_read import NO_ACCESS, InventoryValues, read_access, read_defaults
from truerail.inventory.value import InventoryFaults
from truerail.model import PLATFORMS, Role, Secret, Target
from truerail.model.yaml_tree import Node

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


def read_netbox_file(tree: Node, faults: InventoryFaults) -> NetBox | None:
    """The file's content; None if it has faults, which are noted."""
    values = InventoryValues(faults)
    sections = values.fields(tree, NETBOX_FILE)
    access = read_access(read_defaults(sections.get("defaults"), values), values)
    if "netbox" not in sections:
        return None
    keys = values.fields(sections["netbox"], NETBOX)
    token = values.secret("token", keys.get("token"))
    url = values.checked(keys.get("url"), _url_fault).rstrip("/")
    known = NetBox(
        url=url,
        token=token or Secret("env", ""),
        filter=_filter(keys.get("filter"), values),
        roles=_map(keys.get("roles"), tuple(Role), values),
        platforms=_map(keys.get("platforms"), PLATFORMS, values),
        pod=values.checked(keys.get("pod"), _pod_fault) or "site",
        timeout_seconds=values.seconds(keys.get("timeout_seconds"), 30.0),
        access=access,
        line=sections["netbox"].line,
    )
    return None if faults.found else known


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
