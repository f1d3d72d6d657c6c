"""The text of `nv show interface ... counters qos`: a table of priorities for each group, the command above it.

Source: the command reference of Cumulus Linux. Traps:

- `qos` has all groups under titles, `pfc-stats` and `egress-queue-stats` have one table without a title.
- Sizes are rounded (`36.0 KB`), and dropped frames are printed as if they were bytes: only exact ones (`0 Bytes`) are
  read.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from collector._answer import lines
from collector._nvue import ASKED, PFC, QUEUE, port_of, value
from collector._sections import sections
from collector._tally import Tally, priority
from truerail.errors import UnreadableError
from truerail.model import Counter, PortCounters

_GAP = re.compile(r"[ \t]{2,}")
_PFC = re.compile(r"^[ \t]*switch-priority[ \t]+.*\b[rt]x-pause-frames\b", re.MULTILINE)
_QUEUES = re.compile(r"^[ \t]*traffic-class[ \t]+.*\btx-frames\b", re.MULTILINE)


def has_pfc(answer: str) -> bool:
    """Whether the answer has the table of pauses."""
    return _PFC.search(answer) is not None


def has_queues(answer: str) -> bool:
    """Whether the answer has the table of queues."""
    return _QUEUES.search(answer) is not None


def pfc_counters(answer: str) -> list[PortCounters]:
    """Pause frames and the time they paused the port, by priority. Raises `UnreadableError`."""
    return _tallied(answer, _PFC, PFC)


def queue_counters(answer: str) -> list[PortCounters]:
    """Sent, marked and dropped packets of every traffic class. Raises `UnreadableError`."""
    return _tallied(answer, _QUEUES, QUEUE)


def _tallied(answer: str, head: re.Pattern[str], names: Mapping[str, str]) -> list[PortCounters]:
    tally, text = Tally(), lines(answer)
    for section in sections(text, "nv", ASKED):
        for of, row in _rows(section.lines, section.line, head):
            for word, name in names.items():
                tally.note(port_of(section.port), Counter(name, of), value(word, row.get(word)))
    return tally.some()


def _rows(text: Sequence[str], line: int, head: re.Pattern[str]) -> Iterator[tuple[int | None, Mapping[str, str]]]:
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
