"""The paths of cables through patch panels: rows of panel ports, and the trunks between panels.

Two panel ports in a row of different panels are a position of a trunk. `T12:3` is position 3 of the trunk or rear port
T12; of a port without a colon, the last number of its name is its place in the panel's row, and the trunk has no name.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from truerail.model.finding import Move
from truerail.model.names import natural_key
from truerail.model.plan import Cable, Panel, Plan, Port

_SHOWN: Final = 8
"""Front ports of a panel that are named."""
_SPOT: Final = re.compile(r"(?P<row>.*?)(?P<number>\d+)(?P<rest>\D*)", re.DOTALL)


class Spot(NamedTuple):
    """A port's place in a row of a panel, or its position in a trunk: `row` is the name of either on its panel."""

    panel: str
    row: str
    number: int

    @property
    def trunk(self) -> str:
        """The name of the trunk; empty for a port of a row."""
        return self.row[:-1] if self.row.endswith(":") else ""


class Hop(NamedTuple):
    """A trunk's position between two panels, as a cable passes it from `a` to `b`."""

    a: Spot
    b: Spot


def spot(port: Port) -> Spot:
    """Where a panel port is. One without a number is a row by itself."""
    found = _SPOT.fullmatch(port.name)
    return Spot(port.device, found["row"] + found["rest"], int(found["number"])) if found else Spot(*port, 0)


def hops(cable: Cable) -> Iterator[Hop]:
    """The positions of trunks on a cable's path."""
    for one, other in zip(cable.via, cable.via[1:], strict=False):
        if one.device != other.device:
            yield Hop(spot(one), spot(other))


def panels_of(plan: Plan) -> set[str]:
    """The names of all patch panels."""
    return {*plan.panels, *(port.device for cable in plan.cables for port in cable.via)}


def panel_words(plan: Plan, name: str) -> str:
    """`pp-1 (rack r05 U42)`, as much of it as the plan says."""
    panel = plan.panels.get(name, Panel())
    words = f"rack {panel.rack}" * bool(panel.rack), f"U{panel.unit}" * (panel.unit is not None)
    place = " ".join(filter(None, words))
    return f"{name} ({place})" if place else name


def meetings(plan: Plan, move: Move) -> list[tuple[Port, Port]]:
    """The panel ports of a move's cable and those of the cable planned where it is, on the panels that both pass: where
    the plugs may be exchanged as well as at the switch. Fronts before trunks, the panel nearest to the switch first.
    """
    own, other = plan.cable_at(move.cable), plan.cable_at(move.source)
    if own is None or other is None or own is other:
        return []
    theirs = {(port.device, bool(spot(port).trunk)): port for port in other.via}
    mine = {(port.device, bool(spot(port).trunk)): port for port in reversed(own.via)}
    both = [(port, theirs[key]) for key, port in mine.items() if key in theirs]
    return sorted(both, key=lambda pair: bool(spot(pair[0]).trunk))


def checked_first(plan: Plan, moves: Iterable[Move]) -> str:
    """`pp-9 (rack n01 U42) ports 3, 7 or pp-1 ports 5, 9`: the front ports at which these moves may be made as well."""
    found: dict[str, dict[str, None]] = {}
    for pair in (pair for move in moves for pair in meetings(plan, move) if not spot(pair[0]).trunk):
        found.setdefault(pair[0].device, {}).update(dict.fromkeys(port.name for port in pair))
    return " or ".join(
        f"{panel_words(plan, panel)} port{'s' * (len(ports) > 1)} {', '.join(sorted(ports, key=natural_key)[:_SHOWN])}"
        for panel, ports in found.items()
    )
