"""lldpd's json0 where it is as lldpd writes it: decoded straight into what counts, in half the time.

Source: lldpd's `src/client/json_writer.c`, which makes each element an object in a list. Anything else, from another
form to a neighbour without an id, is for the reader of all forms: its errors name what is wrong.
"""

from functools import lru_cache
from typing import Annotated, Any

from msgspec import UNSET, DecodeError, Meta, Struct, field
from msgspec.json import Decoder

from collector._lldpd_text import seconds, whole
from truerail.model import Neighbor

_ONE = Meta(min_length=1, max_length=1)


class _Value(Struct, gc=False):
    value: str | None = None


class _Id(Struct, gc=False):
    type: str
    value: Annotated[str, Meta(min_length=1)]


class _Chassis(Struct, gc=False):
    id: Annotated[list[_Id], _ONE]
    name: list[_Value] = []
    ttl: list[_Value] = []
    addresses: list[_Value] = field(name="mgmt-ip", default=[])


class _Port(Struct, gc=False):
    id: Annotated[list[_Id], _ONE]
    descr: list[_Value] = []
    ttl: list[_Value] = []


class _Seen(Struct, gc=False):
    name: str
    chassis: Annotated[list[_Chassis], _ONE]
    port: Annotated[list[_Port], _ONE]
    age: str | None = None
    via: str | None = None
    rid: Any = UNSET
    status: Any = UNSET


class _Group(Struct, gc=False):
    interface: list[_Seen]


class _Answer(Struct, gc=False):
    lldp: list[_Group]


_DECODER = Decoder(_Answer)
_seconds = lru_cache(1024)(seconds)
"""The neighbours of one device often have one age: that of its daemon."""


def neighbors_from_json0(answer: str) -> list[Neighbor] | None:
    """Neighbours in the answer of `lldpctl -f json0`; None where it is anything else, right or wrong."""
    try:
        seen = [seen for group in _DECODER.decode(answer).lldp for seen in group.interface]
    except (DecodeError, RecursionError, UnicodeError):
        return None
    if any(one.rid is UNSET and (one.status is not UNSET or one.via == "unknown") for one in seen):  # its own ports
        return None
    return [_neighbor(one) for one in seen]


def _neighbor(seen: _Seen) -> Neighbor:
    (chassis,), (port,) = seen.chassis, seen.port
    (chassis_id,), (port_id,) = chassis.id, port.id
    name, descr, ttl = chassis.name, port.descr, port.ttl or chassis.ttl
    return Neighbor(
        seen.name,
        chassis_id.value,
        chassis_id.type,
        name[0].value or None if name else None,
        port_id.value,
        port_id.type,
        descr[0].value or None if descr else None,
        whole(ttl[0].value) if ttl else None,
        _seconds(seen.age),
        tuple([address.value for address in chassis.addresses if address.value]),
        seen.via,
    )
