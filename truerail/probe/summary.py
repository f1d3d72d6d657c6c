"""What a run will send, in words: shown before anything is sent."""

from collections import Counter
from collections.abc import Iterator

from truerail.model.columns import distinct
from truerail.model.names import some
from truerail.probe.follow_ups import MOST_ROUNDS, MOST_SECONDS
from truerail.probe.host_tasks import ProbePlan, uncovered
from truerail.probe.path_sweep import ASKS, PathSweep
from truerail.probe.pinglists import SWEPT, Nics

_SHOWN = 8


def summary(plan: ProbePlan, nics: Nics) -> Iterator[str]:
    """A line for each thing that an operator has to know."""
    pairs = Counter(pair.pinglist for pair in dict.fromkeys(plan.tried_pairs()) if pair.pinglist != SWEPT)
    packets, hosts = plan.packets(), plan.hosts
    rate = plan.settings.packets_per_second
    yield f"{len(hosts):,} hosts send and listen, {len(nics.nics):,} NICs have an address"
    yield f"pairs: {', '.join(f'{name} {count:,}' for name, count in sorted(pairs.items())) or 'none'}"
    yield (
        f"packets: {packets.total():,}, at most {max(packets.values(), default=0):,} from one host, "
        f"{rate:,} a second from each"
    )
    if plan.settings.echoes:
        yield "round trips: three echoes by `ping` from each NIC to its first peer, before the probes"
    if "mtu" in plan.settings.what:
        yield f"large packets: {plan.settings.mtu:,} bytes"
    under = Counter({leaf: len(found) for leaf, found in _hosts_by_leaf(plan).items()})
    yield f"at one leaf: at most {max(under.values(), default=0) * rate:,} packets a second"
    asked = max(plan.answers_asked().values(), default=0)
    if asked or plan.sweep is None:
        limit = min(asked, plan.settings.budget.per_switch)
        yield f"ICMP answers asked of one switch: {asked:,}, {limit:g} a second"
    if plan.sweep is not None:
        yield from _swept(plan, plan.sweep.planned)
    yield f"time: {plan.lead_seconds:.0f} s until the start, {plan.seconds:,.0f} s until the end"
    if plan.sweep is not None:
        yield f"then, for what stays open: at most {MOST_ROUNDS} rounds more of at most {MOST_SECONDS:.0f} s each"
    if plan.left_out:
        hosts_and_why = [f"{host} ({why})" for host, why in plan.left_out.items()]
        yield f"left out, {len(plan.left_out):,} hosts: {some(hosts_and_why, _SHOWN)}"
    if nics.without_address:
        yield f"untried, {len(nics.without_address):,} NICs without an address: {some(nics.without_address, _SHOWN)}"
    if nics.in_vrf:
        yield f"untried, {len(nics.in_vrf):,} NICs in a VRF, which probes do not enter: {some(nics.in_vrf, _SHOWN)}"
    if lone := uncovered(nics.nics, plan):
        yield f"untried, {len(lone):,} NICs without a pair: {some(lone, _SHOWN)}"


def _swept(plan: ProbePlan, sweep: PathSweep) -> Iterator[str]:
    """What the path sweep sends, and what it asks of switches."""
    flows = distinct(plan.flows.paced.flow)
    flows = flows[plan.tried[flows]]
    ports = int(plan.flows.source_ports[flows].sum())
    arriving = sum(count for _, _, count in plan.flows.rounds[plan.flows.kind[flows[0]]]) if len(flows) else 0
    yield (
        f"path sweep: {len(flows):,} pairs by {ports:,} source ports, {arriving:,} packets of each that arrive; "
        f"each hop is asked {ASKS} times"
    )
    yield (
        f"ICMP answers that it asks of one switch: about {sweep.most_asked:,}, {sweep.busiest:.0f} a second, "
        f"at most {plan.settings.budget.per_switch:g}; by one NIC {1 / sweep.every:.3g} a second"
    )


def _hosts_by_leaf(plan: ProbePlan) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for pair in plan.tried_pairs():
        found.setdefault(pair.source.leaf, set()).add(pair.source.host)
    return found
