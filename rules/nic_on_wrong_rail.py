"""A NIC is cabled to another rail's leaf.

## Why it matters
NIC N of every host must land on the leaf of rail N. A NIC on another rail's leaf sends each same-rail transfer of its
GPU over the spines, takes the uplinks of two leaves for it, and is slower than every other member of the ring, so the
whole job waits for this one NIC. Without spines it does not reach its peers at all (RAL003).

## How it is detected
LLDP at either end names the other: the host reports which switch port it hears, the switch reports which host port it
hears. Both ends agree: confidence 0.99. Only one end reports, or the discovery of an InfiniBand fabric for both: 0.9. A
neighbour that names its device but not its port: 0.7. On a switch with several rails the port decides, not the switch;
a port that the plan leaves free counts for the switch's rail where it has only one. Where leaves hear hosts by their
names alone, as DPUs send them, two swapped cables of one host look right: without any other finding the answer is
"unknown".

## What to do
Read the cause first: two findings are often the two halves of one swap, and a whole host or leaf may only carry the
wrong label. Otherwise move the cable at the switch end to the planned port. Check again after 30 seconds, the default
interval of LLDP.

## Decide
- `cable-swap`, `cable-rotation`: plugs are swapped or rotated. Make the listed moves at the switch, all of them. Where
  the action has a step 1, or several hosts have one order of NICs, names may be swapped instead; both look the same.
  Compare `nvidia-smi topo -m` and the NICs' MACs on the host before anybody touches a plug.
- `cable-move`: one plug is in a free or foreign port. Move it to the planned port.
- `host-swap`, `leaf-swap`, `bundle-swap`, `trunk-swap`, `panel-shift`: too many cables for a mistake by hand. Do what
  the cause says; most often a name is corrected, or it is at one patch panel.
- `! unknown`: the evidence does not decide. Follow this one cable by hand, or get the silent end to answer first.

## False positives
A cable that was moved within the last two minutes: a switch keeps the old LLDP neighbour until its time to live has run
out. A plan that is older than the fabric: if several hosts of one rack are wrong in the same way and jobs run well,
compare the plan first.
"""

from rules._examples import finds_nic, hears, railed, undecided
from rules._places import Misplaced, Places, places, unseen_cables
from truerail.analysis.cabling import WITNESS_KINDS
from truerail.analysis.rule import Case, Findings, Round, report_not_evaluated, rule
from truerail.model import Neighbor, Severity


@rule("CAB001", Severity.CRITICAL, [Neighbor], instead=WITNESS_KINDS)
def nic_on_wrong_rail(round: Round) -> Findings:
    """Host cables that are seen on a switch port of another rail, or on another switch than planned."""
    placed = places(round)
    wiring, index = placed.wiring, placed.wiring.index
    for cable in placed.cables_of(Misplaced.RAIL):
        yield placed.found(
            nic_on_wrong_rail,
            cable,
            summary=f"{placed.subject(cable)} is cabled to {placed.seen_at(cable)}, {_whose(placed, cable)}",
            action=f"Move the cable to {index.b_port(cable)}, unless its cause says otherwise: it may be half of a "
            "swap, or a label.",
        )
    report_not_evaluated(unseen_cables(wiring, index.from_host))


def _whose(placed: Places, cable: int) -> str:
    """The owner of the place where the cable is seen."""
    index = placed.wiring.index
    device = int(placed.at[cable])
    rail, planned = int(placed.rail[cable]), int(index.rail[cable])
    if index.devices.tier[device] > 1:
        return "which is not a leaf"
    if rail < 0:
        return f"not to {index.b_port(cable).device}"
    if rail == planned:
        return f"another leaf of rail {rail}"
    return f"a port of rail {rail}" if device == index.b_device[cable] else f"the leaf of rail {rail}"


PLAN = railed(2, rails=2)
_ONE_LEAF = "gpu-1/nic0 leaf-0/swp1 rail=0\ngpu-1/nic1 leaf-0/swp5 rail=1"

EXAMPLES = {
    "Two cables of one host are swapped; the leaves say so, and the host is silent.": Case(
        {
            "leaf-0": [hears("swp1", "gpu-1/nic1"), hears("swp2", "gpu-2/nic0")],
            "leaf-1": [hears("swp1", "gpu-1/nic0"), hears("swp2", "gpu-2/nic1")],
        },
        "gpu-1/nic0 gpu-1/nic1",
    ),
    "On a leaf with two rails the port decides.": Case(
        {"leaf-0": [hears("swp5", "gpu-1/nic0"), hears("swp1", "gpu-1/nic1")]}, "gpu-1/nic0 gpu-1/nic1", plan=_ONE_LEAF
    ),
    "The host hears another rail's leaf, which does not report its port.": finds_nic(
        {"gpu-1": [hears("nic0", "leaf-1"), hears("nic1", "leaf-1")]}
    ),
    "A free port of another leaf counts for that leaf's rail.": finds_nic({"gpu-1": [hears("nic0", "leaf-1/swp9")]}),
    "A leaf of the same rail in another pod is the wrong leaf all the same.": finds_nic(
        {"gpu-1": [hears("nic0", "leaf-8/swp1")]}, plan="gpu-1/nic0 leaf-0/swp1 rail=0\ngpu-9/nic0 leaf-8/swp1 rail=0"
    ),
    "In a plan without rails another switch is the wrong switch.": finds_nic(
        {"gpu-1": [hears("nic0", "leaf-1/swp1")]}, plan="gpu-1/nic0 leaf-0/swp1\ngpu-2/nic0 leaf-1/swp1"
    ),
    "A NIC sits on a spine.": finds_nic(
        {"gpu-1": [hears("nic0", "spine-1/swp7")]}, plan="gpu-1/nic0 leaf-0/swp1 rail=0\nleaf-0/swp9 spine-1/swp1"
    ),
    # Quiet:
    "DPUs send only the host's name: two swapped cables of it would look the same.": undecided(
        {leaf: [Neighbor("swp1", system_name="dpu-gpu-1", port_id="p0")] for leaf in ("leaf-0", "leaf-1")}
    ),
    "Two cables of one rail may be swapped: both leaves hear their host's DPU.": undecided(
        {leaf: [Neighbor("swp1", system_name="dpu-gpu-1", port_id="p0")] for leaf in ("leaf-0", "leaf-1")},
        plan="gpu-1/nic0p0 leaf-0/swp1 rail=0 plane=0\ngpu-1/nic0p1 leaf-1/swp1 rail=0 plane=1",
    ),
    "Every NIC is on the leaf of its rail; long names, other case and a serial number do not matter.": undecided(
        {"gpu-1": [hears("nic0", "LEAF-0.dc1.example.net/swp1"), hears("nic1", "leaf-1(FDO2222)/swp1")]}
    ),
    "The port description still carries the planned label, the port id shows where the cable really ends: "
    "CAB002.": undecided({"gpu-1": [hears("nic0", "leaf-0/swp2", port_description="gpu-2 nic0")]}, plan=railed(2)),
}
