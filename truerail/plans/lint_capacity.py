"""Faults of capacity."""

from collections import Counter
from collections.abc import Iterator

from truerail.files.problems import Problem
from truerail.model import Severity
from truerail.plans.lint_view import View
from truerail.plans.shape import SwitchShape, describe


def oversubscription(view: View) -> Iterator[Problem]:
    """A leaf with more capacity down than up. The same ratio on every leaf is a design, reported as information."""
    leaves = [leaf for leaf in describe(view.plan).leaves if leaf.down_ports and leaf.oversubscription is not None]
    if not leaves:
        return
    usual = Counter(_ratio(leaf) for leaf in leaves).most_common(1)[0][0]
    for leaf in leaves:
        ratio = _ratio(leaf)
        if ratio > 1:
            worse = f", most leaves have {usual:g}:1" if ratio > usual else ""
            ports = f"({leaf.down_ports} ports down, {leaf.up_ports} up)"
            says = f"{leaf.name} is oversubscribed {ratio:g}:1{worse} {ports}"
            severity = Severity.WARNING if worse else Severity.INFO
            yield view.problem_of(view.plan.uplinks_of(leaf.name)[0], f"{ratio:g}:1", says, severity)


def _ratio(leaf: SwitchShape) -> float:
    """Rounded to two digits, so that 64 down and 63 up is 1.02:1."""
    return round(leaf.oversubscription or 0.0, 2)


def no_uplinks(view: View) -> Iterator[Problem]:
    """A leaf without uplinks where other leaves have some; without spines at all, the fabric is rail-only."""
    leaves = describe(view.plan).leaves
    if not any(leaf.up_ports for leaf in leaves):
        return
    for leaf in leaves:
        if not leaf.up_ports:
            line = view.plan.devices[leaf.name].line
            yield view.problem(line, leaf.name, f"{leaf.name} has no uplinks, other leaves have")
