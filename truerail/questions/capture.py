"""A publication from a capture: the same answers as the service's, without a history."""

from truerail.analysis.published import Published
from truerail.model.finding import Evaluation
from truerail.model.plan import Plan
from truerail.model.snapshot import Snapshot
from truerail.rounds import judge


def publication_of(plan: Plan, snapshot: Snapshot, evaluation: Evaluation | None = None, fabric: str = "") -> Published:
    """What is shown of a snapshot under a plan. It is judged here where no judgement is given."""
    return Published(0, fabric, evaluation or judge(plan, snapshot), snapshot)
