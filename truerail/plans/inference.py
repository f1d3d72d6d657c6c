"""A plan inferred from the fabric itself: rails by consensus over hosts, with the support for each."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from truerail.analysis.cabling.host_nics import FEWEST_VOTES, HostSays, NicOrder, hosts_say, nic_order
from truerail.model import Cable, Device, Neighbor, Plan, Port, Rail, Role, Snapshot
from truerail.model.columns import grouped, tally
from truerail.model.names import natural_key, some
from truerail.model.pause import garbage_collection_paused
from truerail.plans.infer_ports import Members, agree, align, by_name, columns_of_leaves, members
from truerail.plans.infer_rails import Columns, Consensus, Wire, common_orders
from truerail.plans.infer_wires import Wires, adapters, nameless, uplinks, wires_of, with_guids

MOST_DOUBTS = 20
"""Most reasons for undecided cables shown one by one."""
MOST_NAMED = 6
"""Most cables or hosts named for one reason."""
_NAMELESS = (
    "No adapter announces its host: rails, hosts and GPUs are unknown, adapters have their GUIDs as names, and links "
    "are compared with each other. For the rest give a plan, or set the node descriptions (rdma-ndd)"
)
_DECIDES = "Give a plan, or check the labels at both ends"


class Outlier(NamedTuple):
    """A deviation from the consensus: a host's port, or a leaf whose name belongs elsewhere."""

    subject: str
    expected: str
    seen: str
    summary: str


@dataclass(frozen=True)
class Inference:
    """The fabric by consensus. `support` maps a rail to `61 of 62` of its cables that follow it."""

    plan: Plan
    support: dict[int, str]
    outliers: tuple[Outlier, ...]
    notes: tuple[str, ...]
    confidence: float
    """Share of the observed rail cables that follow the consensus, 0 to 1; 0 if no rail was found."""
    apart: Mapping[str, str] = field(default_factory=dict)
    """Hosts that take no part in the rails, and why."""
    why_not: str = ""
    """Why no rails were found; empty if they were."""

    @property
    def found(self) -> str:
        """How many cables follow the consensus, as a sentence."""
        rails = ", ".join(f"rail {rail} {support}" for rail, support in self.support.items())
        return f"No plan is given: the rails are inferred from the fabric. Cables that agree: {rails or 'none'}."


@garbage_collection_paused()
def infer(snapshot: Snapshot) -> Inference:
    """Finds hosts, leaves, rails, planes and uplinks in a snapshot, without a plan. Linear in cables but for sorting.

    The plan has each NIC where the majority has it, so that checking the same snapshot against it finds the outliers.
    The intent is unknown: a fabric that is wrong everywhere in the same way is right by consensus.
    """
    says, wires = hosts_say(snapshot), wires_of(snapshot)
    says |= adapters(snapshot, says)
    reported = {host: nic_order(one) for host, one in says.items() if one.links}
    sure = frozenset(host for host in reported if says[host].near)
    orders, scrambled = common_orders({host: order for host, order in reported.items() if order}, sure)
    columns, found = _columns(wires, orders, says)
    why = "" if columns else _missing(snapshot, wires, says, found.apart) + _unread(snapshot)
    if why and not wires.hosts and (plan := nameless(wires)).cables:
        return Inference(with_guids(plan, snapshot, {}), {}, (), (_NAMELESS,), 0.0, why_not=why)
    agreed = agree(columns, found)
    support = _support(agreed)
    right, total = (sum(pair[at] for pair in support.values()) for at in (0, 1))
    return Inference(
        plan=with_guids(_plan(agreed, wires, says), snapshot, agreed.renamed),
        support={rail: f"{follow} of {of}" for rail, (follow, of) in sorted(support.items())},
        outliers=tuple(_outliers(agreed)),
        notes=(*_doubts(agreed), *_silent(columns, found), *_notes(scrambled, wires, says, orders, found)),
        confidence=right / total if total else 0.0,
        apart=found.apart,
        why_not=why,
    )


def _columns(wires: Wires, orders: dict[str, NicOrder], says: dict[str, HostSays]) -> tuple[Columns, Members]:
    """Every observed rail cable, by rail and plane, and the hosts that take part."""
    links = (link for link in wires.peer.items() if link[0].device in wires.hosts and link[1].device in wires.switches)
    held = {host: dict(ports) for host, ports in grouped((a.device, (a.name, peer)) for a, peer in links).items()}
    columns: Columns = defaultdict(dict)
    found = members(held, orders, says)
    of_kind = {order: by_name(order) for order in found.order.values()}
    for host, order in found.order.items():
        for name, peer in held[host].items():
            if (column := of_kind[order].get(name)) is not None:
                columns[host][column] = Wire(Port(host, name), peer)
    align(columns, found)
    _add_vague(columns, wires, found)
    return columns, found


def _add_vague(columns: Columns, wires: Wires, found: Members) -> None:
    """Hosts that a leaf hears without a port name: the leaf's column determines the NIC."""
    column_of = columns_of_leaves(columns, found)
    for port, host in wires.vague.items():
        column = column_of.get(port.device)
        if column is None or host in found.apart or column in columns.get(host, {}):
            continue
        rail, plane = column
        order = found.order.setdefault(host, found.main)
        if rail < len(order) and plane < len(order[rail]):
            columns[host][column] = Wire(Port(host, order[rail][plane]), port)


def _support(agreed: Consensus) -> dict[int, tuple[int, int]]:
    """For each rail, cables that follow the consensus and all observed ones. A leaf's name is evaluated separately."""
    votes = tally(
        (key[1][0], agreed.expected[key] == agreed.named(wire.at) and key not in agreed.undecided)
        for key, wire in agreed.wires.items()
    )
    return {rail: (counts[True], counts.total()) for rail, counts in votes.items()}


def _outliers(agreed: Consensus) -> Iterator[Outlier]:
    for leaf, belongs in sorted(agreed.renamed.items()):
        yield Outlier(leaf, belongs, leaf, f"{leaf} has the rail of {belongs} by its number: labels swapped?")
    for key, wire in agreed.in_order():
        expected = agreed.expected[key]
        if expected != agreed.named(wire.at):
            says = f"rail {key[1][0]}: most hosts are on {expected}, this one is on {wire.at}"
            yield Outlier(str(wire.own), str(expected), str(wire.at), says)


def _doubts(agreed: Consensus) -> Iterator[str]:
    """The undecided cables, one line for each reason: the hosts, and what decides."""
    alike = grouped(
        ((agreed.pods[key[0]], why), key)
        for key, why in sorted(agreed.undecided.items(), key=lambda row: (natural_key(row[0][0]), row[0][1]))
    )
    for number, ((_, why), keys) in enumerate(alike.items()):
        if number == MOST_DOUBTS:
            yield f"and {len(alike) - number:,} more reasons for cables that are not decided"
            return
        shown = ["{} on {}".format(*agreed.wires[key]) for key in keys]
        yield f"Not decided: {why}. {some(shown, MOST_NAMED)}. {_DECIDES}"


def _silent(columns: Columns, found: Members) -> Iterator[str]:
    """The NICs without a neighbour, where most hosts have one at the same NIC: a dead cable cannot be inferred."""
    wired = {host: {wire.own.name for wire in columns.get(host, {}).values()} for host in found.order}
    alike = Counter(found.order.values())
    heard = Counter((found.order[host], name) for host, names in wired.items() for name in names)
    usual = {key for key, count in heard.items() if count >= FEWEST_VOTES and 3 * count > 2 * alike[key[0]]}
    silent = [
        Port(host, name)
        for host in sorted(wired, key=natural_key)
        for name in (name for nic in found.order[host] for name in nic)
        if name not in wired[host] and (found.order[host], name) in usual
    ]
    if silent:
        shown = some([*map(str, silent)], MOST_NAMED, ", ...")
        yield f"Not in the plan, as no neighbor is known where most hosts have one: {len(silent):,} NICs: {shown}"


def _plan(agreed: Consensus, wires: Wires, says: dict[str, HostSays]) -> Plan:
    cables: list[Cable] = []
    used: set[Port] = set()
    planes = len({plane for _, (_, plane) in agreed.wires}) > 1
    for key, wire in agreed.in_order():
        target, (rail, plane) = agreed.expected[key], key[1]
        if target not in used:
            used.add(target)
            cables.append(Cable(wire.own, target, rail, plane if planes else None))
    pods = _pod_names(agreed)
    leaf_pod = {cable.b.device: pods.get(agreed.pods[cable.a.device], "") for cable in cables}
    gpus = {host: one.gpus for host, one in says.items()}
    tiers, above = uplinks(wires, set(leaf_pod), agreed.renamed)
    devices = {
        host: Device(host, Role.HOST, pod=pods.get(agreed.pods[host], ""), gpus=gpus.get(host))
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
        source="inferred from the snapshot",
        inferred=True,
        undecided={agreed.wires[key].own: why for key, why in agreed.undecided.items()},
    )


def _pod_names(agreed: Consensus) -> dict[str, str]:
    """`pod1`, `pod2`, ... in the order of their leaves; no names where there is one pod."""
    groups = sorted({*agreed.pods.values()}, key=natural_key)
    return {group: f"pod{number}" for number, group in enumerate(groups, 1)} if len(groups) > 1 else {}


def _notes(
    scrambled: list[str], wires: Wires, says: dict[str, HostSays], orders: dict[str, NicOrder], found: Members
) -> Iterator[str]:
    if scrambled:
        shown = ", ".join(sorted(scrambled, key=natural_key)[:5])
        yield f"{len(scrambled)} hosts order GPUs and NICs differently from most hosts with the same NICs: {shown}"
    if found.apart:
        shown = ", ".join(f"{host} ({found.apart[host]})" for host in sorted(found.apart, key=natural_key)[:MOST_NAMED])
        yield f"Not on the rails, by their adapters: {len(found.apart)} devices: {shown}"
    models = Counter(order for host, order in orders.items() if host in found.order)
    if len(models) > 1:
        yield f"{len(models)} server models by their NICs: {', '.join(f'{count} hosts' for count in models.values())}"
    near = sum(len(ports) for order in orders.values() for ports in order)
    apart = sum(len(one.links) for one in says.values()) - near
    if apart > 0:
        yield f"{apart} RDMA ports are not near any GPU: set apart as storage or management"
    if wires.strangers:
        shown = ", ".join(sorted(wires.strangers, key=natural_key)[:5])
        yield f"{len(wires.strangers)} neighbors match no host and no switch that answered: {shown}"


_LISTENS = ("lldp", "ib_fabric")
"""Display names of the collectors that report what a port is wired to."""


def _missing(snapshot: Snapshot, wires: Wires, says: Mapping[str, HostSays], held_apart: Mapping[str, str]) -> str:
    """What is missing for rails, as a sentence."""
    neighbors = len(snapshot.table(Neighbor).rows)
    if not snapshot.readings:
        return "no device answered"
    if not neighbors:
        return "no answer reports a neighbor (LLDP of a host or a switch, or the discovery of an InfiniBand fabric)"
    if held_apart:
        return f"no host has the adapters of a GPU server: {', '.join(sorted(held_apart, key=natural_key)[:5])}"
    if not wires.hosts:
        return f"{neighbors:,} neighbors are reported, but no host answered and none can be identified by its name"
    if not wires.switches:
        return f"{neighbors:,} neighbors are reported, but no switch is among them"
    if not any(one.links for one in says.values()):
        return (
            "no host reports its RDMA NICs (`rdma link`, `ibdev2netdev`, `ibstat` or `nvidia-smi topo -m`), "
            "so that the rails cannot be numbered"
        )
    return f"{neighbors:,} neighbors are reported, but no RDMA NIC of a host is wired to a switch among them"


def _unread(snapshot: Snapshot) -> str:
    """The first answer that could not be read, as a sentence that follows another."""
    failed = [reading for reading in snapshot.readings if reading.error]
    failed.sort(key=lambda reading: (not reading.collector.startswith(_LISTENS), natural_key(reading.device)))
    if not failed:
        return ""
    first = failed[0]
    more = f" (and {len(failed) - 1:,} more answers)" if len(failed) > 1 else ""
    return f". Not read: {first.device} {first.collector}: {first.error}{more}"
