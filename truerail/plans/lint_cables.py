"""Faults of single cables and ports: of their names, their speeds, and their paths through patch panels."""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, TypeVar

from truerail.files.problems import Problem
from truerail.model import Cable, Port, Severity
from truerail.model.columns import grouped
from truerail.model.panel_paths import Hop, hops, panels_of
from truerail.plans.lint_view import View
from truerail.plans.numbers import plain

T = TypeVar("T", bound=Hashable)


def unknown_device(view: View) -> Iterator[Problem]:
    """A cable ends at a device that the plan does not declare; reported once per device."""
    reported = panels_of(view.plan)
    for cable in view.plan.cables:
        for end in (cable.a, cable.b):
            if end.device not in view.plan.devices and end.device not in reported:
                reported.add(end.device)
                yield view.problem_of(cable, str(end), "the plan declares no such device", Severity.CRITICAL)


_ALIKE: Final = 0.75
"""Of the letters of two names, whose numbers are the same: `laef`, `leaf`."""
_TIMES: Final = 3
"""The right name has at least as many times the cables of the misspelled one."""
_DIGITS: Final = re.compile(r"\d+")


def misspelled_device(view: View) -> Iterator[Problem]:
    """A device that differs from one with far more cables in a letter or two of its name, or in upper and lower case;
    and no other device is spelled like it.
    """
    cables = Counter(end.device for cable in view.plan.cables for end in cable[:2])
    wrong = dict(_pairs(cables))
    for cable in view.plan.cables:
        for end in cable[:2]:
            if right := wrong.pop(end.device, ""):
                says = f"{end.device} has {cables[end.device]} of the cables, did you mean {right!r}?"
                yield view.problem_of(cable, str(end), says)


def _pairs(cables: Counter[str]) -> Iterator[tuple[str, str]]:
    """The misspelled name, and the right one."""
    shapes = Counter(_DIGITS.sub("0", name) for name in cables)
    alike = grouped((tuple(_DIGITS.findall(name)), name) for name in cables)
    for numbers, names in alike.items():
        rare = [name for name in names if shapes[_DIGITS.sub("0", name)] == 1] if numbers and len(names) > 1 else []
        for name in rare:
            others = (one for one in names if one != name and cables[one] >= _TIMES * cables[name])
            if right := next((one for one in others if _near(name, one)), ""):
                yield name, right


def _near(name: str, other: str) -> bool:
    one, two = (_DIGITS.sub("", word.lower()) for word in (name, other))
    return one == two or (abs(len(one) - len(two)) < 2 and SequenceMatcher(None, one, two).ratio() >= _ALIKE)


def self_link(view: View) -> Iterator[Problem]:
    """A cable from a device to itself."""
    for cable in view.plan.cables:
        if cable.a.device == cable.b.device:
            yield view.problem_of(cable, f"{cable.a} - {cable.b}", "a cable from a device to itself", Severity.CRITICAL)


def duplicate_cable(view: View) -> Iterator[Problem]:
    """The same two ports joined twice, in either direction."""
    first: dict[tuple[Port, Port], Cable] = {}
    for cable in view.plan.cables:
        ends = (cable.a, cable.b) if cable.a <= cable.b else (cable.b, cable.a)
        before = first.setdefault(ends, cable)
        if before is not cable:
            says = f"a duplicate cable, first {view.place(before, before.a)}"
            yield view.problem_of(cable, f"{cable.a} - {cable.b}", says)


def port_used_twice(view: View) -> Iterator[Problem]:
    """Two different cables in one port."""
    first: dict[Port, Cable] = {}
    for cable in view.plan.cables:
        for port, peer in ((cable.a, cable.b), (cable.b, cable.a)):
            before = first.setdefault(port, cable)
            if before is cable or peer in (before.a, before.b):
                continue
            other = before.b if before.a == port else before.a
            says = f"the port is used twice, for {peer} here and for {other} {view.place(before, port)}"
            yield view.problem_of(cable, str(port), says, Severity.CRITICAL)


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
    every = ((Hop(*sorted(ends)), cable) for cable in view.plan.cables for ends in hops(cable))
    for passed in grouped((hop.a[:2] + hop.b[:2], (hop, cable)) for hop, cable in every).values():
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


def speeds_in_a_rail(view: View) -> Iterator[Problem]:
    """Cables of one rail that are slower or faster than most of it."""
    for rail, speeds in sorted(_by_speed((cable.rail or 0, cable) for cable in view.rail_cables)):
        usual = max(speeds, key=lambda speed: (len(speeds[speed]), speed))
        for speed, cables in sorted(speeds.items()):
            if speed != usual:
                ports = f"{cables[0].a} and {len(cables) - 1} more" if len(cables) > 1 else str(cables[0].a)
                says = f"{ports}: {plain(speed)} Gb/s in rail {rail}, which has {plain(usual)} Gb/s"
                yield view.problem_of(cables[0], plain(speed), says)


def speeds_between_two_devices(view: View) -> Iterator[Problem]:
    """Parallel cables between two devices that differ in speed: hashing gives each the same load."""
    for (a, b), speeds in _by_speed(((cable.a.device, cable.b.device), cable) for cable in view.plan.cables):
        if len(speeds) > 1:
            rare = min(speeds, key=lambda speed: (len(speeds[speed]), speed))
            shown = ", ".join(f"{len(speeds[speed])} of {plain(speed)} Gb/s" for speed in sorted(speeds))
            says = f"cables between {a} and {b} differ in speed: {shown}"
            yield view.problem_of(speeds[rare][0], plain(rare), says)


def _by_speed(cables: Iterable[tuple[T, Cable]]) -> Iterator[tuple[T, dict[float, list[Cable]]]]:
    """Cables that have a speed, by what they share, then by their speed in Gb/s."""
    for shared, found in grouped((key, cable) for key, cable in cables if cable.speed_gbps).items():
        yield shared, grouped((cable.speed_gbps or 0.0, cable) for cable in found)
