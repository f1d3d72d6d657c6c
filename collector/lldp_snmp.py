"""LLDP neighbours as a switch's SNMP agent reports them: LLDP-MIB (1.0.8802.1.1.2), local ports named with IF-MIB.

Read from numeric walk text (`snmpbulkwalk -On`) and from snmpsim recordings (`.snmprec`). A walk of 1.0.8802.1.1.2 is
enough where the agent names its ports in lldpLocPortTable; IF-MIB in the same text names them where it does not.

Sources: IEEE 802.1AB-2005 clause 12 (LLDP-MIB), RFC 2863 (IF-MIB), walks of real lldpd and snmpd, snmpsim recordings of
a dozen vendors. Traps:

- lldpRemTable is indexed by TimeMark, LocalPortNum, RemIndex. After a swap between two NICs of one host two rows differ
  only in TimeMark: they are two neighbours. Some agents (RouterOS) index by LocalPortNum alone.
- An agent may give a row a new TimeMark during the walk: the chassis is then under the old one, later columns are
  under the new one. Each is half a neighbour: chassis and port are mandatory in LLDP.
- A TLV that was not sent has no row: columns are joined by index, never by position.
- LocalPortNum is not always an ifIndex (Huawei VRP): lldpLocPortId names the port; if it is a MAC, an alias or a number
  (Junos), IF-MIB translates it.
- The type of an id follows from its subtype, never from its value: the six octets of a MAC may all be printable text.
  A network address begins with an octet for its family.
- A walk goes column by column: one that ends before lldpRemSysName is cut, and refused.
- A dead LLDP daemon leaves "No Such Object": that is not a switch without neighbours.
"""

from collections.abc import Iterator, Mapping
from ipaddress import ip_address

from collector.formats.lldp_words import addresses, advertised, identified
from collector.formats.mib import IF, IF_X, Tables, Value, number_of, octets_of, tables, text_of, walks
from truerail.errors import UnreadableError
from truerail.model import SWITCHES, Device, Neighbor, collector, minutes

_REMOTE = "1.0.8802.1.1.2.1.4.1.1"
_MANAGED = "1.0.8802.1.1.2.1.4.2.1"
_LOCAL = "1.0.8802.1.1.2.1.3.7.1"
_LLDP = "1.0.8802.1.1.2"

_CHASSIS_TYPE, _CHASSIS, _PORT_TYPE, _PORT, _DESCRIPTION, _NAME = range(4, 10)
_LOCAL_TYPE, _LOCAL_ID, _LOCAL_DESCRIPTION = range(2, 5)
_CHASSIS_TYPES = {1: "component", 2: "ifalias", 3: "component", 4: "mac", 5: "ip", 6: "ifname", 7: "local"}
_PORT_TYPES = {1: "ifalias", 2: "component", 3: "mac", 4: "ip", 5: "ifname", 6: "agent-circuit-id", 7: "local"}
_ADDRESS_OCTETS = {"1": 4, "2": 16}  # IANA address family -> octets, RFC 2677

_OIDS = ("1", ".1", "1.0.8802", "1.0.8802.1.1.2", "1.0.8802.1.1.2.1", "1.0.8802.1.1.2.1.4", "1.0.8802.1.1.2.1.4.1")


@collector(on=SWITCHES, ask=walks("lldp", *_OIDS), every=minutes(1), yields=[Neighbor], long_lines=True)
def lldp_snmp(answer: str, device: Device) -> Iterator[Neighbor]:
    """The neighbours in a walk of LLDP-MIB."""
    found = tables(answer, (_REMOTE, _MANAGED, _LOCAL, _LLDP, IF_X, IF))
    remote = found[_REMOTE]
    if not (remote or found[_LOCAL] or found[_LLDP]):
        raise UnreadableError("no row of LLDP-MIB: the agent does not have it, or something else was walked")
    if remote:
        _refuse_cut(remote)
        remote = _rejoined(remote)
    ports, managed = _Ports(found), _managed(found[_MANAGED])
    chassis_types, port_types = remote.get(_CHASSIS_TYPE, {}), remote.get(_PORT_TYPE, {})
    chassis, port_ids = remote.get(_CHASSIS, {}), remote.get(_PORT, {})
    names, descriptions = remote.get(_NAME, {}), remote.get(_DESCRIPTION, {})
    for index in dict.fromkeys((*chassis_types, *chassis, *port_ids, *names)):
        parts = index.split(".")
        number = parts[1] if len(parts) == 3 else parts[0]
        yield Neighbor(
            ports.name(number),
            *_identity(chassis.get(index), _CHASSIS_TYPES.get(number_of(chassis_types.get(index)) or 0)),
            advertised(text_of(names.get(index))),
            *_identity(port_ids.get(index), _PORT_TYPES.get(number_of(port_types.get(index)) or 0)),
            advertised(text_of(descriptions.get(index))),
            management_addresses=addresses(*managed.get(index, ())),
            local_port_id=ports.sent(number),
        )


def _refuse_cut(remote: Mapping[int, Mapping[str, Value]]) -> None:
    """Raises if a walk ended inside lldpRemTable: the columns after lldpRemSysName are never all empty."""
    if _PORT not in remote or max(remote) < _NAME:
        raise UnreadableError(
            f"lldpRemTable ends in column {max(remote)}: the walk is cut, or has a part of the table only"
        )
    if max(remote) == _NAME and _unmarked(list(remote[_NAME])[-1]) != _unmarked(list(remote[_PORT])[-1]):
        raise UnreadableError("lldpRemTable ends inside lldpRemSysName: the walk is cut")


def _rejoined(remote: dict[int, dict[str, Value]]) -> dict[int, dict[str, Value]]:
    """The table with the halves of each row joined whose TimeMark the agent changed between two columns."""
    begun: dict[str, list[str]] = {}
    for index in remote.get(_CHASSIS_TYPE, {}):
        begun.setdefault(_unmarked(index), []).append(index)
    known = {index for indexes in begun.values() for index in indexes}
    whole: dict[str, str] = {}
    for index in dict.fromkeys(index for rows in remote.values() for index in rows if index not in known):
        for head in begun.get(_unmarked(index), ()):
            if any(index in rows and head not in rows for rows in remote.values()):
                whole[head] = index
    return _renamed(remote, whole) if whole else remote


def _renamed(remote: Mapping[int, dict[str, Value]], whole: Mapping[str, str]) -> dict[int, dict[str, Value]]:
    """The table with the older rows under their newer names. Values of the newer rows stay."""
    return {
        number: {whole.get(index, index): rows.get(whole.get(index, index), value) for index, value in rows.items()}
        for number, rows in remote.items()
    }


def _unmarked(index: str) -> str:
    return index.partition(".")[2] or index


def _identity(value: Value | None, kind: str | None) -> tuple[str | None, str | None]:
    octets = octets_of(value)
    if kind == "mac" and len(octets) == 6:
        return octets.hex(":"), kind
    if kind == "ip" and _ADDRESS_OCTETS.get(str(octets[0]) if octets else "") == len(octets) - 1:
        return str(ip_address(octets[1:])), kind
    return identified(text_of(value), kind)


def _managed(table: Mapping[int, Mapping[str, Value]]) -> dict[str, list[str]]:
    """lldpRemManAddrTable: the index has the address after the neighbour's own index: subtype, length, octets."""
    found: dict[str, dict[str, None]] = {}
    for index in (index for rows in table.values() for index in rows):
        parts = index.split(".")
        if len(parts) > 5 and _ADDRESS_OCTETS.get(parts[3]) == len(parts) - 5:
            octets = bytes(int(part) & 255 for part in parts[5:])
            found.setdefault(".".join(parts[:3]), {})[str(ip_address(octets))] = None
    return {index: list(addressed) for index, addressed in found.items()}


class _Ports:
    """Names of local ports, from lldpLocPortTable and IF-MIB."""

    def __init__(self, found: Tables) -> None:
        local, if_x, if_ = found[_LOCAL], found[IF_X], found[IF]
        self._types, self._ids = local.get(_LOCAL_TYPE, {}), local.get(_LOCAL_ID, {})
        self._descriptions = local.get(_LOCAL_DESCRIPTION, {})
        self._names = {**if_.get(2, {}), **if_x.get(1, {})}
        self._macs = {index: _identity(value, "mac")[0] for index, value in if_.get(6, {}).items()}
        self._aliases = {index: text_of(value) for index, value in if_x.get(18, {}).items()}

    def name(self, number: str) -> str:
        """The name of a LocalPortNum; the number itself if neither table has it."""
        kind = _PORT_TYPES.get(number_of(self._types.get(number)) or 0)
        text, kind = _identity(self._ids.get(number), kind)
        if text is None:
            found = self._if_name(number)
        elif kind == "mac":
            found = self._if_name(_index_of(text, self._macs, number))
        elif kind == "ifalias":
            found = self._if_name(_index_of(text, self._aliases, number)) or text
        elif text.isdigit():
            found = self._if_name(text)
        else:
            return text
        return found or text_of(self._descriptions.get(number)) or text or number

    def sent(self, number: str) -> str | None:
        """The id that the port of a LocalPortNum sends, if it is neither its MAC nor its name in this answer."""
        kind = _PORT_TYPES.get(number_of(self._types.get(number)) or 0)
        text, kind = _identity(self._ids.get(number), kind)
        return None if kind == "mac" or text == self.name(number) else text

    def _if_name(self, if_index: str) -> str | None:
        return text_of(self._names.get(if_index))


def _index_of(wanted: str, values: Mapping[str, str | None], number: str) -> str:
    """The ifIndex with a value: `number` itself if it has it, else the only one that has it, else empty."""
    if values.get(number) == wanted:
        return number
    found = [index for index, value in values.items() if value == wanted]
    return found[0] if len(found) == 1 else ""
