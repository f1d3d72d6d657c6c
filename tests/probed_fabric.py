"""Probes of a plan as its hosts would report them, without a network: what is lost, left out or untried is given."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from benchmarks.probe.cost import rendered
from truerail.model import Plan, ProbeReach, ProbeTrouble, Reading, Snapshot
from truerail.model.names import natural_key
from truerail.model.probe_facts import LEFT_OUT
from truerail.probe.host_tasks import Settings, plan_run
from truerail.probe.pinglists import Nic, pairs_of

RUN_AT = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)
_PACKETS = 3


def nics_of_plan(plan: Plan) -> list[Nic]:
    """Every NIC on a rail, each with an address."""
    found = [
        Nic(one.a.device, one.a.name, f"10.{at >> 16}.{at >> 8 & 255}.{at & 255}", one.b.device, (one.rail, -1), at)
        for at, one in enumerate(plan.cables)
        if one.rail is not None
    ]
    return sorted(found, key=lambda nic: (nic.group, natural_key(nic.leaf), natural_key(nic.host), nic.netdev))


def probes_of(
    plan: Plan,
    lists: Sequence[str] = ("A", "B"),
    *,
    lost: Collection[str] = (),
    one_way: Collection[str] = (),
    left_out: Mapping[str, str] | None = None,
    at: datetime = RUN_AT,
) -> list[Reading]:
    """A reading of each host. NICs of `lost` neither send nor receive; to those of `one_way` nothing arrives."""
    nics = nics_of_plan(plan)
    planned = plan_run(pairs_of(plan, nics, lists), Settings(what=("reach",)), at, left_out or {})
    facts: dict[str, list[ProbeReach | ProbeTrouble]] = defaultdict(list)
    for pair, flow in rendered(planned.flows):
        source, to = pair.source, pair.to
        ends = {str(plan.cables[nic.cable].a) for nic in (source, to)}
        tried = source.host not in planned.left_out and to.host not in planned.left_out
        row = ProbeReach(source.netdev, to.host, to.netdev, planned.run, flow["flow"], flow["mode"], flow["tos"])
        facts[source.host].append(
            row._replace(sent=_PACKETS, size=64, source_port=flow["source_port"], left_by=source.netdev)
            if tried
            else row._replace(sent=0)
        )
        if tried:
            gone = ends & {*lost} or str(plan.cables[to.cable].a) in one_way
            row = row._replace(port=to.netdev, peer=source.host, peer_port=source.netdev)
            heard = {"heard": _PACKETS, "size": 64, "source_port": flow["source_port"], "arrived_on": to.netdev}
            facts[to.host].append(row._replace(heard=0) if gone else row._replace(**heard, tos_heard=flow["tos"]))
    for host, why in planned.left_out.items():
        facts[host].append(ProbeTrouble("", LEFT_OUT, 1, planned.run, None, why))
    return [Reading(host, "probe_results", at, tuple(of)) for host, of in facts.items()]


def with_probes(plan: Plan, seen: Snapshot, **what: object) -> Snapshot:
    """A snapshot with such probes beside its own answers."""
    return replace(seen, readings=[*seen.readings, *probes_of(plan, at=seen.at, **what)])  # type: ignore[arg-type]  # fields of `probes_of`
