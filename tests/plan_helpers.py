"""What the tests of plans share."""

from typing import Any

from truerail.model import Plan


def bare(plan: Plan) -> tuple[Any, ...]:
    """A plan without where it was read: neither file nor lines nor order."""
    cables = sorted(repr(cable._replace(line=0)) for cable in plan.cables)
    return dict(plan.devices), cables, dict(plan.rails), plan.name, plan.transport, plan.load_balancing
