"""A publication from a capture: the same answers as the service's, without a history."""

from truerail.model.finding import Judgement
from truerail.model.plan import Plan
from truerail.model.publication import Publication
from truerail.model.snapshot import Snapshot
from truerail.rounds import judge


def publication_of(plan: Plan, snapshot: Snapshot, judgement: Judgement | None = None, fabric: str = "") -> Publication:
    """What is shown of a snapshot under a plan. It is judged here where no judgement is given."""
    return Publication(0, fabric, judgement or judge(plan, snapshot), snapshot)
