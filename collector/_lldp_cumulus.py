"""LLDP neighbours in Cumulus Linux' own formats: NCLU and NVUE.

NCLU, `net show interface all json`: per interface `iface_obj.lldp`, a list of `adj_hostname`, `adj_port`,
`adj_mgmt_ip`, or null. NVUE, `nv show interface lldp -o json`: per interface `lldp.neighbor`, an object keyed by system
name with `chassis`, `port` and `age` (seconds). NVUE, `nv show interface lldp-detail`: lldpd's plain form with the age
on lines of its own, no protocol named, and MACs labelled `ifname`. `net show lldp json` is lldpd's JSON, read as such.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from collector._lldp_words import addresses, device, identified, local_port, reported, seconds
from collector._lldpd import neighbors_from_plain
from truerail.model import Neighbor

HEADING = re.compile(
    r"^[ \t]*(Interface: +[^,\n]*[^,\s])[ \t]*\n[ \t]*-+[ \t]*\n[ \t]+Time:[ \t]*\n[ \t]+(.*)$", re.MULTILINE
)


def understands(answer: Mapping[str, Any]) -> bool:
    """True for a JSON object of interfaces, at least one of which contains LLDP data."""
    spoken = ("iface_obj", "lldp", "neighbor")
    return any(isinstance(entry, dict) and not entry.keys().isdisjoint(spoken) for entry in answer.values())


def neighbors_from_json(answer: Mapping[str, Any]) -> Iterator[Neighbor]:
    """The neighbours of every interface; an interface without LLDP data has none."""
    for port, entry in answer.items():
        if "iface_obj" in entry:
            for row in entry["iface_obj"].get("lldp") or ():
                yield _from_nclu(port, row)
        else:
            lldp = entry.get("lldp") or entry
            for name, neighbor in (lldp.get("neighbor") or {}).items():
                yield _from_nvue(port, name, neighbor)


def _from_nclu(port: str, row: Mapping[str, Any]) -> Neighbor:
    port_id, port_type = identified(row["adj_port"])
    return Neighbor(
        local_port(port),
        *device(row["adj_hostname"]),
        port_id=port_id,
        port_id_type=port_type,
        management_addresses=addresses(row.get("adj_mgmt_ip")),
    )


def _from_nvue(port: str, name: str, neighbor: Mapping[str, Any]) -> Neighbor:
    chassis, remote = neighbor.get("chassis", {}), neighbor.get("port", {})
    of_key = device(chassis.get("system-name") or name)
    chassis_id = identified(chassis.get("chassis-id"))
    return Neighbor(
        local_port(port),
        *(chassis_id if chassis_id[0] else of_key[:2]),
        of_key[2],
        *identified(remote.get("name"), remote.get("type")),
        reported(remote.get("description")),
        seconds(remote.get("ttl")),
        seconds(neighbor.get("age")),
        addresses(chassis.get("management-address-ipv4"), chassis.get("management-address-ipv6")),
    )


def neighbors_from_text(text: str) -> Iterator[Neighbor]:
    """The neighbours in `nv show interface lldp-detail`."""
    for found in neighbors_from_plain(HEADING.sub(r"\1, via: LLDP, Time: \2", text)):
        chassis_id, chassis_type = identified(found.chassis_id, found.chassis_id_type)
        port_id, port_type = identified(found.port_id, found.port_id_type)
        yield found._replace(
            chassis_id=chassis_id, chassis_id_type=chassis_type, port_id=port_id, port_id_type=port_type, via=None
        )
