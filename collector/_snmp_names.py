"""Walks of net-snmp that print names of MIBs or no types, as lines of the numeric form with types.

A row's name: `LLDP-MIB::lldpRemSysName.0.10.1`, without the MIB (`-Os`), with brackets (`-OX`), the whole path (`-Of`),
or `SNMPv2-SMI::mib-2.2.2.1.2.1` where the MIB is not loaded. Its value: with a type, or without one (`-OQ`, and `-Oq`
without the equals sign as well). Source: net-snmp `snmplib/mib.c`; the names are those of RFC 2863 and IEEE 802.1AB.

Traps:

- Without types, octets are a quoted string of hex digits that ends with a blank, and an enumeration is a word alone.
- Text to which the MIB gives a display hint has no quotes: it goes on until the next row, and a neighbour's text may
  have the form of one. Only the numeric form is safe from that.
- An octet string within an index is text in quotes, with a dot for each octet that is none: such a row is left out.
"""

import re
from collections.abc import Iterator

from truerail.errors import UnreadableError

_LLDP = "1.0.8802.1.1.2.1"
_SUBTREES = {"mib-2": "1.3.6.1.2.1", "enterprises": "1.3.6.1.4.1", "iso": "1"}
_TABLES = {
    f"{_LLDP}.3.7.1": "lldpLocPort: Num IdSubtype Id Desc",
    f"{_LLDP}.4.1.1": (
        "lldpRem: TimeMark LocalPortNum Index ChassisIdSubtype ChassisId PortIdSubtype PortId PortDesc SysName SysDesc"
        " SysCapSupported SysCapEnabled"
    ),
    f"{_LLDP}.4.2.1": "lldpRemManAddr: Subtype - IfSubtype IfId OID",
    "1.3.6.1.2.1.2.2.1": (
        "if: Index Descr Type Mtu Speed PhysAddress AdminStatus OperStatus LastChange InOctets InUcastPkts InNUcastPkts"
        " InDiscards InErrors InUnknownProtos OutOctets OutUcastPkts OutNUcastPkts OutDiscards OutErrors"
    ),
    "1.3.6.1.2.1.31.1.1.1": (
        "if: Name InMulticastPkts InBroadcastPkts OutMulticastPkts OutBroadcastPkts HCInOctets HCInUcastPkts"
        " HCInMulticastPkts HCInBroadcastPkts HCOutOctets HCOutUcastPkts HCOutMulticastPkts HCOutBroadcastPkts"
        " LinkUpDownTrapEnable HighSpeed PromiscuousMode ConnectorPresent Alias CounterDiscontinuityTime"
    ),
}
"""Table entry OID -> the beginning of its columns' names, then the rest of each, from column 1 on."""
_COLUMNS = {
    head + name: f"{entry}.{number}"
    for entry, (head, _, names) in ((entry, said.partition(": ")) for entry, said in _TABLES.items())
    for number, name in enumerate(names.split(), 1)
}
_CHASSIS = "chassisComponent interfaceAlias portComponent macAddress networkAddress interfaceName local"
_PORT = "interfaceAlias portComponent macAddress networkAddress interfaceName agentCircuitId local"
_WORDS = {
    "lldpRemChassisIdSubtype": _CHASSIS,
    "lldpRemPortIdSubtype": _PORT,
    "lldpLocPortIdSubtype": _PORT,
    "ifAdminStatus": "up down testing",
    "ifOperStatus": "up down testing unknown dormant notPresent lowerLayerDown",
}
_NUMBERS = {
    f"{_COLUMNS[name]}.": {word: str(number) for number, word in enumerate(words.split(), 1)}
    for name, words in _WORDS.items()
}
"""Column OID -> word of its enumeration -> number, for values without types."""
_INDEX = r'(?:(?:\.|\[)(?:\w+|"[^"\n]*")\]?)+'
_TYPE = (
    r"(?:STRING|INTEGER|Hex-STRING|BITS|Gauge32|Counter32|Counter64|Timeticks|OID|IpAddress|Network Address|Opaque"
    r"|Unsigned32|UInteger32|NULL):"
)
_NAMED = re.compile(
    rf"(?:(?:[\w-]+::|\.iso\.(?:[A-Za-z][\w-]*\.)*)(?=[A-Za-z])|(?=[a-z]+[A-Z]))([\w-]+)({_INDEX}) (?:= ?)?(.*)"
)
_NUMERIC = re.compile(r"\.?(iso|1)((?:\.\d+)+) (?:= ?)?(.*)")
_IS_NAMED = re.compile(rf"^(?:[\w-]+::\w|\.iso\.[a-z]|(?:lldp|if)[A-Z]\w+{_INDEX} )", re.MULTILINE)
_IS_ROW = re.compile(rf"^(?:\.?(?:iso|1)\.\d|[A-Za-z][\w-]*(?:::\w+)?{_INDEX} )", re.MULTILINE)
_IS_TYPED = re.compile(rf"^\S+ = (?:Wrong Type .*?: )?{_TYPE}", re.MULTILINE)
_DIGITS = re.compile(r'"((?:[0-9A-F]{2}(?: \n?|\n))+)"|((?:[0-9A-Fa-f]{2} ){5,}[0-9A-Fa-f]{2}) ?')
_ABSENT = ("No Such ", "No more variables")
_LOOKED_AT = 10_000
_OTHER = "1.0"
"""Means a row that no reader reads: it ends the value above it."""


def numeric(text: str, lines: list[str]) -> list[str]:
    """The lines of a walk, in the numeric form with types if it has another one."""
    beginning = text[:_LOOKED_AT]
    named = _IS_NAMED.search(beginning) is not None
    untyped = _IS_ROW.search(beginning) is not None and not _IS_TYPED.search(beginning)
    if not (named or untyped):
        return lines
    return list(_rewritten(lines, named=named, untyped=untyped))


def _rewritten(lines: list[str], *, named: bool, untyped: bool) -> Iterator[str]:
    below = False
    for number, oid, value in _rows(lines, named=named, untyped=untyped):
        if oid:
            below = True
            yield from f".{oid} = {_typed(oid, value) if untyped else value}".split("\n")
        elif below and named and number == len(lines) and _IS_NAMED.match(value):
            raise UnreadableError("half a row: the walk is cut", line=number, text=value)
        else:
            yield value


def _rows(lines: list[str], *, named: bool, untyped: bool) -> Iterator[tuple[int, str, str]]:
    """Line, OID and value of each row; other lines with an empty OID. A quoted value without a type is joined."""
    at = 0
    while at < len(lines):
        line, oid, value = lines[at], "", lines[at]
        if found := _NUMERIC.fullmatch(line):
            oid, value = "1" + found[2], found[3]
        elif named and (found := _NAMED.fullmatch(line)):
            oid, value = _oid(found[1], found[2]), found[3]
        at += 1
        if oid and untyped and value.startswith('"'):
            parts = [value[1:]]
            while at < len(lines) and not _is_closed(parts[-1]):
                parts.append(lines[at])
                at += 1
            value = '"' + "\n".join(parts)
        yield at, oid, value


def _is_closed(line: str) -> bool:
    before = line[:-1]
    return line.endswith('"') and (len(before) - len(before.rstrip("\\"))) % 2 == 0


def _oid(name: str, index: str) -> str:
    if '"' in index:
        return _OTHER
    column = _COLUMNS.get(name) or _SUBTREES.get(name)
    if column is None:
        column = f"{_LLDP}.5" if name.startswith("lldp") and not name.startswith("lldpV2") else _OTHER
    return column + index.replace("][", ".").replace("[", ".").replace("]", "")


def _typed(oid: str, value: str) -> str:
    """A value with its type; a word of an enumeration as its number."""
    if value.startswith(_ABSENT) or value in ("", '""'):
        return value
    if found := _DIGITS.fullmatch(value):
        return f"Hex-STRING: {found[1] or found[2]}"
    words = next((words for column, words in _NUMBERS.items() if oid.startswith(column)), {})
    return f"STRING: {words.get(value, value)}"
