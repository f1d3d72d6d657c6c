"""LLDP neighbours as Cisco NX-OS prints them in JSON.

`show lldp neighbors [detail] | json`: `TABLE_nbor[_detail]` holds `ROW_nbor[_detail]`, which is an object where there
is one neighbour and a list where there are several; numbers may be strings. Without `detail` the field `chassis_id` is
the table's column "Device ID": the system name, or the chassis id of a neighbour that has none. With `detail` the field
`ttl` is the text form's `Time remaining`: the rest of the time to live, which is not used as the time to live.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from collector._documents import listed
from collector._lldp_words import addresses, identified, local_port, reported, seconds
from truerail.errors import UnreadableError
from truerail.model import Neighbor

KEYS = frozenset({"TABLE_nbor", "TABLE_nbor_detail", "neigh_hdr", "neigh_count"})


def neighbors_from_json(answer: Mapping[str, Any]) -> Iterator[Neighbor]:
    """The neighbours in NX-OS JSON. Raises `UnreadableError` where there are fewer than `neigh_count`."""
    found = [
        row
        for suffix in ("", "_detail")
        for table in listed(answer.get(f"TABLE_nbor{suffix}") or None)
        for row in listed(table[f"ROW_nbor{suffix}"] or None)
    ]
    announced = seconds(answer.get("neigh_count")) or 0
    if len(found) < announced:
        raise UnreadableError(f"{len(found)} of {announced} neighbours: the answer is cut")
    yield from map(_neighbor, found)


def _neighbor(row: Mapping[str, Any]) -> Neighbor:
    chassis_id, chassis_type = identified(row.get("chassis_id"), row.get("chassis_type"))
    name = reported(row.get("sys_name"))
    if "sys_name" not in row and chassis_type != "mac":
        name = chassis_id
    return Neighbor(
        local_port(row["l_port_id"]),
        chassis_id,
        chassis_type,
        name,
        *identified(row.get("port_id"), row.get("port_type")),
        reported(row.get("port_desc")),
        seconds(row.get("hold_time")),
        None,
        addresses(row.get("mgmt_addr"), row.get("mgmt_addr_ipv6")),
    )
