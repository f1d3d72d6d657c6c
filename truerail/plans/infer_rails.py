"""Rails by consensus: where most hosts of a pod have NIC N, there is rail N; who differs is an outlier."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from truerail.model import Port
from truerail.model.names import natural_key
from truerail.plans.infer_hosts import NicOrder
from truerail.plans.port_numbers import PortNumbers, pattern
from truerail.plans.standing import leaf_groups, pod_of

Column = tuple[int, int]
"""Rail and plane."""

_REGULAR = 0.75
"""Share of cables that must follow one rule of port numbers before the rule is held against the others."""
_LAST_NUMBER = re.compile(r"(\d+)\D*$", re.ASCII)


@dataclass
class Columns:
    """The rail cables as seen: `at[host][column]` is the leaf port, `name[host][column]` the host's own port."""

    at: dict[str, dict[Column, Port]] = field(default_factory=lambda: defaultdict(dict))
    name: dict[str, dict[Column, str]] = field(default_factory=lambda: defaultdict(dict))

    def leaves(self) -> dict[str, frozenset[str]]:
        """The leaves of each host that has a cable."""
        return {host: frozenset(port.device for port in places.values()) for host, places in self.at.items() if places}


def common_orders(orders: Mapping[str, NicOrder], sure: frozenset[str]) -> tuple[dict[str, NicOrder], list[str]]:
    """For each host the order that most hosts with the same NICs tell, and the hosts that told another.

    `sure` are the hosts that told how near their NICs are to GPUs. Of another host's NICs, those count that a sure host
    with the same NICs has in rails: the rest is storage or management.
    """
    models: dict[frozenset[str], Counter[NicOrder]] = defaultdict(Counter)
    for host in sorted(orders, key=lambda host: host not in sure):
        names = frozenset(port for nic in orders[host] for port in nic)
        if host not in sure:
            names = max((model for model in models if model <= names), key=len, default=names)
        models[names][tuple(nic for nic in orders[host] if set(nic) <= names)] += 1
    common = {model: counts.most_common(1)[0][0] for model, counts in models.items()}
    result = {}
    for host, order in orders.items():
        names = frozenset(port for nic in order for port in nic)
        result[host] = common.get(names) or common[max((model for model in common if model <= names), key=len)]
    return result, [host for host in orders if host in sure and orders[host] != result[host]]


@dataclass(frozen=True)
class Consensus:
    """Where every column of every host belongs."""

    pods: dict[str, str]
    expected: dict[tuple[str, Column], Port]
    """By host and column, the leaf port."""
    renamed: dict[str, str]
    """Leaves that stand where another leaf's name belongs: name seen to name expected."""


def agree(columns: Columns) -> Consensus:
    """The place of every cable by majority: the leaf from its pod's column, the port from the host's other cables."""
    leaves_of = columns.leaves()
    groups = leaf_groups(leaves_of.values())
    pods = {host: pod_of(leaves, groups) for host, leaves in leaves_of.items()}
    leaf_at = _majority_leaves(columns, pods)
    renamed = _renamed(leaf_at)
    wanted = {key: renamed.get(leaf, leaf) for key, leaf in leaf_at.items()}
    expected = {
        (host, column): Port(wanted[pods[host], column], port.name)
        for host, places in columns.at.items()
        for column, port in places.items()
    }
    _place_ports(expected, columns, wanted, pods, renamed)
    return Consensus(pods, expected, renamed)


def _majority_leaves(columns: Columns, pods: dict[str, str]) -> dict[tuple[str, Column], str]:
    votes: dict[tuple[str, Column], Counter[str]] = defaultdict(Counter)
    for host, places in columns.at.items():
        for column, port in places.items():
            votes[pods[host], column][port.device] += 1
    return {key: min(counts, key=lambda leaf: (-counts[leaf], natural_key(leaf))) for key, counts in votes.items()}


def _renamed(leaf_at: dict[tuple[str, Column], str]) -> dict[str, str]:
    """Leaves whose number does not follow the rails of their pod, where those of most leaves do: exchanged labels."""
    stands: dict[tuple[str, int], dict[str, int]] = defaultdict(dict)
    for (pod, (rail, plane)), leaf in sorted(leaf_at.items()):
        stands[pod, plane].setdefault(leaf, rail)
    renamed: dict[str, str] = {}
    for ranks in stands.values():
        order = sorted(ranks, key=lambda leaf: ranks[leaf])
        numbers = {leaf: int(found[1]) for leaf in order if (found := _LAST_NUMBER.search(leaf))}
        if len(numbers) < len(order) or len(order) < 4:
            continue
        start, count = Counter(numbers[leaf] - at for at, leaf in enumerate(order)).most_common(1)[0]
        by_number = {number: leaf for leaf, number in numbers.items()}
        if count >= len(order) - 2 and all(start + at in by_number for at in range(len(order))):
            renamed |= {leaf: by_number[start + at] for at, leaf in enumerate(order) if numbers[leaf] != start + at}
    return renamed


def _place_ports(
    expected: dict[tuple[str, Column], Port],
    columns: Columns,
    wanted: dict[tuple[str, Column], str],
    pods: dict[str, str],
    renamed: dict[str, str],
) -> None:
    """Corrects the ports in `expected` where numbers follow a rule: a host's ports on all leaves at fixed distances."""
    ports = PortNumbers(port.name for places in columns.at.values() for port in places.values())
    distance = _distances(columns, ports, pods)
    place: dict[str, int] = {}
    for host, places in columns.at.items():
        votes = Counter(ports.of[port.name] - distance[pods[host], column] for column, port in places.items())
        place[host] = votes.most_common(1)[0][0]
    follow = Counter(
        ports.of[port.name] == place[host] + distance[pods[host], column]
        for host, places in columns.at.items()
        for column, port in places.items()
    )
    if follow[True] >= _REGULAR * follow.total():
        shapes = _shapes(columns)
        for (host, column), port in expected.items():
            leaf = wanted[pods[host], column]
            shape = shapes.get(leaf, pattern(port.name))
            name = ports.names.get((shape, place[host] + distance[pods[host], column]), port.name)
            expected[host, column] = Port(leaf, name)
    else:
        _exchange(expected, columns, renamed)
    _keep_apart(expected, columns)


def _shapes(columns: Columns) -> dict[str, str]:
    """How most ports of each leaf are named."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for places in columns.at.values():
        for port in places.values():
            votes[port.device][pattern(port.name)] += 1
    return {leaf: counts.most_common(1)[0][0] for leaf, counts in votes.items()}


def _distances(columns: Columns, ports: PortNumbers, pods: dict[str, str]) -> dict[tuple[str, Column], int]:
    """How far the ports of each column lie from those of its pod's first column, as on most hosts."""
    votes: dict[tuple[str, Column], Counter[int]] = defaultdict(Counter)
    first: dict[str, Column] = {}
    for host, places in columns.at.items():
        first[pods[host]] = min(first.get(pods[host], (1 << 30, 0)), *places)
    for host, places in columns.at.items():
        base = places.get(first[pods[host]])
        for column, port in places.items():
            gap = 0 if base is None else ports.of[port.name] - ports.of[base.name]
            votes[pods[host], column][gap] += base is not None
    return {key: counts.most_common(1)[0][0] for key, counts in votes.items()}


def _exchange(expected: dict[tuple[str, Column], Port], columns: Columns, renamed: dict[str, str]) -> None:
    """Without such a rule, a cable on a wrong leaf gets the port that the host itself holds on the right one."""
    for host, places in columns.at.items():
        held = {renamed.get(port.device, port.device): port for port in places.values()}
        for column in places:
            leaf = expected[host, column].device
            if leaf != places[column].device and leaf in held:
                expected[host, column] = Port(leaf, held[leaf].name)


def _keep_apart(expected: dict[tuple[str, Column], Port], columns: Columns) -> None:
    """No two cables in one port: of two, the one that is seen there has it, the other stays where it is seen."""
    holders: dict[Port, list[tuple[str, Column]]] = defaultdict(list)
    for key, port in expected.items():
        holders[port].append(key)
    for port, keys in holders.items():
        if len(keys) > 1:
            keys.sort(key=lambda key: columns.at[key[0]][key[1]] != port)
            for host, column in keys[1:]:
                expected[host, column] = columns.at[host][column]
