"""LLDP neighbours as Arista EOS prints them: JSON by port or as a list, and the text of `show lldp neighbors detail`.

JSON: `show lldp neighbors detail | json` is `{"lldpNeighbors": {port: {"lldpNeighborInfo": [...]}}}`, without `detail`
it is `{"lldpNeighbors": [{"port", "neighborDevice", "neighborPort", "ttl"}]}`. Port ids of the detailed form carry
their quotes inside the string (`"\\"Ethernet1\\""`); `interfaceId_v2`, where there is one, does not.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from collector._lldp_words import addresses, device, identified, local_port, reported, seconds
from truerail.errors import UnreadableError
from truerail.model import Neighbor

HEADING = re.compile(r"^[ \t]*Interface (\S+) detected (\d{1,4}) LLDP neighbors?:", re.MULTILINE)
_NEIGHBOR = re.compile(r"^(?: {2}Neighbor .*|[ \t]*Neighbor \S.*, age .*)$", re.MULTILINE)
"""The first line of a neighbour; pasted text may lack the indentation."""
_KEYS = {
    "Chassis ID type": "chassis_type",
    "Chassis ID": "chassis_id",
    "Port ID type": "port_type",
    "Port ID": "port_id",
    "Port Description": "description",
    "System Name": "name",
    "Time To Live": "ttl",
}


def neighbors_from_json(answer: Mapping[str, Any]) -> Iterator[Neighbor]:
    """The neighbours in either form of EOS JSON."""
    ports = answer["lldpNeighbors"]
    if isinstance(ports, list):
        yield from map(_brief, ports)
        return
    for name, entry in ports.items():
        port = local_port(name)
        for info in entry["lldpNeighborInfo"]:
            yield _detailed(port, info)


def _brief(row: Mapping[str, Any]) -> Neighbor:
    port_id, port_type = identified(row["neighborPort"])
    return Neighbor(
        local_port(row["port"]),
        *device(row["neighborDevice"]),
        port_id=port_id,
        port_id_type=port_type,
        ttl_seconds=seconds(row.get("ttl")),
    )


def _detailed(port: str, info: Mapping[str, Any]) -> Neighbor:
    remote = info.get("neighborInterfaceInfo", {})
    chassis_id, chassis_type = identified(info.get("chassisId"), info.get("chassisIdType"))
    name = remote.get("interfaceId_v2") or _unquoted(remote.get("interfaceId"))
    port_id, port_type = identified(name, remote.get("interfaceIdType"))
    return Neighbor(
        port,
        chassis_id,
        chassis_type,
        reported(info.get("systemName")),
        port_id,
        port_type,
        reported(remote.get("interfaceDescription")),
        seconds(info.get("ttl")),
        None,
        addresses(*[entry["address"] for entry in info.get("managementAddresses", ())]),
    )


def _unquoted(text: str | None) -> str | None:
    if text and len(text) > 1 and text[0] == '"' == text[-1]:
        return text[1:-1].replace('\\"', '"')
    return text


def _is_open(text: str) -> bool:
    """Whether a quoted text lacks its closing quote."""
    return text.startswith('"') and (len(text) < 2 or not text.endswith('"'))


def neighbors_from_text(text: str) -> Iterator[Neighbor]:
    """The neighbours in `show lldp neighbors detail`. Raises `UnreadableError` where a port has fewer than it
    announces."""
    end = text.rpartition("\n")[2].lstrip()
    if end.startswith("Interface ") and not HEADING.match(end):
        raise UnreadableError("the answer is cut", text=end)
    headings = list(HEADING.finditer(text))
    for heading, following in zip(headings, [*headings[1:], None], strict=True):
        port, announced = heading.group(1), int(heading.group(2))
        body = text[heading.end() : following.start() if following else len(text)]
        blocks = _NEIGHBOR.split(body)[1:]
        if len(blocks) != announced:
            raise UnreadableError(f"{len(blocks)} of {announced} neighbours on {port}: the answer is cut")
        for block in blocks:
            yield _from_block(port, block.splitlines())


def _from_block(port: str, lines: Sequence[str]) -> Neighbor:
    found: dict[str, str] = {}
    managed: list[str] = []
    for line in lines:
        key, _, value = line.strip().removeprefix("- ").partition(":")
        name = _KEYS.get(key.rstrip())
        if name:
            found.setdefault(name, value.strip())  # link aggregation also has a "Port ID", further down
        elif key.startswith("Management Address  "):
            managed.append(value)
        elif key.startswith("Discovered "):
            found["age"] = line.strip().removeprefix("Discovered ")
    if "chassis_id" not in found or "port_id" not in found or "ttl" not in found:
        raise UnreadableError(f"a neighbour of {port} without chassis id, port id or time to live: the answer is cut")
    if _is_open(found.get("name", "")):
        raise UnreadableError("a name without its closing quote: the answer is cut", text=found["name"])
    return Neighbor(
        port,
        *identified(_unquoted(found["chassis_id"]), found.get("chassis_type")),
        reported(_unquoted(found.get("name"))),
        *identified(_unquoted(found["port_id"]), found.get("port_type")),
        reported(_unquoted(found.get("description"))),
        seconds(found.get("ttl")),
        seconds(found.get("age")),
        addresses(*managed),
    )
