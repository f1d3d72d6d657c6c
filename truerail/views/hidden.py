"""Cables that stand on their planned device and only seem to be elsewhere, because devices carry each other's names."""

from collections.abc import Iterable

from truerail.model.finding import Cause
from truerail.model.plan import Plan, Port


def hidden_by_names(plan: Plan, causes: Iterable[Cause]) -> frozenset[Port]:
    """Such cables among those that have to move, by the end nearer to the GPUs: a move that waits for names alone names
    its ports as they are called after that.
    """
    known = tuple(causes)
    names = {cause.key for cause in known if cause.names_only}
    found = set()
    for move in (move for cause in known for move in cause.moves if move.after_causes):
        cable = plan.cable_at(move.cable)
        if cable is not None and names.issuperset(move.after_causes) and move.source.device == cable.b.device:
            found.add(cable.a)
    return frozenset(found)
