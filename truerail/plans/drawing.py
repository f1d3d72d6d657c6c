"""A plan as a drawing: pods with their rails and leaves, spines above. One self-contained SVG, fit for print.

SVG elements as text. Everything foreign is escaped here.
"""

from collections import Counter
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from truerail.files.nodesets import fold
from truerail.model import Cable, Plan, Role
from truerail.model.columns import grouped
from truerail.model.names import printable
from truerail.plans.lint_view import View
from truerail.plans.numbers import plain
from truerail.plans.shape import Shape, describe

_COLOURS = (
    *("#4269d0", "#e8a30c", "#e4573d", "#3aa394", "#3ca951"),
    *("#d8629b", "#8e58d6", "#6f9bd8", "#9c6b4e", "#7f8a99"),
)
"""Of rails, the same in every drawing. Neighbours are distinct for colour-blind readers, too."""
INK, FAINT, LINE, PANEL = "#1d2733", "#66727f", "#c4ccd4", "#f6f8fa"


def rail_colour(rail: int) -> str:
    """`#rrggbb`; colours repeat after ten rails."""
    return _COLOURS[rail % len(_COLOURS)]


def words(
    x: float, y: float, text: str, *, size: int = 11, anchor: str = "middle", fill: str = INK, bold: bool = False
) -> str:
    """A line of text whose baseline is at (x, y)."""
    weight = ' font-weight="600"' if bold else ""
    shown = escape(printable(text, 120))
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{fill}"{weight}>{shown}</text>'


def box(
    x: float, y: float, width: float, height: float, *, fill: str, stroke: str = "none", rx: float = 4, title: str = ""
) -> str:
    """A rectangle, with a tooltip if `title` is not empty."""
    tip = f"<title>{escape(printable(title))}</title>" if title else ""
    shape = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{rx:g}"'
    return f"<rect {shape} fill={quoteattr(fill)} stroke={quoteattr(stroke)}>{tip}</rect>"


def line(x1: float, y1: float, x2: float, y2: float, *, stroke: str, width: float, opacity: float) -> str:
    """A curve that leaves (x1, y1) upwards and arrives at (x2, y2) from below."""
    middle = (y1 + y2) / 2
    path = f"M{x1:g} {y1:g}C{x1:g} {middle:g} {x2:g} {middle:g} {x2:g} {y2:g}"
    return f'<path d="{path}" fill="none" stroke="{stroke}" stroke-width="{width:.2g}" opacity="{opacity:.2g}"/>'


MOST_ROWS = 64
_LEAF_HEIGHT, _ROW, _PAD, _HEAD = 26, 13, 14, 30


class Pod(NamedTuple):
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
    rails = (((cable.a.device, cable.rail), cable.plane or 0) for cable in pod.cables if cable.rail is not None)
    planned = {key: {*found} for key, found in grouped(rails).items()}
    planes = max(map(len, planned.values()), default=1)
    out: list[str] = []
    for row, group in enumerate(pod.groups):
        y = top + row * _ROW
        out.append(words(left - 8, y + 9, fold(group), size=9, anchor="end", fill=FAINT))
        for at, rail in enumerate(pod.rails):
            wide, colour = (pod.cell - 8) / planes, rail_colour(rail)
            cables = [planned.get((host, rail), ()) for host in group]
            for plane in range(planes):
                x = left + at * pod.cell + 4 + plane * wide
                count = sum(plane in found or len(found) > plane for found in cables)
                fill = colour if count == len(group) else "#ffffff"
                tip = f"{fold(group)} rail {rail}: {count} of {len(group)} cables"
                out.append(box(x, y, wide - (planes > 1), _ROW - 3, fill=fill, stroke=colour, rx=2, title=tip))
    return out


MOST_PODS = 4
"""The number of pods drawn; of the rest, the drawing shows the number."""
_MARGIN, _GAP, _TOP, _SWITCH, _TIER = 28.0, 22.0, 100.0, 26.0, 104.0
_MOST_SWITCHES = 16
_MOST_LINES = 1200

Places = dict[str, tuple[float, float]]


def draw_svg(plan: Plan) -> str:
    """The drawing as SVG text. Hosts are grouped into rows where a pod has many, pods beyond the fourth are counted."""
    pods = _pods(plan)
    shown = pods[:MOST_PODS]
    tiers = [role for role in (Role.SUPERSPINE, Role.SPINE) if plan.of_role(role)]
    top = _TOP + _TIER * len(tiers)
    width = max(2 * _MARGIN + sum(pod.width + _GAP for pod in shown) - _GAP, 720.0)
    x = (width - sum(pod.width + _GAP for pod in shown) + _GAP) / 2
    backs: list[str] = []
    panels: list[str] = []
    places: Places = {}
    for pod in shown:
        drawn, tops = draw_pod(pod, x, top)
        backs.append(drawn[0])
        panels += drawn[1:]
        places |= tops
        x += pod.width + _GAP
    switches = [part for at, role in enumerate(tiers) for part in _tier(plan, role, _TOP + at * _TIER, width, places)]
    height = top + max((pod.height for pod in shown), default=0.0) + 46
    more = f"and {len(pods) - len(shown)} more pods" if len(pods) > len(shown) else ""
    legend = "a filled cell is a planned cable, its colour the rail"
    parts = [
        _head(width, height),
        box(0, 0, width, height, fill="#ffffff", rx=0),
        words(_MARGIN, 36, plan.name or "Fabric", size=20, anchor="start", bold=True),
        words(_MARGIN, 58, summary(describe(plan), plan), size=12, anchor="start", fill=FAINT),
        *backs,
        *_lines(plan, places),
        *panels,
        *switches,
        words(width - _MARGIN, height - 18, more, size=12, anchor="end", fill=FAINT),
        words(_MARGIN, height - 18, legend, size=10, anchor="start", fill=FAINT),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _head(width: float, height: float) -> str:
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="system-ui, Helvetica, Arial, sans-serif">'


def summary(shape: Shape, plan: Plan) -> str:
    """The fabric in one line: `64 hosts · 8 rails · 8 leaves · 8 spines · 400 Gb/s · 2:1 · bisection 12.8 TB/s`."""
    roles = Counter(switch.role for switch in shape.switches)
    names = {role: (role.value, f"{role}s") for role in roles} | {Role.LEAF: ("leaf", "leaves")}
    parts = [f"{shape.hosts} hosts", f"{len(shape.rails)} rails"]
    parts += [f"{len(shape.planes)} planes"] if len(shape.planes) > 1 else []
    parts += [f"{count} {names[role][count != 1]}" for role, count in roles.items()]
    speeds = sorted({cable.speed_gbps for cable in plan.cables if cable.speed_gbps is not None})
    parts += [f"{' and '.join(map(plain, speeds))} Gb/s"] if speeds else []
    ratios = [leaf.oversubscription for leaf in shape.leaves if leaf.oversubscription is not None]
    parts += [f"oversubscription {max(ratios):.3g}:1"] if ratios else ["no uplinks"]
    capacity = shape.bisection_gbytes_per_second
    parts += [f"bisection {capacity / 1000:.4g} TB/s"] if capacity else []
    return " · ".join(parts)


def _pods(plan: Plan) -> list[Pod]:
    """Hosts by pod, in the plan's order, each with its rail cables."""
    view = View(plan)
    hosts = grouped((view.pod_of_host[host], host) for host in view.of_host)
    named = {device.pod for device in plan.of_role(Role.HOST)}
    return [
        Pod(pod if pod in named else "", names, [cable for host in names for cable in view.of_host[host]])
        for pod, names in hosts.items()
    ]


def _tier(plan: Plan, role: Role, y: float, width: float, places: Places) -> list[str]:
    """A row of switches; the last box represents all that do not fit. Notes where each one is."""
    names = [device.name for device in plan.of_role(role)]
    cells = min(len(names), _MOST_SWITCHES)
    wide = min((width - 2 * _MARGIN) / cells, max(120.0, 7.0 * max(map(len, names)) + 24))
    left = (width - wide * cells) / 2
    out = [words(_MARGIN, y - 8, f"{role}s", size=10, anchor="start", fill=FAINT)]
    for at in range(cells):
        rest = len(names) - at if at == cells - 1 and len(names) > cells else 0
        x = left + at * wide
        out.append(box(x + 4, y, wide - 8, _SWITCH, fill=INK, title=names[at]))
        out.append(words(x + wide / 2, y + 17, f"+{rest}" if rest else names[at], size=10, fill="#ffffff", bold=True))
        for name in names[at : at + rest] if rest else [names[at]]:
            places[name] = (x + wide / 2, y)
    return out


def _lines(plan: Plan, places: Places) -> list[str]:
    """A curve for each pair of switches that both are drawn, wider where more cables run in parallel."""
    pairs: Counter[tuple[tuple[float, float], tuple[float, float]]] = Counter()
    for cable in plan.cables:
        low, high = places.get(cable.a.device), places.get(cable.b.device)
        if low and high and plan.role_of(cable.a.device) is not Role.HOST:
            pairs[low, high] += 1
    if len(pairs) > _MOST_LINES:
        return []
    opacity = max(0.25, min(0.8, 40 / (len(pairs) or 1)))
    return [
        line(*low, high[0], high[1] + _SWITCH, stroke="#8793a0", width=min(0.6 + count / 8, 2.5), opacity=opacity)
        for (low, high), count in pairs.items()
    ]
