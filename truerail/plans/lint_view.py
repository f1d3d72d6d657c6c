"""A plan as the lint checks use it: host cables by host, and leaves by pod."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import combinations

from truerail.files.problems import Problem
from truerail.model import Cable, Plan, Port, Role, Severity
from truerail.model.columns import grouped


class View:
    """Groupings of one plan, each made once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def problem(self, line: int, value: str, says: str, severity: Severity = Severity.WARNING) -> Problem:
        """A problem of this plan."""
        return Problem(self.plan.source, line, value, says, severity)

    def problem_of(self, cable: Cable, value: str, says: str, severity: Severity = Severity.WARNING) -> Problem:
        """A problem of a cable: at the port that `value` names, else at the cable's first end."""
        end = cable.b if value == str(cable.b) else cable.a
        return Problem(self.plan.source, cable.line, value, says, severity, self._cell(cable, end))

    def place(self, cable: Cable, end: Port) -> str:
        """Where the file has one end of a cable: `on line 12`, `in sheet 'IB' row 12, column E`."""
        found = self._cell(cable, end)
        return f"in {found}" if found else f"on line {cable.line}"

    def _cell(self, cable: Cable, end: Port) -> str:
        """The cell of a table that names an end; empty in a file of lines."""
        a, b = self.plan.places.get((cable.a, cable.b), ("", ""))
        return b if end == cable.b else a

    @cached_property
    def rail_cables(self) -> list[Cable]:
        """Cables from a host into a rail; a storage or management cable has no rail."""
        return [cable for cable in self.plan.host_cables if cable.rail is not None]

    @cached_property
    def of_host(self) -> dict[str, list[Cable]]:
        """The rail cables of each host that has any."""
        return grouped((cable.a.device, cable) for cable in self.rail_cables)

    @cached_property
    def leaves_of_host(self) -> dict[str, frozenset[str]]:
        """The switches that each host's rails land on."""
        return {host: frozenset(cable.b.device for cable in cables) for host, cables in self.of_host.items()}

    @cached_property
    def pod_of_host(self) -> dict[str, str]:
        """Each host's pod: as planned, else the group of leaves that most of its cables reach."""
        planned = {name: device.pod for name, device in self.plan.devices.items()}
        return {host: planned.get(host) or pod for host, pod in pods_of(self.leaves_of_host).items()}

    @cached_property
    def single_leaf_hosts(self) -> list[str]:
        """Hosts of several rails whose cables of one plane all land on one switch, where there are more switches."""
        several = len(self.plan.of_role(Role.LEAF)) > 1
        return [host for host, cables in self.of_host.items() if several and _on_one_leaf(cables)]

    @cached_property
    def top_of_rack(self) -> bool:
        """True where most hosts have all rails on one switch, and hosts differ in which."""
        single = self.single_leaf_hosts
        switches = {self.of_host[host][0].b.device for host in single}
        return 2 * len(single) > len(self.of_host) and len(switches) > 1


def _on_one_leaf(cables: list[Cable]) -> bool:
    rails = {cable.rail for cable in cables}
    ends = {(cable.plane, cable.b.device) for cable in cables}
    return len(rails) > 1 and len(ends) == len({plane for plane, _ in ends})


# ----------------------------------------------------------------------------------------------------------------------
# Groups leaves into the pods of a fabric, by what hosts are cabled to.


def leaf_groups(leaves_of_hosts: Iterable[frozenset[str]]) -> dict[str, str]:
    """Maps each leaf to the leaf that its group is named after.

    Leaves that share at least half of the hosts of one of them form a group. Half, so that one host cabled into a
    foreign pod does not merge two pods.
    """
    together: Counter[tuple[str, str]] = Counter()
    hosts: Counter[str] = Counter()
    for leaves, count in Counter(leaves_of_hosts).items():
        hosts.update(dict.fromkeys(leaves, count))
        together.update(dict.fromkeys(combinations(sorted(leaves), 2), count))
    group = {leaf: leaf for leaf in hosts}

    def top(leaf: str) -> str:
        while group[leaf] != leaf:
            group[leaf] = leaf = group[group[leaf]]
        return leaf

    for (one, other), count in together.items():
        if 2 * count >= min(hosts[one], hosts[other]):
            group[top(other)] = top(one)
    return {leaf: top(leaf) for leaf in group}


def pods_of(leaves_of_host: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """The pod of each host: the group that most of its leaves belong to."""
    groups = leaf_groups(leaves_of_host.values())
    return {
        host: Counter(groups[leaf] for leaf in sorted(leaves)).most_common(1)[0][0]
        for host, leaves in leaves_of_host.items()
    }
