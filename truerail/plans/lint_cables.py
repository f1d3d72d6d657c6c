"""Faults of single cables and ports."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from truerail.files.problems import Problem
from truerail.model import Cable, Port, Severity
from truerail.model.panel_paths import panels_of
from truerail.plans.lint_view import View
from truerail.plans.numbers import plain


def unknown_device(view: View) -> Iterator[Problem]:
    """A cable ends at a device that the plan does not declare; reported once per device."""
    reported = panels_of(view.plan)
    for cable in view.plan.cables:
        for end in (cable.a, cable.b):
            if end.device not in view.plan.devices and end.device not in reported:
                reported.add(end.device)
                yield view.problem_of(cable, str(end), "the plan declares no such device", Severity.CRITICAL)


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


def speeds_in_a_rail(view: View) -> Iterator[Problem]:
    """Cables of one rail that are slower or faster than most of it."""
    rails: dict[int, dict[float, list[Cable]]] = defaultdict(lambda: defaultdict(list))
    for cable in view.rail_cables:
        if cable.rail is not None and cable.speed_gbps is not None:
            rails[cable.rail][cable.speed_gbps].append(cable)
    for rail, speeds in sorted(rails.items()):
        usual = max(speeds, key=lambda speed: (len(speeds[speed]), speed))
        for speed, cables in sorted(speeds.items()):
            if speed != usual:
                ports = f"{cables[0].a} and {len(cables) - 1} more" if len(cables) > 1 else str(cables[0].a)
                says = f"{ports}: {plain(speed)} Gb/s in rail {rail}, which has {plain(usual)} Gb/s"
                yield view.problem_of(cables[0], plain(speed), says)


def speeds_between_two_devices(view: View) -> Iterator[Problem]:
    """Parallel cables between two devices that differ in speed: hashing gives each the same load."""
    pairs: dict[tuple[str, str], Counter[float]] = defaultdict(Counter)
    first: dict[tuple[str, str, float], Cable] = {}
    for cable in view.plan.cables:
        if cable.speed_gbps is not None:
            pair = (cable.a.device, cable.b.device)
            pairs[pair][cable.speed_gbps] += 1
            first.setdefault((*pair, cable.speed_gbps), cable)
    for pair, speeds in pairs.items():
        if len(speeds) > 1:
            rare = min(speeds, key=lambda speed: (speeds[speed], speed))
            shown = ", ".join(f"{speeds[speed]} of {plain(speed)} Gb/s" for speed in sorted(speeds))
            says = f"cables between {pair[0]} and {pair[1]} differ in speed: {shown}"
            yield view.problem_of(first[(*pair, rare)], plain(rare), says)
