"""Junos: LLDP, counters of ports and queues."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from collector.formats.counts import Tally, both_ways, count, priority, summed, words
from collector.formats.documents import below, data_of, document, listed
from collector.formats.lldp_words import advertised, local_port, neighbor
from collector.formats.text import Found, lines, object_of, read_first
from truerail.errors import UnreadableError
from truerail.model import Counter, Neighbor, PortCounters

# ----------------------------------------------------------------------------------------------------------------------
# LLDP neighbours as Junos prints them in XML and in JSON, which is the same tree with every leaf as `[{"data": ...}]`.
#
# `lldp-neighbors-information` holds `lldp-neighbor-information` elements; chassis members are wrapped in
# `multi-routing-engine-results`. The detailed form names the local port in `lldp-local-interface` and has the SNMP
# index in `lldp-local-port-id`; the brief form has the name in `lldp-local-port-id`, and where the neighbour's port id
# is a number only `lldp-remote-port-description`.

_WRAPPED = "multi-routing-engine-results"
_ROOT = "lldp-neighbors-information"
_ENTRY = "lldp-neighbor-information"
LLDP_KEYS = frozenset({_WRAPPED, _ROOT})
_LEAVES = (
    *("lldp-remote-chassis-id", "lldp-remote-chassis-id-subtype", "lldp-remote-system-name", "lldp-remote-port-id"),
    *("lldp-remote-port-id-subtype", "lldp-remote-port-description", "lldp-ttl", None),
)


def neighbors_from_json(answer: Mapping[str, Any]) -> Iterator[Neighbor]:
    """The neighbours in `| display json`."""
    if _WRAPPED in answer:
        for results in answer[_WRAPPED]:
            for member in results["multi-routing-engine-item"]:
                yield from neighbors_from_json(member)
        return
    for information in answer[_ROOT]:
        yield from map(_neighbor, information.get(_ENTRY, ()))


def neighbors_from_xml(document: Mapping[str, Any]) -> Iterator[Neighbor]:
    """The neighbours in the tree of `| display xml`. Raises `UnreadableError` for XML about something else."""
    if next(chain(below(document, _ROOT), below(document, _ENTRY)), None) is None:
        raise UnreadableError(f"XML without {_ROOT}")
    return map(_neighbor, below(document, _ENTRY))


def _neighbor(entry: Any) -> Neighbor:
    leaves = {name: [advertised(data_of(leaf)) for leaf in values] for name, values in (entry or {}).items()}
    first: dict[str | None, str | None] = {name: next(iter(values), None) for name, values in leaves.items()}
    name, number = first.get("lldp-local-interface"), first.get("lldp-local-port-id")
    managed = leaves.get("lldp-remote-management-address", ())
    return neighbor(local_port(name or number), map(first.get, _LEAVES), managed, number if name else None)


# ----------------------------------------------------------------------------------------------------------------------
# The counters in Junos' `show interfaces extensive`, text, in the tree of its JSON.
#
# A paragraph begins with `Physical interface: et-0/0/0, ...`; its counters stand in sections below titles, received
# ones before sent ones. Sources: answers of a QFX5120 in Juniper's open guides and of MX480 in genieparser. Traps:
#
# - A logical interface, indented below its port, has sections with the same titles: they count no port.
# - `IPv6 transit statistics`, and others without a place in the tree, have the rows of the section above them.
# - The counters of ingress queues stand above those of egress queues, under the same title: they are skipped.
# - Old releases print the name of its class behind the number of a queue.
# - Rates stand behind the counters, and as rows of their own (`FEC Corrected Errors Rate`).

PORT_KEY = "interface-information"
_TEXT_PORT = re.compile(r"([ \t]*)Physical interface: ([\w/.:-]+)[ \t]*,.{0,200}")
_LOGICAL = re.compile(r"[ \t]*Logical interface ")
_NUMBER = r"(\d{1,3}(?:,\d{3})+(?!\d)|\d+)"
_TEXT_TRAFFIC = re.compile(rf"(Input|Output)[ \t]+(bytes|packets)[ \t]*:[ \t]+{_NUMBER}\b")
_ERROR = re.compile(rf"([A-Z][A-Za-z0-9 ]{{1,40}}?) ?: {_NUMBER}(?= ?,|[ \t]*$)")
_MAC = re.compile(
    rf"^(Total octets|Total packets|CRC/Align errors|MAC pause frames)[ \t]+{_NUMBER}(?:[ \t]+{_NUMBER})?$"
)
_PRIORITY = re.compile(rf"^Priority :[ \t]+(\d)[ \t]+{_NUMBER}[ \t]+{_NUMBER}$")
_TEXT_QUEUE = re.compile(rf"^(\d{{1,2}})(?:[ \t]+[A-Za-z][\w-]*)?[ \t]+{_NUMBER}[ \t]+{_NUMBER}[ \t]+{_NUMBER}$")
_FEC = re.compile(rf"^FEC (Corrected|Uncorrected) Errors[ \t]+{_NUMBER}$")
_INGRESS, _TEXT_EGRESS = "Ingress queues:", "Egress queues:"
_INPUT = {"Errors": ["input-errors"], "Drops": ["input-drops"]}
_OUTPUT = {"Errors": ["output-errors"], "Drops": ["output-drops"], "Carrier transitions": ["carrier-transitions"]}
_FEC_NAMES = {"Corrected": ["fec_ccw_count"], "Uncorrected": ["fec_nccw_count"]}
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
        if begun := _TEXT_PORT.fullmatch(line):
            ports.append({"name": begun[2]})
            base, inside, ingress, section = len(begun[1]), True, False, None
        elif _LOGICAL.match(line):
            inside = False
        elif inside and line.strip():
            title = _title(line, base)
            ingress = line.strip().startswith(_INGRESS) or (ingress and not line.strip().startswith(_TEXT_EGRESS))
            if title:
                section = None if ingress and title[1] is _queues else title
            elif len(line) - len(line.lstrip()) <= base + 2 or line.rstrip().endswith(":"):
                section = None  # the title of another one: indented as titles are, or with nothing behind its colon
            elif section:
                pattern, take = section
                for found in pattern.finditer(line.strip()):
                    take(ports[-1], found, number)
    return {PORT_KEY: [{"physical-interface": ports}]} if any(len(port) > 1 for port in ports) else None


def _title(line: str, base: int) -> Section | None:
    """The section that a line begins."""
    if len(line) - len(line.lstrip()) > base + 3:  # some releases indent the titles of errors by three blanks
        return None
    said = line.strip()
    return next((section for words, section in _SECTIONS.items() if said.startswith(words)), None)


def _named(group: str, names: Mapping[str, Sequence[str]]) -> Take:
    """Takes the values behind a label, which has names of its own for them in the tree."""

    def take(port: Port, found: re.Match[str], line: int) -> None:
        label, *values = found.groups()
        if None in values:
            raise UnreadableError("a row of counters without the sent ones: cut", line=line, text=found[0])
        port.setdefault(group, {}).update(zip(names.get(label, [label]), values, strict=True))

    return take


def _traffic(port: Port, found: re.Match[str], line: int) -> None:
    port.setdefault("traffic-statistics", {})[f"{found[1].lower()}-{found[2]}"] = found[3]


def _pfc(port: Port, found: re.Match[str], line: int) -> None:
    names = ("mac-pfc-dot1p", "input-mac-pfc-frames", "output-mac-pfc-frames")
    port.setdefault("ethernet-mac-pfc-statistics", []).append(dict(zip(names, found.groups(), strict=True)))


def _queues(port: Port, found: re.Match[str], line: int) -> None:
    names = ("queue-number", "queued", "queue-counters-trans-packets", "queue-counters-total-drop-packets")
    port.setdefault("queue-counters", []).append({"queue": dict(zip(names, found.groups(), strict=True))})


_SECTIONS: dict[str, Section] = {
    "Traffic statistics:": (_TEXT_TRAFFIC, _traffic),
    "Input errors:": (_ERROR, _named("input-error-list", _INPUT)),
    "Output errors:": (_ERROR, _named("output-error-list", _OUTPUT)),
    "Queue counters:": (_TEXT_QUEUE, _queues),
    "Ethernet FEC statistics": (_FEC, _named("ethernet-fec-statistics", _FEC_NAMES)),
    "MAC statistics:": (_MAC, _named("ethernet-mac-statistics", _MAC_NAMES)),
    "MAC Priority Flow Control Statistics:": (_PRIORITY, _pfc),
}
"""The titles of sections whose counters are read."""


# ----------------------------------------------------------------------------------------------------------------------
# Port counters of Junos: `show interfaces extensive` in JSON, XML and text, read once for ports, PFC and queues.
#
# Every value is a list of one object, `[{"data": "3"}]`, in XML a list of one text. The MAC's counters
# (`ethernet-mac-statistics`) are those of the wire; `traffic-statistics` replaces them where they are missing.
# `carrier-transitions` counts losses of the carrier.

_SIGN = "Physical interface: "

_PORT_TRAFFIC = both_ways("input-", "output-", {"bytes": "bytes", "packets": "packets"})
_GROUPS = {
    "traffic-statistics": _PORT_TRAFFIC,
    "ethernet-mac-statistics": {
        **_PORT_TRAFFIC,
        **words({"input-crc-errors": "crc_errors"}),
        **both_ways("input-", "output-", {"mac-pause-frames": "global_pause_frames"}),
    },
    "input-error-list": words({"input-errors": "rx_errors", "input-drops": "rx_discards"}),
    "output-error-list": words(
        {"carrier-transitions": "link_downs", "output-errors": "tx_errors", "output-drops": "tx_discards"}
    ),
    "ethernet-fec-statistics": words({"fec_ccw_count": "fec_corrected", "fec_nccw_count": "fec_uncorrected"}),
}
_PFC = {"input-mac-pfc-frames": "rx_pause_frames", "output-mac-pfc-frames": "tx_pause_frames"}
_PORT_QUEUE = {
    "queue-counters-trans-packets": "queue_packets",
    "queue-counters-trans-bytes": "queue_bytes",
    "queue-counters-total-drop-packets": "queue_drops",
}


def read_document(answer: str, readers: Iterable[Callable[[Any], Found | None]], what: str) -> Found | None:
    """What the first reader finds in the document in an answer, or in the counters in Junos' text as the tree of its
    JSON; None if there is neither. Raises `UnreadableError`.
    """
    found = document(answer)
    if found is None and _SIGN in answer:
        found = tree(lines(answer))
    return None if found is None else read_first(found, readers, f"JSON that does not speak of {what}")


def port_counters(found: Any) -> list[PortCounters] | None:
    """Counters of every port over all priorities."""
    return _tallied(found, _note_port)


def pfc_counters(found: Any) -> list[PortCounters] | None:
    """The pause frames of every port by priority."""
    return _tallied(found, _note_pfc)


def queue_counters(found: Any) -> list[PortCounters] | None:
    """Packets that every queue sent and dropped."""
    return _tallied(found, _note_queues)


def _tallied(found: Any, note: Callable[[Tally, str, Mapping[str, Any]], None]) -> list[PortCounters] | None:
    if PORT_KEY not in object_of(found):
        return None
    tally = Tally()
    for information in listed(found[PORT_KEY]):
        for interface in listed(information.get("physical-interface")):
            note(tally, str(data_of(interface["name"])), interface)
    return tally.some()


def _note_port(tally: Tally, port: str, interface: Mapping[str, Any]) -> None:
    for group, names in _GROUPS.items():
        for values in listed(interface.get(group)):
            for word, counter in names.items():
                tally.note(port, counter, count(data_of(values.get(word))))


def _note_pfc(tally: Tally, port: str, interface: Mapping[str, Any]) -> None:
    _note_by_priority(tally, port, listed(interface.get("ethernet-mac-pfc-statistics")), "mac-pfc-dot1p", _PFC)


def _note_queues(tally: Tally, port: str, interface: Mapping[str, Any]) -> None:
    for group in listed(interface.get("queue-counters")):
        if "Ingress queues" not in str(group.get("interface-cos-short-summary")):
            _note_by_priority(tally, port, listed(group.get("queue")), "queue-number", _PORT_QUEUE)


def _note_by_priority(
    tally: Tally, port: str, rows: list[Mapping[str, Any]], key: str, names: Mapping[str, str]
) -> None:
    for row in rows:
        of = priority(data_of(row.get(key)))
        for word, name in names.items() if of is not None else ():
            tally.note(port, Counter(name, of), count(data_of(row.get(word))))


# ----------------------------------------------------------------------------------------------------------------------
# The queues in Junos' `show interfaces queue`: a paragraph for each queue below its port.
#
# `Queued:` begins what came to a queue, `Transmitted:` what it sent and, below that, what it dropped, by kind. Sources:
# answers of EX, MX and QFX in public articles. Traps:
#
# - Ingress queues, before the egress queues of a port, count what other ports sent to it: they are skipped.
# - Some chips report only the total of drops, and `Not Available` for a kind of them: then the total counts alone.
# - Rates stand behind the counters.

_QUEUE_PORT = re.compile(r"[ \t]*Physical interface: ([\w/.:-]+)[ \t]*,.{0,200}")
_OTHER = re.compile(r"[ \t]*(?:Logical interface |Ingress queues:).*")
_QUEUE_EGRESS = re.compile(r"[ \t]*Egress queues:.*")
_QUEUE_QUEUE = re.compile(r"[ \t]*Queue:? (\d{1,2}), Forwarding classes?: .*")
_QUEUES = re.compile(f"^{_QUEUE_QUEUE.pattern}$", re.MULTILINE)
_PART = re.compile(r"[ \t]*(Queued|Transmitted):[ \t]*")
_VALUE = re.compile(r"[ \t]*([A-Z][\w-]*(?: [a-z]+)?)[ \t]*:[ \t]*(\d{1,20})(?:[ \t]+\d+ [bp]ps)?[ \t]*")
_NAMES = {"Packets": "queue_packets", "Bytes": "queue_bytes"}
_KINDS = ("Tail-dropped packets", "RED-dropped packets", "RL-dropped packets")
_ALL = "Total-dropped packets"


def queue_from_text(answer: str) -> list[PortCounters] | None:
    """The counters of each port's egress queues. Raises `UnreadableError` if there is none.

    A last line without a line feed may be cut, and is skipped.
    """
    if _SIGN not in answer or not _QUEUES.search(answer.replace("\r", "")):
        return None
    tally, port, named = Tally(), "", ""
    of: int | None = None
    dropped: dict[str, int | None] = {}
    sent = False
    for number, line in enumerate([*lines(answer)[:-1], "Queue: 99, Forwarding classes: none"], 1):
        begun, queue, part, value = (kind.fullmatch(line) for kind in (_QUEUE_PORT, _QUEUE_QUEUE, _PART, _VALUE))
        if begun or queue or _OTHER.fullmatch(line):
            if port and of is not None:
                tally.note(port, Counter("queue_drops", of), _drops(dropped))
            of, sent, dropped = priority(queue[1]) if queue else None, False, {}
        if begun:
            named = port = begun[1]
        elif _QUEUE_EGRESS.fullmatch(line):
            port = named
        elif _OTHER.fullmatch(line):
            port = ""
        elif part:
            sent = part[1] == "Transmitted"
        elif value and sent and port and of is not None:
            dropped[value[1]] = count(value[2], line=number)
            if value[1] in _NAMES:
                tally.note(port, Counter(_NAMES[value[1]], of), dropped[value[1]])
    return tally.some()


def _drops(reported: dict[str, int | None]) -> int | None:
    """All dropped packets; None where a kind of them may be missing."""
    if _ALL in reported:
        return reported[_ALL]
    return summed(reported.get(kind) for kind in _KINDS) if _KINDS[0] in reported else None
