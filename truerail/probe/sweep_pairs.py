"""The pairs of a path sweep among the NICs that can be probed."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from truerail.model.plan import Plan, Port
from truerail.probe.path_sweep import Budget, PathSweep, SweptPair, path_sweep
from truerail.probe.pinglists import SWEPT, Nic, Pair


@dataclass(frozen=True)
class Sweep:
    """A sweep, and the NIC at each planned port."""

    planned: PathSweep
    nic_of: Mapping[Port, Nic]

    @property
    def pairs(self) -> Iterator[tuple[Pair, SweptPair]]:
        """Its pairs, in the words of the pinglists: those between rails belong to list E."""
        for swept in self.planned.pairs:
            source, to = self.nic_of[swept.source], self.nic_of[swept.target]
            yield Pair(source, to, SWEPT if source.group[0] == to.group[0] else "E"), swept


def sweep_of(
    plan: Plan, nics: Sequence[Nic], left_out: Collection[str], budget: Budget, *, across_rails: bool
) -> Sweep:
    """The sweep over the NICs of the hosts that take part."""
    nic_of = {plan.cables[nic.cable].a: nic for nic in nics if nic.host not in left_out}
    return Sweep(path_sweep(plan, across_rails=across_rails, nics=nic_of.keys(), budget=budget), nic_of)
