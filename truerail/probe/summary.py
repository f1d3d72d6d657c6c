"""What a run will send, in words: shown before anything is sent."""

from collections import Counter
from collections.abc import Iterator

from truerail.probe.nics import Nics
from truerail.probe.tasks import ANSWERS_PER_SECOND, LEAD_SECONDS, ProbePlan, uncovered

_SHOWN = 8


def summary(plan: ProbePlan, nics: Nics) -> Iterator[str]:
    """A line for each thing that an operator has to know."""
    tried = list(plan.tried())
    pairs = Counter(pair.pinglist for pair in dict.fromkeys(pair for pair, _ in tried))
    packets, hosts = plan.packets(), plan.hosts
    rate = plan.settings.packets_per_second
    yield f"{len(hosts):,} hosts send and listen, {len(nics.nics):,} NICs have an address"
    yield f"pairs: {', '.join(f'{name} {count:,}' for name, count in sorted(pairs.items())) or 'none'}"
    yield (
        f"packets: {packets.total():,}, at most {max(packets.values(), default=0):,} from one host, "
        f"{rate:,} a second from each"
    )
    under = Counter({leaf: len(found) for leaf, found in _hosts_by_leaf(plan).items()})
    yield f"at one leaf: at most {max(under.values(), default=0) * rate:,} packets a second"
    asked = max(plan.answers_asked().values(), default=0)
    yield f"ICMP answers asked of one switch: {asked:,}, {min(asked, ANSWERS_PER_SECOND):g} a second"
    yield f"time: {LEAD_SECONDS:.0f} s until the start, {plan.seconds:.0f} s until the end"
    if plan.left_out:
        yield f"left out, {len(plan.left_out):,} hosts: {_some([f'{h} ({w})' for h, w in plan.left_out.items()])}"
    if nics.without_address:
        yield f"untried, {len(nics.without_address):,} NICs without an address: {_some(nics.without_address)}"
    if lone := uncovered(nics.nics, plan):
        yield f"untried, {len(lone):,} NICs without a pair: {_some(lone)}"


def _hosts_by_leaf(plan: ProbePlan) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for pair, _ in plan.tried():
        found.setdefault(pair.source.leaf, set()).add(pair.source.host)
    return found


def _some(names: tuple[str, ...] | list[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
