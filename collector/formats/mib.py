"""SNMP: recorded walks, the names of MIBs, the counters of interfaces."""

import re
from collections.abc import Iterator, Mapping

from collector.formats.counts import Tally, count
from truerail.errors import UnreadableError
from truerail.model import Command, Counter
from truerail.model.bounds import LONGEST_TEXT

# ----------------------------------------------------------------------------------------------------------------------
# Walks of net-snmp that print names of MIBs or no types, as lines of the numeric form with types.
#
# A row's name: `LLDP-MIB::lldpRemSysName.0.10.1`, without the MIB (`-Os`), with brackets (`-OX`), the whole path
# (`-Of`), or `SNMPv2-SMI::mib-2.2.2.1.2.1` where the MIB is not loaded. Its value: with a type, or without one (`-OQ`,
# and `-Oq` without the equals sign as well). Source: net-snmp `snmplib/mib.c`; the names are those of RFC 2863 and IEEE
# 802.1AB.
#
# Traps:
#
# - Without types, octets are a quoted string of hex digits that ends with a blank, and an enumeration is a word alone.
# - Text to which the MIB gives a display hint has no quotes: it goes on until the next row, and a neighbour's text may
#   have the form of one. Only the numeric form is safe from that.
# - An octet string within an index is text in quotes, with a dot for each octet that is none: such a row is left out.

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
    return list(_rewritten(lines, named=named, untyped=untyped)) if named or untyped else lines


def _rewritten(lines: list[str], *, named: bool, untyped: bool) -> Iterator[str]:
    below = False
    for number, oid, value in _names_rows(lines, named=named, untyped=untyped):
        if oid:
            below = True
            yield from f".{oid} = {_typed(oid, value) if untyped else value}".split("\n")
        elif below and named and number == len(lines) and _IS_NAMED.match(value):
            raise UnreadableError("half a row: the walk is cut", line=number, text=value)
        else:
            yield value


def _names_rows(lines: list[str], *, named: bool, untyped: bool) -> Iterator[tuple[int, str, str]]:
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


# ----------------------------------------------------------------------------------------------------------------------
# SNMP tables from recorded walks: the numeric text of net-snmp's `snmpbulkwalk -On`, and snmpsim's `.snmprec`.
#
# Walk text, one row each: `.1.3.6.1.2.1.2.2.1.2.1 = STRING: "lo"` (`iso.3.6...` without `-On`). A hex string and a
# string with line feeds continue below; a quoted string ends at its closing quote, so nothing inside can pass for a
# row. snmprec: `oid|tag|value`, a tag with `x` has a hex value (snmpsim, "Managing simulation data"). A last line
# without a line feed, which an editor may have dropped, may have lost part of its value: it is skipped. Other forms of
# walk text: the names of MIBs above.

Value = str | bytes
Tables = dict[str, dict[int, dict[str, Value]]]
"""Table entry OID -> column -> index -> value."""

_RECORD = re.compile(r"\.?\d+(?:\.\d+)+\|\w*\|")
_ROW = re.compile(r"\.?(?:iso|1)((?:\.\d+)+) = ?(.*)")
_FAILED = ("Timeout:", "Error in packet", "snmpwalk:", "snmpbulkwalk:")
_NUMBER = re.compile(r"(?:[A-Za-z][\w-]{0,60}\()?(-?\d{1,18})(?!\d)")
_NAMES_OF_BITS = re.compile(r"[a-zA-Z]\w*\(\d+\)")
"""What net-snmp prints behind the octets of `BITS` where it has the MIB."""
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


SWITCH = Command(
    "snmpbulkwalk -On 1.0.8802.1.1.2.1.3.7.1 1.0.8802.1.1.2.1.4.1.1.{4,5,6,7,8,9,12} 1.0.8802.1.1.2.1.4.2.1.3"
    " 1.3.6.1.2.1.2.2.1.{2,4,5,6,7,8} 1.3.6.1.2.1.31.1.1.1.{1,15,18}",
    ("snmp",),
)
"""The walk of a live switch, once for all SNMP parsers: local ports, neighbours and their management addresses of
LLDP-MIB, and the columns of IF-MIB that are read. Together, because only IF-MIB names some agents' ports. The system
descriptions, the bulk of lldpRemTable, are omitted; the capabilities after them show that the table is complete.
"""


def walks(mib: str, *oids: str, live: Command = SWITCH) -> tuple[Command, ...]:
    """The walk of a live switch, then the names of other walks of `oids` in captures, the most useful first.

    Those are file names and never sent: a capture may contain any walk. `mib` is the word for the MIB in some of them.
    """
    recorded = (f"{name}.snmprec" for name in ("device", "snmp", mib, "public"))
    tools = ("snmpbulkwalk", "snmpwalk")
    options = ("-On_", "-v2c_-On_", "")
    kept = [f"{tool}_{option}{oid}" for oid in oids for tool in tools for option in options]
    names = (*recorded, "snmpwalk", "snmpbulkwalk", f"{mib}-mib", *kept)
    return (live, *(Command(name, SWITCH.platforms) for name in names))


def tables(text: str, entries: tuple[str, ...]) -> Tables:
    """The columns of the tables under `entries`, OIDs of table entries. Raises `UnreadableError` if the walk is cut.

    A row belongs to the first of the entries that it is under: one may contain others. A walk ascends. One that returns
    to a column, at or before the row at which it left it, has begun again: with other values it is another device's.
    """
    found: Tables = {entry: {} for entry in entries}
    prefixes = tuple((entry + ".", found[entry]) for entry in entries)
    wanted = tuple(prefix for prefix, _ in prefixes)
    outer = {one for one in wanted if any(other != one and other.startswith(one) for other in wanted)}
    prefix, columns = prefixes[0]
    rows, begun, again = dict[str, Value](), "", list[str]()
    for oid, value in _snmp_rows(text, wanted):
        if prefix in outer or not oid.startswith(prefix):
            prefix, columns = next(pair for pair in prefixes if oid.startswith(pair[0]))
        number, _, index = oid[len(prefix) :].partition(".")
        if begun != prefix + number:
            begun, back = prefix + number, False
            try:
                rows = columns.setdefault(int(number), {})
            except ValueError as error:
                raise UnreadableError("not a column of a table: the walk is cut", text=oid) from error
            back = bool(rows) and _place(index) <= _place(next(reversed(rows)))
        back = back or index in rows
        if back and rows.get(index) != value:
            again.append(oid)
        rows[index] = value
    if len(again) > 1:
        raise UnreadableError("the walk begins again with other values: the answers of two devices", text=again[0])
    return found


def _place(index: str) -> list[int]:
    """Where a row is in its column."""
    return [int(part) for part in index.split(".") if part.isdecimal()]


def _snmp_rows(text: str, wanted: tuple[str, ...]) -> Iterator[tuple[str, Value]]:
    lines = text.replace("\r", "").split("\n")
    start = next((index for index, line in enumerate(lines) if line.strip()), 0)
    return _records(lines, wanted) if _RECORD.match(lines[start]) else _walked(numeric(text, lines), wanted)


def _records(lines: list[str], wanted: tuple[str, ...]) -> Iterator[tuple[str, Value]]:
    for number, line in enumerate(lines, 1):
        oid, _, rest = line.partition("|")
        tag, bar, value = rest.partition("|")
        if not bar and line.strip():
            raise UnreadableError("not oid|tag|value: the recording is cut", line=number, text=line)
        oid = oid.removeprefix(".")
        if oid.startswith(wanted) and number < len(lines):
            yield oid, _octets(value, number) if "x" in tag else value


def _walked(lines: list[str], wanted: tuple[str, ...]) -> Iterator[tuple[str, Value]]:
    oid, raw, number = "", "", 0
    seen = False
    for here, line in enumerate(lines, 1):
        row = None if _open(raw) else _ROW.fullmatch(line)
        if row:
            seen = True
            if oid.startswith(wanted) and not raw.startswith(_ABSENT):
                yield oid, _value(raw, number)
            oid, raw, number = "1" + row.group(1), row.group(2), here
        elif line.startswith(_FAILED) and not _open(raw):
            raise UnreadableError("the walk failed", line=here, text=line)
        elif len(raw) > LONGEST_TEXT:
            raise UnreadableError("a string without its end: the walk is cut", line=number, text=raw)
        elif _goes_on(raw) and line:
            raw = f"{raw}\n{line}"
        elif seen and line[:3] in (".1.", "iso"):
            raise UnreadableError("half a row: the walk is cut", line=here, text=line)
    if _open(raw):
        raise UnreadableError("a string without its end: the walk is cut", line=number, text=raw)
    whole = not lines[-1] or raw.startswith('STRING: "')  # a value without a line feed may have lost digits
    if whole and oid.startswith(wanted) and not raw.startswith(_ABSENT):
        yield oid, _value(raw, number)


def _open(raw: str) -> bool:
    """True inside a quoted string that is not closed yet."""
    return raw.startswith('STRING: "') and not _is_closed(raw[9:])


def _goes_on(raw: str) -> bool:
    return raw.startswith(("Hex-STRING:", "BITS:")) or _open(raw) or (raw.startswith("STRING:") and raw[8:9] != '"')


def _value(raw: str, number: int) -> Value:
    if raw.startswith("Wrong Type (should be "):
        raw = raw.partition("): ")[2]
    kind, colon, rest = raw.partition(": ")
    if not colon:
        return raw.strip().strip('"')
    if kind in ("Hex-STRING", "BITS"):
        return _octets(_NAMES_OF_BITS.sub("", rest), number)
    if kind == "STRING" and rest[:1] == '"':
        return _ESCAPED.sub(r"\1", rest[1:-1]) if "\\" in rest else rest[1:-1]
    return rest


def _octets(digits: str, number: int) -> bytes:
    try:
        return bytes.fromhex(digits)
    except ValueError as error:
        raise UnreadableError("not a hex string, or half of one", line=number, text=digits) from error


def text_of(value: Value | None) -> str | None:
    """A value as text. Octets that are not text are shown in hex, `00:00:00:00`; a missing or empty value is None."""
    if isinstance(value, bytes):
        try:
            decoded = value.rstrip(b"\0").decode()
        except UnicodeDecodeError:
            decoded = ""
        value = decoded if decoded and decoded.isprintable() else value.hex(":")
    return (value or "").strip() or None


def octets_of(value: Value | None) -> bytes:
    """A value as the octets on the wire: net-snmp prints them as text if all happen to be printable."""
    return value if isinstance(value, bytes) else (value or "").encode("latin-1", "replace")


def number_of(value: Value | None) -> int | None:
    """A number, also from an enumeration as net-snmp prints it: `up(1)`."""
    found = _NUMBER.match(value.strip()) if isinstance(value, str) else None
    return int(found.group(1)) if found else None


# ----------------------------------------------------------------------------------------------------------------------
# Counters in SNMP tables: columns -> `PortCounters` of the ports that IF-MIB names.

IF = "1.3.6.1.2.1.2.2.1"
IF_X = "1.3.6.1.2.1.31.1.1.1"
NO_MIB = "neither ifName nor ifDescr: the agent does not have IF-MIB, or something else was walked"
_DESCRIPTION, _NAME = 2, 1


def names(found: Tables) -> dict[str, str]:
    """ifIndex -> the port's name: ifName, else ifDescr. Raises `UnreadableError` where the walk has neither."""
    described = {index: text_of(value) for index, value in found[IF].get(_DESCRIPTION, {}).items()}
    named = {index: text_of(value) for index, value in found[IF_X].get(_NAME, {}).items()}
    reported = {index: name for index, name in (described | {i: n for i, n in named.items() if n}).items() if name}
    if not reported:
        raise UnreadableError(NO_MIB)
    return reported


def note(tally: Tally, ports: Mapping[str, str], found: Tables, names: Mapping[str, Mapping[int, str]]) -> None:
    """Adds columns of tables indexed by ifIndex: table -> number of the column -> name of the counter."""
    for entry, number, name in ((entry, number, name) for entry, of in names.items() for number, name in of.items()):
        for index, value in found[entry].get(number, {}).items():
            if index in ports:
                tally.note(ports[index], Counter(name), of_snmp(value))


def of_snmp(value: Value) -> int | None:
    """A counter's value; None if it is no number, as in some recordings."""
    text = value.strip() if isinstance(value, str) else ""
    return count(text) if text.isascii() and text.isdecimal() else None
