"""The RDMA port of a planned NIC is not active.

## Why it matters
NCCL uses active RDMA ports only. A port in `DOWN`, `INIT` or `ARMED` is left out: the job falls back to another rail
or to TCP, or stops with `no usable HCA`. Link lights and LLDP may look healthy meanwhile.

## How it is detected
`rdma link` (or ibstat, ibv_devinfo, ibdev2netdev) shows a state other than `ACTIVE`. Info where the port is switched
off by its operator (`ip link set down`; on InfiniBand the physical state `DISABLED`), or the port of the switch that it
belongs to: that is intended. On RoCE most drivers report `DISABLED` for every port without carrier. An EFA port is
always `ACTIVE`: this does not apply to it. The device of a bond is `ACTIVE` while one member has carrier: a member
without is CAB003, by its own interface; where the members were not read, the answer is "unknown".

## What to do
Physical state `POLLING` or `DISABLED`: there is no signal; see CAB003. `LINK_UP` with `INIT` on InfiniBand: no subnet
manager reaches the port (`sminfo`). `LINK_UP` with `DOWN` on Ethernet: the netdev is down or in another namespace
(`ip link`, `rdma dev`).

## Decide
- `is INIT`: there is link, and no subnet manager (InfiniBand) or no netdev (RoCE) brings the port up. `sminfo`; `ip
  link`, `rdma dev`.
- `POLLING`, `DISABLED`: there is no signal. Go on with CAB003.
- `switched off`: by its operator. Ask who before switching it on.

## False positives
A host that boots: the port is not active until its driver and, on InfiniBand, the subnet manager have finished.
"""

from functools import partial

import numpy as np

from rules._examples import finds_nic, rdma, switched_off
from rules._links import blind_bonds
from rules._places import places
from truerail.analysis.cabling import ONE_END, Why, evidence_of
from truerail.analysis.rule import Case, Findings, Round, report_not_evaluated, rule
from truerail.model import NetLink, Plan, Port, RdmaLink, Severity, Transport
from truerail.model.names import printable


@rule("NIC002", Severity.WARNING, [RdmaLink], transports=[Transport.ROCE, Transport.INFINIBAND])
def rdma_port_down(round: Round) -> Findings:
    """Planned NICs whose RDMA port is asked to be in another state than `ACTIVE`."""
    wiring = round.cabling
    index, states = wiring.index, wiring.states
    inactive = np.flatnonzero(index.from_host & (states.rdma_active[index.a] == 0))
    meant = wiring.why[inactive] == Why.DISABLED  # by the operator of either end
    off_here = states.disabled(index.a[inactive])
    for cable, off, here in zip(inactive.tolist(), off_here | meant, off_here, strict=True):
        port = index.a_port(cable)
        reported = evidence_of(round.snapshot, RdmaLink, int(states.rdma_row[index.a[cable]]))
        link = round.snapshot.table(RdmaLink).rows[int(states.rdma_row[index.a[cable]])]
        note = "" if not off else ", switched off" if here else ", as its port of the switch is switched off"
        state, physical = (printable(text or "not reported", 40) for text in (link.state, link.physical_state))
        yield rdma_port_down.found(
            port,
            severity=Severity.INFO if off else Severity.WARNING,
            summary=f"{places(round).subject(cable)}: RDMA port {printable(link.device, 64)}/{link.port} "
            f"is {state}, physical state {physical}{note}",
            action=_do(round.plan, link, index.ports.port(int(index.a[cable]))),
            rail=round.plan.cables[cable].rail,
            confidence=ONE_END,
            evidence=(reported,),
            detail=(("state", state), ("physical_state", physical)),
        )
    report_not_evaluated(blind_bonds(wiring))


def _do(plan: Plan, link: RdmaLink, port: Port) -> str:
    if plan.transport is not Transport.INFINIBAND:
        return f"On {port.device}, compare `rdma link` with `ip link show {port.name}`; without signal see CAB003."
    if link.physical_state == "LINK_UP" or link.state in ("INIT", "ARMED"):
        return f"No subnet manager has set {port} up: run `sminfo` on {port.device}, and check that one runs."
    return f"There is no signal at {port}: see CAB003. `ibstat {printable(link.device, 64)}` shows more."


PLAN = "gpu-1/nic0 leaf-0/swp1 rail=0"
_infiniband = partial(Case, plan="gpu-1/mlx5_0 leaf-0/1 rail=0", finds="gpu-1/mlx5_0", transport=Transport.INFINIBAND)

EXAMPLES = {
    "The link is up, and no subnet manager of the InfiniBand fabric has set it up.": _infiniband(
        {"gpu-1": [RdmaLink("mlx5_0", 1, "INIT", "LINK_UP", link_layer="InfiniBand")]}
    ),
    "There is no signal on an InfiniBand port.": _infiniband(
        {"gpu-1": [RdmaLink("mlx5_0", 1, "DOWN", "POLLING", link_layer="InfiniBand")]}
    ),
    "Link is up, the RDMA port is not active.": finds_nic(
        {"gpu-1": [rdma("INIT", "LINK_UP"), NetLink("nic0", operstate="UP", flags=("UP",))]}
    ),
    "The port is switched off by its operator; the physical state is not reported.": finds_nic(
        {"gpu-1": [rdma("DOWN", None), NetLink("nic0", flags=("BROADCAST",))]}
    ),
    "The leaf's port is switched off by its operator: the NIC has no signal.": finds_nic(
        {
            "gpu-1": [rdma("DOWN", "DISABLED"), NetLink("nic0", operstate="DOWN", flags=("UP",))],
            "leaf-0": [switched_off("swp1")],
        }
    ),
    # Quiet:
    "The planned NIC is active; a management NIC that the plan does not have may be down.": Case(
        {"gpu-1": [rdma(), RdmaLink("mlx5_9", 1, "DOWN", "DISABLED", "eno2")]}
    ),
    "The state is not reported, which is not a state.": Case({"gpu-1": [rdma(None, None)]}),
}
