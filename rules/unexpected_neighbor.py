"""A planned port is wired to something that no planned cable has there.

## Why it matters
A storage server, another cluster's switch or a host's management NIC in a rail's port takes the place of a GPU's NIC,
and may bridge two networks that must not meet.

## How it is detected
A port of the plan hears, or is heard by, a device not in the plan, a port of a planned host that the plan does not
have, or a switch's place where a host should be. Ports that the plan does not have are not checked, which leaves out
management and storage networks. A cable that is in another planned place is CAB001, CAB002, CAB006 or CAB008.

## What to do
Follow the cable from the port and find out whose it is. If it belongs there, add it to the plan; a planned device
that only has another name needs an alias in the plan.

## Decide
- `cable-move`: the cable of a planned port ends in a device outside the plan. Move it to the planned port.
- `a device not in the plan`: an unplanned device, or a planned one under a new name. Follow the cable; add an
  alias to the plan if it is only the name.
- `a port not in the plan`: a planned host by the wrong one of its NICs, such as the management NIC.
- `! unknown`: the device in this port is known, the place of the planned cable is not. Follow the cable from this port.

## False positives
A host that was reinstalled announces `localhost` or its BMC's name for some minutes. Test equipment and temporary
links: add them to the plan, or mute the port.
"""

from functools import partial

import numpy as np

from rules._examples import UNDER_A_SPINE, hears, undecided
from rules._places import Misplaced, Places, places, unseen_cables
from truerail.analysis.cabling import DEVICE_ONLY, WITNESS_KINDS, Why
from truerail.analysis.rule import Case, Findings, Round, report_not_evaluated, rule
from truerail.model import Neighbor, NetLink, Severity
from truerail.model.columns import Codes


@rule("CAB004", Severity.WARNING, [Neighbor], instead=WITNESS_KINDS)
def unexpected_neighbor(round: Round) -> Findings:
    """Planned ports whose neighbour is not what any planned cable has there."""
    placed = places(round)
    wiring, index = placed.wiring, placed.wiring.index
    for port in (*_lower_ends(placed).tolist(), *_upper_ends(placed).tolist()):
        cable, partner = index.cable_at(port), int(wiring.partner[port])
        subject, ends = index.spell(port), (index.a_port(cable), index.b_port(cable))
        expected = ends[1] if subject == ends[0] else ends[0]
        yield unexpected_neighbor.found(
            subject,
            summary=f"{subject} should be wired to {expected} but is wired to {_stranger(placed, port)}",
            action=f"Follow the cable at {subject}. The plan has {expected} there; correct the plan if this is "
            "intended.",
            expected=str(expected),
            observed=str(index.spell(partner)) if partner >= 0 else None,
            rail=round.plan.cables[cable].rail,
            confidence=float(wiring.sure[port]) if partner >= 0 else DEVICE_ONLY,
            evidence=wiring.evidence(port, partner),
        )
    report_not_evaluated(unseen_cables(wiring, np.ones(len(wiring.state), dtype=bool)))


def _lower_ends(placed: Places) -> Codes:
    """Host ports that hear a stranger themselves."""
    w = placed.wiring
    heard = w.heard[w.index.a]
    hears = (w.place >= 0) | ((heard >= 0) & (heard != w.index.b_device))
    return np.asarray(w.index.a[(placed.kind == Misplaced.STRANGER) & hears])


def _upper_ends(placed: Places) -> Codes:
    """Planned switch places that are wired to a stranger or to another switch place."""
    w, index = placed.wiring, placed.wiring.index
    partner, heard = w.partner[index.b], w.heard[index.b]
    other = index.cables_at(partner)
    to_stranger = (partner >= 0) & (other < 0)
    # one finding for the one cable between two places: at the place that comes first in the plan
    to_place = (partner > index.b) & (other >= 0) & (index.b[other] == partner)
    reported_by_cab006 = (placed.kind == Misplaced.UPLINK) & (placed.at < 0)
    by_name = (partner < 0) & (heard >= 0) & (heard != index.a_device) & ~w.ambiguous[index.b] & ~reported_by_cab006
    sure = (index.b >= 0) & ~np.isin(w.why, (Why.CONTRADICTED, Why.UNNAMED))
    return np.asarray(index.b[sure & (to_stranger | to_place | by_name)])


def _stranger(placed: Places, port: int) -> str:
    w, index = placed.wiring, placed.wiring.index
    partner = int(w.partner[port])
    if partner < 0:
        return f"{index.devices.names[int(w.heard[port])]} (which does not report its port)"
    device = int(index.ports.device_of(np.array([partner]))[0])
    if device >= index.devices.planned:
        return f"{index.spell(partner)}, a device not in the plan"
    if partner >= index.planned_ports:
        return f"{index.spell(partner)}, a port not in the plan"
    return str(index.spell(partner))


PLAN = UNDER_A_SPINE
_finds_port = partial(Case, finds="leaf-0/swp1")

EXAMPLES = {
    "A device that the plan does not have sits in a NIC's place.": _finds_port(
        {"leaf-0": [hears("swp1", "backup-7/eth0")]}
    ),
    "A host's NIC is cabled to a switch that the plan does not have.": Case(
        {"gpu-1": [hears("eth1", "storage-sw/swp1")]}, "gpu-1/eth1"
    ),
    "The management NIC of a planned host sits in a rail's port.": _finds_port(
        {"leaf-0": [hears("swp1", "gpu-1/eno1")], "gpu-1": [NetLink("eth1"), NetLink("eno1")]}
    ),
    "Two switch places are wired to each other: one cable, one finding.": _finds_port(
        {"leaf-0": [hears("swp1", "leaf-0/swp2")]}
    ),
    "The leaf hears another host, which does not report its port.": _finds_port(
        {"leaf-0": [hears("swp1", "gpu-2")], "gpu-1": [hears("eth1", "leaf-0")]}
    ),
    "A spine's port hears a device not in the plan.": Case(
        {"spine-1": [hears("swp1", "other-leaf/swp1")]}, "spine-1/swp1"
    ),
    # Quiet:
    "Unplanned ports may hear anything; a planned one may hear a bridge beside its NIC.": undecided(
        {
            "leaf-0": [hears("eth0", "mgmt-sw/Gi1/0/7"), hears("swp1", "gpu-1/eth1"), hears("swp1", "vm-17/eth0")],
            "gpu-1": [hears("eno1", "mgmt-sw/Gi1/0/8")],
        }
    ),
    "Two swapped NICs are CAB002; a NIC in an uplink's port is CAB002 and CAB006.": undecided(
        {"leaf-0": [hears("swp1", "gpu-2/eth1"), hears("swp9", "gpu-1/eth1")]}
    ),
    "An uplink that only its spine reports, and reports as wrong, is CAB006.": undecided(
        {"spine-1": [hears("swp1", "leaf-1")]}
    ),
}
