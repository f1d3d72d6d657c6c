"""A NIC cannot reach the peers of its rail.

## Why it matters
In a rail-only fabric (no switches above the leaves), and where each rail has spines of its own, nothing leads from one
rail to another.
NCCL goes over another rail's NIC on the sending side only (PXN), so a receiver whose NIC is off its rail is not
reached: the job does not become slow, it fails.

## How it is detected
The plan has no way from one rail to another, and every cable of a host on one rail is missing or is seen on something
else than the switches of this rail. The peers are the other planned hosts of this rail that its leaf leads to. A leaf
with no link to the rest of its rail cuts its hosts from theirs.

## What to do
Repair the cable that the finding on this port names (CAB001, CAB003, CAB004, NIC003). Until then keep jobs off this
host.

## Decide
- `link-down`: one cable. Reseat, then replace it (CAB003).
- `cable-swap`: two NICs' names or cables. Confirm on the host before anything moves (CAB001).
- `cable-move`: one plug is in a wrong place. Make the listed move.
- `no link leads from`: its hosts are all right, and its uplinks are down. Repair one (CAB003).
- `is not connected`: keep jobs off this host until the cable is back: NCCL has no other way here.

## False positives
Only fabrics in which no switch leads from rail to rail have this rule: a spine that the plan lacks makes it fire.
"""

import numpy as np

from rules._examples import down, finds_nic, hears, railed, up
from rules._places import Misplaced, Places, places
from truerail.analysis.cabling import ONE_END, WITNESS_KINDS, State, Why
from truerail.analysis.explained import connected_parts, planned_parts, rails_apart
from truerail.analysis.rule import Case, Findings, Round, rule
from truerail.model import Neighbor, Severity
from truerail.model.columns import Codes, distinct
from truerail.model.index import PlanIndex


@rule("RAL003", Severity.CRITICAL, [Neighbor], instead=WITNESS_KINDS)
def rail_cut(round: Round) -> Findings:
    """Hosts that are off a rail, where no switch leads round it."""
    placed = places(round)
    wiring, index = placed.wiring, placed.wiring.index
    if not round.plan.once(rails_apart):
        return
    parts = round.plan.once(planned_parts)
    yield from _split(placed, parts)
    cut = _cut(placed, parts)
    for cable, peers in zip(cut.tolist(), _peers(index, parts)[cut].tolist() if len(cut) else (), strict=True):
        if not peers:
            continue
        port, leaf, rail = index.a_port(cable), index.b_port(cable).device, int(index.rail[cable])
        others = f"{peers} other host{'s' if peers > 1 else ''}"
        where = f"is on {placed.seen_at(cable)}" if placed.at[cable] >= 0 else "is not connected"
        yield placed.found(
            rail_cut,
            cable,
            summary=f"{placed.subject(cable)} {where}, so it cannot reach the {others} of rail {rail} behind "
            f"{leaf}; there is no other path, and NCCL drops the connection",
            action=f"Move {port} back to {index.b_port(cable)}; keep jobs off {port.device} until then.",
            confidence=wiring.confidence(cable) or ONE_END,
            evidence=wiring.evidence(int(index.a[cable]), int(index.b[cable])),
            detail=(("peers", peers),),
        )


def _split(placed: Places, parts: Codes) -> Findings:
    """Leaves from which no link, sure or unknown, leads to the hosts of their rail on other leaves."""
    w, index = placed.wiring, placed.wiring.index
    end = np.where((w.state == State.WRONG) & (placed.at >= 0), placed.at, index.b_device)
    linked = connected_parts(index, end, w.state != State.MISSING, len(index.devices.names))
    railed = np.flatnonzero(index.from_host & (index.rail >= 0))
    for leaf in distinct(index.b_device[railed]).tolist():
        whole = railed[parts[index.b_device[railed]] == parts[leaf]]
        beyond = whole[linked[index.b_device[whole]] != linked[leaf]]
        if len(beyond):
            name, rail = index.devices.names[leaf], int(index.rail[beyond[0]])
            lost = len(distinct(index.a_device[beyond]))
            yield rail_cut.found(
                name,
                rail=rail,
                summary=f"no link leads from {name} to {lost} hosts of rail {rail} on other leaves; "
                "there is no other path, and NCCL drops the connection",
                action=f"Repair an uplink of {name}, or of the leaves that it does not reach.",
                detail=(("peers", lost),),
            )


def _cut(placed: Places, parts: Codes) -> Codes:
    """The first cable of each host and rail all of whose cables are off the rail."""
    w, index = placed.wiring, placed.wiring.index
    gone = (w.state == State.MISSING) & (w.why != Why.DISABLED)
    known = (placed.at >= 0) & (placed.at < len(parts))
    other = ~known | (parts[np.where(known, placed.at, 0)] != parts[index.b_device])
    off = gone | ((placed.kind == Misplaced.RAIL) & other) | (placed.kind == Misplaced.STRANGER)
    if not off.any():
        return np.empty(0, dtype=np.int64)
    _, first, group = np.unique(index.a_device << 16 | (index.rail + 1), return_index=True, return_inverse=True)
    whole = np.bincount(group, weights=off) == np.bincount(group)
    cut = first[whole]
    return np.sort(cut[index.rail[cut] >= 0])


def _peers(index: PlanIndex, parts: Codes) -> Codes:
    """How many other hosts of the rail the plan has behind the leaf of each cable, shape (cables,)."""
    _, where = np.unique(parts[index.b_device] << 16 | (index.rail + 1), return_inverse=True)
    _, first = np.unique(where << 32 | index.a_device, return_index=True)  # a host with two planes counts once
    return np.asarray(np.bincount(where[first])[where] - 1)


PLAN = railed(2, rails=2)
_TWO_PLANES = "\n".join(
    f"gpu-{host}/nic0p{plane} leaf-{plane}/swp{host} rail=0 plane={plane}" for host, plane in ((1, 0), (1, 1), (2, 0))
)
_OWN_SPINES = f"{PLAN}\n\ngpu-3/nic0 leaf-2/swp1 rail=0\nleaf-0/swp9 spine-0/swp1\nleaf-2/swp9 spine-0/swp2"
_OWN_SPINES += "\nleaf-1/swp9 spine-1/swp1"
_SWAPPED = {"gpu-1": [hears("nic0", "leaf-1/swp1"), hears("nic1", "leaf-0/swp1")]}

EXAMPLES = {
    "Two cables of a host are swapped in a fabric without spines.": Case(_SWAPPED, "gpu-1/nic0 gpu-1/nic1"),
    "Each rail has a spine of its own.": Case(_SWAPPED, "gpu-1/nic0 gpu-1/nic1", plan=_OWN_SPINES),
    "A leaf has no link to the rest of its rail.": Case(
        {"leaf-0": [down("swp9")], "leaf-2": [up("swp9")]}, "leaf-0 leaf-2", plan=_OWN_SPINES
    ),
    "A NIC has no link.": finds_nic({"gpu-1": [down("nic0"), up("nic1")], "leaf-0": []}),
    # Quiet:
    "Another leaf of the rail is on the rail.": Case({"gpu-1": [hears("nic0", "leaf-2/swp5")]}, plan=_OWN_SPINES),
    "With spines there is another path.": Case(
        _SWAPPED, plan=PLAN + "\nleaf-0/swp9 spine-1/swp1\nleaf-1/swp9 spine-1/swp2"
    ),
    "One plane of the rail is left.": Case({"gpu-1": [down("nic0p0"), up("nic0p1")]}, plan=_TWO_PLANES),
    "The only host of a rail has no peers to be cut from.": Case({"gpu-1": [down("nic0")]}, plan=railed(1)),
    "Everything is where it should be.": Case({"gpu-1": [hears("nic0", "leaf-0/swp1")]}),
    "A wrong port of the right leaf is still on the rail.": Case({"gpu-1": [hears("nic0", "leaf-0/swp2")]}),
}
