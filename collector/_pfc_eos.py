"""EOS' pause frames and PFC settings: `show priority-flow-control [counters [detail]]`, JSON and text.

`counters` has the frames of all priorities together (`interfaceCounters`), `counters detail` those of each priority
(`interfaces` with `priorities`). In the text of `show priority-flow-control` E is enabled, D disabled, A active, W
watched by the watchdog; old releases print Yes and No below `Enabled` and `Active`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from collector._answer import lines
from collector._tally import Tally, count, priority
from truerail.errors import UnreadableError
from truerail.model import Counter, PortCounters, PortQos

_FRAMES = {"rxFrames": "rx_pause_frames", "txFrames": "tx_pause_frames"}
_COLUMNS = {"rxpfc": "rx_pause_frames", "txpfc": "tx_pause_frames"}
_HEADER = re.compile(
    r"(?:port|interface)[ \t]+(?:(?:priority|prio|class)[ \t]+)?(rx|tx) ?pfc[ \t]+(?:rx|tx) ?pfc", re.IGNORECASE
)
_PROMPT = re.compile(r"[^\s|]{1,80}[#>][ \t]*(?:show .*)?")
_LEGEND = re.compile(
    r"^E: PFC Enabled, D: PFC Disabled|^[ \t]*Port[ \t]+Enabled[ \t]+Priorities[ \t]+Active\b", re.MULTILINE
)
_STATUS = re.compile(
    r"[ \t]*(?P<port>[A-Z][\w-]*[0-9][\w/.]*)[ \t]+(?P<flags>[EDAW-](?:[ \t]+[EDAW-])*|Yes|No)"
    r"(?P<of>(?:[ \t]+[0-7])*)(?:[ \t]+\S.*)?[ \t]*"
)
_ON = {"E", "Yes"}
_PORTS = ("interfaces", "interfaceStatuses", "interfaceStatus")


def is_counters(found: Any) -> bool:
    """Whether this is the JSON of `counters`, with or without `detail`."""
    return isinstance(found, dict) and ("interfaceCounters" in found or _has_priorities(found.get("interfaces")))


def _has_priorities(ports: Any) -> bool:
    return isinstance(ports, dict) and any("rxFrames" in str(port) for port in ports.values())


def counters(found: Mapping[str, Any]) -> list[PortCounters]:
    """The frames of the ports in a document."""
    tally = Tally()
    for port, reported in found.get("interfaceCounters", found.get("interfaces", {})).items():
        for of, frames in _frames(reported):
            for word, name in _FRAMES.items():
                tally.note(port, Counter(name, of), count(frames.get(word)))
    return tally.facts()


def _frames(reported: Mapping[str, Any]) -> Iterator[tuple[int | None, Mapping[str, Any]]]:
    by_priority = reported.get("priorities")
    if by_priority is None:
        yield None, reported
        return
    for of, frames in by_priority.items():
        yield priority(of), frames


def is_text(answer: str) -> bool:
    """Whether the answer contains a table of pause frames."""
    twice = re.search(r"pfc[ \t]+[rt]x ?pfc", answer.lower()) is not None
    return twice and any(_HEADER.fullmatch(line.strip()) for line in answer.split("\n"))


def text_counters(answer: str) -> list[PortCounters]:
    """The frames in the text of `counters` or `counters detail`. Raises `UnreadableError` if a row is cut."""
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
            _note_row(tally, labels, cells, at, cut=at == len(text))
    return tally.facts()


def _note_row(tally: Tally, labels: list[str], cells: list[str], line: int, *, cut: bool) -> None:
    of = priority(cells[1]) if len(cells) == 4 else None
    for at, label in enumerate(labels):
        if label in _COLUMNS:
            doubtful = cut and at == len(cells) - 1 and cells[at] != "0"
            tally.note(cells[0], Counter(_COLUMNS[label], of), None if doubtful else count(cells[at], line=line))


def is_settings_text(answer: str) -> bool:
    """Whether this is the text of `show priority-flow-control`."""
    return _LEGEND.search(answer) is not None


def settings_from_text(answer: str) -> list[PortQos]:
    """The paused priorities of each port: those reported where PFC is enabled, none where it is not."""
    rows = [row for row in map(_STATUS.fullmatch, lines(answer)) if row]
    return [
        PortQos(row["port"], pfc_priorities=tuple(map(int, row["of"].split())) if _ON & {*row["flags"].split()} else ())
        for row in rows
    ]


def settings_from_json(found: Mapping[str, Any]) -> list[PortQos]:
    """The same from JSON, where the key of the ports and the format of priorities differ between releases."""
    ports = next((found[key] for key in _PORTS if key in found), None)
    if not isinstance(ports, dict):
        raise UnreadableError("JSON that does not speak of priority flow control")
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
