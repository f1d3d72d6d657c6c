"""A plan read off the fabric itself: rails by consensus over hosts, with the support behind each."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from truerail.model import Cable, Device, Plan, Port, Rail, Role, Snapshot
from truerail.model.names import natural_key
from truerail.model.pause import garbage_collection_paused
from truerail.plans.infer_fabric import adapters, with_guids
from truerail.plans.infer_hosts import HostSays, NicOrder, hosts_say, nic_order
from truerail.plans.infer_rails import Column, Columns, Consensus, agree, common_orders
from truerail.plans.infer_uplinks import uplinks
from truerail.plans.infer_wires import Wires, wires_of


class Outlier(NamedTuple):
    """What differs from the consensus: a host's port, or a leaf whose name belongs elsewhere."""

    subject: str
    expected: str
    seen: str
    says: str


@dataclass(frozen=True)
class Inference:
    """What the fabric looks like by consensus. `support` maps a rail to `61 of 62` of its cables that follow it."""

    plan: Plan
    support: dict[int, str]
    outliers: tuple[Outlier, ...]
    notes: tuple[str, ...]
    confidence: float
    """Share of the rail cables seen that follow the consensus, 0 to 1; 0 where no rail was found."""


@garbage_collection_paused()
def infer(seen: Snapshot) -> Inference:
    """Finds hosts, leaves, rails, planes and uplinks in a snapshot, without a plan. Linear in cables but for sorting.

    The plan says where the majority has each NIC, so that checking the same snapshot against it finds who differs. It
    never knows what was intended: a fabric that is wrong everywhere in the same way is right by consensus.
    """
    says, wires = hosts_say(seen), wires_of(seen)
    says |= adapters(seen, says)
    told = {host: nic_order(one) for host, one in says.items() if one.links}
    sure = frozenset(host for host in told if says[host].near)
    orders, scrambled = common_orders({host: order for host, order in told.items() if order}, sure)
    columns = _columns(wires, orders)
    agreed = agree(columns)
    planes = len({plane for places in columns.at.values() for _, plane in places}) > 1
    outliers = tuple(_outliers(columns, agreed))
    support = _support(columns, agreed)
    right, total = (sum(pair[at] for pair in support.values()) for at in (0, 1))
    return Inference(
        plan=with_guids(_plan(columns, agreed, wires, says, planes), seen, agreed.renamed),
        support={rail: f"{follow} of {of}" for rail, (follow, of) in sorted(support.items())},
        outliers=outliers,
        notes=tuple(_notes(scrambled, wires, says, orders)),
        confidence=right / total if total else 0.0,
    )


def _columns(wires: Wires, orders: dict[str, NicOrder]) -> Columns:
    """Every rail cable seen, under its rail and plane."""
    columns, models = Columns(), Counter(orders.values())
    of_model = {order: _by_name(order) for order in models}
    held: dict[str, dict[str, Port]] = defaultdict(dict)
    for port, peer in wires.peer.items():
        if port.device in wires.hosts and peer.device in wires.switches:
            held[port.device][port.name] = peer
    for host, ports in held.items():
        order = orders.get(host) or _likeliest(set(ports), models)
        for name, peer in ports.items():
            column = of_model[order].get(name) if order is not None else None
            if column is not None:
                columns.at[host][column] = peer
                columns.name[host][column] = name
    _fit_smaller_models(columns, orders, models)
    _add_vague(columns, wires, orders, models)
    return columns


def _by_name(order: NicOrder) -> dict[str, Column]:
    return {name: (rail, plane) for rail, ports in enumerate(order) for plane, name in enumerate(ports)}


def _likeliest(names: set[str], models: Counter[NicOrder]) -> NicOrder | None:
    """The server model that has most of these NICs; of equals, the more common one."""
    if not models:
        return None
    best = max(models, key=lambda order: (len(names & _by_name(order).keys()), models[order]))
    return best if names & _by_name(best).keys() else None


def _columns_of_leaves(columns: Columns) -> dict[str, Column]:
    """The column of each leaf that has one column only, for most of its cables."""
    votes: dict[str, Counter[Column]] = defaultdict(Counter)
    for places in columns.at.values():
        for column, port in places.items():
            votes[port.device][column] += 1
    return {
        leaf: counts.most_common(1)[0][0]
        for leaf, counts in votes.items()
        if 3 * counts.most_common(1)[0][1] > 2 * counts.total()
    }


def _fit_smaller_models(columns: Columns, orders: dict[str, NicOrder], models: Counter[NicOrder]) -> None:
    """A server with fewer NICs may use rails 0, 2, 4, 6: its NICs go by the rails of the leaves they reach."""
    if not models:
        return
    rails = len(models.most_common(1)[0][0])
    small = {host for host, order in orders.items() if len(order) < rails}
    large = Columns({host: places for host, places in columns.at.items() if host not in small})
    column_of = _columns_of_leaves(large)
    votes: dict[tuple[NicOrder, Column], Counter[Column]] = defaultdict(Counter)
    for host in small & columns.at.keys():
        for column, port in columns.at[host].items():
            if port.device in column_of:
                votes[orders[host], column][column_of[port.device]] += 1
    for host in small & columns.at.keys():
        fit = {
            column: votes[orders[host], column].most_common(1)[0][0] if votes[orders[host], column] else column
            for column in columns.at[host]
        }
        if len(set(fit.values())) == len(fit):
            columns.at[host] = {fit[column]: port for column, port in columns.at[host].items()}
            columns.name[host] = {fit[column]: name for column, name in columns.name[host].items()}


def _add_vague(columns: Columns, wires: Wires, orders: dict[str, NicOrder], models: Counter[NicOrder]) -> None:
    """Hosts that a leaf hears, without a port that could be named: the leaf's column tells which NIC it must be."""
    column_of = _columns_of_leaves(columns)
    usual = models.most_common(1)[0][0] if models else ()
    for port, host in wires.vague.items():
        column = column_of.get(port.device)
        if column is None or column in columns.at.get(host, {}):
            continue
        rail, plane = column
        order = orders.get(host, usual)
        if rail < len(order) and plane < len(order[rail]):
            columns.at[host][column] = port
            columns.name[host][column] = order[rail][plane]


def _support(columns: Columns, agreed: Consensus) -> dict[int, tuple[int, int]]:
    """For each rail, cables that follow the consensus and all that are seen. A leaf's name is judged apart."""
    counts: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for host, places in columns.at.items():
        for column, port in places.items():
            leaf = agreed.renamed.get(port.device, port.device)
            counts[column[0]][0] += agreed.expected[host, column] == Port(leaf, port.name)
            counts[column[0]][1] += 1
    return {rail: (follow, of) for rail, (follow, of) in counts.items()}


def _outliers(columns: Columns, agreed: Consensus) -> Iterator[Outlier]:
    for leaf, belongs in sorted(agreed.renamed.items()):
        yield Outlier(leaf, belongs, leaf, f"{leaf} has the rail that {belongs} has by its number: labels exchanged?")
    for host in sorted(columns.at, key=natural_key):
        for column, port in sorted(columns.at[host].items()):
            expected = agreed.expected[host, column]
            if expected != Port(agreed.renamed.get(port.device, port.device), port.name):
                subject = Port(host, columns.name[host][column])
                says = f"rail {column[0]}: most hosts say {expected}, this one is on {port}"
                yield Outlier(str(subject), str(expected), str(port), says)


def _plan(columns: Columns, agreed: Consensus, wires: Wires, says: dict[str, HostSays], planes: bool) -> Plan:
    cables: list[Cable] = []
    used: set[Port] = set()
    for host in sorted(columns.at, key=natural_key):
        for column in sorted(columns.at[host]):
            target = agreed.expected[host, column]
            if target not in used:
                used.add(target)
                plane = column[1] if planes else None
                cables.append(Cable(Port(host, columns.name[host][column]), target, column[0], plane))
    pods = _pod_names(agreed, columns)
    leaf_pod = {cable.b.device: pods.get(agreed.pods[cable.a.device], "") for cable in cables}
    tiers, above = uplinks(wires, set(leaf_pod), agreed.renamed)
    devices = {
        host: Device(
            host, Role.HOST, pod=pods.get(agreed.pods[host], ""), gpus=says[host].gpus if host in says else None
        )
        for host in sorted(agreed.pods, key=natural_key)
    }
    devices |= {leaf: Device(leaf, Role.LEAF, pod=leaf_pod[leaf]) for leaf in sorted(leaf_pod, key=natural_key)}
    devices |= {name: Device(name, role) for name, role in tiers.items()}
    rails = sorted({cable.rail for cable in cables if cable.rail is not None})
    return Plan(
        devices=devices,
        cables=(*cables, *above),
        name="inferred",
        rails={rail: Rail(rail) for rail in rails},
        source="inferred from what was seen",
        inferred=True,
    )


def _pod_names(agreed: Consensus, columns: Columns) -> dict[str, str]:
    """`pod1`, `pod2`, ... in the order of their leaves; no names where there is one pod."""
    groups = sorted({agreed.pods[host] for host in columns.at if host in agreed.pods}, key=natural_key)
    return {group: f"pod{number}" for number, group in enumerate(groups, 1)} if len(groups) > 1 else {}


def _notes(scrambled: list[str], wires: Wires, says: dict[str, HostSays], orders: dict[str, NicOrder]) -> Iterator[str]:
    if scrambled:
        shown = ", ".join(sorted(scrambled, key=natural_key)[:5])
        yield f"{len(scrambled)} hosts order GPUs and NICs otherwise than most hosts with the same NICs: {shown}"
    models = Counter(orders.values())
    if len(models) > 1:
        yield f"{len(models)} server models by their NICs: {', '.join(f'{count} hosts' for count in models.values())}"
    apart = sum(len(one.links) for one in says.values()) - sum(
        len(ports) for order in orders.values() for ports in order
    )
    if apart > 0:
        yield f"{apart} RDMA ports are not near any GPU: set apart as storage or management"
    if wires.strangers:
        shown = ", ".join(sorted(wires.strangers, key=natural_key)[:5])
        yield f"{len(wires.strangers)} devices heard of are like no host and no switch that answered: {shown}"
