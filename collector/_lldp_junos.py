"""LLDP neighbours as Junos prints them in XML and in JSON, which is the same tree with every leaf as `[{"data": ...}]`.

`lldp-neighbors-information` holds `lldp-neighbor-information` elements; chassis members are wrapped in
`multi-routing-engine-results`. The detailed form names the local port in `lldp-local-interface` and has the SNMP index
in `lldp-local-port-id`; the brief form has the name in `lldp-local-port-id`, and where the neighbour's port id is a
number only `lldp-remote-port-description`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from collector._lldp_words import addresses, identified, local_port, reported, seconds
from truerail.errors import UnreadableError
from truerail.model import Neighbor

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_WRAPPED = "multi-routing-engine-results"
_ROOT = "lldp-neighbors-information"
_ENTRY = "lldp-neighbor-information"
KEYS = frozenset({_WRAPPED, _ROOT})


def neighbors_from_json(answer: Mapping[str, Any]) -> Iterator[Neighbor]:
    """The neighbours in `| display json`."""
    if _WRAPPED in answer:
        for results in answer[_WRAPPED]:
            for member in results["multi-routing-engine-item"]:
                yield from neighbors_from_json(member)
        return
    for information in answer[_ROOT]:
        for entry in information.get(_ENTRY, ()):
            yield _neighbor({name: [_data(leaf) for leaf in leaves] for name, leaves in entry.items() if leaves})


def _data(leaf: Any) -> str | None:
    return reported(leaf.get("data")) if isinstance(leaf, dict) else reported(leaf)


def neighbors_from_xml(root: Element) -> Iterator[Neighbor]:
    """The neighbours in `| display xml`. Raises `UnreadableError` for XML about something else."""
    elements = [element for element in root.iter() if element.tag.rpartition("}")[2] in (_ROOT, _ENTRY)]
    if not elements:
        raise UnreadableError(f"XML without {_ROOT}")
    for element in elements:
        if element.tag.endswith(_ENTRY):
            leaves: dict[str, list[str | None]] = {}
            for leaf in element:
                leaves.setdefault(leaf.tag.rpartition("}")[2], []).append(reported(leaf.text))
            yield _neighbor(leaves)


def _neighbor(leaves: Mapping[str, list[str | None]]) -> Neighbor:
    def first(name: str) -> str | None:
        return leaves.get(name, [None])[0]

    port = local_port(first("lldp-local-interface") or first("lldp-local-port-id"))
    return Neighbor(
        port,
        *identified(first("lldp-remote-chassis-id"), first("lldp-remote-chassis-id-subtype")),
        first("lldp-remote-system-name"),
        *identified(first("lldp-remote-port-id"), first("lldp-remote-port-id-subtype")),
        first("lldp-remote-port-description"),
        seconds(first("lldp-ttl")),
        None,
        addresses(*leaves.get("lldp-remote-management-address", ())),
        local_port_id=first("lldp-local-port-id") if first("lldp-local-interface") else None,
    )
