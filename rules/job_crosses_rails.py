"""Two ranks of a job are connected over NICs on different rails.

## Why it matters
On a rail-optimized fabric the NICs of one rail share leaves, and traffic between two rails climbs to the spine: it
shares uplinks with everything else, and collides there. On a fabric without a spine it has no way at all.

## How it is detected
Both ends of a connection print the NIC that they use in the job's log (`[send] via NET/IB/3`, `[receive] via
NET/IB/1`). Each is joined with the plan: index, RDMA device, planned port, and the rail of the leaf where its cable is
seen. Only connections of which the log has both ends count; `truerail nccl` also shows what follows by symmetry. A NIC
that another rank uses (PXN) has its own rail: PXN is how a connection stays on one. NICs on leaves that serve both
rails do not cross.

## What to do
The finding says why: a cable in the wrong place, `NCCL_CROSS_NIC`, hosts that number their NICs differently, or ranks
on GPUs of different rails. Without a reason compare the NICs that both hosts offer to NCCL.

## Decide
- `a cable is in another place`: follow the cause of that cable.
- `NCCL_CROSS_NIC`: the job lets its rings change rails. Set it to 0, unless the fabric is meant for it.
- `number their NICs differently`: `NCCL_IB_HCA` or the order of cards differs between the hosts.
- `ranks on different GPUs`: the ranks of the job are placed unequally on its hosts.
- `the log shows no reason`: compare the NICs that both hosts offer to NCCL (`NET/IB : Using`).

## False positives
`NCCL_CROSS_NIC=1` on purpose, on a fabric with enough uplinks. On dual-port ConnectX-7 and BlueField-3 NICs NCCL does
not keep to `NCCL_CROSS_NIC=0`.
"""

from rules._examples import Facts, hears, nccl_lists, railed
from rules._jobs import device_words, evidence, job_of, port_words, rail_words, unknown_nics
from truerail.analysis.nccl import Crossing, NcclJob
from truerail.analysis.rule import Case, Findings, Round, report_not_evaluated, rule
from truerail.model import CauseKind, Finding, Severity
from truerail.model.columns import grouped
from truerail.model.names import some
from truerail.model.nccl_facts import NcclHop, NcclSetting


@rule("JOB002", Severity.WARNING, [], cause=CauseKind.CONFIGURATION, first="where HOST")
def job_crosses_rails(round: Round) -> Findings:
    """Hosts that send to NICs on other rails."""
    job = job_of(round)
    for host, crossings in sorted(grouped((one.send.nic.host, one) for one in job.crossings).items()):
        yield _finding(round, job, host, crossings)
    report_not_evaluated(unknown_nics(job))


def _finding(round: Round, job: NcclJob, host: int, crossings: list[Crossing]) -> Finding:
    first, name = crossings[0], job.names(host)
    assert first.other is not None  # noqa: S101 - both ends are there
    reason = _reason(job, first)
    shown = [
        f"rank {one.send.hop.from_rank} to {one.send.hop.to_rank} from {rail_words(one.rails)} "
        f"to {rail_words(one.other_rails)}"
        for one in crossings
    ]
    channels = len({one.send.hop.channel for one in crossings})
    of = sum(send.nic.host == host for send, _ in job.pairs)
    return job_crosses_rails.found(
        name,
        summary=f"{name}: {len(crossings)} of {of} connections of the job cross rails, on {channels} channels: "
        f"{some(shown, more=', and {} more')}; {reason}",
        action=_action(reason),
        severity=Severity.WARNING if _has_spine(job, first) else Severity.CRITICAL,
        expected=rail_words(first.rails),
        observed=rail_words(first.other_rails),
        evidence=evidence(round, job, (first.send.hop, first.other.hop)),
        detail=(
            ("connections", len(crossings)),
            ("nics", tuple(sorted({port_words(job, one.send.nic.ports) for one in crossings}))),
            ("reason", reason),
        ),
    )


def _reason(job: NcclJob, crossing: Crossing) -> str:
    send, receive = crossing.send, crossing.other
    assert receive is not None  # noqa: S101 - both ends are there
    if send.nic.planned_rails & receive.nic.planned_rails:
        moved = send if send.nic.planned_rails != send.nic.rails else receive
        return f"a cable is in another place than planned: {port_words(job, moved.nic.ports)}"
    cross = job.values("CROSS_NIC")
    if cross - {"0"}:
        return f"NCCL_CROSS_NIC={'/'.join(sorted(cross))} lets rings change rails"
    if send.nic.index == receive.nic.index:
        return (
            f"the hosts number their NICs differently: index {send.nic.index} is {device_words(send)} here and "
            f"{device_words(receive)} on {job.names(receive.nic.host)}"
        )
    hop = send.hop
    if hop.from_gpu is not None and hop.to_gpu is not None and hop.from_gpu != hop.to_gpu and hop.proxy_rank is None:
        return f"they connect ranks on different GPUs, {hop.from_gpu} and {hop.to_gpu}"
    return "the log shows no reason"


def _action(reason: str) -> str:
    if reason.startswith("a cable"):
        return "Follow the cause of that cable; its moves are there."
    if reason.startswith("NCCL_CROSS_NIC"):
        return "Move no cable. Set NCCL_CROSS_NIC=0, unless the fabric is meant for crossing rails."
    return "Move no cable. Compare NCCL_IB_HCA and the order of NICs and GPUs on both hosts."


def _has_spine(job: NcclJob, crossing: Crossing) -> bool:
    index = job.wiring.index
    leaves = {index.plan.peer_of(index.spell(port)) for port in crossing.send.nic.ports}
    return any(leaf is not None and index.plan.uplinks_of(leaf.device) for leaf in leaves)


PLAN = railed(2, rails=2, nic="mlx5_", port="p")
_SPINE = f"{PLAN}\nleaf-0/u1 spine-1/p1\nleaf-1/u1 spine-1/p2"


def _job(send: int, receive: int, proxy: int | None = None) -> Facts:
    """Rank 0 on gpu-1 sends to rank 2 on gpu-2."""
    hop = NcclHop("gpu-1", 0, 0, 0, 2, "send", "IB", send, proxy, gdr=True)
    heard = hop._replace(host="gpu-2", direction="receive", nic=receive, proxy_rank=None)
    return {"gpu-1": [*nccl_lists("gpu-1"), hop], "gpu-2": [*nccl_lists("gpu-2"), heard]}


_CROSS_NIC = _job(0, 1)
_CROSS_NIC["gpu-1"] += [NcclSetting("gpu-1", "NCCL_CROSS_NIC", "1")]
_ONE_END = _job(0, 1)
_ONE_END["gpu-2"] = []

_OTHER_ORDER = _job(0, 0)
_OTHER_ORDER["gpu-2"][:2] = nccl_lists("gpu-2", (1, 0))
_OTHER_GPUS = {
    host: [one._replace(from_gpu="0", to_gpu="1") if isinstance(one, NcclHop) else one for one in facts]
    for host, facts in _job(0, 1).items()
}
_MOVED = _job(0, 0) | {f"leaf-{leaf}": [hears("p1", f"gpu-1/mlx5_{1 - leaf}")] for leaf in (0, 1)}

EXAMPLES = {
    "Two cables of a host are swapped.": Case(_MOVED, "gpu-1", plan=_SPINE),
    "One host numbers its NICs the other way round.": Case(_OTHER_ORDER, "gpu-1", plan=_SPINE),
    "The ranks are on GPUs of different rails.": Case(_OTHER_GPUS, "gpu-1", plan=_SPINE),
    "NCCL_CROSS_NIC lets a ring change rails.": Case(_CROSS_NIC, "gpu-1", plan=_SPINE),
    "A job crosses rails on a fabric without a spine.": Case(_job(0, 1), "gpu-1"),
    # Quiet:
    "Both ends are on one rail.": Case(_job(1, 1), plan=_SPINE),
    "PXN: rank 1 sends for rank 0, over the rail of the receiver.": Case(_job(1, 1, proxy=1), plan=_SPINE),
    "The log has one end only.": Case(_ONE_END, plan=_SPINE),
}
