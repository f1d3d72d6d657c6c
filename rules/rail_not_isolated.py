"""Packets pass between rails that the plan keeps apart.

## Why it matters
A rail-only fabric has no way from one rail to another: collectives cross rails inside the hosts. Where packets pass all
the same, something connects the rails that no one planned: a cable, a gateway, a host that forwards. Traffic then takes
it, loads a link that has no capacity for it, and hides wrong cables.

## How it is detected
`truerail probe` sends between NICs of different rails, bound to the NIC itself, so that the host's own routes play no
part. The plan has a way where a chain of planned links leads from one leaf to the other. Where it has none and packets
arrive, the rails are not apart. Two rails on one leaf are not evaluated: the plan does not say whether it joins them.

## What to do
Look for what connects the two leaves: unplanned links (CAB009, CAB010), a shared gateway, `ip_forward` on hosts.

## Decide
- `reaches`, and CAB009 or CAB010 names a link between the rails: pull that cable, or add it to the plan.
- `reaches`, and no link is unplanned: a gateway or a host forwards. Trace the path, bound to the NIC.

## False positives
A plan that leaves out the spines: add them, or the rails look apart that are not.
"""

import numpy as np

from rules._examples import heard, sent, undecided
from rules._probes import probed
from truerail.analysis.explained import planned_parts
from truerail.analysis.rule import Case, Findings, InsufficientDataError, NotApplicableError, Round, rule
from truerail.model import CauseKind, ProbeReach, Severity
from truerail.model.columns import distinct


@rule("PRB009", Severity.WARNING, [ProbeReach], cause=CauseKind.CONFIGURATION)
def rail_not_isolated(round: Round) -> Findings:
    """NICs that reach a NIC of a rail to which the plan has no way."""
    found = probed(round, rail_not_isolated)
    flows, part = found.flows, round.plan.once(planned_parts)
    apart = found.planned & ~found.railed & (found.leaf != found.peer_leaf) & flows.wired
    apart &= part[found.leaf] != part[found.peer_leaf]
    index = round.cabling.index
    if len(distinct(part[index.b_device[index.from_host & (index.rail >= 0)]])) < 2:
        raise NotApplicableError("the plan joins all rails")
    if not apart.any():
        raise InsufficientDataError("no probe between rails that the plan keeps apart was planned")
    for cable in distinct(flows.cable[apart & flows.arrived]).tolist():
        which = np.flatnonzero(apart & flows.arrived & (flows.cable == cable))
        peers = found.peers(flows.peer_cable[which])
        yield found.found(
            cable,
            which,
            summary=f"{found.nic(cable)} reaches {peers}, and the plan has no way between their rails",
            action=f"Look for what connects {found.device(int(found.leaf[which[0]]))} with the other rail's leaf.",
            detail=(("cable", found.cable_state(cable)), ("flows", len(which))),
        )
    untried = apart & ~found.judged
    if untried.any():
        raise InsufficientDataError(f"{int(untried.sum())} of {int(apart.sum())} probes between rails were not tried")


PLAN = "\n".join(f"h{host}/nic{rail} leaf-{rail}/p{host} rail={rail}" for rail in (0, 1) for host in (1, 2))
_SPINE = "\n\n    leaf-0/u1 spine-1/p1\n    leaf-1/u1 spine-1/p2"


def _across(packets: int) -> dict[str, list[ProbeReach]]:
    return {
        "h1": [sent(0, "nic0", "h2", "nic1", mode="wired", pinglist="E")],
        "h2": [heard(0, "nic1", "h1", "nic0", packets, mode="wired", pinglist="E")],
    }


EXAMPLES = {
    "A packet of rail 0 arrives on rail 1; there is no spine.": Case(_across(3), "h1/nic0"),
    # Quiet:
    "Nothing arrives.": Case(_across(0)),
    "The plan has a way, over the spine.": Case(_across(3), plan=PLAN + _SPINE),
    "Nothing was sent between the rails.": undecided(
        {"h1": [sent(0, "nic0", "h2", "nic0")], "h2": [heard(0, "nic0", "h1", "nic0")]}
    ),
    "It was not tried.": undecided({"h1": [sent(0, "nic0", "h2", "nic1", 0, mode="wired")]}),
}
