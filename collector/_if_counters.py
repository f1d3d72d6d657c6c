"""Counters in SNMP tables: columns -> `PortCounters` of the ports that IF-MIB names."""

from collections.abc import Mapping

from collector._snmp import Tables, Value, column, text_of
from collector._tally import Tally, count
from truerail.errors import UnreadableError
from truerail.model import Counter

IF = "1.3.6.1.2.1.2.2.1"
IF_X = "1.3.6.1.2.1.31.1.1.1"
_DESCRIPTION, _NAME = 2, 1


def names(found: Tables) -> dict[str, str]:
    """ifIndex -> the port's name: ifName, else ifDescr. Raises `UnreadableError` where the walk has neither."""
    described = {index: text_of(value) for index, value in column(found[IF], _DESCRIPTION).items()}
    named = {index: text_of(value) for index, value in column(found[IF_X], _NAME).items()}
    reported = {index: name for index, name in (described | {i: n for i, n in named.items() if n}).items() if name}
    if not reported:
        raise UnreadableError(
            "neither ifName nor ifDescr: the agent does not have IF-MIB, or something else was walked"
        )
    return reported


def note(tally: Tally, ports: Mapping[str, str], values: Mapping[str, Value], counter: Counter) -> None:
    """Adds a column of a table indexed by ifIndex."""
    for index, value in values.items():
        if index in ports:
            tally.note(ports[index], counter, of_snmp(value))


def of_snmp(value: Value) -> int | None:
    """A counter's value; None if it is no number, as in some recordings."""
    text = value.strip() if isinstance(value, str) else ""
    return count(text) if text.isascii() and text.isdecimal() else None
