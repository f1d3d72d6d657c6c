"""Groups leaves into the pods of a fabric, by what hosts are cabled to."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations


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
