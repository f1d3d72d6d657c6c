"""A host's MTU is larger than its switch port accepts, or differs from that of its rail.

## Why it matters
Frames larger than the port's MTU are dropped silently: LLDP, ping and ssh work, and RDMA with 4096 byte payload loses
every full packet. A NIC with a smaller MTU than its rail makes each of its connections agree on less.

## How it is detected
The MTU that the host reports (`ip link`) is compared with that of the switch port seen over LLDP, else of the planned
one (ifMtu, `ip link`); and with the MTU of most NICs of its rail: more than half of at least three with a known MTU.
So is the payload that RoCE made of it (`active_mtu` of `ibv_devinfo`): peers use the smaller one of theirs.
A NIC with link whose MTU is unknown, or has nothing to compare it with, is counted as unknown. An MTU that the plan
declares (`qos`) is left to CFG001.

## What to do
Set one MTU on all NICs of a rail (`ip link set dev <nic> mtu 9000`, and in the host's network configuration), and the
same or a larger one on every switch port (9216 is usual). RoCE needs 4096 bytes of payload and its headers: 4200 at
least.

## Decide
- `takes only`: the host's frames are larger than its switch port takes: they are dropped. Raise the switch's MTU first,
  9216 is usual.
- `most NICs of rail`: this NIC differs from its rail. Set it as the others; connections to it may hang meanwhile.
- `RDMA packets carry`: RoCE still has the payload of an earlier MTU. Reload the NIC's driver, or restart the host.

## False positives
A rollout of another MTU in progress: then a whole rail changes to the new value.
"""

from operator import itemgetter

import numpy as np

from rules._examples import alike, down, finds_nic, railed, rdma, undecided, up
from rules._links import blind_ports
from truerail.analysis.cabling import ONE_END, Wiring
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, report_not_evaluated, rule
from truerail.model import NetLink, QosProfile, RdmaLink, Role, Severity, Transport
from truerail.model.columns import NONE, Codes, Mask, distinct
from truerail.model.index import PlanIndex

_LEAST_REPORTED = 3
_ACTIVE_MTU = itemgetter(RdmaLink._fields.index("active_mtu"))


@rule("LNK002", Severity.WARNING, [NetLink])
def mtu_mismatch(round: Round) -> Findings:
    """Planned NICs whose MTU their switch port does not accept, or that differ from most NICs of their rail."""
    wiring = round.cabling
    index = wiring.index
    other = np.where(wiring.place >= 0, wiring.place, index.b)
    mtu, partner = wiring.states.mtu[index.a], wiring.states.mtu[other]
    if not (mtu[index.from_host] > 0).any():
        raise InsufficientDataError("no host reported the MTU of a planned NIC")
    usual = _usual(index, mtu)
    nic_declared, port_declared = _declared(index)
    too_large = (partner > 0) & (mtu > partner) & ~(nic_declared & port_declared)
    unlike = (mtu > 0) & (usual > 0) & (mtu != usual) & ~nic_declared
    active = _active(wiring)[index.a]
    usual_active = _usual(index, active)
    smaller = (active > 0) & (usual_active > 0) & (active != usual_active) & ~nic_declared
    for cable in np.flatnonzero(index.from_host & (too_large | unlike | smaller)).tolist():
        nic, port = index.a_port(cable), index.spell(int(other[cable]))
        summary = [f"{nic} has MTU {mtu[cable]}"]
        summary += [f"{port} takes only {partner[cable]}"] if too_large[cable] else []
        summary += [f"most NICs of rail {index.rail[cable]} have {usual[cable]}"] if unlike[cable] else []
        if smaller[cable]:
            summary.append(f"its RDMA packets carry {active[cable]} bytes, those of most others {usual_active[cable]}")
        mtus = {"mtu": mtu[cable], "partner_mtu": partner[cable], "rail_mtu": usual[cable]}
        yield mtu_mismatch.found(
            nic,
            summary=", ".join(summary),
            action=f"Set one MTU on the NICs of the rail, and no smaller one on {port}.",
            rail=round.plan.cables[cable].rail,
            confidence=ONE_END,
            evidence=wiring.evidence(int(index.a[cable]), int(other[cable])),
            detail=(*((name, int(one)) for name, one in mtus.items() if one > 0), ("partner", str(port))),
        )

    seen = np.zeros(index.planned_ports, dtype=bool)
    compared = (usual > 0) | nic_declared | ((partner > 0) & ~_split(index, mtu))
    seen[index.a[(mtu > 0) & compared]] = True
    report_not_evaluated(blind_ports(wiring, seen, "report no MTU, or nothing to compare it with", hosts=True))


def _split(index: PlanIndex, mtu: Codes) -> Mask:
    """Cables of rails whose NICs have several MTUs: without a majority it is unknown which is right."""
    split = np.zeros(len(mtu), dtype=bool)
    for rail in distinct(index.rail[index.rail >= 0]):
        of_rail = index.from_host & (index.rail == rail)
        split |= of_rail & (len(distinct(mtu[of_rail & (mtu > 0)])) > 1)
    return split


def _active(wiring: Wiring) -> Codes:
    """The payload of RDMA packets at each port that is active over Ethernet; -1 where it is not reported."""
    if not any(map(_ACTIVE_MTU, wiring.states.rdma)):
        return np.full(len(wiring.states.rdma_row), NONE, dtype=np.int64)
    of = [
        one.active_mtu if one.active_mtu and one.state == "ACTIVE" and one.link_layer != "InfiniBand" else NONE
        for one in wiring.states.rdma
    ]
    return np.array([*of, NONE], dtype=np.int64)[wiring.states.rdma_row]


def _declared(index: PlanIndex) -> tuple[Mask, Mask]:
    """Cables whose MTU the plan declares at the NIC, and at the port above it: CFG001 compares it."""
    qos = index.plan.qos
    compared = index.plan.transport is Transport.ROCE and qos is not None and qos.mtu is not None
    railed = (index.rail >= 0) & compared
    roles = (qos.roles if qos else ()) or tuple(Role)
    return railed & (Role.HOST in roles), railed & (Role.LEAF in roles)


def _usual(index: PlanIndex, mtu: Codes) -> Codes:
    """The MTU of most NICs of each cable's rail, shape (cables,); -1 where most disagree or too few report one."""
    usual = np.full(len(mtu), NONE, dtype=np.int64)
    for rail in distinct(index.rail[index.rail >= 0]):
        of_rail = index.from_host & (index.rail == rail)
        values, counts = np.unique(mtu[of_rail & (mtu > 0)], return_counts=True)
        total = int(counts.sum())
        if total >= _LEAST_REPORTED and 2 * counts.max() > total:
            usual[of_rail] = values[counts.argmax()]
    return usual


PLAN = railed(3) + "\nleaf-0/swp9 spine-1/swp1"
_PLAN_4 = railed(4)
_THREE = alike("gpu-1 gpu-2 gpu-3", [NetLink("nic0", mtu=9000)])

EXAMPLES = {
    "The host sends frames that its switch port drops.": finds_nic(
        {"gpu-1": [NetLink("nic0", mtu=9000)], "leaf-0": [NetLink("swp1", mtu=1500)]}
    ),
    "One NIC of three has the packets of a small MTU, although its interface has the others'.": Case(
        {f"gpu-{n}": [NetLink("nic0", mtu=9000), rdma(active_mtu=mtu)] for n, mtu in ((1, 4096), (2, 4096), (3, 1024))},
        "gpu-3/nic0",
    ),
    "One NIC of three has another MTU.": finds_nic({**_THREE, "gpu-1": [NetLink("nic0", mtu=1500)]}),
    # Quiet:
    "All NICs have 9000 and the switch takes 9216; an uplink may differ.": Case(
        {
            **_THREE,
            "leaf-0": [NetLink("swp1", mtu=9216), NetLink("swp9", mtu=9216)],
            "spine-1": [NetLink("swp1", mtu=1500)],
        }
    ),
    "One NIC of three differs; the plan declares the MTU, and CFG001 compares it.": Case(
        {**_THREE, "gpu-1": [NetLink("nic0", mtu=1500)]}, qos=QosProfile(mtu=9000)
    ),
    "Two NICs differ: neither is the majority.": undecided(
        {"gpu-1": [NetLink("nic0", mtu=1500)], "gpu-2": [NetLink("nic0", mtu=9000)]}
    ),
    "Two and two: the switch takes both, and which is right is unknown.": undecided(
        alike("gpu-1 gpu-2", [NetLink("nic0", mtu=1500)])
        | alike("gpu-3 gpu-4", [NetLink("nic0", mtu=9000)])
        | {"leaf-0": [NetLink(f"swp{n}", mtu=9216) for n in range(1, 5)]},
        plan=_PLAN_4,
    ),
    "One host of four did not answer.": undecided({**_THREE, "leaf-0": [up("swp4")]}, plan=_PLAN_4),
    "The one that did not answer has no link.": Case({**_THREE, "leaf-0": [down("swp4")]}, plan=_PLAN_4),
}
