"""lldpd's list of neighbours as text, and as json0 in one step."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated, Any

from msgspec import UNSET, DecodeError, Meta, Struct, field
from msgspec.json import Decoder

from collector.formats.text import lines, small_count
from truerail.errors import UnreadableError
from truerail.model import Neighbor

# ----------------------------------------------------------------------------------------------------------------------
# lldpd's list of neighbours as text: the plain form for people and the keyvalue form for scripts.
#
# Source: lldpd's `src/client/{text,kv}_writer.c`.

_ID_TYPES = frozenset(("mac", "ifname", "ifalias", "local", "ip", "component", "portcomp", "unhandled"))
"""lldpd's names for the types of chassis and port ids."""

_INTERFACE = re.compile(r"Interface:\s+(?P<port>\S.*?), via: (?P<via>[^,]+)(?:, RID: \d+)?(?:, Time: (?P<age>.*))?$")
_TITLE = re.compile(r"^[#> \t]*LLDP neighbors:[ \t\r]*$", re.MULTILINE)
_OWN_TITLE, _HEARD_TITLE = "LLDP interfaces:", "LLDP neighbors:"
_CLOSED = re.compile(r"[ \t]*-{10,}[ \t]*")
"""The line that closes the title, even of a list without neighbours."""
_VIA = re.compile(r"lldp\.(?P<port>.+)\.via=(?P<via>.*)$")
_AGE = re.compile(r"(\d+) days?, (\d+):(\d\d):(\d\d)")
_KEY_INDENT = 4
"""Indentation of a key below its `Interface:`; deeper text continues a value that contains line feeds."""
_SENT = "what the host itself sends (`lldpcli show interfaces`), not its neighbours"
_IDS = frozenset(("ChassisID", "PortID"))
"""A neighbour's TTL is beside one of them; the one that the host sends is beside `Chassis:` and `Port:`."""
_PLAIN_KEYS = {
    "ChassisID": "chassis",
    "SysName": "name",
    "MgmtIP": "address",
    "PortID": "port",
    "PortDescr": "descr",
    "TTL": "ttl",
}


def seconds(age: Any) -> int | None:
    """Seconds in lldpd's `3 days, 01:12:02`; None where the answer has no age in that form."""
    found = _AGE.match(age) if type(age) is str else None
    if found is None:
        return None
    days, hours, minutes, rest = found.groups()
    return int(days) * 86400 + int(hours) * 3600 + int(minutes) * 60 + int(rest)


class _Record:
    """One neighbour while its lines are read; the first line of a kind counts, since only addresses may repeat."""

    def __init__(self, port: str, via: str, line: int, age: str | None = None) -> None:
        self.port = port
        self.line = line
        self.via = via
        self.addresses: list[str] = []
        self.last = ""
        self.fields: dict[str, str] = {} if age is None else {"age": age}

    def put(self, key: str, value: str) -> None:
        self.last = key
        if not value:
            return
        if key == "address":
            self.addresses.append(value)
        else:
            self.fields.setdefault(key, value)

    def neighbor(self) -> Neighbor:
        if self.via == "unknown":
            raise UnreadableError(_SENT, line=self.line)
        get = self.fields.get
        chassis_type, _, chassis_id = get("chassis", "").partition(" ")
        port_type, _, port_id = get("port", "").partition(" ")
        if not chassis_id or not port_id:
            missing = "port id" if chassis_id else "chassis id"
            raise UnreadableError(f"the neighbour on interface {self.port} has no {missing}", line=self.line)
        return Neighbor(
            self.port,
            chassis_id.strip(),
            chassis_type,
            get("name"),
            port_id.strip(),
            port_type,
            get("descr"),
            small_count(get("ttl")),
            seconds(get("age")),
            tuple(self.addresses),
            self.via,
        )


def neighbors_from_plain(answer: str) -> Iterator[Neighbor]:
    """Neighbours in the answer of a bare `lldpctl` or `lldpcli show neighbors [details]`. Raises `UnreadableError`."""
    if not _TITLE.search(answer) and ", via: " not in answer:
        raise UnreadableError("neither `LLDP neighbors:` nor an interface: not lldpd's list of neighbours")
    record: _Record | None = None
    deepest = inner = 0
    text = _heard(lines(answer))
    for number, line in enumerate(text, 1):
        stripped = line.strip()
        if stripped.startswith("Interface:"):
            if record is not None:
                yield record.neighbor()
            record = _opened(stripped, number)
            deepest = line.index("I") + _KEY_INDENT
            continue
        key, _, value = stripped.partition(":")
        if record is not None and key in _PLAIN_KEYS and line.index(key) <= deepest:
            if key in _IDS:
                inner = line.index(key)
            elif key == "TTL" and line.index(key) < inner:
                raise UnreadableError(_SENT, line=number, text=line)
            record.put(_PLAIN_KEYS[key], value.strip())
        elif record is not None and stripped:
            record.last = ""
    if record is not None:
        _refuse_cut(record, text)
        yield record.neighbor()
    elif _OWN_TITLE in answer and not _TITLE.search(answer):
        raise UnreadableError(_SENT)
    elif any(", via: " in line for line in text):
        raise UnreadableError("interfaces that are quoted or commented out, but not all of the answer is")
    elif not any(_CLOSED.fullmatch(line) for line in text[_titled(text) :]):
        raise UnreadableError("cut short: nothing below the title", line=len(text))


def _heard(text: list[str]) -> list[str]:
    """The lines, those of `lldpcli show interfaces` empty: there the host tells what it sends itself."""
    sent, heard = False, []
    for line in text:
        title = line.strip()
        sent = title == _OWN_TITLE or (sent and title != _HEARD_TITLE)
        heard.append("" if sent else line)
    return heard


def _titled(text: list[str]) -> int:
    """Number of lines up to and including the title."""
    return next((number for number, line in enumerate(text, 1) if _TITLE.fullmatch(line)), 0)


def _opened(line: str, number: int) -> _Record:
    found = _INTERFACE.match(line)
    if found is None:
        raise UnreadableError(
            "an interface without `via`: not a list of neighbours, or cut short", line=number, text=line
        )
    return _Record(found["port"], found["via"], number, found["age"])


def _refuse_cut(record: _Record, text: list[str]) -> None:
    """Raises if the answer ends, without a line feed, in a line that identifies the neighbour."""
    if text[-1].strip() and record.last in ("chassis", "name", "port", "descr"):
        raise UnreadableError("cut short", line=len(text), text=text[-1])


def neighbors_from_keyvalue(answer: str) -> Iterator[Neighbor]:
    """Neighbours in the answer of `lldpctl -f keyvalue`. Raises `UnreadableError`.

    A neighbour begins with its `via`. An interface name may contain dots (`eth0.100`): it ends where `.via=` begins.
    """
    record: _Record | None = None
    prefix = ""
    text = lines(answer)
    for number, line in enumerate(text, 1):
        stripped = line.strip()
        if found := _VIA.match(stripped):
            if record is not None:
                yield record.neighbor()
            record = _Record(found["port"], found["via"], number)
            prefix = f"lldp.{found['port']}."
        elif record is not None and stripped.startswith(prefix):
            _put_pair(record, stripped[len(prefix) :])
        elif stripped.startswith("lldp."):
            raise UnreadableError("a value of no neighbour: the neighbour's `via` is missing", line=number, text=line)
    if record is None:
        raise UnreadableError("no `lldp.<interface>.via=`: not lldpd's list of neighbours")
    _refuse_cut(record, text)
    yield record.neighbor()


def _put_pair(record: _Record, pair: str) -> None:
    key, equals, value = pair.partition("=")
    section, _, name = key.partition(".")
    record.last = ""
    if key == "age":
        record.put("age", value)
    elif section in ("chassis", "port") and name in _ID_TYPES and equals:
        record.put(section, f"{name} {value}" if value else "")
    elif key in ("chassis.name", "port.descr"):
        record.put(name, value)
    elif key in ("port.ttl", "chassis.ttl"):
        record.put("ttl", value)
    elif key == "chassis.mgmt-ip":
        record.put("address", value)
    elif not equals:
        raise UnreadableError("a key without a value: cut short", line=record.line, text=pair)


# ----------------------------------------------------------------------------------------------------------------------
# lldpd's json0 where it is as lldpd writes it: decoded straight into what counts, in half the time.
#
# Source: lldpd's `src/client/json_writer.c`, which makes each element an object in a list. Anything else, from another
# form to a neighbour without an id, is for the reader of all forms: its errors name what is wrong.

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
        small_count(ttl[0].value) if ttl else None,
        _seconds(seen.age),
        tuple([address.value for address in chassis.addresses if address.value]),
        seen.via,
    )
