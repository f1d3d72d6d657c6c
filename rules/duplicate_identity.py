"""A device announces another device's name, or two devices announce the same one.

## Why it matters
LLDP knows a device by the name that it gives itself. With two machines of one name every neighbour report of either
is doubtful, and monitoring mixes them up. Two machines that carry each other's names look like two crossed bundles of
cables; but no cable has to move, the names do.

## How it is seen
A neighbour's MAC addresses belong, by its own list of interfaces (`ip link`, IF-MIB), to another device than the name
it announces; or the ports that hear the name are those that the other device hears back. At least two reports must
say so.

## What to do
Compare serial number or management MAC of both machines with the inventory. Then set the right host name
(`hostnamectl set-hostname`, on a switch its `hostname` command), restart lldpd, and correct the label on the machine.
"""

from collections.abc import Iterator

import numpy as np

from truerail.model import Evidence, Finding, Neighbor, NetLink, Plan, Severity, Snapshot
from truerail.model.rule import Case, rule
from truerail.model.wiring import BOTH_ENDS, ONE_END, Wiring, evidence_of, wiring_of

_SHOWN = 4


@rule("CAB007", severity=Severity.CRITICAL, needs=[Neighbor])
def duplicate_identity(plan: Plan, seen: Snapshot) -> Iterator[Finding]:
    """Names that several devices announce, and devices that announce another one's name."""
    wiring = wiring_of(plan, seen)
    names = wiring.index.devices.names
    for name, owners in sorted(wiring.identity.duplicates.items()):
        who = " and ".join(names[owner] for owner in owners)
        yield duplicate_identity.found(
            names[name],
            says=f"{len(owners)} devices announce the name {names[name]}: {who}",
            do=f"Compare serial numbers of {who} with the inventory, and give each its own host name.",
            confidence=BOTH_ENDS,
            evidence=_who_hears(wiring, name),
            detail=(("announced_by", tuple(names[owner] for owner in owners)),),
        )
    for owner, name in sorted(wiring.identity.announces.items()):
        yield duplicate_identity.found(
            names[owner],
            severity=Severity.WARNING,
            says=f"{names[owner]} announces itself as {names[name]}",
            do=f"Compare its serial number with the inventory; if it is {names[owner]}, correct its host name.",
            confidence=ONE_END,
            evidence=_who_hears(wiring, name),
            detail=(("announces", names[name]),),
        )


def _who_hears(w: Wiring, name: int) -> tuple[Evidence, ...]:
    """A few of the reports that hear the name."""
    claims = w.identity.claims
    rows = claims.row[np.flatnonzero((claims.w == name) | np.isin(claims.w, w.identity.duplicates.get(name, ())))]
    return tuple(evidence_of(w.identity.seen, Neighbor, int(row)) for row in rows[:_SHOWN])


_PLAN = """
    gpu-1/nic0 leaf-0/swp1 rail=0
    gpu-1/nic1 leaf-1/swp1 rail=1
    gpu-2/nic0 leaf-0/swp2 rail=0
    gpu-2/nic1 leaf-1/swp2 rail=1
"""
_MACS_1 = [NetLink("nic0", mac="02:00:00:00:01:00"), NetLink("nic1", mac="02:00:00:00:01:01")]
_MACS_2 = [NetLink("nic0", mac="02:00:00:00:02:00"), NetLink("nic1", mac="02:00:00:00:02:01")]


def _leaf(rail: int, first: str, second: str) -> list[Neighbor]:
    """What a leaf hears of the two hosts under the names `first` and `second`."""
    return [
        Neighbor(f"swp{host}", system_name=name, port_id=f"02:00:00:00:0{host}:0{rail}", port_id_type="mac")
        for host, name in ((1, first), (2, second))
    ]


FIRES = (
    Case(
        "Both hosts call themselves gpu-1; their MACs tell them apart.",
        _PLAN,
        {
            "gpu-1": _MACS_1,
            "gpu-2": _MACS_2,
            "leaf-0": _leaf(0, "gpu-1", "gpu-1"),
            "leaf-1": _leaf(1, "gpu-1", "gpu-1"),
        },
        ("gpu-1",),
    ),
    Case(
        "Two hosts carry each other's names; their MACs say so.",
        _PLAN,
        {
            "gpu-1": _MACS_1,
            "gpu-2": _MACS_2,
            "leaf-0": _leaf(0, "gpu-2", "gpu-1"),
            "leaf-1": _leaf(1, "gpu-2", "gpu-1"),
        },
        ("gpu-1", "gpu-2"),
    ),
)

QUIET = Case(
    "Each host has its own name.",
    _PLAN,
    {
        "gpu-1": _MACS_1,
        "gpu-2": _MACS_2,
        "leaf-0": _leaf(0, "gpu-1", "gpu-2"),
        "leaf-1": _leaf(1, "gpu-1", "gpu-2"),
    },
)
