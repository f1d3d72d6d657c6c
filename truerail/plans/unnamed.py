"""Ports that a plan does not name: `?1`, `?2`, ... where a file names only the devices of its cables."""

from truerail.files.problems import Problem
from truerail.model import Plan, Port
from truerail.plans.imports.import_row import UNNAMED
from truerail.plans.plan_error import PlanError


def unnamed_ports(plan: Plan) -> list[Port]:
    """The ports without a name, in the order of the cables."""
    return [end for cable in plan.cables for end in cable[:2] if end.name.startswith(UNNAMED)]


def check_named(plan: Plan) -> Plan:
    """The plan itself. Raises `PlanError` if nothing can be evaluated against it, because ports have no names."""
    unnamed = unnamed_ports(plan)
    if unnamed:
        first = f"{len(unnamed):,} ports have no name, the first is {unnamed[0]}"
        raise PlanError([Problem(plan.source, 0, "", f"{first}: name them in the output of `truerail plan convert`")])
    return plan
