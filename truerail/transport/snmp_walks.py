"""A walk as a command, and its answer as text: both in the format of net-snmp's `snmpbulkwalk -On`.

A command holds the subtrees to walk: `snmpbulkwalk -On 1.0.8802.1.1.2.1.4.1.1 1.3.6.1.2.1.2.2.1.{2,6}`. Several
subtrees make one answer, so that related rows are read together; columns of one table are in braces, as in a shell.
"""

import re
from collections.abc import Iterable

from truerail.transport.snmp_client import Row

_WALK = re.compile(r"snmp(?:bulk)?walk((?: -\w+)*)((?: [\d.]+(?:\{\d+(?:,\d+)*\})?)+)")
_OID = re.compile(r"\.?(\d+(?:\.\d+)+)")


def subtrees(command: str) -> tuple[str, ...]:
    """The OIDs that a command asks to walk, without a leading dot; empty where the command is no walk."""
    walk = _WALK.fullmatch(command)
    if not walk:
        return ()
    oids = [_OID.fullmatch(oid) for word in walk.group(2).split() for oid in _expanded(word)]
    return tuple(oid.group(1) for oid in oids if oid) if all(oids) else ()


def _expanded(word: str) -> list[str]:
    start, brace, columns = word.rstrip("}").partition("{")
    return [start + column for column in columns.split(",")] if brace else [word]


def as_text(rows: Iterable[Row]) -> str:
    """Rows as the numeric text of a walk, one line each. All integers are `INTEGER`: engines do not distinguish their
    types. Strings that are not plain ASCII are hex, so no foreign string can begin a line or end a quote.
    """
    return "".join([f".{oid} = {_value(value)}\n" for oid, value in rows])


def _value(value: bytes | int | str) -> str:
    if isinstance(value, int):
        return f"INTEGER: {value}"
    if isinstance(value, str):
        return value
    text = value.decode("latin-1")
    if not text:
        return '""'
    if text.isascii() and text.isprintable():
        if '"' in text or "\\" in text:
            text = text.replace("\\", "\\\\").replace('"', '\\"')
        return f'STRING: "{text}"'
    return f"Hex-STRING: {value.hex(' ').upper()} "
