"""A NIC port is cabled to the other plane of its rail.

## Why it matters
A NIC with two ports, or two NICs of one rail, spread over two planes so that either switch may fail. NCCL never mixes
planes, LACP and EVPN multi-homing see the wrong partner, and with both ports on one plane the loss of one switch
takes the rail of this host down.

## How it is detected
LLDP at either end names a port of the planned rail whose plane is the other one. Two planes on one switch differ by the
port, two switches of one rail by the switch. Where switches hear a host and not which of its NICs it is, swapped NICs
look right: then the answer is "unknown".

## What to do
Most often the two cables of one NIC are swapped: swap them at the host, where both are in reach. Else move the
cable to the planned port.

## Decide
- `cable-swap`, `gpu-nic-order`: names of the ports or the cables are swapped; both look the same. Compare the ports'
  MACs on the host first.
- `unreachable`: only the switch reports it, the host does not answer. Restore the access to the host; it decides which
  of the two it is.

## False positives
A driver update that renames the ports of dual-port NICs makes every NIC of the host look crossed at once: then no cable
has to move.
"""

from rules._examples import TWO_PLANES, hears, undecided
from rules._places import Misplaced, places, unseen_cables
from truerail.analysis.cabling import WITNESS_KINDS
from truerail.analysis.rule import Case, Findings, Round, report_not_evaluated, rule
from truerail.model import Neighbor, Severity


@rule("CAB008", Severity.CRITICAL, [Neighbor], instead=WITNESS_KINDS)
def plane_crossed(round: Round) -> Findings:
    """Host cables that are seen on their rail, but on another plane."""
    placed = places(round)
    wiring = placed.wiring
    for cable in placed.cables_of(Misplaced.PLANE):
        yield placed.found(
            plane_crossed,
            cable,
            summary=f"{placed.subject(cable)} belongs to plane {round.plan.cables[cable].plane} but is cabled to "
            f"{placed.seen_at(cable)}, on another plane",
            action=f"Move the cable to {wiring.index.b_port(cable)}; first check whether the NIC's two cables are "
            "swapped.",
        )
    report_not_evaluated(unseen_cables(wiring, wiring.index.from_host & (wiring.index.plane >= 0)))


PLAN = TWO_PLANES
_ONE_SWITCH = "gpu-1/nic0p0 leaf-1/swp1 rail=0 plane=0\ngpu-1/nic0p1 leaf-1/swp33 rail=0 plane=1"

EXAMPLES = {
    "The two cables of a NIC are swapped between the two switches of its rail.": Case(
        {"leaf-1": [hears("swp1", "gpu-1/nic0p1")], "leaf-2": [hears("swp1", "gpu-1/nic0p0")]},
        "gpu-1/nic0p0 gpu-1/nic0p1",
    ),
    "Two planes on one switch: the port decides.": Case(
        {"gpu-1": [hears("nic0p0", "leaf-1/swp33")]}, "gpu-1/nic0p0", plan=_ONE_SWITCH
    ),
    # Quiet:
    "Both switches hear the host's DPU, which does not say behind which NIC it is.": undecided(
        {"leaf-1": [hears("swp1", "dpu-gpu-1/p0")], "leaf-2": [hears("swp1", "dpu-gpu-1/p0")]}
    ),
    "Port 0 is on plane 0 and port 1 on plane 1.": Case(
        {"leaf-1": [hears("swp1", "gpu-1/nic0p0")], "leaf-2": [hears("swp1", "gpu-1/nic0p1")]}
    ),
    "A port of another rail is CAB001, whatever its plane.": Case(
        {"gpu-1": [hears("nic0", "leaf-2/swp1")]},
        plan="gpu-1/nic0 leaf-1/swp1 rail=0 plane=0\ngpu-1/nic1 leaf-2/swp1 rail=1 plane=1",
    ),
}
