"""LLDP neighbours in the JSON of data models: OpenConfig's `openconfig-lldp` and Nokia SR Linux' own.

RESTCONF and gNMI wrap the same leaves at different depths: `{"openconfig-lldp:lldp": {"interfaces": {"interface":
[{"name", "neighbors": {"neighbor": [{"id", "state": {...}}]}}]}}}`, a list of updates, each with its `Path`; SR Linux
has `interface` with `neighbor` in it. So a neighbour is any object with a chassis id and a port id, and its local port
is the enclosing interface, or that in the path: `interface[name=Ethernet0]`. Names may have a module prefix and colon.
Sources: openconfig-lldp.yang, a test of SONiC's management framework, SR Linux' YANG.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from collector._lldp_words import addresses, identified, local_port, reported, seconds
from truerail.model import Neighbor

_IN_PATH = re.compile(r"\binterface\[name=([^\]]+)\]")
_SIGN = re.compile(
    r'"(?:openconfig-lldp|srl_nokia-lldp):|\blldp/interfaces?\b|'
    r'"lldp"\s*:\s*\{\s*"interfaces"|"system"\s*:\s*\{\s*"lldp"\s*:\s*\{'
)
_HOLDS_NEIGHBORS = frozenset(("neighbor", "neighbors"))


def is_model(answer: str) -> bool:
    """Whether the JSON in an answer is of such a model."""
    return _SIGN.search(answer) is not None


def neighbors(document: Any) -> Iterator[Neighbor]:
    """The neighbours anywhere in the document. Raises `UnreadableError` for one without a local port."""
    return _within(document, "")


def _within(found: Any, port: str) -> Iterator[Neighbor]:
    if isinstance(found, list):
        for value in found:
            yield from _within(value, port)
    elif isinstance(found, dict):
        leaves = {str(key).rpartition(":")[2]: value for key, value in found.items()}
        if "chassis-id" in leaves and "port-id" in leaves:
            yield _neighbor(port, leaves)
            return
        path = next((leaves[key] for key in ("Path", "path") if isinstance(leaves.get(key), str)), "")
        named = leaves.get("name") if not _HOLDS_NEIGHBORS.isdisjoint(leaves) else None
        here = str(named) if named else _port_in(path) or port
        for key, value in found.items():
            yield from _within(value, _port_in(str(key)) or here)


def _port_in(path: str) -> str:
    found = _IN_PATH.search(path)
    return found[1] if found else ""


def _neighbor(port: str, leaves: Mapping[str, Any]) -> Neighbor:
    managed = leaves.get("management-address")
    texts = managed.split(",") if isinstance(managed, str) else ()
    return Neighbor(
        local_port(port),
        *identified(leaves["chassis-id"], leaves.get("chassis-id-type")),
        reported(leaves.get("system-name")),
        *identified(leaves["port-id"], leaves.get("port-id-type")),
        reported(leaves.get("port-description")),
        seconds(leaves.get("ttl")),
        seconds(leaves.get("age")),
        addresses(*texts),
    )
