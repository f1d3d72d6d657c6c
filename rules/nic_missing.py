"""A planned NIC is not in its host.

## Why it matters
The GPU of this rail has no NIC of its own. NCCL uses another one over PCIe or NVLink, or the job does not start; a
search for a cable fault looks in the wrong place.

## How it is detected
The host lists its interfaces (`ip link`) or RDMA devices (`rdma link`), and the planned one is in neither, by any of
its names. The RDMA device of a bond is all its members; where these were not read, the answer is "unknown".

RDMA devices are numbered in the order in which the kernel finds the cards (Linux drivers/infiniband/core/device.c,
alloc_name), so one card more or less shifts the numbers of those behind it. Where a host has its NICs at the PCI
addresses, and in the order, of two or more hosts with the same plan, each NIC counts as the planned one at its address,
unless more of its cables are right by number. That is an info finding, as is a host that differs from most under a plan
of interfaces: no cable is wrong, but numbers (`NCCL_IB_HCA`) mean other NICs there.

## What to do
`lspci | grep -i -e ethernet -e infiniband`: if the card is missing there, reseat it and look for PCIe errors in
`dmesg`. If it is there, the driver did not take it (`dmesg | grep mlx5`), or it is in another network namespace or
passed through to a guest. If the interface merely has another name, correct the plan or the udev rule. Where the
numbers are shifted, find the card that is new or missing on this host; names by PCI address (`rocep60s0`, rdma-core's
rdma_rename) do not shift.

## Decide
- `numbers its RDMA devices differently`: no list of names in NCCL_IB_HCA fits this host and the others. Move no cable.
- `is not among the interfaces`: `lspci` on the host decides: card missing, driver missing, or another name.
- `! unknown`: if the interface is there under another name, correct the udev rule or the plan. Move no cable.

## False positives
NICs passed through to a virtual machine or moved into a container's network namespace are not listed on the host.
"""

import numpy as np

from rules._examples import alike, hears, railed, rdma, up
from rules._links import blind_bonds
from rules._places import places
from truerail.analysis.cabling import ONE_END, Why, Wiring
from truerail.analysis.rule import Case, Findings, Round, report_not_evaluated, rule
from truerail.model import Finding, NetLink, RdmaLink, Severity
from truerail.model.columns import Codes, factorize, grouped
from truerail.model.names import some

_LOOK = "On {host}, check the card with lspci and its driver in dmesg; or correct the plan's name."
_COMPARE = "Compare the plan's NIC names with `ip link` of {host}: they may be another model's; else look with lspci."

_SHIFTED = (
    "Move no cable. Find the card that is new or missing on {host} (`lspci`). Until then `NCCL_IB_HCA` by number means "
    "other NICs there."
)
_SHOWN = 4
_LEAST_ALIKE = 3
"""Hosts with one name that are more than an exception."""


@rule("NIC003", Severity.CRITICAL, [RdmaLink])
def nic_missing(round: Round) -> Findings:
    """Planned NICs that are missing in their host."""
    wiring = round.cabling
    absent = np.flatnonzero(wiring.why == Why.NIC_ABSENT)
    yield from _shifted(wiring)
    yield from _named_otherwise(wiring)
    planned, gone = _of_each_host(wiring, slice(None)), _of_each_host(wiring, absent)
    for cable in absent.tolist():
        port, host = wiring.index.a_port(cable), int(wiring.index.a_device[cable])
        none = gone[host] == planned[host]
        also = ", nor is any other planned NIC of it" if none and planned[host] > 1 else ""
        yield places(round).found(
            nic_missing,
            cable,
            summary=f"{places(round).subject(cable)} is not among the interfaces that {port.device} lists{also}",
            action=_COMPARE.format(host=port.device) if none else _LOOK.format(host=port.device),
            confidence=ONE_END,
            evidence=wiring.evidence(int(wiring.index.b[cable])),
        )
    report_not_evaluated(blind_bonds(wiring))


def _shifted(wiring: Wiring) -> Findings:
    """Hosts that number their RDMA devices differently from the plan."""
    links = wiring.seen.table(RdmaLink)
    for host, rows in sorted(wiring.identity.names.renumbered.items()):
        pairs = [(row, wiring.index.spell(port).name) for row, port in rows.items() if port >= 0]
        other = [(row, planned) for row, planned in pairs if links.rows[row].device != planned]
        shown = [f"{links.rows[row].device} is the planned {planned}" for row, planned in other]
        yield _numbers_otherwise(
            wiring, host, "the plan, by their PCI addresses", shown, [rows[row] for row, _ in other]
        )


def _named_otherwise(wiring: Wiring) -> Findings:
    """Hosts with other RDMA devices on their rails than most hosts have, under a plan of interfaces."""
    index, row = wiring.index, wiring.states.rdma_row
    railed = np.flatnonzero((index.rail >= 0) & index.from_host)
    railed = railed[row[index.a[railed]] >= 0]
    name, names = factorize(wiring.seen.table(RdmaLink).column("device")[row[index.a[railed]]])
    place = index.rail[railed] * (int(index.plane.max(initial=0)) + 2) + index.plane[railed] + 1
    count = np.bincount(place * len(names) + name, minlength=(place.max(initial=0) + 1) * len(names))
    count = count.reshape(-1, max(len(names), 1))
    usual, most = count.argmax(axis=1)[place], count.max(axis=1)[place]
    odd = (count[place, name] < _LEAST_ALIKE) & (most >= _LEAST_ALIKE) & (2 * most > count.sum(axis=1)[place])
    rows = ((int(index.a_device[railed[at]]), at) for at in np.flatnonzero(odd & (name != usual)).tolist())
    for host, at in grouped(rows).items():
        ports = index.a[railed[at]].tolist()
        pairs = [(port, names[name[one]], names[usual[one]]) for port, one in zip(ports, at, strict=True)]
        if host not in wiring.identity.names.renumbered and all(
            index.spell(port).name != own for port, own, _ in pairs
        ):
            shown = [f"{index.spell(port).name} is {own}, {other} on most hosts" for port, own, other in pairs]
            yield _numbers_otherwise(wiring, host, "most hosts", shown, ports)


def _numbers_otherwise(wiring: Wiring, code: int, than: str, shown: list[str], ports: list[int]) -> Finding:
    host = wiring.index.devices.names[code]
    return nic_missing.found(
        host,
        severity=Severity.INFO,
        summary=f"{host} numbers its RDMA devices differently from {than}: {some(shown, more=', and {} more')}",
        action=_SHIFTED.format(host=host),
        confidence=ONE_END,
        evidence=wiring.evidence(*ports[:_SHOWN]),
    )


def _of_each_host(wiring: Wiring, cables: Codes | slice) -> Codes:
    """The number of these cables that start at each device, shape (devices,)."""
    device = wiring.index.a_device[cables]
    return np.bincount(device[device >= 0], minlength=len(wiring.index.devices.names))


PLAN = railed(1, rails=2)

_BY_NUMBER = railed(3, rails=6, nic="mlx5_")


def _numbered(*numbers: int) -> list[RdmaLink]:
    """Six NICs at the same addresses on each host, under these numbers."""
    return [
        RdmaLink(f"mlx5_{number}", 1, "ACTIVE", "LINK_UP", f"eth{nic}", pci_address=f"0000:{nic + 1}a:00.0")
        for nic, number in enumerate(numbers)
    ]


def _under(*numbers: int) -> list[RdmaLink]:
    """NICs of the rails under these RDMA devices."""
    return [RdmaLink(f"mlx5_{number}", 1, "ACTIVE", "LINK_UP", f"nic{rail}") for rail, number in enumerate(numbers)]


EXAMPLES = {
    "A card more on one host shifts the numbers of its later NICs: each is there under another name.": Case(
        alike("gpu-1 gpu-2", _numbered(*range(6)))
        | {"gpu-3": [*_numbered(*range(1, 7)), RdmaLink("mlx5_0", 1, "DOWN", "DISABLED", "eth9")]},
        "gpu-3",
        plan=_BY_NUMBER,
    ),
    "Only the last number is another.": Case(
        {**alike("gpu-1 gpu-3", _numbered(*range(6))), "gpu-2": _numbered(0, 1, 2, 3, 4, 6)}, "gpu-2", plan=_BY_NUMBER
    ),
    "Names of interfaces are the same, those of RDMA devices on one host of four are not.": Case(
        alike("gpu-1 gpu-2 gpu-4", _under(0, 1)) | {"gpu-3": _under(1, 2)}, "gpu-3", plan=railed(4, rails=2)
    ),
    "The host lists only one of its two NICs.": Case({"gpu-1": [rdma(), up("nic0")]}, "gpu-1/nic1"),
    "The host lists none of them: more likely the plan names another model's NICs.": Case(
        {"gpu-1": [NetLink("ens1f0"), NetLink("ens2f0")]}, "gpu-1/nic0 gpu-1/nic1"
    ),
    # Quiet:
    "Two models of hosts number their devices differently.": Case(
        alike("gpu-1 gpu-2 gpu-3", _under(0, 1)) | alike("gpu-4 gpu-5 gpu-6", _under(2, 3)), plan=railed(6, rails=2)
    ),
    "The plan has other devices for this host.": Case(
        alike("gpu-1 gpu-2 gpu-3", [rdma()]) | {"gpu-4": [rdma(device="mlx5_1")]},
        plan="\n".join(f"gpu-{n}/mlx5_{n // 4} leaf-0/swp{n} rail=0" for n in range(1, 5)),
    ),
    "The numbers of one host are backwards: cards may have been swapped, so no NIC is taken for another.": Case(
        {
            "gpu-1": [RdmaLink(f"mlx5_{nic}", 1, "ACTIVE", "LINK_UP", f"eth{nic}") for nic in range(6)],
            "gpu-2": _numbered(*range(6)),
            "gpu-3": _numbered(*reversed(range(6))),
        },
        plan=_BY_NUMBER,
    ),
    "Both are there, though the list of RDMA devices has one only.": Case(
        {"gpu-1": [rdma(), NetLink("nic0"), NetLink("nic1")]}
    ),
    "The host lists nothing: nothing is known of its NICs.": Case({"gpu-1": [hears("nic0", "leaf-0/swp1")]}),
}
