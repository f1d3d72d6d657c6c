"""SNMP walks: only rows of tables that collectors read remain, and identifiers encoded as numbers are replaced, too.

A full walk contains much more than cables: contacts, locations, neighbours' addresses, software. LLDP-MIB puts
management addresses into the index of their rows, and net-snmp prints a text with a line feed in hex.
"""

import re
from collections.abc import Collection, Iterable, Iterator

from truerail.scrub.text import Text

_KEPT = tuple(
    f".{oid}."
    for oid in (
        "1.0.8802.1.1.2.1.3.2",
        "1.0.8802.1.1.2.1.3.7.1",
        "1.0.8802.1.1.2.1.4.1.1",
        "1.0.8802.1.1.2.1.4.2.1",
        "1.3.6.1.2.1.2.2.1",
        "1.3.6.1.2.1.31.1.1.1",
    )
)
_ROW = re.compile(r"(?:\.?1|iso)((?:\.\d+)+) = ")
_MANAGED = re.compile(r"(\.1\.0\.8802\.1\.1\.2\.1\.4\.2\.1(?:\.\d+){4}\.1\.4)\.(\d+\.\d+\.\d+\.\d+) = ")
_SUBTYPES = {
    ".1.0.8802.1.1.2.1.3.7.1.2.": (".1.0.8802.1.1.2.1.3.7.1.3.", 3),
    ".1.0.8802.1.1.2.1.4.1.1.4.": (".1.0.8802.1.1.2.1.4.1.1.5.", 4),
    ".1.0.8802.1.1.2.1.4.1.1.6.": (".1.0.8802.1.1.2.1.4.1.1.7.", 3),
}
"""Subtype column -> the id's column, and the subtype of a MAC (IEEE 802.1AB clause 12)."""
_PHYSICAL = ".1.3.6.1.2.1.2.2.1.6."
_PRINTABLE = re.compile(r'STRING: "((?:\\.|[^"\\]){6})"\n?')
_BY_ADDRESS = ".1.0.8802.1.1.2.1.4.2.1."
_OCTETS = re.compile(r"Hex-STRING: ((?:[0-9A-Fa-f]{2}[ \n]+)+)")


def is_walk(text: str) -> bool:
    """Whether a text is a numeric walk as net-snmp prints it."""
    return _ROW.match(text.lstrip()) is not None


def scrubbed_walk(text: str, scrub: Text) -> str:
    """The walk without identifying values."""
    rows = [row for row in _rows(text) if _kept(row)]
    macs = set(_mac_columns(rows))
    return "".join(_row(row, scrub, macs) for row in rows)


def _mac_columns(rows: Iterable[str]) -> Iterator[str]:
    """The OIDs of ids that are MACs by the subtype beside them: all six octets of one may happen to be printable."""
    for row in rows:
        oid, _, value = row.partition(" = ")
        for subtype, (column, kind) in _SUBTYPES.items():
            if oid.startswith(subtype) and value.strip().endswith(f"INTEGER: {kind}"):
                yield column + oid.removeprefix(subtype)


def _rows(text: str) -> Iterator[str]:
    """Rows with their continuation lines."""
    row = ""
    for line in text.splitlines(keepends=True):
        if _ROW.match(line):
            if row:
                yield row
            row = line
        else:
            row += line
    if row:
        yield row


def _kept(row: str) -> bool:
    found = _ROW.match(row)
    oid = f".1{found.group(1)}." if found else ""
    return oid.startswith(_KEPT) and not (oid.startswith(_BY_ADDRESS) and _MANAGED.match(row) is None)


def _row(row: str, scrub: Text, macs: Collection[str]) -> str:
    row = _MANAGED.sub(lambda found: f"{found.group(1)}.{scrub.address(found.group(2))} = ", row)
    oid, equals, value = row.partition(" = ")
    if oid in macs or oid.startswith(_PHYSICAL):
        value = _PRINTABLE.sub(lambda found: f"Hex-STRING: {_unquoted(found.group(1)).hex(' ')} \n", value)
    if value.startswith("Hex-STRING:"):
        return f"{oid}{equals}{_OCTETS.sub(lambda found: _octets(found.group(1), scrub), value)}"
    return f"{oid}{equals}{scrub(value)}"


def _unquoted(text: str) -> bytes:
    return re.sub(r"\\(.)", r"\1", text).encode("latin-1", "replace")


def _octets(digits: str, scrub: Text) -> str:
    """Hex octets: a MAC, an address after the octet of its family, a text, or something that identifies no device or
    person."""
    octets = bytes.fromhex(digits)
    if len(octets) == 6:
        octets = bytes.fromhex(scrub.mac(octets.hex()))
    elif len(octets) == 5 and octets[0] == 1:
        address = scrub.address(".".join(map(str, octets[1:])))
        octets = octets[:1] + bytes(map(int, address.split(".")))
    elif len(octets) > 6:
        octets = scrub(octets.decode("latin-1")).encode("latin-1")
    return f"Hex-STRING: {octets.hex(' ').upper()} \n"
