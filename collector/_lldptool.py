"""The answer of lldpad's `lldptool -t -n -i IF`: TLV after TLV, the name flush left, the value below it after a tab."""

import re
from collections.abc import Iterator
from itertools import pairwise

from collector._answer import lines
from collector._sections import named
from truerail.errors import UnreadableError
from truerail.model import Neighbor

_TLV = re.compile(r"[A-Z].* TLV$")
_FRAME = "=-#*:[]<> \t"
"""Characters used to frame an interface name above its answer."""
_END = "End of LLDPDU TLV"
_SENT = "what the host itself sends (`lldptool -t` without `-n`), not its neighbours"
_IDENTITY = frozenset(("Chassis ID TLV", "Port ID TLV", "Port Description TLV", "System Name TLV"))
_FLAGS = re.compile(r"-[a-zA-Z]+")
_ID_TYPES = {
    "mac": "mac",
    "ifname": "ifname",
    "ifalias": "ifalias",
    "interface alias": "ifalias",
    "local": "local",
    "ipv4": "ip",
    "ipv6": "ip",
    "chassis component": "component",
    "port component": "portcomp",
    "agent circuit id": "unhandled",
}
"""lldptool's names of id types -> lldpd's."""


def neighbors_from_lldptool(answer: str) -> Iterator[Neighbor]:
    """Neighbours in one or more answers of lldptool. `port` is empty where no line names the interface.

    lldpad has one neighbour for each interface: the name above an answer is not that of the next.

    A value is the first line below its TLV's name: further lines without a tab continue a description. An answer may
    lack its end; without chassis id or port id it raises `UnreadableError`.
    """
    port, name, begun, ended, sent = "", "", 0, 0, False
    values: dict[str, list[str]] = {}
    text = lines(answer)
    for number, line in enumerate(text, 1):
        stripped = line.strip()
        if stripped == "Chassis ID TLV" or stripped == _END:
            if sent:
                raise UnreadableError(_SENT, line=number)
            if begun:
                yield _neighbor(port, values, begun)
                port = ""
            values, name, begun, ended = {}, stripped, number if stripped != _END else 0, number
        elif not begun:
            interface, sent = _interface(stripped), sent or _asks_own(stripped)
            port = port if interface is None else interface
        elif _TLV.match(line.strip(" \r")):
            name = stripped
        elif stripped:
            values.setdefault(name, []).append(stripped)
    if begun and text[-1].strip() and name in _IDENTITY:
        raise UnreadableError("cut short", line=len(text), text=text[-1])
    if begun:
        yield _neighbor(port, values, begun)
    if not ended:
        raise UnreadableError("no `Chassis ID TLV`: not an answer of lldptool")


def _interface(line: str) -> str | None:
    """The interface that a line above an answer names: a command with `-i` or `-tni`, or the bare name, or framed."""
    given = _given(line)
    for flags, word in pairwise(given):
        if _FLAGS.fullmatch(flags) and flags.endswith("i"):
            return named(word)
    name = line.strip(_FRAME).removeprefix("Interface").strip(_FRAME)
    return name if name and len(name.split()) == 1 else None


def _asks_own(line: str) -> bool:
    """Whether a line is a command for TLVs without the flag for a neighbour's."""
    given = _given(line)
    flags = "".join(filter(_FLAGS.fullmatch, given))
    return ("t" in flags or "get-tlv" in given) and "n" not in flags


def _given(line: str) -> list[str]:
    """The words behind the tool's name in a line; none if it is no such command."""
    words = line.split()
    at = next((at for at, word in enumerate(words, 1) if word.endswith("lldptool")), len(words))
    return words[at:]


def _neighbor(port: str, values: dict[str, list[str]], line: int) -> Neighbor:
    def first(tlv: str) -> str | None:
        return next(iter(values.get(f"{tlv} TLV", ())), None)

    chassis_type, chassis_id = _identity(first("Chassis ID"), "chassis id", line)
    port_type, port_id = _identity(first("Port ID"), "port id", line)
    ttl = first("Time to Live")
    return Neighbor(
        port,
        chassis_id,
        chassis_type,
        first("System Name"),
        port_id,
        port_type,
        first("Port Description"),
        int(ttl) if ttl and ttl.isdecimal() else None,
        None,
        tuple(_addresses(values.get("Management Address TLV", []))),
    )


def _identity(value: str | None, what: str, line: int) -> tuple[str, str]:
    kind, _, text = (value or "").partition(":")
    word = _ID_TYPES.get(kind.strip().lower())
    if word is None or not text.strip():
        raise UnreadableError(f"a neighbour without a {what} of a known type", line=line, text=value or "")
    return word, text.strip()


def _addresses(values: list[str]) -> Iterator[str]:
    for value in values:
        kind, _, address = value.partition(": ")
        if kind in ("IPv4", "IPv6"):
            yield address.strip()
