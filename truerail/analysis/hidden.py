"""Cables that are on their planned device but appear elsewhere because device names are swapped."""

from collections.abc import Iterable

from truerail.model.finding import Cause
from truerail.model.plan import Plan, Port


def hidden_by_names(plan: Plan, causes: Iterable[Cause]) -> frozenset[Port]:
    """Such cables among the moves of causes, by the end nearer to the GPUs. A move that waits only for names to be
    corrected names its ports as they are called afterwards.
    """
    known = tuple(causes)
    names = {cause.key for cause in known if cause.names_only}
    found = set()
    for move in (move for cause in known for move in cause.moves if move.after_causes):
        cable = plan.cable_at(move.cable)
        if cable is not None and names.issuperset(move.after_causes) and move.source.device == cable.b.device:
            found.add(cable.a)
    return frozenset(found)
