"""A link that the plan does not have.

## Why it matters
A cable between two leaves, a server on a free port or a second cable of a host is in no document: it takes a port, may
bridge two networks, and carries traffic that capacity planning does not include. Often the plan is out of date, and
needs one more line.

## How it is detected
A port for which the plan has no cable is wired to something: a port of a planned switch, a port of a planned host that
is wired to a planned device, or an RDMA port of a host that is wired to a device outside the plan though the plan has a
cable at the port of that name on other hosts. Management ports of switches, and NICs that the plan has on no host and
whose other end is outside it (storage, management), are no part of the fabric; nor is the aggregation node inside an
InfiniBand switch (SHARP, on the port after its last). A port for which the plan has a cable is CAB004, or CAB001,
CAB002, CAB006 or CAB008; so is a link between two devices whose planned cable is not right.

## What to do
If the link is intended, add it to the plan. Otherwise find its owner, then pull it.

## Decide
- `a device not in the plan`: something outside the plan. Find its owner; pull nothing before.
- `info CAB009`: a link between planned devices. If it is intended, add it to the plan.

## False positives
Storage, management and test equipment that shares a leaf. This is information; it never alerts.
"""

import re

import numpy as np

from rules._examples import UNDER_A_SPINE, hears
from truerail.analysis.cabling import DEVICE_ONLY, State, Wiring
from truerail.analysis.rule import Case, Findings, Round, rule
from truerail.model import Neighbor, Severity
from truerail.model.columns import NONE, Codes

_MANAGEMENT = re.compile(
    r"(eth0|mgmt.*|ma(nagement)?\d.*|oob.*|em\d+|fxp\d+|me\d+|vme|re\d+:mgmt.*)", re.ASCII | re.IGNORECASE
)
"""Management ports as network operating systems call them: Linux and SONiC, NX-OS, EOS, Junos."""
_GUIDS_OF_A_SWITCH = 0x40
"""A switch has the GUIDs up to the next multiple; its aggregation node has its GUID + 8 or + 16 (recorded listings)."""


@rule("CAB009", Severity.INFO, [Neighbor], first="diff --planned")
def unplanned_link(round: Round) -> Findings:
    """Ports without a planned cable that are wired to something."""
    wiring = round.cabling
    index = wiring.index
    for port in _unplanned(wiring).tolist():
        subject, partner = index.spell(port), int(wiring.partner[port])
        far = str(index.spell(partner)) if partner >= 0 else index.devices.names[int(wiring.heard[port])]
        yield unplanned_link.found(
            subject,
            summary=f"{subject} is wired to {far}{_stranger(wiring, port)}; the plan has no cable at this port",
            action=f"Add the link to the plan if it is intended; else find the owner of the cable at {subject}, "
            "and remove it.",
            observed=far if partner >= 0 else None,
            confidence=float(wiring.sure[port]) if partner >= 0 else DEVICE_ONLY,
            evidence=wiring.evidence(port, partner),
        )


def _far_device(wiring: Wiring, ports: Codes) -> Codes:
    """The device at the other end of each port, -1 where nothing is seen."""
    partner = wiring.partner[ports]
    return np.where(partner >= 0, wiring.index.ports.device_of(partner), wiring.heard[ports])


def _unplanned(wiring: Wiring) -> Codes:
    """One port of each link that the plan does not have: a host's before a switch's."""
    index = wiring.index
    ports = np.arange(index.planned_ports, wiring.ports)
    tiers = np.array([*index.devices.tier, NONE], dtype=np.int64)
    device, far, partner = index.ports.device_of(ports), _far_device(wiring, ports), wiring.partner[ports]
    near_tier, far_tier = tiers[device], tiers[far]
    use = (near_tier >= 0) & (far >= 0) & ~wiring.ambiguous[ports] & (index.cables_at(partner) < 0)
    later = (device > far) | ((device == far) & (ports > partner))
    higher = (near_tier > far_tier) | ((near_tier == far_tier) & later)
    second = (partner >= 0) & (far_tier >= 0) & higher
    of_rails = np.isin(index.ports.name_of(ports), index.ports.name_of(index.a[index.from_host]))
    counts = (near_tier > 0) | (far_tier >= 0) | (of_rails & (wiring.states.rdma_row[ports] >= 0))
    found = ports[use & ~second & counts & ~np.isin(far, _aggregation_nodes(wiring))]
    loose = _pairs(index.a_device, index.b_device)[wiring.state != State.RIGHT]
    known = np.isin(_pairs(index.ports.device_of(found), _far_device(wiring, found)), loose)
    return np.array([p for p in found[~known].tolist() if not _management(wiring, p)], dtype=np.int64)


def _aggregation_nodes(wiring: Wiring) -> list[int]:
    """The devices inside InfiniBand switches that reduce data on its way (SHARP), by their GUIDs."""
    table = wiring.seen.table(Neighbor)
    guids = set(zip(table.column("of_guid"), table.column("chassis_id"), strict=True))
    inside = [far for own, far in guids if own and far and far.startswith(own[:-2]) and _is_inside(own, far)]
    return [wiring.index.devices.find(guid) for guid in inside]


def _is_inside(own: str, far: str) -> bool:
    return 0 < int(far, 16) - int(own, 16) < _GUIDS_OF_A_SWITCH


def _pairs(one: Codes, other: Codes) -> Codes:
    """Two devices as one number, whichever comes first."""
    return np.asarray(np.minimum(one, other) << 32 | np.maximum(one, other))


def _management(wiring: Wiring, port: int) -> bool:
    device = int(wiring.index.ports.device_of(np.array([port]))[0])
    return not wiring.index.devices.is_host(device) and bool(_MANAGEMENT.fullmatch(wiring.index.spell(port).name))


def _stranger(wiring: Wiring, port: int) -> str:
    far = int(_far_device(wiring, np.array([port]))[0])
    return ", a device not in the plan" if far >= wiring.index.devices.planned else ""


PLAN = UNDER_A_SPINE
_RIGHT = hears("swp1", "gpu-1/eth1")

EXAMPLES = {
    "A server that the plan does not have sits on a free port of a leaf.": Case(
        {"leaf-0": [_RIGHT, hears("swp30", "ufm-2/mlx5_0")]}, "leaf-0/swp30"
    ),
    "Two leaves are wired to each other on free ports: one link, one finding.": Case(
        {"leaf-0": [hears("swp31", "leaf-1/swp31")], "leaf-1": [hears("swp31", "leaf-0/swp31")]}, "leaf-0/swp31"
    ),
    "A planned host has a second cable to a leaf, which names only the host.": Case(
        {"leaf-1": [hears("swp3", "gpu-1")]}, "leaf-1/swp3"
    ),
    # Quiet:
    "Management ports, and what a host's NIC that is on no rail hears outside the plan.": Case(
        {"leaf-0": [_RIGHT, hears("eth0", "mgmt-sw/Gi1/0/7")], "gpu-1": [hears("eno1", "mgmt-sw/Gi1/0/8")]}
    ),
    "A planned port with an unplanned device is CAB004; a NIC on a free port of another leaf is CAB001.": Case(
        {"leaf-0": [hears("swp1", "backup-7/eth0")], "leaf-1": [hears("swp5", "gpu-2/eth1")]}
    ),
}
