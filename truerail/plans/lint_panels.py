"""Faults of paths through patch panels."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from truerail.files.problems import Problem
from truerail.model import Cable, Port, Severity
from truerail.model.panel_paths import Hop, hops, panels_of
from truerail.plans.lint_view import View

_LEAST: Final = 4
"""Cables between two panels from which on the others' order says that one is crossed, where no trunk has a name."""


def panel_is_device(view: View) -> Iterator[Problem]:
    """A patch panel that the plan also declares as a host or switch."""
    for name in sorted(panels_of(view.plan) & view.plan.devices.keys()):
        device = view.plan.devices[name]
        yield view.problem(device.line, name, f"a patch panel and a {device.role}", Severity.CRITICAL)


def path_with_gap(view: View) -> Iterator[Problem]:
    """A cable that ends in a patch panel: no segment leads on from there."""
    panels = panels_of(view.plan) - view.plan.devices.keys()
    for cable in view.plan.cables if panels else ():
        if end := next((end for end in cable[:2] if end.device in panels), None):
            start = cable.b if end == cable.a else cable.a
            says = f"the path of {start} has a gap: it ends in the panel port {end}"
            yield view.problem_of(cable, str(end), says, Severity.CRITICAL)


def panel_port_used_twice(view: View) -> Iterator[Problem]:
    """A port of a patch panel, or a position of a trunk, that two cables pass."""
    first: dict[Port, Cable] = {}
    for cable in view.plan.cables:
        for port in cable.via:
            before = first.setdefault(port, cable)
            if before is not cable or cable.via.count(port) > 1:
                says = f"the panel port is used twice, for {cable.a} and for {before.a}"
                yield view.problem_of(cable, str(port), says, Severity.CRITICAL)


def position_crossed(view: View) -> Iterator[Problem]:
    """A path that enters a trunk in one position and leaves it in another one than the trunk's other positions lead to:
    straight, or all in reverse order.
    """
    trunks: dict[tuple[str, ...], list[tuple[Hop, Cable]]] = defaultdict(list)
    for cable in view.plan.cables:
        for a, b in hops(cable):
            hop = Hop(a, b) if a <= b else Hop(b, a)
            trunks[hop.a[:2] + hop.b[:2]].append((hop, cable))
    for passed in trunks.values():
        named = bool(passed[0][0].a.trunk and passed[0][0].b.trunk)
        if named or len(passed) >= _LEAST:
            for hop, cable in _crossed([hop for hop, _ in passed], passed, named=named):
                start, end = (f"{one.panel}/{one.row}{one.number}" for one in hop)
                says = f"the path of {cable.a} crosses its trunk from {start} to {end}, unlike its other positions"
                yield view.problem_of(cable, start, says, Severity.CRITICAL if named else Severity.WARNING)


def _crossed(row: Sequence[Hop], passed: Sequence[tuple[Hop, Cable]], *, named: bool) -> Iterator[tuple[Hop, Cable]]:
    """The positions that do not follow the order of most: all of a named trunk, over three quarters of a row."""
    steps, sums = (Counter(hop.b.number - sign * hop.a.number for hop in row) for sign in (1, -1))
    sign, (order, count) = 1, (0, steps[0]) if named else steps.most_common(1)[0]
    if sums.most_common(1)[0][1] > max(count, 1):
        sign, (order, count) = -1, sums.most_common(1)[0]
    if named or 4 * count > 3 * len(row):
        yield from (one for one in passed if one[0].b.number - sign * one[0].a.number != order)
