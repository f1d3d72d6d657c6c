"""NCCL itself reports an error of a NIC: work that failed on the wire, or an event of the port.

## Why it matters
A completion with an error ends the connection, and with it the job, after it has hung for as long as the NIC retries.
An event says that the port or the device failed.

## How it is detected
In the job's log: `Got completion from peer ... with status=12` and `Got async event`, by host and device. 12 is a
packet that was never acknowledged: the peer, or the path to it, is away; 13 is a peer that posts no receives; 5 only
follows another error.

## What to do
Look at the port and the path between the two hosts at that time: link, flaps, loss, MTU, GID and route.

## Decide
- `status 12`: no acknowledgement. Check link and path in both directions (LNK003, LNK004, PRB005), and that the peer
  lives.
- `status 13`: the peer posts no receives: look at its process.
- `event`: the port or the device itself: look at the kernel's log, the cable, and the firmware.

## False positives
A job that was killed: its ranks lose each other.
"""

from collections import Counter
from collections.abc import Iterator

from rules._examples import railed
from rules._jobs import evidence, job_of, spelled
from truerail.analysis.rule import Case, Findings, Round, rule
from truerail.model import Severity
from truerail.model.columns import NONE
from truerail.model.names import printable, some
from truerail.model.nccl_facts import NcclTrouble

_STATUS = {4: "local protection error", 9: "invalid request", 10: "no access at the peer", 11: "error at the peer"}
_STATUS |= {12: "no acknowledgement", 13: "the peer posts no receives"}
"""`enum ibv_wc_status` of libibverbs (verbs.h)."""
_FLUSHED = 5
"""Work that was thrown away after another error: no finding of its own."""


@rule("JOB010", Severity.WARNING, [], first="where HOST")
def nccl_trouble(round: Round) -> Findings:
    """Devices of a job's hosts on which NCCL reports errors."""
    job = job_of(round)
    by_place: dict[str, list[NcclTrouble]] = {}
    for one in job.all(NcclTrouble):
        host = job.host_of.get(one.host, NONE)
        if host >= 0 and one.kind != "no device" and one.status != _FLUSHED:
            ports = job.nics.of(host, (one.device,)) if one.device else ()
            place = str(spelled(job, ports[0])) if ports else job.names(host)
            by_place.setdefault(place, []).append(one)
    for place, troubles in by_place.items():
        yield nccl_trouble.found(
            place,
            summary=f"NCCL reports on {place}: {'; '.join(_words(troubles))}",
            action=f"Look at the port and the path of {place} at that time: link, flaps, loss, MTU, GID, route.",
            confidence=0.8,
            evidence=evidence(round, job, troubles[:4]),
        )


def _words(troubles: list[NcclTrouble]) -> Iterator[str]:
    status = Counter(one.status for one in troubles if one.status is not None)
    for number in sorted(status):
        peers = sorted({printable(one.words, 60) for one in troubles if one.status == number})
        yield f"completion with status {number} ({_STATUS.get(number, 'error')}) from {some(peers)}"
    events = sorted({printable(one.words, 60) for one in troubles if one.kind == "event"})
    yield from (f"event {one}" for one in events)


PLAN = railed(2, nic="mlx5_", port="p")

EXAMPLES = {
    "A peer does not acknowledge.": Case(
        {"gpu-1": [NcclTrouble("gpu-1", "completion", "mlx5_0", 12, "10.0.0.2")]}, "gpu-1/mlx5_0"
    ),
    "A peer posts no receives.": Case(
        {"gpu-1": [NcclTrouble("gpu-1", "completion", "mlx5_0", 13, "10.0.0.2")]}, "gpu-1/mlx5_0"
    ),
    "A port fails.": Case({"gpu-2": [NcclTrouble("gpu-2", "event", None, None, "port error")]}, "gpu-2"),
    # Quiet:
    "Work was flushed after another error.": Case(
        {"gpu-1": [NcclTrouble("gpu-1", "completion", "mlx5_0", 5, "10.0.0.2")]}
    ),
}
