"""The plan in force: read from its file, taken from the inventory, or inferred from the fabric once."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from truerail.model import Plan, Snapshot
from truerail.model.history import PlanVersion
from truerail.plans import infer

Load = Callable[[], Plan | None]
"""Reads the plan again; None if there is none. Raises PlanError with every problem."""


@dataclass
class PlanInForce:
    """`load` reads the plan file. Without one, the first snapshot in which hosts and leaves hear each other is used."""

    load: Load
    plan: Plan | None = None
    notes: tuple[str, ...] = ()
    why_not: str = ""
    """Why no plan could be inferred from the last snapshot."""

    def reload(self) -> Plan | None:
        """Reads the plan again. Raises PlanError; the plan in force then stays. An inferred one is inferred again."""
        self.plan = self.load()
        self.notes = self.plan.notes if self.plan else ()
        return self.plan

    def of(self, snapshot: Snapshot) -> Plan | None:
        """The plan to evaluate this snapshot against; None while none can be inferred."""
        if self.plan is None:
            inference = infer(snapshot)
            self.why_not = inference.why_not
            if self.why_not:
                return None
            self.plan = inference.plan
            self.notes = (inference.found, *inference.notes)
        return self.plan


def version_of(plan: Plan, at: datetime) -> PlanVersion:
    """The plan as stored in the journal."""
    return PlanVersion(plan.digest, at, plan.source or plan.name, len(plan.devices), len(plan.cables))
