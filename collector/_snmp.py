"""SNMP tables from recorded walks: the numeric text of net-snmp's `snmpbulkwalk -On`, and snmpsim's `.snmprec`.

Walk text, one row each: `.1.3.6.1.2.1.2.2.1.2.1 = STRING: "lo"` (`iso.3.6...` without `-On`). A hex string and a string
with line feeds continue below; a quoted string ends at its closing quote, so nothing inside can pass for a row.
snmprec: `oid|tag|value`, a tag with `x` has a hex value (snmpsim, "Managing simulation data"). A last line without a
line feed, which an editor may have dropped, may have lost part of its value: it is skipped. Other forms of walk text:
`_snmp_names`.
"""

import re
from collections.abc import Iterator, Mapping

from collector import _snmp_names
from truerail.errors import UnreadableError
from truerail.model import Command
from truerail.model.bounds import LONGEST_TEXT

Value = str | bytes
Tables = dict[str, dict[int, dict[str, Value]]]
"""Table entry OID -> column -> index -> value."""

_RECORD = re.compile(r"\.?\d+(?:\.\d+)+\|\w*\|")
_ROW = re.compile(r"\.?(?:iso|1)((?:\.\d+)+) = ?(.*)")
_FAILED = ("Timeout:", "Error in packet", "snmpwalk:", "snmpbulkwalk:")
_ABSENT = ("No Such ", "No more variables")
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


def walks(*oids: str, also: tuple[str, ...] = ()) -> tuple[Command, ...]:
    """The walk of a live switch, then the names of other walks of `oids` in captures, the most useful first.

    Those are file names and never sent: a capture may contain any walk.
    """
    tools = ("snmpbulkwalk", "snmpwalk")
    options = ("-On_", "-v2c_-On_", "")
    kept = [f"{tool}_{option}{oid}" for oid in oids for tool in tools for option in options]
    return (SWITCH, *(Command(name, SWITCH.platforms) for name in (*also, *kept)))


def tables(text: str, entries: tuple[str, ...]) -> Tables:
    """The columns of the tables under `entries`, OIDs of table entries. Raises `UnreadableError` if the walk is cut.

    A row belongs to the first of the entries that it is under: one may contain others.
    """
    found: Tables = {entry: {} for entry in entries}
    prefixes = tuple((entry + ".", found[entry]) for entry in entries)
    wanted = tuple(prefix for prefix, _ in prefixes)
    outer = {one for one in wanted if any(other != one and other.startswith(one) for other in wanted)}
    prefix, columns = prefixes[0]
    for oid, value in _rows(text, wanted):
        if prefix in outer or not oid.startswith(prefix):
            prefix, columns = next(pair for pair in prefixes if oid.startswith(pair[0]))
        number, _, index = oid[len(prefix) :].partition(".")
        try:
            columns.setdefault(int(number), {})[index] = value
        except ValueError as error:
            raise UnreadableError("not a column of a table: the walk is cut", text=oid) from error
    return found


def _rows(text: str, wanted: tuple[str, ...]) -> Iterator[tuple[str, Value]]:
    lines = text.replace("\r", "").split("\n")
    start = next((index for index, line in enumerate(lines) if line.strip()), 0)
    if _RECORD.match(lines[start]):
        return _records(lines, wanted)
    return _walked(_snmp_names.numeric(text, lines), wanted)


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
    if not raw.startswith('STRING: "'):
        return False
    body = raw[9:]
    if not body.endswith('"'):
        return True
    before = body[:-1]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


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
    if isinstance(value, bytes):
        return value
    return (value or "").encode("latin-1", "replace")


def number_of(value: Value | None) -> int | None:
    """A number, also from an enumeration as net-snmp prints it: `up(1)`."""
    found = _NUMBER.match(value.strip()) if isinstance(value, str) else None
    return int(found.group(1)) if found else None


def column(found: Mapping[int, dict[str, Value]], number: int) -> Mapping[str, Value]:
    """One column of a table, empty if the walk lacks it."""
    return found.get(number, {})
