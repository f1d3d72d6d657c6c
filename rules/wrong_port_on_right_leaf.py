"""A NIC is on the right leaf and rail, but in another port than planned.

## Why it matters
Traffic is not slower: the leaf and the rail are right. But every document, label and port description is now wrong
for this port, so the next maintenance unplugs the wrong host; and another cable may belong in this port.

## How it is detected
LLDP at either end names the other, as for CAB001. The switch, the rail and the plane are the planned ones and the
port is not. A port that the plan leaves free counts as well.

## What to do
Read the cause first: neighbouring ports that are all off by the same number are one shifted block, two are a swap.
Move the cable to the planned port, or, where all agree that it should stay, correct the plan.

## Decide
- `cable-swap`, `cable-rotation`, `port-shift`, `panel-shift`: two plugs are swapped, or a row of them is shifted, at
  the switch or at a patch panel of their paths. Make the listed moves, or correct the plan if all agree to leave them.
- `cable-move`: one plug is in a port that the plan leaves free. Move it, or correct the plan.
- `host-swap`: two hosts carry each other's names, or each other's cables. Read serial numbers first.

## False positives
Traffic is not affected: leaf and rail are right. Ports that were renumbered by another breakout or port alias look the
same; then many ports of one switch are off alike.
"""

from rules._examples import finds_nic, hears, railed
from rules._places import Misplaced, places, unseen_cables
from truerail.analysis.cabling import WITNESS_KINDS
from truerail.analysis.rule import Case, Findings, Round, report_not_evaluated, rule
from truerail.model import Neighbor, Severity


@rule("CAB002", Severity.WARNING, [Neighbor], instead=WITNESS_KINDS)
def wrong_port_on_right_leaf(round: Round) -> Findings:
    """Host cables in another port of the planned switch, on the planned rail and plane."""
    placed = places(round)
    wiring = placed.wiring
    for cable in placed.cables_of(Misplaced.PORT):
        target = wiring.index.b_port(cable)
        yield placed.found(
            wrong_port_on_right_leaf,
            cable,
            summary=f"{placed.subject(cable)} is cabled to {placed.seen_at(cable)}, the right leaf but not "
            f"{target.name}",
            action=f"Move the cable from {placed.seen_at(cable)} to {target}, or correct the plan if it should stay.",
        )
    report_not_evaluated(unseen_cables(wiring, wiring.index.from_host))


PLAN = railed(2)

EXAMPLES = {
    "Two hosts are swapped on one leaf.": Case(
        {"leaf-0": [hears("swp1", "gpu-2/nic0"), hears("swp2", "gpu-1/nic0")]}, "gpu-1/nic0 gpu-2/nic0"
    ),
    "The cable is in a port that the plan leaves free.": finds_nic(
        {"gpu-1": [hears("nic0", "leaf-0/swp7")], "leaf-0": [hears("swp7", "gpu-1/nic0")]}
    ),
    # Quiet:
    "Each NIC is in its port; NX-OS writes the same port in two ways.": Case(
        {"gpu-1": [hears("nic0", "leaf-0/Ethernet1/1")], "leaf-0": [hears("Eth1/1", "gpu-1/nic0")]},
        plan="gpu-1/nic0 leaf-0/Ethernet1/1 rail=0",
    ),
    "Another port of a leaf with two rails is another rail: CAB001.": Case(
        {"gpu-1": [hears("nic0", "leaf-0/swp5")]}, plan="gpu-1/nic0 leaf-0/swp1 rail=0\ngpu-1/nic1 leaf-0/swp5 rail=1"
    ),
}
