"""Arista EOS: LLDP, counters of ports, pause frames and queues."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from collector.formats.counts import Tally, both_ways, count, own, priority, size, summed, words
from collector.formats.lldp_words import VALUES, device, identified, local_port, neighbor, seconds
from collector.formats.table import sure
from collector.formats.text import lines, object_of
from truerail.errors import UnreadableError
from truerail.model import Counter, Neighbor, PortCounters, PortQos

# ----------------------------------------------------------------------------------------------------------------------
# LLDP neighbours as Arista EOS prints them: JSON by port or as a list, and the text of `show lldp neighbors detail`.
#
# JSON: `show lldp neighbors detail | json` is `{"lldpNeighbors": {port: {"lldpNeighborInfo": [...]}}}`, without
# `detail` it is `{"lldpNeighbors": [{"port", "neighborDevice", "neighborPort", "ttl"}]}`. Port ids of the detailed form
# carry their quotes inside the string (`"\\"Ethernet1\\""`); `interfaceId_v2`, where there is one, does not.

LLDP_HEADING = re.compile(r"^[ \t]*Interface (\S+) detected (\d{1,4}) LLDP neighbors?:", re.MULTILINE)
_NEIGHBOR = re.compile(r"^(?: {2}Neighbor .*|[ \t]*Neighbor \S.*, age .*)$", re.MULTILINE)
"""The first line of a neighbour; pasted text may lack the indentation."""
_KEYS = {
    "Chassis ID type": "chassis_type",
    "Chassis ID": "chassis_id",
    "Port ID type": "port_type",
    "Port ID": "port_id",
    "Port Description": "description",
    "System Name": "name",
    "Time To Live": "ttl",
}


def neighbors_from_json(answer: Mapping[str, Any]) -> Iterator[Neighbor]:
    """The neighbours in either form of EOS JSON."""
    ports = answer["lldpNeighbors"]
    if isinstance(ports, list):
        yield from map(_brief, ports)
        return
    for name, entry in ports.items():
        port = local_port(name)
        for info in entry["lldpNeighborInfo"]:
            yield _detailed(port, info)


def _brief(row: Mapping[str, Any]) -> Neighbor:
    who, port = device(row["neighborDevice"]), identified(row["neighborPort"])
    return Neighbor(local_port(row["port"]), *who, *port, ttl_seconds=seconds(row.get("ttl")))


def _detailed(port: str, info: Mapping[str, Any]) -> Neighbor:
    remote = info.get("neighborInterfaceInfo", {})
    name = remote.get("interfaceId_v2") or _unquoted(remote.get("interfaceId"))
    managed = [entry["address"] for entry in info.get("managementAddresses", ())]
    who = (info.get("chassisId"), info.get("chassisIdType"), info.get("systemName"))
    where = (name, remote.get("interfaceIdType"), remote.get("interfaceDescription"))
    return neighbor(port, (*who, *where, info.get("ttl"), None), managed)


def _unquoted(text: str | None) -> str | None:
    if text and len(text) > 1 and text[0] == '"' == text[-1]:
        return text[1:-1].replace('\\"', '"')
    return text


def _is_open(text: str) -> bool:
    """Whether a quoted text lacks its closing quote."""
    return text.startswith('"') and (len(text) < 2 or not text.endswith('"'))


def neighbors_from_text(text: str) -> Iterator[Neighbor]:
    """The neighbours in `show lldp neighbors detail`. Raises `UnreadableError` where a port has fewer than it
    announces."""
    end = text.rpartition("\n")[2].lstrip()
    if end.startswith("Interface ") and not LLDP_HEADING.match(end):
        raise UnreadableError("the answer is cut", text=end)
    headings = list(LLDP_HEADING.finditer(text))
    for heading, following in zip(headings, [*headings[1:], None], strict=True):
        port, announced = heading.group(1), int(heading.group(2))
        body = text[heading.end() : following.start() if following else len(text)]
        blocks = _NEIGHBOR.split(body)[1:]
        if len(blocks) != announced:
            raise UnreadableError(f"{len(blocks)} of {announced} neighbours on {port}: the answer is cut")
        for block in blocks:
            yield _from_block(port, block.splitlines())


def _from_block(port: str, lines: Sequence[str]) -> Neighbor:
    found: dict[str, str] = {}
    managed: list[str] = []
    for line in lines:
        key, _, value = line.strip().removeprefix("- ").partition(":")
        if name := _KEYS.get(key.rstrip()):
            found.setdefault(name, value.strip())  # link aggregation also has a "Port ID", further down
        elif key.startswith("Management Address  "):
            managed.append(value)
        elif key.startswith("Discovered "):
            found["age"] = line.strip().removeprefix("Discovered ")
    if "chassis_id" not in found or "port_id" not in found or "ttl" not in found:
        raise UnreadableError(f"a neighbour of {port} without chassis id, port id or time to live: the answer is cut")
    if _is_open(found.get("name", "")):
        raise UnreadableError("a name without its closing quote: the answer is cut", text=found["name"])
    return neighbor(port, (_unquoted(found.get(value)) for value in VALUES), managed)


# ----------------------------------------------------------------------------------------------------------------------
# Port counters of Arista EOS: `show interfaces [counters [errors]] | json`.
#
# Each port has an object of counters, in `show interfaces` one level down (`interfaceCounters`) with details of the
# errors inside. `linkStatusChanges` counts both ups and downs, so it keeps its own name for rules to distinguish.
# `counterRefreshTime` is when the switch refreshed a port's counters, each port at its own time, by the switch's clock:
# the difference to the newest port's is the age of a port's counters.

PORT_KEYS = frozenset({"interfaces", "interfaceErrorCounters"})

_PORT_NAMES = {
    **both_ways("in", "out", {"Octets": "bytes", "Discards": "discards", "Errors": "errors"}),
    **both_ways("totalIn", "totalOut", {"Errors": "errors"}),
    **both_ways("rxPause", "txPause", {"": "global_pause_frames"}),
    **words({"fcsErrors": "crc_errors", "symbolErrors": "symbol_errors"}),
}
_OWN = ("alignmentErrors", "frameTooLongs", "frameTooShorts", "linkStatusChanges", "runtFrames", "giantFrames")
_PACKETS = {Counter(f"{way}_packets"): [f"{of}{cast}Pkts" for cast in ("Ucast", "Multicast", "Broadcast")]
            for way, of in (("rx", "in"), ("tx", "out"))}  # fmt: skip
OLDEST_SECONDS = 60.0
"""Ports refreshed longer ago are not in use: the age of their counters is unknown."""
LATEST_SECONDS = 1e11
"""Latest plausible time in Unix seconds; larger numbers are no times."""
_INSIDE = ("interfaceCounters", "inputErrorsDetail", "outputErrorsDetail")


def port_from_json(found: Any) -> list[PortCounters] | None:
    """Counters of the ports in a document. Raises `UnreadableError` if it has none."""
    if PORT_KEYS.isdisjoint(object_of(found)):
        return None
    tally, renewed = Tally(), dict[str, float]()
    for key in sorted(PORT_KEYS & found.keys()):
        for port, reported in found[key].items():
            values = list(_flat(reported))
            for name, value in values:
                if counter := _PORT_NAMES.get(name) or (own(name) if name in _OWN else None):
                    tally.note(port, counter, count(value))
            by_name = dict(values)
            for counter, casts in _PACKETS.items():
                tally.note(port, counter, summed(count(by_name.get(cast)) for cast in casts))
            at = by_name.get("counterRefreshTime")
            if isinstance(at, int | float) and 0 < at < LATEST_SECONDS:
                renewed[port] = at
    facts = tally.some()
    newest = max(renewed.values(), default=0.0)
    ages = {port: newest - at for port, at in renewed.items() if 0 < newest - at <= OLDEST_SECONDS}
    return [fact._replace(lag_seconds=ages[fact.port]) if fact.port in ages else fact for fact in facts]


def _flat(reported: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The counters of a port, including nested ones."""
    if not isinstance(reported, dict):
        raise UnreadableError("not a port and its counters", text=str(reported)[:60])
    for name, value in reported.items():
        if name in _INSIDE:
            yield from _flat(value)
        else:
            yield name, value


# ----------------------------------------------------------------------------------------------------------------------
# EOS' pause frames and PFC settings: `show priority-flow-control [counters [detail]]`, JSON and text.
#
# `counters` has the frames of all priorities together (`interfaceCounters`), `counters detail` those of each priority
# (`interfaces` with `priorities`). In the text of `show priority-flow-control` E is enabled, D disabled, A active, W
# watched by the watchdog; old releases print Yes and No below `Enabled` and `Active`.

_FRAMES = {"rxFrames": "rx_pause_frames", "txFrames": "tx_pause_frames"}
_COLUMNS = {"rxpfc": "rx_pause_frames", "txpfc": "tx_pause_frames"}
_HEADER = re.compile(
    r"(?:port|interface)[ \t]+(?:(?:priority|prio|class)[ \t]+)?(rx|tx) ?pfc[ \t]+(?:rx|tx) ?pfc", re.IGNORECASE
)
_PROMPT = re.compile(r"[^\s|]{1,80}[#>][ \t]*(?:show .*)?")
_STATUS = re.compile(
    r"[ \t]*(?P<port>[A-Z][\w-]*[0-9][\w/.]*)[ \t]+(?P<flags>[EDAW-](?:[ \t]+[EDAW-])*|Yes|No)"
    r"(?P<of>(?:[ \t]+[0-7])*)(?:[ \t]+\S.*)?[ \t]*"
)
_ON = {"E", "Yes"}
_PORTS = ("interfaces", "interfaceStatuses", "interfaceStatus")


def pfc_from_json(found: Any) -> list[PortCounters] | None:
    """The frames of the ports in the JSON of `counters`, with or without `detail`."""
    ports = object_of(object_of(found).get("interfaces"))
    if "interfaceCounters" not in object_of(found) and not any("rxFrames" in str(port) for port in ports.values()):
        return None
    tally = Tally()
    for port, reported in found.get("interfaceCounters", ports).items():
        by_priority = reported.get("priorities")
        for of, frames in ({None: reported} if by_priority is None else by_priority).items():
            for word, name in _FRAMES.items():
                tally.note(port, Counter(name, priority(of)), count(frames.get(word)))
    return tally.facts()


def pfc_from_text(answer: str) -> list[PortCounters] | None:
    """The frames in the text of `counters` or `counters detail`. Raises `UnreadableError` if a row is cut."""
    twice = re.search(r"pfc[ \t]+[rt]x ?pfc", answer.lower())
    if not twice or not any(_HEADER.fullmatch(line.strip()) for line in answer.split("\n")):
        return None
    tally = Tally()
    text = lines(answer)
    labels: list[str] = []
    for at, line in enumerate(text, 1):
        cells = line.split()
        if _HEADER.fullmatch(line.strip()):
            labels = re.sub(r"(rx|tx) pfc", r"\1pfc", line.strip().lower()).split()
        elif not cells or _PROMPT.fullmatch(line.strip()):
            labels = [] if cells else labels
        elif labels and set(line) - set("- \t"):
            if len(cells) != len(labels):
                raise UnreadableError("a row that does not fit the header, or is cut", line=at, text=line)
            of = priority(cells[1]) if len(cells) == 4 else None
            for label, cell in zip(labels, sure(cells, last=at == len(text)), strict=True):
                if label in _COLUMNS:
                    tally.note(cells[0], Counter(_COLUMNS[label], of), count(cell, line=at))
    return tally.facts()


_SETTINGS = re.compile(
    r"^E: PFC Enabled, D: PFC Disabled|^[ \t]*Port[ \t]+Enabled[ \t]+Priorities[ \t]+Active\b", re.MULTILINE
)
"""Only `show priority-flow-control` prints this."""


def settings_from_text(answer: str) -> list[PortQos] | None:
    """The paused priorities of each port: those reported where PFC is enabled, none where it is not."""
    if not _SETTINGS.search(answer):
        return None
    rows = [row for row in map(_STATUS.fullmatch, lines(answer)) if row]
    return [
        PortQos(row["port"], pfc_priorities=tuple(map(int, row["of"].split())) if _ON & {*row["flags"].split()} else ())
        for row in rows
    ]


def settings_from_json(found: Any) -> list[PortQos] | None:
    """The same from JSON, where the key of the ports and the format of priorities differ between releases."""
    ports = next((found[key] for key in _PORTS if key in object_of(found)), None)
    if not isinstance(ports, dict):
        return None
    reported_of = {port: reported for port, reported in ports.items() if _enabled(reported) is not None}
    if ports and not reported_of:
        raise UnreadableError("no port says whether priority flow control is enabled")
    return [
        PortQos(port, pfc_priorities=_priorities(reported) if _enabled(reported) else ())
        for port, reported in reported_of.items()
    ]


def _enabled(reported: Mapping[str, Any]) -> bool | None:
    return next((bool(reported[key]) for key in ("enabled", "pfcEnabled") if key in reported), None)


def _priorities(reported: Mapping[str, Any]) -> tuple[int, ...] | None:
    if "priorities" not in reported:
        return None
    return tuple(sorted(of for of in map(priority, reported["priorities"]) if of is not None))


# ----------------------------------------------------------------------------------------------------------------------
# EOS' queues: JSON of `show qos interfaces ecn counters queue`, text of `show interfaces counters queue detail`.
#
# JSON has the marked packets of each queue. The text has a row for each port, traffic class, drop precedence and kind
# of destination: rows of one class are summed, those to several destinations (`MC`) apart. Source of the text: the
# recorded answer in ntc-templates (arista_eos), of a switch with virtual output queues.

_QUEUE_KEY = "intfQueueCounters"
_HEAD = re.compile(
    r"^[ \t]*Port[ \t]+Traffic[ \t]+DropPrec[ \t]+DestType[ \t]+OutEnqPkts[ \t]+OutEnqOctets[ \t]+OutDropPkts"
    r"[ \t]+OutDropOctets[ \t]*$",
    re.MULTILINE,
)
_ROW = re.compile(r"[ \t]*([A-Z][\w-]*\d[\w/.]*)[ \t]+TC(\d)[ \t]+\S+[ \t]+(UC|MC)((?:[ \t]+[\d,]{1,26}){4})[ \t]*")
_BEGUN = re.compile(r"[ \t]*[A-Z][\w-]*\d[\w/.]*(?:[ \t]+TC.*)?")
_QUEUE_NAMES = ("queue_packets", "queue_bytes", "queue_drops", "queue_drop_bytes")


def queue_from_json(found: Any) -> list[PortCounters] | None:
    """The marked packets of each queue; EOS prints words if there is no number."""
    if _QUEUE_KEY not in object_of(found):
        return None
    tally = Tally()
    for port, reported in found[_QUEUE_KEY].items():
        for queue, value in reported.get("queueCounters", {}).items():
            if (of := priority(queue)) is not None:
                tally.note(port, Counter("ecn_marked_packets", of), size(value))
    return tally.facts()


def queue_from_text(answer: str) -> list[PortCounters] | None:
    """The counters of each port and class. Raises `UnreadableError` for a cut row.

    A last number that no line feed follows may be cut, and is skipped.
    """
    if not _HEAD.search(answer.replace("\r", "")):
        return None
    tally, text, inside = Tally(), lines(answer), False
    for number, line in enumerate(text, 1):
        row = _ROW.fullmatch(line) if inside else None
        if _HEAD.fullmatch(line):
            inside = True
        elif row:
            before = "mc_" if row[3] == "MC" else ""
            for name, cell in zip(_QUEUE_NAMES, sure(row[4].split(), last=number == len(text)), strict=True):
                tally.add(row[1], Counter(before + name, priority(row[2])), count(cell, line=number))
        elif inside and _BEGUN.fullmatch(line):
            raise UnreadableError("a row of queues that is cut", line=number, text=line)
    return tally.some()
