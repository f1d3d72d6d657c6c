"""What the rules on running jobs share: the jobs, and the schedulers that do not answer."""

from collections.abc import Iterator

from truerail.analysis.jobs import Jobs, RunningJob
from truerail.analysis.round import Round
from truerail.analysis.rule import NotApplicableError
from truerail.model import NotEvaluated
from truerail.model.names import printable

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
        yield NotEvaluated(
            f"{source.name} does not answer ({printable(source.error, 120)}), its jobs are {left}",
            what="scheduler",
            count=1,
            of=len(jobs.sources),
            subjects=(source.name,),
            rest_evaluated=True,
        )


def subject_of(job: RunningJob, about: str) -> str:
    """The subject of a finding on a job: as long as the job runs, and one for each thing that it is about."""
    return f"{job.source}/{job.key}@{about}"


def words_of(job: RunningJob) -> str:
    """`job 1234 (llama)`."""
    named = job.name and job.name != job.key.partition("/")[2]
    return f"job {printable(job.key, 80)}{f' ({printable(job.name, 40)})' if named else ''}"


def listed(names: list[str]) -> str:
    """The first few names."""
    more = len(names) - MOST_NAMED
    return f"{', '.join(names[:MOST_NAMED])}{f' and {more} more' if more > 0 else ''}"
