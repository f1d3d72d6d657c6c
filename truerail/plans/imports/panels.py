"""Segments of cables joined end to end through patch panels: a cable list may have a row for each cord and trunk.

A panel is known by the file's word for its kind or its port's, or by its name. From a device's cord the path goes in at
one port of the panel and on at the port behind it: the same port in another row, the rear port and position that the
file gives for a front port, else the rear port of the same name or number. What does not say how it goes on is a gap:
the cable ends there, and `plan lint` names it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from truerail.model import Panel
from truerail.model.names import natural_key
from truerail.plans.imports.import_row import End, ImportRow, Rows
from truerail.plans.imports.translated import pattern

_PANEL: Final = pattern("panel")
_FRONT, _REAR = "front", "rear"
_SIDES: Final = {"f": _FRONT, "r": _REAR, "b": _REAR}
"""By the first letter of a port's word for its side."""
_SIDED: Final = re.compile(r"(?P<side>front|rear|back|[fr])(?:[-_ ]?port)?[-_ ]?(?P<number>\d+)", re.IGNORECASE)
"""`Front 3`, `R3`, `rear-port-3`."""
_NUMBER: Final = re.compile(r"(\d+)\D*$")
_MOST_HOPS: Final = 24
_MOST_NAMED: Final = 6


class _Face(NamedTuple):
    """One side of a panel's port, where a cord or trunk is plugged."""

    panel: str
    port: str
    side: str = ""


@dataclass(slots=True)
class _Panels:
    """The panels of a file: which rows are plugged where, and what is behind a front port."""

    rows: Sequence[ImportRow]
    inside: dict[tuple[str, str], tuple[str, str]]
    names: frozenset[str]
    at: dict[_Face, list[int]] = field(default_factory=dict)
    outside: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    """By panel and rear port: the front ports by their positions."""
    trunk: dict[str, int] = field(default_factory=Counter)
    """How many trunks have this label."""

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            ends = [end for end in (row.a, row.b) if end.device in self.names]
            for end in ends:
                self.at.setdefault(self.face(end), []).append(number)
            self.trunk[row.label] += len(ends) == 2
        self._pair_by_name()
        for (panel, front), (rear, position) in self.inside.items():
            self.outside.setdefault((panel, rear), {})[position] = front

    def face(self, end: End) -> _Face:
        """Where an end is plugged: its side by the file's word for it, else by its name."""
        kind, named = end.kind.lower().replace("_", ""), _SIDED.fullmatch(end.port)
        said = next((side for side in (_FRONT, _REAR) if f"{side}port" in kind), "")
        return _Face(end.device, end.port, said or (_SIDES[named["side"][0].lower()] if named else ""))

    def _pair_by_name(self) -> None:
        """Fills `inside` for panels of which the file does not say it: by the numbers of front and rear ports, or
        all front ports in their order on an only rear port.
        """
        sides: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)
        for face in self.at:
            if number := _NUMBER.search(face.port):
                sides[face.panel, face.side][number[1].lstrip("0")] = face.port
        known = {panel for panel, _ in self.inside}
        for (panel, side), fronts in sides.items():
            rears = sides.get((panel, _REAR), {})
            if side != _FRONT or panel in known or not rears:
                continue
            if len(rears) == 1 < len(fronts):
                (rear,) = rears.values()
                self.inside |= {(panel, port): (rear, number) for number, port in fronts.items()}
            elif fronts.keys() <= rears.keys():
                self.inside |= {(panel, port): (rears[number], "1") for number, port in fronts.items()}

    def behind(self, face: _Face, position: str) -> tuple[_Face, str] | None:
        """The other side of a panel from one of its faces, and the position there."""
        if face.side == _REAR:
            fronts = self.outside.get((face.panel, face.port), {})
            port = fronts.get(position) if position else next(iter(fronts.values()), None) if len(fronts) == 1 else None
            return (_Face(face.panel, port, _FRONT), "") if port else None
        if rear := self.inside.get((face.panel, face.port)):
            return _Face(face.panel, rear[0], _REAR), rear[1]
        return None

    def port(self, face: _Face, position: str, label: str) -> End | None:
        """The port of a path: a rear port with its position, under its trunk's own label if it has one; None for a rear
        port behind a single front port.
        """
        if face.side != _REAR:
            return End(face.panel, face.port)
        if len(self.outside.get((face.panel, face.port), ())) < 2:
            return None
        return End(face.panel, f"{label if label and self.trunk[label] == 1 else face.port}:{position}")

    def leads_nowhere(self, face: _Face) -> bool:
        """Whether this is a front port of which the file does not say what is behind it."""
        return face.side == _FRONT and len(self.at[face]) == 1 and (face.panel, face.port) not in self.inside

    def in_trunk(self, row: ImportRow, here: str) -> list[End]:
        """The positions at both ends of a trunk whose links have a row each, with its label; empty for others."""
        number = _NUMBER.search(row.a.port)
        ends = [row.a, row.b] if row.a.device == here else [row.b, row.a]
        if not number or self.trunk[row.label] < 2 or not row.label or {ends[1].device} - self.names:
            return []
        return [End(end.device, f"{row.label}:{number[1]}") for end in ends]


def joined(found: Sequence[ImportRow], rows: Rows) -> tuple[list[ImportRow], list[ImportRow], dict[str, Panel]]:
    """The cables from device to device, each with the panel ports between its ends; those whose path has a gap, which
    end at a panel; and where the panels are. Rows between panels alone are no cables.
    """
    every = (end for row in found for end in (row.a, row.b))
    names = frozenset(end.device for end in every if _PANEL.search(end.kind) or _PANEL.search(end.device))
    if not names:
        return [*found], [], _places(found, names)
    panels = _Panels(found, dict(rows.inside), names)
    rear = {face.panel for face in panels.at if face.side == _REAR}
    if unsaid := sorted({face.panel for face in panels.at if panels.leads_nowhere(face)} & rear):
        rows.notes.append(
            f"{', '.join(unsaid[:_MOST_NAMED])}: the file does not say which rear port and position is behind a front "
            "port; give NetBox' front ports with the cables"
        )
    whole: list[ImportRow] = []
    gaps: list[ImportRow] = []
    done: set[int] = set()
    for number, row in enumerate(found):
        ends = [end for end in (row.a, row.b) if end.device not in names]
        if len(ends) == 2:
            whole.append(row)
        elif ends and number not in done:
            path, used = _path(panels, number)
            done.update(used)
            (gaps if path.b.device in names else whole).append(path)
    return whole, gaps, _places(found, names)


def _places(found: Sequence[ImportRow], names: Collection[str]) -> dict[str, Panel]:
    places: dict[str, Panel] = {}
    for row in found:
        for end in (*(end for end in (row.a, row.b) if end.device in names), *row.via):
            if end.rack or end.device not in places:
                places[end.device] = Panel(end.rack, end.unit)
    return {name: places[name] for name in sorted(places, key=natural_key)}


def _path(panels: _Panels, number: int) -> tuple[ImportRow, list[int]]:
    """The cable from a device's cord to the next device, or to where its path has a gap, and the rows of its cords."""
    first = row = panels.rows[number]
    start, end = (row.a, row.b) if row.b.device in panels.names else (row.b, row.a)
    via: list[End | None] = []
    used, position = [number], ""
    parts = [row]
    while end.device in panels.names and len(used) < _MOST_HOPS:
        face = panels.face(end)
        inner, label = None, row.label
        following = [one for one in panels.at[face] if one not in used]
        if not following and (inner := panels.behind(face, position)):
            following = [one for one in panels.at.get(inner[0], ()) if one not in used]
        if len(following) != 1:
            break
        row = panels.rows[following[0]]
        via.append(panels.port(face, position, label))
        via += [panels.port(inner[0], inner[1], row.label)] if inner else []
        position = inner[1] if inner else position
        here = inner[0] if inner else face
        end = row.b if panels.face(row.a) == here else row.a
        via += [] if inner else panels.in_trunk(row, here.panel)
        used.append(following[0])
        parts.append(row)
    cords = [one for one in used if {panels.rows[one].a.device, panels.rows[one].b.device} - panels.names]
    given: dict[str, Any] = {
        name: next((value for one in parts if (value := getattr(one, name)) is not None), None)
        for name in ("speed_gbps", "rail", "plane")
    }
    return replace(first, a=start, b=end, via=tuple(filter(None, via)), length_m=None, **given), cords
