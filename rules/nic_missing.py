"""A planned NIC is not in its host.

## Why it matters
The GPU of this rail has no NIC of its own. NCCL takes another one over PCIe or NVLink, or the job does not start;
whoever looks for a cable fault looks in the wrong place.

## How it is seen
The host answers and lists its interfaces (`ip link`) or RDMA devices (`rdma link`), and the planned one is in
neither. Names are compared after normalisation, also by alternative name, PCI address and RDMA device. The RDMA device
of a bond stands for all members of the bond; where the members were not read, the answer is "unknown".

## What to do
`lspci | grep -i -e ethernet -e infiniband`: if the card is missing there, reseat it and look for PCIe errors in
`dmesg`. If it is there, the driver did not take it (`dmesg | grep mlx5`), or it is in another network namespace or
passed through to a guest. If the interface merely has another name, correct the plan or the udev rule.
"""

from collections.abc import Iterator

import numpy as np

from rules._bonds import blind_bonds
from rules._places import places
from truerail.model import Finding, Neighbor, NetLink, Plan, RdmaLink, Severity, Snapshot
from truerail.model.columns import Codes
from truerail.model.rule import Case, Undecided, rule
from truerail.model.wiring import ONE_END, Why, Wiring, wiring_of

_LOOK = "On {host}, look for the card with lspci and for its driver in dmesg; or correct the plan's name."
_COMPARE = "Compare the plan's NIC names with `ip link` of {host}: they may be another model's; else look with lspci."


@rule("NIC003", severity=Severity.CRITICAL, needs=[RdmaLink])
def nic_missing(plan: Plan, seen: Snapshot) -> Iterator[Finding]:
    """Planned NICs that their host does not have."""
    wiring = wiring_of(plan, seen)
    absent = np.flatnonzero(wiring.why == Why.NIC_ABSENT)
    unseen = blind_bonds(wiring)
    if unseen and not len(absent):
        raise Undecided(unseen)
    planned, gone = _of_each_host(wiring, slice(None)), _of_each_host(wiring, absent)
    for cable in absent.tolist():
        port, host = wiring.index.a_port(cable), int(wiring.index.a_device[cable])
        none = gone[host] == planned[host]
        also = ", nor is any other planned NIC of it" if none and planned[host] > 1 else ""
        yield nic_missing.found(
            port,
            says=f"{places(plan, seen).subject(cable)} is not among the interfaces that {port.device} lists{also}",
            do=_COMPARE.format(host=port.device) if none else _LOOK.format(host=port.device),
            expected=str(wiring.index.b_port(cable)),
            rail=plan.cables[cable].rail,
            confidence=ONE_END,
            evidence=wiring.evidence(int(wiring.index.b[cable])),
        )


def _of_each_host(w: Wiring, cables: Codes | slice) -> Codes:
    """How many of these cables start at each device, shape (devices,)."""
    device = w.index.a_device[cables]
    return np.bincount(device[device >= 0], minlength=len(w.index.devices.names))


_PLAN = """
    gpu-1/nic0 leaf-0/swp1 rail=0
    gpu-1/nic1 leaf-1/swp1 rail=1
"""

FIRES = (
    Case(
        "The host lists only one of its two NICs.",
        _PLAN,
        {"gpu-1": [RdmaLink("mlx5_0", 1, "ACTIVE", "LINK_UP", "nic0"), NetLink("nic0", operstate="UP")]},
        ("gpu-1/nic1",),
    ),
    Case(
        "The host lists none of them: more likely the plan names another model's NICs.",
        _PLAN,
        {"gpu-1": [NetLink("ens1f0"), NetLink("ens2f0")]},
        ("gpu-1/nic0", "gpu-1/nic1"),
    ),
)

QUIET = (
    Case(
        "Both are there, though the list of RDMA devices has one only.",
        _PLAN,
        {"gpu-1": [RdmaLink("mlx5_0", 1, "ACTIVE", "LINK_UP", "nic0"), NetLink("nic0"), NetLink("nic1")]},
    ),
    Case(
        "The host lists nothing: nothing is known of its NICs.",
        _PLAN,
        {"gpu-1": [Neighbor("nic0", system_name="leaf-0", port_id="swp1", port_id_type="ifname")]},
    ),
)
