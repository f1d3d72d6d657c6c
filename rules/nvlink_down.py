"""NVLinks of a host's GPUs are inactive.

## Why it matters
Inside a host GPUs exchange data over NVLink, and for a rail whose NIC is elsewhere NCCL hands data to the GPU on that
rail the same way (PXN). With links inactive a GPU is slower than its peers, and its rails look slow; with all of them
inactive PXN is gone, and traffic between rails crosses the spines, or finds no path in a rail-only fabric.

## How it is detected
`nvidia-smi nvlink -s`: a GPU has fewer active links than most GPUs of the fabric with as many links, three or more of
them. Where every GPU of a host lacks all of them, the fabric manager of its NVSwitches is the likely reason, and
the finding says so. Where no GPU of the fabric has an active link, the hosts have none in use: unknown.

Hosts that do not report NVLinks are not evaluated.

## What to do
All GPUs: `systemctl status nvidia-fabricmanager`, its version must be the driver's; then the host's kernel log (Xid
74). Single links: reset the GPU, or drain the host and replace the baseboard where they stay inactive.

## Decide
- `all NVLinks of all`: the fabric manager does not run, or failed. Restart it; drain the host first.
- `NVLinks active`: single links of a GPU. Reset the GPU; where it stays, a hardware fault.

## False positives
Hosts whose GPUs are in MIG mode, or of a model with fewer links in use: compare with hosts of the same model.
"""

from rules._examples import railed
from rules._links import majority
from truerail.analysis.cabling import ONE_END, evidence_of
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, rule
from truerail.model import CauseKind, NvLink, Severity
from truerail.model.columns import grouped, tally
from truerail.model.names import some

LEAST_PEERS = 3
"""GPUs of which more than half must agree, as for other comparisons with peers (NIC004)."""
_SHOWN = 4


@rule("NIC006", Severity.WARNING, [NvLink], cause=CauseKind.SLOW_HOST, first="where HOST")
def nvlink_down(round: Round) -> Findings:
    """Planned hosts with GPUs that have fewer active NVLinks than usual."""
    wiring, table = round.cabling, round.snapshot.table(NvLink)
    devices, device = wiring.index.devices, wiring.identity.devices_of(table).tolist()
    gpus = grouped(
        ((code, fact.gpu), row)
        for row, (code, fact) in enumerate(zip(device, table.rows, strict=True))
        if 0 <= code < devices.planned and devices.is_host(code)
    )
    active = {key: sum(table.rows[row].active for row in rows) for key, rows in gpus.items()}
    usual = _usual({key: (len(rows), active[key]) for key, rows in gpus.items()})
    if not any(usual.values()):
        raise InsufficientDataError(f"too few GPUs with active NVLinks to compare: {LEAST_PEERS} are needed")
    for code in sorted({code for code, _ in gpus}):
        of = {gpu: rows for (host, gpu), rows in sorted(gpus.items()) if host == code}
        low = {gpu: rows for gpu, rows in of.items() if active[code, gpu] < usual.get(len(rows), 0)}
        if not low:
            continue
        host = devices.names[code]
        dead = len(low) == len(of) and not any(active[code, gpu] for gpu in low)
        counts = [f"GPU{gpu} {active[code, gpu]} of {len(rows)}" for gpu, rows in low.items()]
        shown = some(counts, more=" and {} GPUs more")
        rows = [row for rows in low.values() for row in rows if not table.rows[row].active]
        yield nvlink_down.found(
            host,
            summary=f"On {host} all NVLinks of all {len(of)} GPUs are inactive"
            if dead
            else f"On {host} not all NVLinks active: {shown}",
            action=f"Check nvidia-fabricmanager on {host}."
            if dead
            else f"Reset the GPUs of {host}; replace the baseboard where links stay inactive.",
            confidence=ONE_END,
            evidence=tuple(evidence_of(round.snapshot, NvLink, row) for row in rows[:_SHOWN]),
        )


def _usual(gpus: dict[tuple[int, int], tuple[int, int]]) -> dict[int, int]:
    """By number of links, how many are active on most GPUs that have so many; none without a majority."""
    most = {links: majority(of, LEAST_PEERS) for links, of in tally(gpus.values()).items()}
    return {links: active for links, active in most.items() if active is not None}


PLAN = railed(3, port="p")


def _gpus(*active: int) -> list[NvLink]:
    """GPUs of 18 links, so many of them active."""
    return [
        NvLink(gpu, link, link < of, 26.5 if link < of else None) for gpu, of in enumerate(active) for link in range(18)
    ]


EXAMPLES = {
    "Two links of one GPU are inactive.": Case({"gpu-1": _gpus(18, 18), "gpu-2": _gpus(18, 16)}, "gpu-2"),
    "The fabric manager of a host does not run.": Case(
        {"gpu-1": _gpus(18, 18), "gpu-2": _gpus(18, 18), "gpu-3": _gpus(0, 0)}, "gpu-3"
    ),
    "Six GPUs of a host have lost a link each.": Case(
        {"gpu-1": _gpus(*[18] * 8), "gpu-2": _gpus(*[17] * 6, 18, 18)}, "gpu-2"
    ),
    # Quiet:
    "All links are active.": Case({"gpu-1": _gpus(18, 18), "gpu-2": _gpus(18, 18)}),
    "No GPU uses NVLink.": Case({"gpu-1": _gpus(0, 0), "gpu-2": _gpus(0, 0)}, unknown=True),
    "Too few GPUs to compare.": Case({"gpu-1": _gpus(18, 16)}, unknown=True),
    "A host that the plan does not have.": Case({"gpu-1": _gpus(18, 18, 18), "gpu-9": _gpus(2, 2)}),
}
