"""When work can be done: maintenance windows, announced or given, and jobs, given or reported by schedulers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from truerail.analysis.published import Published
from truerail.errors import NotFoundError, QueryError
from truerail.files.nodesets import fold
from truerail.model.columns import Codes, Mask
from truerail.model.history import History, MaintenanceWindow
from truerail.model.names import printable
from truerail.questions.moments import end_of
from truerail.questions.resolve import hosts_asked, in_order, scope_of
from truerail.views.cause_jobs import job_words
from truerail.views.device import devices_covered
from truerail.views.lines import journal_or
from truerail.views.view import View, view_of

MOST_WINDOWS = 200
WINDOW = "write FROM/UNTIL or WHAT=FROM/UNTIL, such as 'pod p1=tomorrow 22:00/4h'"
MOST_JOBS = 1000
SEPARATOR = ";"


@dataclass(frozen=True, slots=True)
class Window:
    """Time in which no job needs some cables. `scope` is `all`, `device`, `rail`, `pod` or `nodes`; `cables` has shape
    (cables,): as for mutes, a cable counts if either planned end is covered.
    """

    scope: str
    what: str
    starts: datetime
    ends: datetime
    cables: Mask
    announced: bool = False
    reason: str = ""

    @property
    def name(self) -> str:
        """`leaf-3 from 2026-11-20 22:00`."""
        return f"{self.target} from {self.starts:%Y-%m-%d %H:%M}"

    @property
    def target(self) -> str:
        """`leaf-3`, `rail 3`, `pod p1`, `the whole fabric`."""
        if self.scope == "all":
            return "the whole fabric"
        return f"{self.scope} {self.what}" if self.scope in ("rail", "pod") else self.what


def windows_given(view: View, text: str | None, now: datetime) -> tuple[Window, ...]:
    """The windows of `tomorrow 22:00/4h; pod p1=22:00/02:00`, in order of their start. A duration after the slash
    counts from the start. Raises QueryError and NotFoundError with the value.
    """
    parts = parts_of(text)
    if len(parts) > MOST_WINDOWS:
        raise QueryError(f"{len(parts):,} windows: at most {MOST_WINDOWS:,} can be given")
    return tuple(sorted((_given(view, part, now) for part in parts), key=lambda one: one.starts))


def _given(view: View, text: str, now: datetime) -> Window:
    what, _, times = text.rpartition("=")
    start, slash, until = times.partition("/")
    try:
        if not slash:
            raise QueryError(f"it has no end: {WINDOW}")
        starts = now.astimezone(UTC) if start.strip().lower() == "now" else end_of(start, now)
        ends = end_of(until, starts)
        scope, name = scope_of(view, what.strip()) if what.strip() else ("all", "")
    except (QueryError, NotFoundError) as error:
        raise type(error)(f"window {printable(text, 80)!r}: {error.args[0]}") from error
    if ends <= starts:
        raise QueryError(f"window {printable(text, 80)!r} ends before it starts: {WINDOW}")
    return Window(scope, name, starts, ends, covered(view, scope, name))


def windows_announced(view: View, history: History, now: datetime) -> tuple[Window, ...] | None:
    """The windows of the journal that are open at `now` or later, in order of their start; None if the journal cannot
    be read.
    """
    known = journal_or(history.windows, None)
    if known is None:
        return None
    coming = (one for one in known if min(one.ends, one.ended_at or one.ends) > now)
    return tuple(sorted(_announced(view, coming, now), key=lambda one: one.starts))[:MOST_WINDOWS]


def _announced(view: View, windows: Iterable[MaintenanceWindow], now: datetime) -> Iterator[Window]:
    for one in windows:
        cables = covered(view, one.scope, one.what)
        ends = min(one.ends, one.ended_at or one.ends)
        what, reason = printable(one.what, 255), printable(one.reason, 200)
        yield Window(one.scope, what, max(one.starts, now), ends, cables, announced=True, reason=reason)


def covered(view: View, scope: str, what: str) -> Mask:
    """The cables in a scope, shape (cables,). A device that the plan no longer has covers none."""
    index = view.index
    if scope == "all":
        return np.ones(len(index.rail), dtype=bool)
    if scope == "rail":
        return np.asarray(index.from_host & (index.rail == int(what)), dtype=bool)
    known = devices_covered(view, scope, what)
    return np.asarray(known[index.a_device] | known[index.b_device], dtype=bool)


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
    running = ((job_words(job), sorted(map(view.device, job.hosts))) for job in known.running if job.hosts)
    found = tuple(GivenJob(name, np.array(hosts, dtype=np.int64)) for name, hosts in running)
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
