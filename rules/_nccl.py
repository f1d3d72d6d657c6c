"""What the rules on NCCL share: the job, the words for its hosts and ports, its lines as evidence."""

from collections.abc import Iterable, Iterator

from truerail.analysis.nccl import End, NcclJob
from truerail.analysis.round import Round
from truerail.analysis.rule import NotApplicableError
from truerail.model import Evidence, Fact, NotEvaluated, Port

SHOWN = 4
LOG = "nccl_log"
MAJORITY = 2
"""One of so many, or more, is no longer a minority."""


def job_of(round: Round) -> NcclJob:
    """What the logs of jobs show. Raises NotApplicableError without any: no job was asked about."""
    if round.nccl is None:
        raise NotApplicableError
    return round.nccl


def evidence(round: Round, job: NcclJob, facts: Iterable[Fact]) -> tuple[Evidence, ...]:
    """Lines of the log."""
    return tuple(_evidence(round, job, facts))


def _evidence(round: Round, job: NcclJob, facts: Iterable[Fact]) -> Iterator[Evidence]:
    for fact in facts:
        reading = round.snapshot.readings[job.reading_of[getattr(fact, "host", None)]]
        yield Evidence(reading.device, reading.collector, reading.at, fact)


def port_words(job: NcclJob, ports: Iterable[int]) -> str:
    """`gpu-001/mlx5_0`, or several joined by `+`."""
    return "+".join(str(spelled(job, port)) for port in ports)


def spelled(job: NcclJob, port: int) -> Port:
    """A port in the plan's spelling."""
    return job.wiring.index.spell(port)


def rail_words(rails: Iterable[int]) -> str:
    """`rail 3`, or `rails 2/3` of fused devices."""
    found = sorted(rails)
    return f"rail{'s' if len(found) > 1 else ''} {'/'.join(map(str, found))}"


def device_words(end: End) -> str:
    """`mlx5_0`, or the device's index."""
    return "+".join(end.nic.devices) or f"device {end.nic.index}"


def unknown_nics(job: NcclJob) -> Iterator[NotEvaluated]:
    """The NICs whose planned port is unknown, if there are any."""
    unknown = job.unknown_nics
    if unknown:
        outside = sorted({str(host) for host, code in job.host_of.items() if code < 0 and host is not None})
        names = sorted({job.names(nic.host) for nic in unknown if nic.host >= 0})
        reason = "the log does not list them, or the RDMA devices of these hosts were not read"
        if outside and not names:
            reason = f"the plan has no host {', '.join(outside[:SHOWN])}{', ...' if len(outside) > SHOWN else ''}"
        yield NotEvaluated(
            f"the planned ports of {len(unknown)} of {len(job.used)} NICs that the job uses are unknown: {reason}",
            what="NIC",
            count=len(unknown),
            of=len(job.used),
            subjects=tuple(names),
        )
