"""Orders as a technician follows them, judged by what is really wired."""

from collections.abc import Mapping, Sequence

from truerail.model import Cause, Plan, Port
from truerail.verify import Links, Proof, both_ways


def followed(plan: Plan, far: Mapping[Port, Port | None], causes: Sequence[Cause]) -> Links:
    """What is wired to what after all orders; `far` before them. Fails where one cannot be followed."""
    proof = Proof(causes, both_ways(far), plan)
    assert not proof.broken
    return proof.ends()
