"""Cumulus Linux, NCLU and NVUE: LLDP, ports, MACs and counters."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from collector.formats.counts import Tally, both_ways, count, priority, size, words
from collector.formats.documents import unwrapped
from collector.formats.lldp_words import advertised, device, identified, local_port, neighbor
from collector.formats.lldpd import neighbors_from_plain
from collector.formats.port_words import PortStatus, gbps, of_words, status
from collector.formats.table import cells_at
from collector.formats.text import asks, is_json, lines, sections
from truerail.errors import UnreadableError
from truerail.model import Counter, Neighbor, PortCounters

# ----------------------------------------------------------------------------------------------------------------------
# LLDP neighbours in Cumulus Linux' own formats: NCLU and NVUE.
#
# NCLU, `net show interface all json`: per interface `iface_obj.lldp`, a list of `adj_hostname`, `adj_port`,
# `adj_mgmt_ip`, or null. NVUE, `nv show interface lldp -o json`: per interface `lldp.neighbor`, an object keyed by
# system name with `chassis`, `port` and `age` (seconds). NVUE, `nv show interface lldp-detail`: lldpd's plain form with
# the age on lines of its own, no protocol named, and MACs labelled `ifname`. `net show lldp json` is lldpd's JSON, read
# as such.

LLDP_HEADING = re.compile(
    r"^[ \t]*(Interface: +[^,\n]*[^,\s])[ \t]*\n[ \t]*-+[ \t]*\n[ \t]+Time:[ \t]*\n[ \t]+(.*)$", re.MULTILINE
)


def lldp_is_json(answer: Mapping[str, Any]) -> bool:
    """True for a JSON object of interfaces, at least one of which contains LLDP data."""
    spoken = ("iface_obj", "lldp", "neighbor")
    return any(isinstance(entry, dict) and not entry.keys().isdisjoint(spoken) for entry in answer.values())


def neighbors_from_json(answer: Mapping[str, Any]) -> Iterator[Neighbor]:
    """The neighbours of every interface; an interface without LLDP data has none."""
    for port, entry in answer.items():
        if "iface_obj" in entry:
            for row in entry["iface_obj"].get("lldp") or ():
                yield _from_nclu(port, row)
        else:
            lldp = entry.get("lldp") or entry
            for name, found in (lldp.get("neighbor") or {}).items():
                yield _from_nvue(port, name, found)


def _from_nclu(port: str, row: Mapping[str, Any]) -> Neighbor:
    values = (*device(row["adj_hostname"]), row["adj_port"], None, None, None, None)
    return neighbor(local_port(port), values, [row.get("adj_mgmt_ip")])


def _from_nvue(port: str, name: str, entry: Mapping[str, Any]) -> Neighbor:
    chassis, remote = entry.get("chassis", {}), entry.get("port", {})
    of_key, _, name_of_key = device(chassis.get("system-name") or name)
    who = (advertised(chassis.get("chassis-id")) or of_key, None, name_of_key)
    where = (remote.get("name"), remote.get("type"), remote.get("description"))
    managed = (chassis.get("management-address-ipv4"), chassis.get("management-address-ipv6"))
    return neighbor(local_port(port), (*who, *where, remote.get("ttl"), entry.get("age")), managed)


def neighbors_from_text(text: str) -> Iterator[Neighbor]:
    """The neighbours in `nv show interface lldp-detail`."""
    for found in neighbors_from_plain(LLDP_HEADING.sub(r"\1, via: LLDP, Time: \2", text)):
        chassis_id, chassis_type = identified(found.chassis_id, found.chassis_id_type)
        port_id, port_type = identified(found.port_id, found.port_id_type)
        yield found._replace(
            chassis_id=chassis_id, chassis_id_type=chassis_type, port_id=port_id, port_id_type=port_type, via=None
        )


# ----------------------------------------------------------------------------------------------------------------------
# NVIDIA NVUE: counters of Cumulus Linux' ports, `nv show interface ... -o json`, wherever a release puts them.
#
# Groups (`pfc-stats`, `egress-queue-stats`, `stats` of a link) are found at any depth, since releases nest them
# differently. An answer about one port does not name it: the command above does. Groups by priority are an object with
# the priorities as keys, or a list of rows that contain them. A missing group is not reported, never 0.

ASKED = asks("nv", "interface")
_PORT = re.compile(r"[a-z]+[a-z_]*\d[\w./-]*")
_ROW_KEYS = ("switch-priority", "traffic-class", "priority")
_LINK = {
    **both_ways("in-", "out-", {"bytes": "bytes", "pkts": "packets", "errors": "errors", "drops": "discards"}),
    **words({"carrier-transitions": "carrier_transitions"}),
}
PFC = {
    "rx-pause-frames": "rx_pause_frames",
    "tx-pause-frames": "tx_pause_frames",
    "rx-pause-duration": "rx_pause_us",
    "tx-pause-duration": "tx_pause_us",
}
QUEUE = {
    "ecn-marked-frames": "ecn_marked_packets",
    "tx-frames": "queue_packets",
    "tx-bytes": "queue_bytes",
    "tx-uc-buffer-discards": "queue_drops",
    "wred-discards": "wred_discards",
}
_DURATIONS = frozenset({"rx-pause-duration", "tx-pause-duration"})


def _is_nvue(answer: str) -> bool:
    """Whether the answer is JSON with any of NVUE's groups."""
    return any(f'"{word}"' in answer for word in ("in-bytes", "pfc-stats", "egress-queue-stats")) and is_json(answer)


def port_from_nvue(answer: str) -> list[PortCounters] | None:
    """Counters of every port over all priorities. Raises `UnreadableError`."""
    if not _is_nvue(answer):
        return None
    tally = Tally()
    for port, at in _levels(answer):
        for word, counter in _LINK.items() if "in-bytes" in at else ():
            tally.note(port, counter, count(at.get(word)))
    return tally.some()


def pfc_from_nvue(answer: str) -> list[PortCounters] | None:
    """Pause frames and the time they paused the port, by priority. Raises `UnreadableError`."""
    return _by_priority(answer, "pfc-stats", PFC)


def queue_from_nvue(answer: str) -> list[PortCounters] | None:
    """Sent, marked and dropped packets of every traffic class. Raises `UnreadableError`."""
    return _by_priority(answer, "egress-queue-stats", QUEUE)


def _by_priority(answer: str, group: str, names: Mapping[str, str]) -> list[PortCounters] | None:
    if not _is_nvue(answer):
        return None
    tally = Tally()
    for port, at in _levels(answer):
        for of, row in _nvue_rows(at.get(group)):
            for word, name in names.items():
                tally.note(port, Counter(name, of), value(word, row.get(word)))
    return tally.some()


def value(word: str, reported: Any) -> int | None:
    """A value; None for a duration in bytes, as one release prints it."""
    if word in _DURATIONS and isinstance(reported, str) and not reported.strip().isdecimal():
        return None
    return size(reported)


def _nvue_rows(group: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if isinstance(group, dict):
        rows: Sequence[tuple[Any, Any]] = list(group.items())
    else:
        rows = [(next((row[key] for key in _ROW_KEYS if key in row), None), row) for row in group or ()]
    for key, row in rows:
        if (of := priority(key)) is not None:
            yield of, row


def _levels(answer: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every object in an answer, and its port."""
    for section in sections(lines(answer), "nv", ASKED):
        if any("{" in line for line in section.lines):
            yield from _within(unwrapped("\n".join(section.lines)), port_of(section.port))


def _within(found: Any, port: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(found, dict):
        yield port, found
        for key, value in found.items():
            yield from _within(value, key if _PORT.fullmatch(key) else port)
    elif isinstance(found, list):
        for value in found:
            yield from _within(value, port)


def port_of(word: str) -> str:
    """The port after `interface` in a command, or at the start of a file name: `swp1_counters_qos_-o_json`."""
    name = word.partition("_")[0]
    return name if _PORT.fullmatch(name) else ""


# ----------------------------------------------------------------------------------------------------------------------
# The text of `nv show interface ... counters qos`: a table of priorities for each group, the command above it.
#
# Source: the command reference of Cumulus Linux. Traps:
#
# - `qos` has all groups under titles, `pfc-stats` and `egress-queue-stats` have one table without a title.
# - Sizes are rounded (`36.0 KB`), and dropped frames are printed as if they were bytes: only exact ones (`0 Bytes`) are
#   read.

_GAP = re.compile(r"[ \t]{2,}")
_PFC = re.compile(r"^[ \t]*switch-priority[ \t]+.*\b[rt]x-pause-frames\b", re.MULTILINE)
_QUEUES = re.compile(r"^[ \t]*traffic-class[ \t]+.*\btx-frames\b", re.MULTILINE)


def pfc_from_text(answer: str) -> list[PortCounters] | None:
    """Pause frames and the time they paused the port, by priority. Raises `UnreadableError`."""
    return _tallied(answer, _PFC, PFC)


def queue_from_text(answer: str) -> list[PortCounters] | None:
    """Sent, marked and dropped packets of every traffic class. Raises `UnreadableError`."""
    return _tallied(answer, _QUEUES, QUEUE)


def _tallied(answer: str, head: re.Pattern[str], names: Mapping[str, str]) -> list[PortCounters] | None:
    if not head.search(answer):
        return None
    tally, text = Tally(), lines(answer)
    for section in sections(text, "nv", ASKED):
        for of, row in _text_rows(section.lines, section.line, head):
            for word, name in names.items():
                tally.note(port_of(section.port), Counter(name, of), value(word, row.get(word)))
    return tally.some()


def _text_rows(text: Sequence[str], line: int, head: re.Pattern[str]) -> Iterator[tuple[int | None, Mapping[str, str]]]:
    """Priority and cells by label of each row below such a header. Raises `UnreadableError` for a cut row."""
    labels: list[str] = []
    for number, said in enumerate(text, line):
        cells = _GAP.split(said.strip())
        if head.match(said):
            labels = cells
        elif labels and cells[0].isdecimal():
            if len(cells) != len(labels):
                raise UnreadableError("a row of fewer cells than labels: cut", line=number, text=said)
            yield priority(cells[0]), dict(zip(labels, cells, strict=True))
        elif set(said) - set("- \t"):
            labels = []


# ----------------------------------------------------------------------------------------------------------------------
# Cumulus Linux' `nv show interface` as text: one table of ports with their states and LLDP neighbours.
#
# Columns stand under the runs of the ruler, in an order that releases change. Releases up to 5.5 mark a row with `+`.
# An interface with several addresses has a line for each, the further ones with its name or without. Older releases
# have one `State`, which does not show whether a port is administratively down. Source: Cumulus Linux' documentation,
# 5.0 to 5.10.

_INTERFACE_HEADER = re.compile(r"Interface +.*\bMTU\b.*")
_INTERFACE_RULER = re.compile(r"-{2,}(?: +-{2,}…?)+ *")
_CUT = "…"
_PHYSICAL = frozenset(("swp", "eth"))


def interface_is_table(text: Sequence[str]) -> bool:
    """Whether these lines have the header of such a table with neighbours."""
    return any(
        _INTERFACE_HEADER.match(line) and "Remote Host" in line and "Remote Port" in line for line in _pasted(text)
    )


def _pasted(text: Sequence[str]) -> list[str]:
    """The lines with words, without the indentation that all have."""
    said = [line for line in text if line.strip()]
    indent = min((len(line) - len(line.lstrip()) for line in said), default=0)
    return [line[indent:] for line in said]


def neighbors_from_table(text: Sequence[str]) -> Iterator[Neighbor]:
    """The neighbours. Raises `UnreadableError` if the answer ends inside a line."""
    for row in _interface_rows(text):
        host, port = (None if _CUT in (cell := row.get(label, "")) else advertised(cell) for label in ("host", "port"))
        if host or port:
            yield Neighbor(row["interface"], None, None, host, *identified(port))


def statuses_from_table(text: Sequence[str]) -> list[PortStatus]:
    """The states and speeds of the physical ports."""
    found = dict[str, PortStatus]()
    for row in _interface_rows(text):
        if row.get("type") in _PHYSICAL:
            state = of_words(row.get("oper status", row.get("state", "")), row.get("admin status"))
            mtu = row.get("mtu", "")
            whole = status(row["interface"], state, gbps(row.get("speed", "")), int(mtu) if mtu.isdecimal() else None)
            found.setdefault(row["interface"], whole)
    return list(found.values())


def _interface_rows(text: Sequence[str]) -> Iterator[Mapping[str, str]]:
    """The cells of each interface's first line, by their labels in lower case."""
    if text[-1].strip():
        raise UnreadableError("the last row is cut", line=len(text), text=text[-1])
    starts: list[int] = []
    labels: list[str] = []
    said = _pasted(text)
    for at, line in enumerate(said):
        below = said[at + 1].strip() if at + 1 < len(said) else ""
        if _INTERFACE_HEADER.match(line) and _INTERFACE_RULER.fullmatch(below):
            starts = [run.start() for run in re.finditer(r"\S+", said[at + 1])]
            labels = [cell.lower().removeprefix("remote ") for cell in cells_at(line, starts)]
            if labels[0] != "interface":
                raise UnreadableError("its labels are not above its ruler", line=at + 1, text=line)
        elif starts and not _INTERFACE_RULER.fullmatch(line.strip()):
            row = dict(zip(labels, cells_at(line, starts), strict=True))
            row["interface"] = row["interface"].removeprefix("+ ").strip()
            if row["interface"] and row.get("mtu"):
                yield row


# ----------------------------------------------------------------------------------------------------------------------
# Cumulus Linux' `nv show bridge domain NAME mac-table` as text: the kernel's bridge in a table.
#
# Columns stand under the runs of the ruler, in an order that releases change. A learned entry has no type. Where the
# terminal is narrow, MACs are cut. Source: Cumulus Linux' documentation, 5.0 to 5.13.

_MAC_HEADER = re.compile(r"(?=.*\binterface\b)(?=.*\bentry-type\b)(?=.*\blast-update\b)[\w \t-]{1,400}")
_MAC_RULER = re.compile(r"[ \t]*-{2,}(?:[ \t]+-+…?)+[ \t]*")
_BLANK = dict.fromkeys(("interface", "mac", "vlan", "entry-type", "remote-dst"), "")


def macs_from_table(text: Sequence[str]) -> list[tuple[str, str, str, set[str]]] | None:
    """Port, MAC, VLAN and words of each entry; None for anything else. The last line is left out: a line feed follows
    each. Raises `UnreadableError` where a MAC is cut."""
    for at, line in enumerate(text[:-1]):
        if _MAC_HEADER.fullmatch(line) and _MAC_RULER.fullmatch(text[at + 1]):
            starts = [run.start() for run in re.finditer(r"\S+", text[at + 1])]
            labels = [cell.lower().removesuffix(" address") for cell in cells_at(line, starts)]
            rows = list[tuple[str, str, str, set[str]]]()
            for number, below in enumerate(text[at + 2 : -1], at + 3):
                cells = _BLANK | dict(zip(labels, cells_at(below, starts), strict=True))
                if _CUT in cells["mac"] + cells["interface"]:
                    raise UnreadableError("cells are cut: the terminal was too narrow", line=number, text=below)
                words = {cells["entry-type"], "dst" if cells["remote-dst"] else ""}
                rows.append((cells["interface"], cells["mac"], cells["vlan"], words))
            return rows
    return None
