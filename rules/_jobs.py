"""What the rules on jobs share: the jobs of schedulers, and what the logs of NCCL show."""

from collections.abc import Iterable, Iterator

from truerail.analysis.nccl import End, NcclJob
from truerail.analysis.rule import NotApplicableError, Round
from truerail.analysis.running_jobs import Jobs, RunningJob
from truerail.model import Evidence, Fact, NotEvaluated, Port
from truerail.model.names import printable, some

MOST_NAMED = 3


def jobs_of(round: Round) -> Jobs:
    """The running jobs. Raises NotApplicableError where no scheduler is asked."""
    if not round.jobs.sources:
        raise NotApplicableError
    return round.jobs


def away(jobs: Jobs) -> Iterator[NotEvaluated]:
    """The schedulers that do not answer: their jobs are those of before, or unknown."""
    for source in jobs.away:
        left = "unknown" if source.at is None else f"as of {source.at:%Y-%m-%d %H:%M} UTC"
        why = f"{source.name} does not answer ({printable(source.error, 120)}), its jobs are {left}"
        yield NotEvaluated(why, "scheduler", 1, len(jobs.sources), (source.name,), rest_evaluated=True)


def subject_of(job: RunningJob, about: str) -> str:
    """The subject of a finding on a job: as long as the job runs, and one for each thing that it is about."""
    return f"{job.source}/{job.key}@{about}"


def words_of(job: RunningJob) -> str:
    """`job 1234 (llama)`."""
    named = job.name and job.name != job.key.partition("/")[2]
    return f"job {printable(job.key, 80)}{f' ({printable(job.name, 40)})' if named else ''}"


def listed(names: list[str]) -> str:
    """The first few names."""
    return some(names, MOST_NAMED)


SHOWN = 4
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
            reason = f"the plan has no host {some(outside, more=', ...')}"
        why = f"the planned ports of {len(unknown)} of {len(job.used)} NICs that the job uses are unknown: {reason}"
        yield NotEvaluated(why, "NIC", len(unknown), len(job.used), tuple(names))
