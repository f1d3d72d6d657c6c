"""Faults in the plan itself, before anything is measured against it."""

from collections.abc import Callable, Iterator

from truerail.files.problems import Problem
from truerail.model import Plan, Severity
from truerail.plans import lint_cables, lint_capacity, lint_rails
from truerail.plans.lint_view import View

_MOST = 5
Check = Callable[[View], Iterator[Problem]]

CHECKS: tuple[Check, ...] = (
    lint_cables.unknown_device,
    lint_cables.misspelled_device,
    lint_cables.self_link,
    lint_cables.duplicate_cable,
    lint_cables.port_used_twice,
    lint_cables.panel_is_device,
    lint_cables.path_with_gap,
    lint_cables.panel_port_used_twice,
    lint_cables.position_crossed,
    lint_cables.speeds_in_a_rail,
    lint_cables.speeds_between_two_devices,
    lint_rails.missing_rail,
    lint_rails.no_rails,
    lint_rails.fewer_rails_than_gpus,
    lint_rails.overlapping_subnets,
    lint_rails.rail_on_two_leaves,
    lint_rails.planes_on_one_leaf,
    lint_rails.rail_twice_on_host,
    lint_rails.not_rail_optimized,
    lint_capacity.oversubscription,
    lint_capacity.no_uplinks,
    lint_capacity.qos_contradicts_itself,
)
"""Every check of a plan; each is one function, its docstring describes what it finds."""


def lint(plan: Plan) -> list[Problem]:
    """The problems of a plan, most severe first, then by line. Empty for a plan without fault.

    critical: the plan contradicts itself. warning: it is hardly intended. info: worth knowing, may be by design.
    """
    view = View(plan)
    found = [problem for check in CHECKS for problem in check(view)]
    return sorted(found, key=lambda problem: (-problem.severity.rank, problem.line))


def contradictions(plan: Plan) -> tuple[str, ...]:
    """What is critical about a plan, the first of it in words: the cables there are unknown."""
    found = [str(problem) for problem in lint(plan) if problem.severity is Severity.CRITICAL]
    more = [f"and {len(found) - _MOST:,} more contradictions in the plan, see `truerail plan lint`"]
    return (*found[:_MOST], *more[: len(found) > _MOST])
