"""Faults of rails and planes, of capacity, and of the declared lossless settings."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from ipaddress import ip_network

from truerail.files.problems import Problem
from truerail.model import Cable, Severity
from truerail.model.columns import grouped
from truerail.plans.lint_view import View
from truerail.plans.numbers import subnet_fault
from truerail.plans.shape import SwitchShape, describe

RailPlane = tuple[int, int | None]


def _place(cable: Cable) -> RailPlane:
    return cable.rail or 0, cable.plane


def _named(place: RailPlane) -> str:
    rail, plane = place
    return f"rail {rail}" if plane is None else f"rail {rail} plane {plane}"


def missing_rail(view: View) -> Iterator[Problem]:
    """A host lacks a rail that at least half of its like have: same pod, same number of GPUs."""
    alike = grouped(((view.pod_of_host[host], view.plan.devices[host].gpus), host) for host in view.of_host)
    for hosts in alike.values():
        have = {host: {_place(cable) for cable in view.of_host[host]} for host in hosts}
        counts = Counter(place for places in have.values() for place in places)
        expected = {place for place, count in counts.items() if 2 * count >= len(hosts)}
        for host in hosts:
            for place in sorted(expected - have[host], key=str):
                others = f"{counts[place]} of {len(hosts)} hosts like it have it"
                yield view.problem_of(view.of_host[host][0], host, f"{_named(place)} is missing on {host}; {others}")


def no_rails(view: View) -> Iterator[Problem]:
    """A host without any cable into a rail."""
    for host in view.plan.devices.values():
        if host.role.tier == 0 and host.name not in view.of_host:
            yield view.problem(host.line, host.name, f"{host.name} has no cable to any rail")


def fewer_rails_than_gpus(view: View) -> Iterator[Problem]:
    """A host with more GPUs than rails. Alike on all hosts and evenly shared, it is a design, reported as
    information."""
    found: dict[tuple[int, int], list[str]] = defaultdict(list)
    for host, cables in view.of_host.items():
        gpus, rails = view.plan.devices[host].gpus, len({cable.rail for cable in cables})
        found[gpus if gpus is not None else rails, rails].append(host)
    for (gpus, rails), hosts in found.items():
        if gpus <= rails:
            continue
        first = view.of_host[hosts[0]][0]
        count = f" and {len(hosts) - 1} more hosts" if len(hosts) > 1 else ""
        if len(found) == 1 and gpus % rails == 0:
            says = f"shared NICs: {gpus} GPUs on {rails} rails, {gpus // rails} a rail, on {hosts[0]}{count}"
            yield view.problem_of(first, str(rails), says, Severity.INFO)
        else:
            yield view.problem_of(first, str(rails), f"fewer rails than GPUs: {rails} for {gpus} on {hosts[0]}{count}")


def overlapping_subnets(view: View) -> Iterator[Problem]:
    """Two rails whose subnets overlap: an address does not identify its rail."""
    spans: list[tuple[int, int, int, str, int]] = []
    for rail in view.plan.rails.values():
        for text in rail.subnets:
            if fault := subnet_fault(text):
                yield view.problem(rail.line, text, f"rail {rail.index}: {fault}", Severity.CRITICAL)
            else:
                net = ip_network(text)
                spans.append((net.version, int(net.network_address), int(net.broadcast_address), text, rail.index))
    widest: tuple[int, int, int, str, int] | None = None
    for span in sorted(spans):
        if widest and span[0] == widest[0] and span[1] <= widest[2]:
            if span[4] != widest[4]:
                says = f"the subnets of rail {widest[4]} ({widest[3]}) and rail {span[4]} ({span[3]}) overlap"
                line = max(view.plan.rails[index].line for index in (span[4], widest[4]))
                yield view.problem(line, span[3], says, Severity.CRITICAL)
            if span[2] <= widest[2]:
                continue
        widest = span


def rail_on_two_leaves(view: View) -> Iterator[Problem]:
    """One rail and plane of one pod on more than one leaf. Two planes on two leaves, or an MLAG pair, are no fault."""
    if view.top_of_rack:
        return
    spread = grouped(((view.pod_of_host[cable.a.device], _place(cable)), cable) for cable in view.rail_cables)
    for (_, place), cables in spread.items():
        leaves = grouped((cable.b.device, cable) for cable in cables)
        if len(leaves) > 1:
            ranked = sorted(leaves, key=lambda leaf: -len(leaves[leaf]))
            shown = ", ".join(f"{leaf} ({len(leaves[leaf])} hosts)" for leaf in ranked)
            says = f"{_named(place)} lands on {len(leaves)} leaves of one pod: {shown}"
            yield view.problem_of(leaves[ranked[1]][0], ranked[1], says)


def planes_on_one_leaf(view: View) -> Iterator[Problem]:
    """A leaf that carries two planes: when it fails, both fail."""
    planes = grouped((cable.b.device, cable) for cable in view.rail_cables if cable.plane is not None)
    for leaf, cables in planes.items():
        found = grouped((cable.plane or 0, cable) for cable in cables)
        if len(found) > 1:
            last = list(found.values())[-1][0]
            shown = ", ".join(map(str, sorted(found)))
            yield view.problem_of(last, leaf, f"{leaf} carries planes {shown}; each plane needs its own switches")


def rail_twice_on_host(view: View) -> Iterator[Problem]:
    """Two cables of one host in one rail and one plane: both ports of a NIC in one plane, or a rail given twice."""
    for host, cables in view.of_host.items():
        seen: dict[RailPlane, Cable] = {}
        for cable in cables:
            before = seen.setdefault(_place(cable), cable)
            if before is not cable and {before.a, before.b} != {cable.a, cable.b}:
                says = f"{host} has two cables in {_named(_place(cable))}: {before.a.name} and {cable.a.name}"
                yield view.problem_of(cable, str(cable.a), says, Severity.CRITICAL)


def not_rail_optimized(view: View) -> Iterator[Problem]:
    """All rails of a host on one switch: a classic top-of-rack fabric, where every rail shares one switch's fate."""
    hosts = view.single_leaf_hosts
    if view.top_of_rack:
        first = view.of_host[hosts[0]][0]
        says = (
            f"not rail-optimized, this is classic top-of-rack: all rails of {len(hosts)} of {len(view.of_host)} hosts "
            f"land on one switch, those of {first.a.device} on {first.b.device}"
        )
        yield view.problem_of(first, first.b.device, says)
        return
    if len(hosts) == len(view.of_host):
        return  # every host on the same switch: a small fabric whose only leaf carries all rails
    for host in hosts:
        cable = view.of_host[host][0]
        yield view.problem_of(cable, host, f"all rails of {host} land on {cable.b.device}")


def oversubscription(view: View) -> Iterator[Problem]:
    """A leaf with more capacity down than up. The same ratio on every leaf is a design, reported as information."""
    leaves = [leaf for leaf in describe(view.plan).leaves if leaf.down_ports and leaf.oversubscription is not None]
    if not leaves:
        return
    usual = Counter(_ratio(leaf) for leaf in leaves).most_common(1)[0][0]
    for leaf in leaves:
        ratio = _ratio(leaf)
        if ratio > 1:
            worse = f", most leaves have {usual:g}:1" if ratio > usual else ""
            ports = f"({leaf.down_ports} ports down, {leaf.up_ports} up)"
            says = f"{leaf.name} is oversubscribed {ratio:g}:1{worse} {ports}"
            severity = Severity.WARNING if worse else Severity.INFO
            yield view.problem_of(view.plan.uplinks_of(leaf.name)[0], f"{ratio:g}:1", says, severity)


def _ratio(leaf: SwitchShape) -> float:
    """Rounded to two digits, so that 64 down and 63 up is 1.02:1."""
    return round(leaf.oversubscription or 0.0, 2)


def no_uplinks(view: View) -> Iterator[Problem]:
    """A leaf without uplinks where other leaves have some; without spines at all, the fabric is rail-only."""
    leaves = describe(view.plan).leaves
    if not any(leaf.up_ports for leaf in leaves):
        return
    for leaf in leaves:
        if not leaf.up_ports:
            line = view.plan.devices[leaf.name].line
            yield view.problem(line, leaf.name, f"{leaf.name} has no uplinks, other leaves have")


_LEAST_MTU = 1500


def qos_contradicts_itself(view: View) -> Iterator[Problem]:
    """Lossless settings that exclude each other, or that nothing in the plan uses."""
    qos = view.plan.qos
    if qos is None:
        return
    if qos.trust == "pcp" and qos.dscp_to_priority:
        yield view.problem(0, "trust: pcp", "qos trusts the PCP: its DSCP map has no effect")
    elif qos.dscp_to_priority:
        reached = {priority for _, priority in qos.dscp_to_priority}
        for priority in sorted({*(qos.pfc_priorities or ())} - reached):
            says = f"qos has PFC on priority {priority}, to which no DSCP leads: what is lossless would carry nothing"
            yield view.problem(0, f"pfc_priorities: {priority}", says)
    if qos.global_pause and qos.pfc_priorities:
        yield view.problem(0, "global_pause: yes", "qos has both global pause and PFC: a port has one of them")
    if qos.mtu is not None and qos.mtu < _LEAST_MTU:
        yield view.problem(0, f"mtu: {qos.mtu}", f"qos has an MTU of {qos.mtu} bytes, less than any Ethernet's 1500")
    speeds = {cable.speed_gbps for cable in view.plan.cables}
    for buffer in qos.buffers:
        if buffer.speed_gbps is not None and buffer.speed_gbps not in speeds:
            speed = f"{buffer.speed_gbps:g}"
            yield view.problem(0, f"speed: {speed}", f"qos has buffers for {speed} Gbit/s, which no cable has")
