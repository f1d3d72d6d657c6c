"""The paths of cables through patch panels: rows of panel ports, and the trunks between panels.

Two panel ports in a row of different panels are a position of a trunk. `T12:3` is position 3 of the trunk or rear port
T12; of a port without a colon, the last number of its name is its place in the panel's row, and the trunk has no name.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from truerail.model.plan import Cable, Plan, Port

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


def panel_place(plan: Plan, name: str) -> str:
    """`rack r05 U42`; empty where the plan does not say it."""
    panel = plan.panels.get(name)
    words = [f"rack {panel.rack}" * bool(panel.rack), f"U{panel.unit}" * (panel.unit is not None)] if panel else []
    return " ".join(filter(None, words))
