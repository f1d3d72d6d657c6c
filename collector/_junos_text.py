"""The counters in Junos' `show interfaces extensive`, text, in the tree of its JSON.

A paragraph begins with `Physical interface: et-0/0/0, ...`; its counters stand in sections below titles, received ones
before sent ones. Sources: answers of a QFX5120 in Juniper's open guides and of MX480 in genieparser. Traps:

- A logical interface, indented below its port, has sections with the same titles: they count no port.
- `IPv6 transit statistics`, and others without a place in the tree, have the rows of the section above them.
- The counters of ingress queues stand above those of egress queues, under the same title: they are skipped.
- Old releases print the name of its class behind the number of a queue.
- Rates stand behind the counters, and as rows of their own (`FEC Corrected Errors Rate`).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from truerail.errors import UnreadableError

KEY = "interface-information"
_PORT = re.compile(r"([ \t]*)Physical interface: ([\w/.:-]+)[ \t]*,.{0,200}")
_LOGICAL = re.compile(r"[ \t]*Logical interface ")
_NUMBER = r"(\d{1,3}(?:,\d{3})+(?!\d)|\d+)"
_TRAFFIC = re.compile(rf"(Input|Output)[ \t]+(bytes|packets)[ \t]*:[ \t]+{_NUMBER}\b")
_ERROR = re.compile(rf"([A-Z][A-Za-z0-9 ]{{1,40}}?) ?: {_NUMBER}(?= ?,|[ \t]*$)")
_MAC = re.compile(
    rf"^(Total octets|Total packets|CRC/Align errors|MAC pause frames)[ \t]+{_NUMBER}(?:[ \t]+{_NUMBER})?$"
)
_PRIORITY = re.compile(rf"^Priority :[ \t]+(\d)[ \t]+{_NUMBER}[ \t]+{_NUMBER}$")
_QUEUE = re.compile(rf"^(\d{{1,2}})(?:[ \t]+[A-Za-z][\w-]*)?[ \t]+{_NUMBER}[ \t]+{_NUMBER}[ \t]+{_NUMBER}$")
_FEC = re.compile(rf"^FEC (Corrected|Uncorrected) Errors[ \t]+{_NUMBER}$")
_INGRESS, _EGRESS = "Ingress queues:", "Egress queues:"
_INPUT = {"Errors": "input-errors", "Drops": "input-drops"}
_OUTPUT = {"Errors": "output-errors", "Drops": "output-drops", "Carrier transitions": "carrier-transitions"}
_MAC_NAMES = {
    "Total octets": ("input-bytes", "output-bytes"),
    "Total packets": ("input-packets", "output-packets"),
    "CRC/Align errors": ("input-crc-errors", "output-crc-errors"),
    "MAC pause frames": ("input-mac-pause-frames", "output-mac-pause-frames"),
}
Port = dict[str, Any]
"""One port of the tree, by the names of its groups."""
Take = Callable[[Port, "re.Match[str]", int], None]
Section = tuple[re.Pattern[str], Take]


def tree(text: Sequence[str]) -> dict[str, Any] | None:
    """The ports and their counters in the lines of an answer; None if no port in it has any.

    Raises `UnreadableError` for a row with too few cells. A last line without a line feed may be cut, and is skipped.
    """
    ports: list[Port] = []
    section: Section | None = None
    base, inside, ingress = 0, False, False
    for number, line in enumerate(text[:-1], 1):
        begun = _PORT.fullmatch(line)
        if begun:
            ports.append({"name": begun[2]})
            base, inside, ingress, section = len(begun[1]), True, False, None
        elif _LOGICAL.match(line):
            inside = False
        elif inside and line.strip():
            title = _title(line, base)
            ingress = line.strip().startswith(_INGRESS) or (ingress and not line.strip().startswith(_EGRESS))
            if title:
                section = None if ingress and title[1] is _queues else title
            elif _ends(line, base):
                section = None
            elif section:
                pattern, take = section
                for found in pattern.finditer(line.strip()):
                    take(ports[-1], found, number)
    return {KEY: [{"physical-interface": ports}]} if any(len(port) > 1 for port in ports) else None


def _title(line: str, base: int) -> Section | None:
    """The section that a line begins."""
    if len(line) - len(line.lstrip()) > base + 3:  # some releases indent the titles of errors by three blanks
        return None
    said = line.strip()
    return next((section for words, section in _SECTIONS.items() if said.startswith(words)), None)


def _ends(line: str, base: int) -> bool:
    """Whether a line is the title of another section: indented as titles are, or with nothing behind its colon."""
    return len(line) - len(line.lstrip()) <= base + 2 or line.rstrip().endswith(":")


def _traffic(port: Port, found: re.Match[str], line: int) -> None:
    port.setdefault("traffic-statistics", {})[f"{found[1].lower()}-{found[2]}"] = found[3]


def _errors(group: str, names: Mapping[str, str]) -> Take:
    def take(port: Port, found: re.Match[str], line: int) -> None:
        port.setdefault(group, {})[names.get(found[1], found[1])] = found[2]

    return take


def _mac(port: Port, found: re.Match[str], line: int) -> None:
    if found[3] is None:
        raise UnreadableError("a row of counters without the sent ones: cut", line=line, text=found[0])
    names = _MAC_NAMES[found[1]]
    port.setdefault("ethernet-mac-statistics", {}).update(zip(names, found.groups()[1:], strict=True))


def _pfc(port: Port, found: re.Match[str], line: int) -> None:
    names = ("mac-pfc-dot1p", "input-mac-pfc-frames", "output-mac-pfc-frames")
    port.setdefault("ethernet-mac-pfc-statistics", []).append(dict(zip(names, found.groups(), strict=True)))


def _queues(port: Port, found: re.Match[str], line: int) -> None:
    names = ("queue-number", "queued", "queue-counters-trans-packets", "queue-counters-total-drop-packets")
    rows = port.setdefault("queue-counters", {"queue": []})["queue"]
    rows.append(dict(zip(names, found.groups(), strict=True)))


def _fec(port: Port, found: re.Match[str], line: int) -> None:
    name = "fec_ccw_count" if found[1] == "Corrected" else "fec_nccw_count"
    port.setdefault("ethernet-fec-statistics", {})[name] = found[2]


_SECTIONS: dict[str, Section] = {
    "Traffic statistics:": (_TRAFFIC, _traffic),
    "Input errors:": (_ERROR, _errors("input-error-list", _INPUT)),
    "Output errors:": (_ERROR, _errors("output-error-list", _OUTPUT)),
    "Queue counters:": (_QUEUE, _queues),
    "Ethernet FEC statistics": (_FEC, _fec),
    "MAC statistics:": (_MAC, _mac),
    "MAC Priority Flow Control Statistics:": (_PRIORITY, _pfc),
}
"""The titles of sections whose counters are read."""
