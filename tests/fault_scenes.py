"""Evaluations with open faults, for tests of what is sent about them."""

from dataclasses import replace
from datetime import timedelta
from functools import cache

from tests.metrics_pages import published
from tests.small_fabric import AT, World, make_plan
from truerail.analysis.published import Published
from truerail.model.cause_kinds import CauseKind
from truerail.model.finding import Severity
from truerail.model.life import Mute, MuteKind
from truerail.model.open_fault import OpenFault

PAGE = "https://truerail.example.net"
CRITICAL, WARNING = Severity.CRITICAL, Severity.WARNING


def fault(
    number: int = 1, severity: Severity = CRITICAL, minutes: float = 10, kind: CauseKind | None = CauseKind.CABLE_SWAP
) -> OpenFault:
    """A fault that has lasted so many minutes: a cause, or a finding without one."""
    return OpenFault(
        key=f"{number:012x}",
        kind=kind,
        rule="" if kind else "LNK004",
        severity=severity,
        pod="p1",
        subject=f"gpu-{number:03}/nica, gpu-{number:03}/nicb",
        summary=f"The cables of gpu-{number:03} are swapped",
        action="Swap the plugs in leaf-1/p1 and leaf-2/p1.",
        findings=(f"{number:011x}a", f"{number:011x}b") if kind else (f"{number:012x}",),
        rack="r14",
        unit="7",
        since=AT - timedelta(minutes=minutes),
        affected_gpus=2,
        affected_hosts=1,
    )


@cache
def _quiet() -> Published:
    plan = make_plan(2, 2)
    plan = replace(plan, devices={name: replace(one, pod="p1") for name, one in plan.devices.items()})
    return published(plan, World(plan).snapshot())


def seen(*faults: OpenFault, later: timedelta = timedelta(), muted: tuple[OpenFault, ...] = ()) -> Published:
    """An evaluation with these faults open."""
    mark = Mute(MuteKind.ACKNOWLEDGED, 1, "anna", "known")
    mutes = {finding: mark for one in muted for finding in one.findings}
    quiet = _quiet()
    evaluated = replace(quiet.evaluated, evaluation=replace(quiet.evaluation, at=AT + later))
    return replace(quiet, evaluated=evaluated, open_faults=faults, mutes=mutes, page_url=PAGE)
