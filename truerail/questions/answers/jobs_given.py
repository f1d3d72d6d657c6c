"""The jobs of a question: those given with it, a name and a node set each, else those that schedulers report."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from truerail.analysis.published import Published
from truerail.errors import NotFoundError, QueryError
from truerail.files.nodesets import fold
from truerail.model.columns import Codes, Mask
from truerail.model.names import printable
from truerail.questions.answers.subjects import hosts_asked, in_order
from truerail.views.cause_jobs import job_words
from truerail.views.view import View, view_of

MOST_JOBS = 1000
SEPARATOR = ";"


@dataclass(frozen=True, slots=True)
class GivenJob:
    """A job by name, and its planned hosts by code, ascending. `unplanned` are names that are not in the plan."""

    name: str
    hosts: Codes
    unplanned: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JobsThere:
    """The jobs, and whether these are all that run. `source`: `given` with the question, or `running`, as schedulers
    report them.
    """

    jobs: tuple[GivenJob, ...]
    known: bool
    source: str

    @property
    def unplanned(self) -> tuple[str, ...]:
        """Given nodes that the plan does not have. A scheduler may well have others than the plan's."""
        return tuple(dict.fromkeys(name for job in self.jobs for name in job.unplanned))


def jobs_there(publication: Published, text: str | None) -> JobsThere:
    """The jobs of `jobs_given`; without any those that schedulers report: all that run only where each of them answers.
    Raises QueryError and NotFoundError.
    """
    view = view_of(publication)
    given = jobs_given(view, text)
    known = publication.round.jobs
    if given or publication.hindsight is not None or not known.sources:
        return JobsThere(given, bool(given), "given")
    found = tuple(
        GivenJob(job_words(job), np.array(sorted(map(view.device, job.hosts)), dtype=np.int64))
        for job in known.running
        if job.hosts
    )
    return JobsThere(found, known.known and not known.away, "running")


def jobs_given(view: View, text: str | None) -> tuple[GivenJob, ...]:
    """The jobs of `name=gpu-[001-016]; other=gpu-[017-032]`; one without a name is named by its node set.

    Raises QueryError for an invalid node set, a name that occurs twice, or more than 1,000 jobs, and NotFoundError for
    a job without any planned host.
    """
    parts = parts_of(text)
    if len(parts) > MOST_JOBS:
        raise QueryError(f"{len(parts):,} jobs: at most {MOST_JOBS:,} can be given")
    found = tuple(_job(view, part) for part in parts)
    names = [job.name for job in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise QueryError(f"job {twice!r} is given twice: give each job its own name")
    return found


def parts_of(text: str | None) -> list[str]:
    """The texts of a list, without empty ones."""
    return [part.strip() for part in (text or "").split(SEPARATOR) if part.strip()]


def _job(view: View, text: str) -> GivenJob:
    name, _, nodes = text.rpartition("=")
    name, nodes = printable(name.strip() or nodes.strip(), 80), nodes.strip()
    try:
        hosts = hosts_asked(view, nodes)
    except (QueryError, NotFoundError) as error:
        raise type(error)(f"job {name!r}: {error.args[0]}") from error
    return GivenJob(name, hosts.codes, hosts.unplanned)


def busy(jobs: Iterable[GivenJob], devices: int) -> Mask:
    """Which devices run a job. Shape (devices,)."""
    found = np.zeros(devices, dtype=bool)
    for job in jobs:
        found[job.hosts] = True
    return found


def jobs_on(jobs: Iterable[GivenJob], hosts: Codes) -> Iterator[tuple[GivenJob, Codes]]:
    """The jobs that run on some of these hosts, each with those hosts."""
    for job in jobs:
        hit = np.intersect1d(job.hosts, hosts, assume_unique=False)
        if len(hit):
            yield job, hit


def folded(view: View, hosts: Codes) -> str:
    """Hosts as a node set in natural order; empty for none."""
    return fold(in_order(view, hosts.tolist())) if len(hosts) else ""


def shortened(hosts: str, most: int = 60) -> str:
    """A node set of at most about so many characters, cut between names."""
    return hosts if len(hosts) <= most else f"{hosts[: most - 3].rsplit(',', 1)[0]}, ..."
