"""Port ids that a device sends in LLDP: Junos' `show lldp local-information`, Arista EOS' `show lldp local-info`.

Junos prints a table below its chassis: `Interface name`, `Parent Interface`, the id (`Interface ID`, on older releases
`SNMP Index`), `Interface description`, `Status`, `Tunneling`. Descriptions contain blanks and overflow, the cells
before them never do: rows are read from the left. EOS prints a block for each port, `Interface Ethernet1:`, with the
lines that `show lldp neighbors detail` prints for a neighbour. Sources: Juniper's command reference, an answer of an
EX4200 quoted in a public client, the expressions of NOC's Junos profile; Arista's command manual and the recorded
answers of `show lldp neighbors detail`.
"""

import re
from collections.abc import Iterator, Sequence

from collector._lldp_words import identified
from truerail.errors import NoAnswerError, UnreadableError

_LABELS = re.compile(
    r"[ \t]*(?:Local ?)?Interface(?: name)?[ \t]+(Parent Interface[ \t]+)?(?:Interface ID|SNMP Index)\b.*\bStatus\b.*",
    re.IGNORECASE,
)
_PORT = re.compile(r"[a-z]{2,}\d*-?[\d/:.]*", re.IGNORECASE)
_PARENT = re.compile(r"-|ae\d+(?:\.\d+)?")
_UNIT = re.compile(r"\.\d+$")
_STATUSES = frozenset(("up", "down"))
_OVER = re.compile(r"\{\w+(?::\w+)?\}|\S+@\S+[>#%].*|\S+[>#%]")
"""The line after a table: Junos' line in braces, or a prompt."""
_BLOCK = re.compile(r"[ \t]*Interface (\S*\d):[ \t]*")
_ID = re.compile(r"[ \t]*(?:- )?Port ID(?: (type))?[ \t]*:[ \t]*(.*?)[ \t]*")
_SENDING = re.compile(r"^[ \t]*Interface Information: \S+ Enable \(tx/rx", re.MULTILINE)


def from_text(answer: str, text: Sequence[str]) -> list[tuple[str, str]] | None:
    """Ports and the ids that they send; None if the text has neither form. Raises `UnreadableError` if it is cut."""
    if _SENDING.search(answer):
        raise NoAnswerError("says which ports send LLDP, but not the ids that they send")
    begun = next((number for number, line in enumerate(text, 1) if _LABELS.fullmatch(line)), 0)
    if begun:
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
        if len(rest) < 2 or not _PORT.fullmatch(port) or not _PARENT.fullmatch(parent):
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
        found = _ID.fullmatch(line)
        if found:
            said.setdefault(found[1] or "", found[2])
    quoted = said.get("", "")
    sent, kind = identified(quoted.strip('"'), said.get("type"))
    unfinished = quoted.count('"') == 1 or (quoted.count('"') == 0 and text[-1].endswith(quoted))
    if head is None or sent is None or unfinished:
        raise UnreadableError("a port without the id that it sends: the answer is cut", line=at, text=text[at - 1])
    return None if kind == "mac" else (head[1], sent)
