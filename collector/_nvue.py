"""NVIDIA NVUE: counters of Cumulus Linux' ports, `nv show interface ... -o json`, wherever a release puts them.

Groups (`pfc-stats`, `egress-queue-stats`, `stats` of a link) are found at any depth, since releases nest them
differently. An answer about one port does not name it: the command above does. Groups by priority are an object with
the priorities as keys, or a list of rows that contain them. A missing group is not reported, never 0.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from collector._answer import lines
from collector._documents import unwrapped
from collector._sections import asks, sections
from collector._tally import Tally, count, priority, size, words
from truerail.model import Counter, PortCounters

ASKED = asks("nv", "interface")
_PORT = re.compile(r"[a-z]+[a-z_]*\d[\w./-]*")
_ROW_KEYS = ("switch-priority", "traffic-class", "priority")
_LINK = words(
    {
        "in-bytes": "rx_bytes",
        "out-bytes": "tx_bytes",
        "in-pkts": "rx_packets",
        "out-pkts": "tx_packets",
        "in-errors": "rx_errors",
        "out-errors": "tx_errors",
        "in-drops": "rx_discards",
        "out-drops": "tx_discards",
        "carrier-transitions": "carrier_transitions",
    }
)
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


def understands(answer: str) -> bool:
    """Whether the answer contains any of NVUE's groups."""
    return any(f'"{word}"' in answer for word in ("in-bytes", "pfc-stats", "egress-queue-stats"))


def port_counters(answer: str) -> list[PortCounters]:
    """Counters of every port over all priorities. Raises `UnreadableError`."""
    tally = Tally()
    for port, at in _levels(answer):
        for word, counter in _LINK.items() if "in-bytes" in at else ():
            tally.note(port, counter, count(at.get(word)))
    return tally.some()


def pfc_counters(answer: str) -> list[PortCounters]:
    """Pause frames and the time they paused the port, by priority. Raises `UnreadableError`."""
    return _by_priority(answer, "pfc-stats", PFC)


def queue_counters(answer: str) -> list[PortCounters]:
    """Sent, marked and dropped packets of every traffic class. Raises `UnreadableError`."""
    return _by_priority(answer, "egress-queue-stats", QUEUE)


def _by_priority(answer: str, group: str, names: Mapping[str, str]) -> list[PortCounters]:
    tally = Tally()
    for port, at in _levels(answer):
        for of, row in _rows(at.get(group)):
            for word, name in names.items():
                tally.note(port, Counter(name, of), value(word, row.get(word)))
    return tally.some()


def value(word: str, reported: Any) -> int | None:
    """A value; None for a duration in bytes, as one release prints it."""
    if word in _DURATIONS and isinstance(reported, str) and not reported.strip().isdecimal():
        return None
    return size(reported)


def _rows(group: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if isinstance(group, dict):
        rows: Sequence[tuple[Any, Any]] = list(group.items())
    else:
        rows = [(next((row[key] for key in _ROW_KEYS if key in row), None), row) for row in group or ()]
    for key, row in rows:
        of = priority(key)
        if of is not None:
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
            yield from _within(value, key if _is_port(key) else port)
    elif isinstance(found, list):
        for value in found:
            yield from _within(value, port)


def port_of(word: str) -> str:
    """The port after `interface` in a command, or at the start of a file name: `swp1_counters_qos_-o_json`."""
    name = word.partition("_")[0]
    return name if _is_port(name) else ""


def _is_port(name: str) -> bool:
    return _PORT.fullmatch(name) is not None
