"""LLDP neighbours as the host itself hears them.

Question: which port of which device does this host hear on each of its interfaces?
Needs: a running lldpd (`lldpcli` is setuid and open to group `adm`, so the user is root or in it), else
systemd-networkd with `LLDP=yes` on the links, else lldpad.

Formats, distinguished by their shape: lldpd's json0, json, xml, keyvalue and plain forms; `networkctl lldp` as JSON and
as a table; `lldptool -t -n -i IF`. Sources: lldpd's `src/client`, systemd's `networkctl-lldp.c`, Open-LLDP's
`lldp_basman_clif.c`, answers of real daemons.

Traps:

- `json` changes its shape with the number and the names of the neighbours; `json0` does not, so it is tried first.
- Two neighbours on one port are normal for up to two minutes after a silent swap: both are reported, in order.
- The port description may be the planned label, and the port id a MAC: both are reported unchanged.
- A NIC's firmware may consume LLDP, so that the host hears no neighbour: that is an empty answer, and no error.
- `networkctl` cuts long cells with an ellipsis unless `--full`: a cut name is not reported, the rest of the row is.
- `lldptool` answers for one interface and does not name it. The name comes from a line before the answer
  (`lldptool -t -n -i eth0`, `Interface: eth0`, `eth0:`); without one, the neighbour's `port` is empty.
- A system description may contain line feeds, and lldptool does not indent the text after them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from collector.formats import lldpd
from collector.formats.documents import root_of
from collector.formats.lldp_words import LLDPD
from collector.formats.text import argument, decode, is_json, lines
from truerail.errors import UnreadableError
from truerail.model import Device, Neighbor, Role, collector, commands, minutes, saved_as
from truerail.model.names import canonical_mac

_XML = re.compile(r"^[ \t]*<(?:lldp\b|\?xml\b)", re.MULTILINE)
_FIRST_KEY = 400
"""A document's first key is within this many characters, including a prompt; lldpd's answers are long."""


ASK = (
    *commands("", "lldpctl -f json0", "lldpctl -f keyvalue", "networkctl lldp --full"),
    *saved_as("lldpcli show neighbors details -f json0", "lldpcli show neighbors -f json0", "lldpctl -f json"),
    *saved_as("lldpcli show neighbors details -f json", "lldpcli show neighbors -f json"),
    *saved_as("lldpcli show neighbors details -f keyvalue", "lldpcli show neighbors -f keyvalue", "lldpctl -f xml"),
    *saved_as("lldpcli show neighbors details -f xml", "lldpcli show neighbors -f xml", "lldpctl"),
    *saved_as("lldpcli show neighbors details", "lldpcli show neighbors", "networkctl lldp --json=short"),
    *saved_as("networkctl lldp --json=pretty", "networkctl lldp --no-pager", "networkctl lldp"),
    *saved_as("lldptool -t -n -i {port}"),
)


@collector(on=[Role.HOST], ask=ASK, every=minutes(1), yields=[Neighbor], volatile=LLDPD)
def lldp_host(answer: str, device: Device) -> Iterable[Neighbor]:
    """One `Neighbor` for each neighbour on each interface, in the answer's order. Raises `UnreadableError`."""
    if is_json(answer):
        of_networkctl = '"Neighbors"' in answer[:_FIRST_KEY]
        return neighbors_from_networkctl_json(answer) if of_networkctl else lldpd.neighbors_from_json(answer)
    if _XML.search(answer):
        return lldpd.neighbors_from_xml(root_of(answer))
    if "LLDP neighbors:" in answer or ", via: " in answer:
        return lldpd.neighbors_from_plain(answer)
    if ".via=" in answer:
        return lldpd.neighbors_from_keyvalue(answer)
    if "Chassis ID TLV" in answer:
        return neighbors_from_lldptool(answer)
    text = lines(answer)
    if any("CHASSIS" in line and _HEADER.match(line) for line in text):
        return neighbors_from_table(text)
    raise UnreadableError("not a list of LLDP neighbours", line=1, text=text[0])


# ----------------------------------------------------------------------------------------------------------------------
# The answer of systemd's `networkctl lldp`: a table for people, or JSON from systemd 257 on.

_HEADER = re.compile(
    r"\s*LINK\s+CHASSIS[- ]ID\s+SYSTEM[- ]NAME\s+CAPS\s+PORT[- ]ID\s+(?P<last>PORT[- ]DESCRIPTION)\s*$"
)
_WORD = re.compile(r"\S+")
_CAPABILITIES = re.compile(r"[o.][p.][b.][w.][r.][t.][d.][a.][c.][s.][m.]")
"""A letter or a dot for each capability of IEEE 802.1AB, in order."""
_COUNT = re.compile(r"\s*(?:Total entries displayed: )?(\d+)(?: neighbou?r(?:\(s\)|s)? listed\.?)?\s*$")
_FOOT = ("Capability Flags:", "Total entries")
_ABSENT = frozenset(("", "-", "n/a"))


def neighbors_from_table(text: Sequence[str]) -> Iterator[Neighbor]:
    """Neighbours in the lines of the table. A truncated interface name, or fewer rows than the footer announces, raise
    `UnreadableError`; any other truncated cell is None."""
    last, count = -1, 0
    for number, line in enumerate(text, 1):
        if header := _HEADER.match(line):
            last, count = header.start("last"), 0
        elif last >= 0 and line.strip():
            total = _COUNT.match(line)
            if total and int(total[1]) != count:
                raise UnreadableError(f"{count} rows before this line: cut short", line=number, text=line)
            if total or line.lstrip().startswith(_FOOT):
                last = -1
                continue
            row = _row(line, last, number)
            yield row._replace(port_id=None) if number == len(text) and _is_open(row.port_id, line) else row
            count += 1
    if not count and last >= 0:
        raise UnreadableError("neither a row nor the count of rows below the head of the table: cut short")


def _row(line: str, last: int, number: int) -> Neighbor:
    """A row by its words: the text before the capabilities is the name. `last` is where the description begins."""
    words = list(_WORD.finditer(line))
    at = next((at for at, word in enumerate(words) if at > 1 and _ends_name(word[0], at)), len(words))
    if at + 1 >= len(words) or _cut(words[0][0]):
        raise UnreadableError("not a row of `networkctl lldp`, or its interface is cut", line=number, text=line)
    start = words[at + 1].start()
    if start < last < len(line) and line[last - 1] == " ":
        port, description = line[start:last], line[last:]
    else:
        port, gap, description = line[start:].strip().partition("  ")
        if not gap and " " in port:  # columns that do not line up: where the port ends is unknown
            port, description = "", ""
    return _networkctl_neighbor(words[0][0], words[1][0], line[words[1].end() : words[at].start()], port, description)


def _ends_name(word: str, at: int) -> bool:
    """Whether this is the capabilities cell; `-` is one only if a name cell precedes it."""
    return _CAPABILITIES.fullmatch(word) is not None or (at > 2 and word in _ABSENT)


def _is_open(port_id: str | None, line: str) -> bool:
    """Whether a port id ends the answer without a line feed and may be incomplete; the rest of the row counts."""
    return port_id is not None and line.rstrip().endswith(port_id)


def _cut(cell: str) -> bool:
    return "…" in cell or "..." in cell


def _networkctl_neighbor(link: str, chassis: Any, name: Any, port: Any, description: Any) -> Neighbor:
    chassis_id = _cell(chassis)
    is_mac = chassis_id is not None and canonical_mac(chassis_id) is not None
    return Neighbor(link, chassis_id, "mac" if is_mac else None, _cell(name), _cell(port), None, _cell(description))


def _cell(value: Any) -> str | None:
    text = value.strip() if type(value) is str else ""
    return None if text in _ABSENT or _cut(text) else text


def neighbors_from_networkctl_json(answer: str) -> Iterator[Neighbor]:
    """Neighbours in the answer of `networkctl lldp --json=short`. Raises `UnreadableError`."""
    document = decode(answer)
    for link in _list(document):
        name = link.get("InterfaceName") if type(link) is dict else None
        if type(name) is not str:
            raise UnreadableError("a link without InterfaceName: not networkctl's list of neighbours")
        for seen in _list(link):
            if type(seen) is not dict or "ChassisID" not in seen or "PortID" not in seen:
                raise UnreadableError(f"a neighbour on {name} without ChassisID or PortID")
            get = seen.get
            yield _networkctl_neighbor(name, get("ChassisID"), get("SystemName"), get("PortID"), get("PortDescription"))


def _list(holder: Any) -> list[Any]:
    neighbors = holder.get("Neighbors", []) if type(holder) is dict else None
    if type(neighbors) is not list:
        raise UnreadableError("no list of `Neighbors`: not networkctl's list of neighbours")
    return neighbors


# ----------------------------------------------------------------------------------------------------------------------
# The answer of lldpad's `lldptool -t -n -i IF`: TLV after TLV, the name flush left, the value below it after a tab.

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
                yield _lldptool_neighbor(port, values, begun)
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
        yield _lldptool_neighbor(port, values, begun)
    if not ended:
        raise UnreadableError("no `Chassis ID TLV`: not an answer of lldptool")


def _interface(line: str) -> str | None:
    """The interface that a line above an answer names: a command with `-i` or `-tni`, or the bare name, or framed."""
    given = _given(line)
    for flags, word in pairwise(given):
        if _FLAGS.fullmatch(flags) and flags.endswith("i"):
            return argument(word)
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


def _lldptool_neighbor(port: str, values: dict[str, list[str]], line: int) -> Neighbor:
    def first(tlv: str) -> str | None:
        return next(iter(values.get(f"{tlv} TLV", ())), None)

    ttl = first("Time to Live")
    return Neighbor(
        port,
        *_identity(first("Chassis ID"), "chassis id", line),
        first("System Name"),
        *_identity(first("Port ID"), "port id", line),
        first("Port Description"),
        int(ttl) if ttl and ttl.isdecimal() else None,
        None,
        tuple(_addresses(values.get("Management Address TLV", []))),
    )


def _identity(value: str | None, what: str, line: int) -> tuple[str, str]:
    """An id and its type."""
    kind, _, text = (value or "").partition(":")
    word = _ID_TYPES.get(kind.strip().lower())
    if word is None or not text.strip():
        raise UnreadableError(f"a neighbour without a {what} of a known type", line=line, text=value or "")
    return text.strip(), word


def _addresses(values: list[str]) -> Iterator[str]:
    for value in values:
        kind, _, address = value.partition(": ")
        if kind in ("IPv4", "IPv6"):
            yield address.strip()
