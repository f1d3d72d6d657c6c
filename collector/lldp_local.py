"""The port id that each port of a switch sends in LLDP, as the switch reports it: SONiC, lldpd, Junos.

Question: what do neighbours hear of each port? SONiC sends a port's alias (`etp1` for `Ethernet0`) and Junos the SNMP
index (`513` for `xe-0/0/0`): a neighbour's report of this id names no port until the switch reports whose id it is.

| network OS | answers |
|---|---|
| SONiC | `show interfaces alias` |
| lldpd (Cumulus Linux, Linux) | `lldpcli -f json0 show interfaces`, `-f json` |
| Junos | `show lldp local-information`, as text, `\\| display json`, `\\| display xml` |
| Arista EOS | `show lldp local-info` |

Sources: sonic-utilities `tests/interfaces_test.py` and `show/interfaces` (a port without alias repeats its name);
lldpd's `src/client/show.c` and a real daemon; the elements of `lldp-local-info` as czerwonk/junos_exporter
`pkg/features/lldp/rpc.go` reads them, Juniper's "show lldp local-information" (Interface ID: the port component of the
sent id); for text below.

Traps:

- lldpmgrd sets SONiC's alias once it has run: before, all ports send one MAC. An alias may look like another
  port's name (`Ethernet1` is `Ethernet0` of the 7050QX-32S).
- lldpd sends a port's MAC by default: it adds nothing to the list of interfaces, and is skipped.
- `show neighbors` of lldpd has the same outer shape, and its ids are those of neighbours: refused.
- Junos with `port-id-subtype interface-name` repeats the name: reported unchanged. EOS always does.
- NX-OS has no such answer: `show lldp all` and `show lldp interface` show which ports send, not under which id. They
  are refused by name.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from collector.formats import lldpd
from collector.formats.documents import below, listed, root_of, tree_of, unwrapped
from collector.formats.lldp_words import LLDPD, identified
from collector.formats.table import rows, tables
from collector.formats.text import is_json, lines
from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import SWITCHES, Command, Device, PortIdentity, collector, commands, minutes, saved_as

_JUNOS, _PORT = "lldp-local-info", "lldp-local-interface-info"
_NAME, _ID = "lldp-local-interface-name", "lldp-local-interface-id"
_WRAPPED = "multi-routing-engine-results"


ASK = (
    Command("show interfaces alias", ("sonic",)),
    Command("lldpcli -f json0 show interfaces", ("cumulus", "linux")),
    *commands("junos", "show lldp local-information | display json", "show lldp local-information"),
    Command("show lldp local-info", ("eos",)),
    *saved_as("lldpcli -f json show interfaces", "show lldp local-information | display xml"),
)


@collector(on=SWITCHES, ask=ASK, every=minutes(5), yields=[PortIdentity], volatile=LLDPD, optional=True)
def lldp_local(answer: str, device: Device) -> Iterable[PortIdentity]:
    """A `PortIdentity` for each port whose id is reported. Raises `UnreadableError`."""
    markup = answer.lstrip().startswith("<") or f"<{_JUNOS}" in answer
    pairs = _from_xml(answer) if markup else _from_json(answer) if is_json(answer) else _from_text(answer)
    return [PortIdentity(port, sent) for port, sent in pairs]


def _from_text(answer: str) -> Iterable[tuple[str, str]]:
    text = lines(answer)
    if (pairs := from_text(answer, text)) is not None:
        return pairs
    found = [table for table in tables(answer) if table.labels == ("name", "alias")]
    if not found:
        raise UnreadableError("not the ids that a switch's ports send", line=1, text=text[0])
    aliases = [(name, alias) for _, (name, alias) in rows(found, "name", "alias")]
    if not aliases:
        raise UnreadableError("labels without a port below: the table is cut", line=len(text))
    return [(name, alias) for name, alias in aliases if alias not in ("N/A", "-")]


def _from_json(answer: str) -> Iterable[tuple[str, str]]:
    document = unwrapped(answer)
    if isinstance(document, dict) and "lldp" in document:
        return lldpd.own_ids(document)
    if isinstance(document, dict) and (_JUNOS in document or _WRAPPED in document):
        return _from_junos(document)
    raise UnreadableError("JSON that does not say what the ports send in LLDP")


def _from_junos(document: Any) -> Iterator[tuple[str, str]]:
    for port in below(document, _PORT):
        leaves = (next(iter(listed(port.get(key))), None) for key in (_NAME, _ID))
        name, sent = (leaf["data"] if isinstance(leaf, dict) else leaf for leaf in leaves)
        if name and sent:
            yield str(name), str(sent)


def _from_xml(answer: str) -> Iterable[tuple[str, str]]:
    document = tree_of(root_of(answer))
    if next(below(document, _JUNOS), None) is None:
        raise UnreadableError(f"XML without {_JUNOS}")
    return _from_junos(document)


# ----------------------------------------------------------------------------------------------------------------------
# Port ids that a device sends in LLDP: Junos' `show lldp local-information`, Arista EOS' `show lldp local-info`.
#
# Junos prints a table below its chassis: `Interface name`, `Parent Interface`, the id (`Interface ID`, on older
# releases `SNMP Index`), `Interface description`, `Status`, `Tunneling`. Descriptions contain blanks and overflow, the
# cells before them never do: rows are read from the left. EOS prints a block for each port, `Interface Ethernet1:`,
# with the lines that `show lldp neighbors detail` prints for a neighbour. Sources: Juniper's command reference, an
# answer of an EX4200 quoted in a public client, the expressions of NOC's Junos profile; Arista's command manual and the
# recorded answers of `show lldp neighbors detail`.

_LABELS = re.compile(
    r"[ \t]*(?:Local ?)?Interface(?: name)?[ \t]+(Parent Interface[ \t]+)?(?:Interface ID|SNMP Index)\b.*\bStatus\b.*",
    re.IGNORECASE,
)
_TEXT_PORT = re.compile(r"[a-z]{2,}\d*-?[\d/:.]*", re.IGNORECASE)
_PARENT = re.compile(r"-|ae\d+(?:\.\d+)?")
_UNIT = re.compile(r"\.\d+$")
_STATUSES = frozenset(("up", "down"))
_OVER = re.compile(r"\{\w+(?::\w+)?\}|\S+@\S+[>#%].*|\S+[>#%]")
"""The line after a table: Junos' line in braces, or a prompt."""
_BLOCK = re.compile(r"[ \t]*Interface (\S*\d):[ \t]*")
_TEXT_ID = re.compile(r"[ \t]*(?:- )?Port ID(?: (type))?[ \t]*:[ \t]*(.*?)[ \t]*")
_SENDING = re.compile(r"^[ \t]*Interface Information: \S+ Enable \(tx/rx", re.MULTILINE)


def from_text(answer: str, text: Sequence[str]) -> list[tuple[str, str]] | None:
    """Ports and the ids that they send; None if the text has neither form. Raises `UnreadableError` if it is cut."""
    if _SENDING.search(answer):
        raise NoAnswerError("says which ports send LLDP, but not the ids that they send")
    if begun := next((number for number, line in enumerate(text, 1) if _LABELS.fullmatch(line)), 0):
        pairs = list(_junos(text, begun))
        if not pairs:
            raise UnreadableError("labels without a port below: the table is cut", line=begun, text=text[begun - 1])
        return pairs
    blocks = [number for number, line in enumerate(text, 1) if _BLOCK.fullmatch(line)]
    return [pair for pair in (_eos(text, at) for at in blocks) if pair] if blocks else None


def _junos(text: Sequence[str], begun: int) -> Iterator[tuple[str, str]]:
    labels = _LABELS.fullmatch(text[begun - 1])
    has_parent, inside = labels is not None and labels[1] is not None, True
    for number, line in enumerate(text[begun:], begun + 1):
        words = line.split()
        inside = (inside and not _OVER.fullmatch(line.strip())) or _LABELS.fullmatch(line) is not None
        if not words or not inside or _LABELS.fullmatch(line):
            continue
        port, *rest = words
        parent = rest.pop(0) if has_parent and rest else "-"
        if len(rest) < 2 or not _TEXT_PORT.fullmatch(port) or not _PARENT.fullmatch(parent):
            raise UnreadableError("not a port and the id that it sends, or cut short", line=number, text=line)
        if not _STATUSES.intersection(word.lower() for word in rest[-2:]):
            raise UnreadableError("a port without its status: the table is cut", line=number, text=line)
        if not rest[0].isdecimal() and _UNIT.sub("", rest[0]) != _UNIT.sub("", port):
            raise UnreadableError(
                "neither an index nor the name of the port in the place of its id", line=number, text=line
            )
        yield port, rest[0]


def _eos(text: Sequence[str], at: int) -> tuple[str, str] | None:
    """A port's block, which begins at this line; None where the port sends its MAC."""
    head = _BLOCK.fullmatch(text[at - 1])
    said: dict[str, str] = {}
    for line in text[at:]:
        if _BLOCK.fullmatch(line):
            break
        if found := _TEXT_ID.fullmatch(line):
            said.setdefault(found[1] or "", found[2])
    quoted = said.get("", "")
    sent, kind = identified(quoted.strip('"'), said.get("type"))
    unfinished = quoted.count('"') == 1 or (quoted.count('"') == 0 and text[-1].endswith(quoted))
    if head is None or sent is None or unfinished:
        raise UnreadableError("a port without the id that it sends: the answer is cut", line=at, text=text[at - 1])
    return None if kind == "mac" else (head[1], sent)
