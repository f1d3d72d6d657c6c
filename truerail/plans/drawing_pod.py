"""One pod drawn: its leaves above, a column a rail, a row a host or a group of hosts."""

from collections import defaultdict
from dataclasses import dataclass

from truerail.files.nodesets import fold
from truerail.model import Cable
from truerail.model.columns import grouped
from truerail.plans.drawing_text import FAINT, LINE, PANEL, box, words
from truerail.plans.palette import rail_colour

MOST_ROWS = 64
_LEAF_HEIGHT, _ROW, _PAD, _HEAD = 26, 13, 14, 30


@dataclass(frozen=True)
class Pod:
    """What is drawn in one panel. Sizes in pixels."""

    name: str
    hosts: list[str]
    cables: list[Cable]

    @property
    def rails(self) -> list[int]:
        """The columns."""
        return sorted({cable.rail for cable in self.cables if cable.rail is not None})

    @property
    def spans(self) -> dict[str, tuple[int, int]]:
        """First and last column of each leaf."""
        column = {rail: at for at, rail in enumerate(self.rails)}
        found = grouped((cable.b.device, column[cable.rail]) for cable in self.cables if cable.rail is not None)
        return {leaf: (min(columns), max(columns)) for leaf, columns in found.items()}

    @property
    def levels(self) -> dict[str, int]:
        """Leaves that share columns are drawn above each other: two planes, or several leaves a rail."""
        taken: list[set[int]] = []
        levels: dict[str, int] = {}
        for leaf, (first, last) in self.spans.items():
            wanted = set(range(first, last + 1))
            level = next((at for at, columns in enumerate(taken) if not columns & wanted), len(taken))
            if level == len(taken):
                taken.append(set())
            taken[level] |= wanted
            levels[leaf] = level
        return levels

    @property
    def groups(self) -> list[list[str]]:
        """The rows: single hosts, or runs of hosts where there are many."""
        size = -(-len(self.hosts) // MOST_ROWS)
        return [self.hosts[at : at + size] for at in range(0, len(self.hosts), size)]

    @property
    def label_width(self) -> float:
        """Room for the names of the rows."""
        return 6.2 * max((len(fold(group)) for group in self.groups), default=0) + 12

    @property
    def cell(self) -> float:
        """Width of a column: the longest leaf name fits above its columns."""
        needed = [(6.4 * len(leaf) + 12) / (last - first + 1) for leaf, (first, last) in self.spans.items()]
        return max([26.0, *needed])

    @property
    def width(self) -> float:
        """Of the panel."""
        return self.label_width + self.cell * len(self.rails) + 2 * _PAD

    @property
    def height(self) -> float:
        """Of the panel."""
        levels = max(self.levels.values(), default=0) + 1
        return _HEAD + levels * (_LEAF_HEIGHT + 6) + 18 + len(self.groups) * _ROW + _PAD


def draw_pod(pod: Pod, x: float, y: float) -> tuple[list[str], dict[str, tuple[float, float]]]:
    """The panel at (x, y), its background first, and the middle of each leaf's upper edge."""
    out = [box(x, y, pod.width, pod.height, fill=PANEL, stroke=LINE, rx=8)]
    hosts = f"{len(pod.hosts)} host{'s' * (len(pod.hosts) != 1)}"
    title = f"{pod.name} · {hosts}" if pod.name else hosts
    out.append(words(x + _PAD, y + 19, title, size=12, anchor="start", bold=True))
    left = x + _PAD + pod.label_width
    tops: dict[str, tuple[float, float]] = {}
    levels = max(pod.levels.values(), default=0) + 1
    for leaf, (first, last) in pod.spans.items():
        top = y + _HEAD + pod.levels[leaf] * (_LEAF_HEIGHT + 6)
        wide = (last - first + 1) * pod.cell
        at = left + first * pod.cell
        fill = rail_colour(pod.rails[first]) if first == last else "#3b4856"
        out.append(box(at + 2, top, wide - 4, _LEAF_HEIGHT, fill=fill, title=leaf))
        out.append(words(at + wide / 2, top + 17, leaf, fill="#ffffff", bold=True))
        tops[leaf] = (at + wide / 2, top)
    below = y + _HEAD + levels * (_LEAF_HEIGHT + 6) + 10
    for at, rail in enumerate(pod.rails):
        out.append(words(left + (at + 0.5) * pod.cell, below, f"r{rail}", size=9, fill=FAINT))
    return out + _rows(pod, left, below + 6), tops


def _rows(pod: Pod, left: float, top: float) -> list[str]:
    """A cell for each rail of a row, filled as far as its cables are planned, split between planes."""
    planned: dict[tuple[str, int], set[int]] = defaultdict(set)
    for cable in pod.cables:
        if cable.rail is not None:
            planned[cable.a.device, cable.rail].add(cable.plane or 0)
    planes = max((len(found) for found in planned.values()), default=1)
    out: list[str] = []
    for row, group in enumerate(pod.groups):
        y = top + row * _ROW
        out.append(words(left - 8, y + 9, fold(group), size=9, anchor="end", fill=FAINT))
        for at, rail in enumerate(pod.rails):
            wide, colour = (pod.cell - 8) / planes, rail_colour(rail)
            for plane in range(planes):
                x = left + at * pod.cell + 4 + plane * wide
                count = sum(plane in planned[host, rail] or len(planned[host, rail]) > plane for host in group)
                fill = colour if count == len(group) else "#ffffff"
                tip = f"{fold(group)} rail {rail}: {count} of {len(group)} cables"
                out.append(box(x, y, wide - (planes > 1), _ROW - 3, fill=fill, stroke=colour, rx=2, title=tip))
    return out
