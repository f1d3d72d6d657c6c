"""The path up from a leaf and down to another, over links that are seen: the switches between them, and the number of
equal links to each.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from truerail.questions.answers.rail_status import RailStatus, Stand

MOST_TIERS = 3
"""Leaf, spine, superspine: a path goes up at most twice."""


@dataclass(frozen=True, slots=True)
class Step:
    """The switches of one tier of the path, any of which may be used, and the links that lead into them."""

    switches: tuple[int, ...]
    links: int


def between(standing: RailStatus, source: int, target: int, *, maybe: bool = False) -> tuple[Step, ...] | None:
    """The tiers between two leaves, from the source up and down to the target, which is the last step.

    Empty for one leaf, None if no link leads there. `maybe` also uses links in unknown state.
    """
    if source == target:
        return ()
    up, down = [{source: 1}], [{target: 1}]
    for _ in range(MOST_TIERS - 1):
        up.append(_above(standing, up[-1], maybe))
        down.append(_above(standing, down[-1], maybe))
        common = up[-1].keys() & down[-1].keys()
        if common:
            return _steps(standing, up, down, common, maybe)
    return None


def links_up(standing: RailStatus, device: int, *, maybe: bool = False) -> Mapping[int, int]:
    """The switches above a switch by actual links, and the number of links to each."""
    cables = standing.below.of(device)
    stand, end = standing.stand[cables], standing.end[cables]
    use = ((stand == Stand.ON) | ((stand == Stand.UNKNOWN) & maybe)) & (end >= 0)
    return Counter(end[use].tolist())


def _above(standing: RailStatus, switches: Iterable[int], maybe: bool) -> dict[int, int]:
    found: Counter[int] = Counter()
    for switch in switches:
        if not standing.is_host(switch):
            found.update(links_up(standing, switch, maybe=maybe))
    return dict(found)


def _steps(
    standing: RailStatus, up: list[dict[int, int]], down: list[dict[int, int]], top: Iterable[int], maybe: bool
) -> tuple[Step, ...]:
    """For each tier only the switches that lead to the top ones, in both directions."""
    rising = _leading(standing, up, set(top), maybe)
    falling = _leading(standing, down, set(top), maybe)
    tiers = [*rising, set(top), *reversed(falling)]
    steps = []
    for lower, upper in pairwise(tiers):
        links = sum(_links(standing, one, other, maybe) for one in lower for other in upper)
        steps.append(Step(tuple(sorted(upper)), links))
    return tuple(steps)


def _leading(standing: RailStatus, tiers: list[dict[int, int]], top: set[int], maybe: bool) -> list[set[int]]:
    chosen, found = top, []
    for tier in reversed(tiers[:-1]):
        chosen = {one for one in tier if links_up(standing, one, maybe=maybe).keys() & chosen}
        found.append(chosen)
    return found[::-1]


def _links(standing: RailStatus, one: int, other: int, maybe: bool) -> int:
    """Links between two switches of neighbouring tiers, in either order."""
    return links_up(standing, one, maybe=maybe).get(other, 0) or links_up(standing, other, maybe=maybe).get(one, 0)
