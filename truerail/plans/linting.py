"""Faults in the plan itself, before anything is measured against it."""

from collections.abc import Callable, Iterator
from inspect import isfunction

from truerail.files.problems import Problem
from truerail.model import Plan, Severity
from truerail.plans import lint_cables, lint_rails
from truerail.plans.lint_view import View

_MOST = 5
Check = Callable[[View], Iterator[Problem]]

CHECKS: tuple[Check, ...] = tuple(
    check
    for module in (lint_cables, lint_rails)
    for name, check in vars(module).items()
    if isfunction(check) and check.__module__ == module.__name__ and not name.startswith("_")
)
"""Every check of a plan: the functions of these modules, in their order. Its docstring describes what one finds."""


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
