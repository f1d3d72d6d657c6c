"""A publication from a capture: the same answers as from the service, without a history."""

from truerail.analysis.published import Published
from truerail.model.finding import Evaluation
from truerail.model.plan import Plan
from truerail.model.snapshot import Snapshot
from truerail.rounds import evaluate


def publication_of(plan: Plan, snapshot: Snapshot, evaluation: Evaluation | None = None, fabric: str = "") -> Published:
    """The publication of a snapshot under a plan. Evaluates the snapshot if no evaluation is given."""
    return Published(0, fabric, evaluation or evaluate(plan, snapshot), snapshot)
