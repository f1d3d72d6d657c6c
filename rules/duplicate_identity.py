"""A device announces another device's name, or two devices announce the same one, or have one MAC address.

## Why it matters
LLDP identifies a device by the name that it announces. With two machines of one name every neighbour report of either
is ambiguous, and monitoring mixes them up. Two machines with swapped names look like two crossed bundles of cables; but
no cable has to move, the names do. A cloned image gives two machines one chassis id: lldpd keeps one record for each
id, and shows the name of one of them on the ports of both (lldpd's `lldpd.c`).

## How it is detected
A neighbour's MAC addresses belong, by its own list of interfaces (`ip link`, IF-MIB), to another device than the name
it announces; or the ports that hear the name are those that the other device hears back. At least two reports must
agree. Info where the shared name is not in the plan, as `localhost` is. Planned ports of several hosts with one MAC
address share it: such an address does not identify a host, and is a warning.

## What to do
Compare serial number or management MAC of both machines with the inventory. Then set the right host name
(`hostnamectl set-hostname`, on a switch its `hostname` command), restart lldpd, and correct the label on the machine.

## Decide
- `host-swap`, `leaf-swap`: two devices carry each other's names, or the plan has them in each other's places. Compare
  serial numbers with the inventory; then swap the names and labels, or correct the plan. No cable moves.
- `announce the name`: two devices have one name. Compare serial numbers with the inventory, and give each its own.
- `one chassis id`: a cloned image. Give each host its own machine-id, or lldpd its own chassis id.
- `one MAC address`: one of them was set by hand. `ethtool -P` on each shows the factory's.

## False positives
Virtual machines and containers with LLDP of their own that share the host's name. A host that was replaced, while the
old one still runs on the bench.
"""

import numpy as np

from rules._examples import Facts, finds_nic, railed
from truerail.analysis.cabling import BOTH_ENDS, ONE_END, Wiring, evidence_of, shared_macs
from truerail.analysis.rule import Case, Findings, Round, rule
from truerail.model import Evidence, Neighbor, NetLink, Severity
from truerail.model.names import printable

_SHOWN = 4


@rule("CAB007", Severity.CRITICAL, [Neighbor], first="where DEVICE")
def duplicate_identity(round: Round) -> Findings:
    """Names and MAC addresses that several devices have, and devices that announce the name of another one."""
    wiring = round.cabling
    names = wiring.index.devices.names
    for name, owners in sorted(wiring.identity.duplicates.items()):
        who = " and ".join(names[owner] for owner in owners)
        summary = f"{len(owners)} devices announce the name {names[name]}: {who}"
        action = f"Compare serial numbers of {who} with the inventory, and give each its own host name."
        chassis = _one_chassis_id(wiring, name, owners)
        if chassis:
            summary = f"{who} send one chassis id, {chassis}: a neighbor shows both under the name {names[name]}"
            action = (
                f"Give each of {who} a chassis id of its own: its machine-id, or lldpd's `configure system chassisid`."
            )
        yield duplicate_identity.found(
            names[name],
            severity=Severity.CRITICAL if name < wiring.index.devices.planned else Severity.INFO,
            summary=summary,
            action=action,
            confidence=BOTH_ENDS,
            evidence=_who_hears(wiring, name),
            detail=(("announced_by", tuple(names[owner] for owner in owners)),),
        )
    for mac, ports in shared_macs(wiring.identity.names).items():
        who = " and ".join(str(wiring.index.spell(port)) for port in ports)
        yield duplicate_identity.found(
            wiring.index.spell(ports[0]),
            severity=Severity.WARNING,
            summary=f"{who} have one MAC address, {mac}: a neighbor with it may be any of them",
            action="Find which of them has it as its permanent address (`ethtool -P`), and give the others their own.",
            confidence=BOTH_ENDS,
            evidence=wiring.evidence(*ports[:_SHOWN]),
            detail=(("mac", mac),),
        )
    for owner, name in sorted({**wiring.identity.announces, **wiring.identity.misnamed}.items()):
        yield duplicate_identity.found(
            names[owner],
            severity=Severity.WARNING,
            summary=f"{names[owner]} announces itself as {names[name]}",
            action=f"Compare its serial number with the inventory; if it is {names[owner]}, correct its host name.",
            confidence=ONE_END,
            evidence=_who_hears(wiring, name),
            detail=(("announces", names[name]),),
        )


def _one_chassis_id(wiring: Wiring, name: int, owners: tuple[int, ...]) -> str | None:
    """The chassis id under which all these devices are heard; None where each has its own, or where it is unknown."""
    claims, rows = wiring.identity.claims, wiring.seen.table(Neighbor).rows
    heard = [
        {rows[row].chassis_id for row in claims.row[(claims.named == name) & (claims.witness == owner)].tolist()}
        for owner in owners
    ]
    same = set.intersection(*heard) - {None}
    return printable(min(map(str, same)), 64) if same else None


def _who_hears(wiring: Wiring, name: int) -> tuple[Evidence, ...]:
    """A few of the reports that hear the name."""
    claims = wiring.identity.claims
    rows = claims.row[np.flatnonzero((claims.w == name) | np.isin(claims.w, wiring.identity.duplicates.get(name, ())))]
    return tuple(evidence_of(wiring.seen, Neighbor, int(row)) for row in rows[:_SHOWN])


PLAN = railed(2, rails=2)
_MACS_1 = [NetLink("nic0", mac="02:00:00:00:01:00"), NetLink("nic1", mac="02:00:00:00:01:01")]
_MACS_2 = [NetLink("nic0", mac="02:00:00:00:02:00"), NetLink("nic1", mac="02:00:00:00:02:01")]


def _leaf(rail: int, first: str, second: str, chassis_id: str | None = None) -> list[Neighbor]:
    """What a leaf hears of the two hosts under the names `first` and `second`."""
    return [
        Neighbor(f"swp{host}", chassis_id, None, name, f"02:00:00:00:0{host}:0{rail}", "mac")
        for host, name in ((1, first), (2, second))
    ]


def _seen(*names: str, **more: str) -> Facts:
    """Two hosts with MACs of their own, and what two leaves hear of them."""
    leaves: Facts = {f"leaf-{n}": [*_leaf(n, *names, **more)] for n in (0, 1)}
    return {"gpu-1": [*_MACS_1], "gpu-2": [*_MACS_2], **leaves}


EXAMPLES = {
    "Both hosts call themselves gpu-1; their MACs tell them apart.": Case(_seen("gpu-1", "gpu-1"), "gpu-1"),
    "A cloned image: the leaves show both hosts, which have one chassis id, under one name.": Case(
        _seen("gpu-1", "gpu-1", chassis_id="cloned"), "gpu-1"
    ),
    "Two hosts have one MAC address.": finds_nic(
        {"gpu-1": _MACS_1, "gpu-2": [_MACS_1[0], _MACS_2[1]], "leaf-0": _leaf(0, "gpu-1", "gpu-2")}
    ),
    "Two hosts carry each other's names; their MACs say so.": Case(_seen("gpu-2", "gpu-1"), "gpu-1 gpu-2"),
    # Quiet:
    "Each host has its own name.": Case(_seen("gpu-1", "gpu-2")),
}
