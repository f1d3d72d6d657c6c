"""The key figures of the plan in force, which owns them: a plan is linted once."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from truerail.model import Plan, Role, Severity
from truerail.plans import lint


@dataclass(frozen=True, slots=True)
class PlanView:
    """The plan in force. `problems` counts the findings of `truerail plan lint`, by severity."""

    name: str
    source: str
    digest: str
    inferred: bool
    transport: str
    load_balancing: str
    devices: Mapping[str, int]
    """By role."""
    pods: tuple[str, ...]
    rails: tuple[int, ...]
    planes: int
    cables: int
    uplinks: int
    problems: Mapping[str, int]


async def plan_view(plan: Plan) -> PlanView:
    """A plan in numbers. Lints each new plan once, in a thread."""
    return await asyncio.to_thread(plan.once, _view)


def _view(plan: Plan) -> PlanView:
    loud = Counter(problem.severity for problem in lint(plan))
    roles = Counter(device.role for device in plan.devices.values())
    from_hosts = sum(1 for _ in plan.host_cables)
    return PlanView(
        name=plan.name,
        source=plan.source,
        digest=plan.digest,
        inferred=plan.inferred,
        transport=plan.transport.value,
        load_balancing=plan.load_balancing.value,
        devices={role.value: roles[role] for role in Role},
        pods=tuple(dict.fromkeys(device.pod for device in plan.devices.values() if device.pod)),
        rails=tuple(sorted({cable.rail for cable in plan.cables if cable.rail is not None})),
        planes=len({cable.plane for cable in plan.cables if cable.plane is not None}) or 1,
        cables=len(plan.cables),
        uplinks=len(plan.cables) - from_hosts,
        problems={severity.value: loud[severity] for severity in reversed(Severity)},
    )
