"""`job NODESET|ID|NAME`: which rails of its hosts are right, which are not, how NCCL reacts; also of an ended job."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from truerail.analysis.published import Published
from truerail.analysis.running_jobs import Jobs as KnownJobs
from truerail.analysis.running_jobs import RunningJob
from truerail.errors import NoJobError, NoJobQueryError, NotFoundError, QueryError
from truerail.files.nodesets import fold
from truerail.model.cause_kinds import CAUSE_KINDS, Harm
from truerail.model.columns import NONE, Codes, distinct
from truerail.model.history import CauseEvent, EventKind, RowRange
from truerail.model.job_record import JobRecord
from truerail.model.names import clauses, printable
from truerail.outputs.report_words import count
from truerail.questions.job_answer import (
    Doubts,
    Job,
    JobHost,
    JobRail,
    fault_words,
    first_action,
    headline,
    host_says,
    job_text,
    rail_says,
    verdict,
)
from truerail.questions.jobs import climbs, job_of, runs_of, since, time_words, unclear_above, unclear_words
from truerail.questions.jobs_answer import JobRun
from truerail.questions.pairs import count_pairs
from truerail.questions.past_publication import Past
from truerail.questions.question import Asked, Form, Kind, Parameter, Question
from truerail.questions.rail_status import RailStatus, Stand, rail_status_of
from truerail.questions.resolve import hosts_asked, in_order
from truerail.views.lines import cause_lines
from truerail.views.view import View, view_of

_MOST_NAMED = 5
MOST_HOSTS = 1000
"""Maximum number of faulty hosts listed one by one, worst first. `Job.rails` has all of them as node sets."""
WHOLE, DEGRADED, LOST, UNKNOWN = range(4)
UPLINK_RULES = ("CAP001", "LBL001", "LBL002", "LBL003")
"""Rules whose findings are about a switch's traffic on its uplinks."""
MOST_EVENTS = 10_000
"""Most changes of causes that are looked through."""
_MOST_RESOLVED = 3


@dataclass(frozen=True)
class Cells:
    """The state of each host of a job on each of its rails, shapes (cells,). `state` is one of the four above."""

    host: Codes
    rail: Codes
    state: Codes


def job(publication: Published, nodeset: str) -> Job:
    """The network status of a job on these hosts, worst first.

    Raises QueryError for an invalid node set or one with a switch, NotFoundError if none of the hosts is in the plan.
    Hosts that are not in the plan are named in the answer and not counted.
    """
    view, standing = view_of(publication), rail_status_of(publication.evaluated)
    asked = hosts_asked(view, nodeset)
    cables = standing.below.of_all(asked.codes.tolist())
    cells = cells_of(standing, cables)
    pairs = count_pairs(standing, cables)
    rails = _rails(view, cells)
    # keys of causes by the devices whose findings they explain
    affected_by: dict[int, dict[str, None]] = {}
    for place in _touching(view, standing, asked.codes, cables).tolist():
        if (key := view.sight.cause_of.get(view.findings.ids[place])) is not None:
            affected_by.setdefault(int(view.findings.device[place]), {})[key] = None
    worst = tuple(_worst(view, standing, cells, affected_by))
    affected = _affected(view, cables, asked.codes)
    touching = {key: 0 for keys in affected_by.values() for key in keys} | dict.fromkeys(affected, 0)
    # those that affect most of its hosts first, ties in order of impact
    lines = cause_lines(view, [view.sight.causes[key] for key in touching])
    lines = tuple(sorted(lines, key=lambda line: -affected.get(line.key, 0)))
    lost, degraded, unknown = (len(distinct(cells.host[cells.state == one])) for one in (LOST, DEGRADED, UNKNOWN))
    fault = fault_words(lines, affected, len(asked.codes), lost)
    hosts = tuple(in_order(view, asked.codes.tolist()))
    above = [] if fault or not climbs(standing, cables) else unclear_above(view)
    unclear = unclear_words(above)
    perhaps = f"Perhaps: {unclear} may be on their way, with unknown effect." if unclear else ""
    return Job(
        query=nodeset,
        hosts=hosts,
        not_in_plan=asked.unplanned,
        rails=rails,
        pairs=pairs,
        worst=worst,
        causes=lines,
        summary=f"{verdict(fault or perhaps, lines, len(asked.codes), publication.evaluation)} "
        f"{headline(len(asked.codes), asked.unplanned, (lost, degraded, unknown), len(rails), pairs)}",
        action=first_action(worst, lines or above, cut=pairs.cut > 0),
        without_effect=bool(lines) and not fault,
        unevaluated=", ".join(filter(None, (unclear, Doubts(publication.evaluation).about(hosts)))),
    )


def _affected(view: View, cables: Codes, hosts: Codes) -> dict[str, int]:
    """The number of the job's hosts that each cause affects, by its key; causes that affect none of them are left
    out.
    """
    own = np.zeros(len(view.index.a_device), dtype=bool)
    own[cables] = True
    wanted = set(hosts.tolist())
    found: dict[str, int] = {}
    for key, cause in view.sight.causes.items():
        of_cause = view.sight.affected[key]
        affected = set(view.index.a_device[of_cause[own[of_cause]]].tolist())
        if not cause.names_only:
            named = (view.device(subject) for subject in cause.subjects if CAUSE_KINDS[cause.kind].harm is Harm.STARVES)
            affected |= wanted.intersection(named)
        if affected:
            found[key] = len(affected)
    return found


def cells_of(standing: RailStatus, cables: Codes) -> Cells:
    """Host cables grouped by host and rail. A rail with a cable in unknown state is unknown, never right; it is
    degraded if some of its cables are known to be lost and another is known to work.
    """
    index = standing.index
    key, group = np.unique(index.a_device[cables] << 16 | (index.rail[cables] + 1), return_inverse=True)
    stand = standing.stand[cables]
    on, off, unknown = (np.bincount(group[stand == kind], minlength=len(key)) for kind in Stand)
    state = np.select([(on > 0) & (off > 0), unknown > 0, on > 0], [DEGRADED, UNKNOWN, WHOLE], LOST)
    return Cells(key >> 16, (key & 0xFFFF) - 1, state.astype(np.int64))


def _rails(view: View, cells: Cells) -> tuple[JobRail, ...]:
    """Every rail of the job: faulty ones first, by the number of affected hosts."""
    made = []
    for rail in distinct(cells.rail).tolist():
        on = cells.rail == rail
        hosts = {state: cells.host[on & (cells.state == state)].tolist() for state in range(4)}
        lost, degraded, unknown = (fold(in_order(view, hosts[state])) for state in (LOST, DEGRADED, UNKNOWN))
        summary = rail_says(int(np.count_nonzero(on)), len(hosts[WHOLE]), lost, degraded, unknown)
        named = None if rail == NONE else rail
        trouble = (-len(hosts[LOST]), -len(hosts[DEGRADED]), -len(hosts[UNKNOWN]), rail == NONE, rail)
        row = JobRail(named, int(np.count_nonzero(on)), len(hosts[WHOLE]), lost, unknown, summary, degraded)
        made.append((trouble, row))
    return tuple(row for _, row in sorted(made, key=lambda one: one[0]))


def _worst(view: View, standing: RailStatus, cells: Cells, keys: Mapping[int, Mapping[str, None]]) -> Iterator[JobHost]:
    """Hosts with faults, those with most rails lost first."""
    bad = np.flatnonzero(cells.state != WHOLE)
    rails: dict[int, dict[int, list[int]]] = {}
    columns = (column[bad].tolist() for column in (cells.host, cells.rail, cells.state))
    for host, rail, state in zip(*columns, strict=True):
        rails.setdefault(host, {}).setdefault(state, []).append(rail)
    rank = view.layout.rank

    def impact(host: int) -> tuple[int, ...]:
        of = rails[host]
        return (*(-len(of.get(state, ())) for state in (LOST, DEGRADED, UNKNOWN)), int(rank[host]))

    for host in sorted(rails, key=impact)[:MOST_HOSTS]:
        lost, degraded, unknown = (
            tuple(r for r in rails[host].get(s, ()) if r >= 0) for s in (LOST, DEGRADED, UNKNOWN)
        )
        summary = host_says(view, standing, host)
        name = view.index.devices.names[host]
        yield JobHost(name, lost, unknown, summary, tuple(keys.get(host, ())), degraded)


def _touching(view: View, standing: RailStatus, hosts: Codes, cables: Codes) -> Codes:
    """Indices of the findings that concern a job: on its hosts, their cables, its leaves as devices, and, if the job
    has a rail on several leaves, the uplinks of these.
    """
    index, findings = view.index, view.findings
    if not len(findings):
        return np.empty(0, dtype=np.int64)
    leaves = distinct(standing.end[cables])
    device = np.zeros(len(index.devices.names) + 1, dtype=bool)
    device[leaves[leaves >= 0]] = True
    cable = np.zeros(len(standing.stand) + 1, dtype=bool)
    crosses = climbs(standing, cables)
    if crosses:
        cable[:-1] = device[index.a_device] & ~index.from_host
    cable[cables] = True
    host = np.zeros_like(device)
    host[hosts] = True
    on_device = (findings.cable < 0) & (device | host)[findings.device]
    if not crosses:  # the balance and load of a leaf's uplinks do not affect a job whose traffic stays on the leaf
        on_device &= ~np.isin(findings.rule.astype(str), UPLINK_RULES)
    return np.flatnonzero(cable[findings.cable] | on_device | host[findings.device])


def job_asked(publication: Published, asked: str) -> Job:
    """The status of the job with this key, id or name, or of a job on these hosts. Raises NotFoundError and QueryError.

    What names hosts of the plan is a node set; only the rest is looked for among the jobs.
    """
    asked = asked.strip()
    try:
        return job(publication, asked)
    except (NotFoundError, QueryError) as error:
        if publication.hindsight is not None:
            raise
        known = publication.round.jobs
        found = known.named(asked)
        if not found:
            kind = NoJobError if isinstance(error, NotFoundError) else NoJobQueryError
            raise kind(f"{_no_job(known, asked)}, and {error.args[0]}") from error
    if len(found) > 1:
        several = len({one.source for one in found}) > 1
        meant = clauses([f"{f'{one.source}:' * several}{one.key} on {fold(one.hosts)}" for one in found], _MOST_NAMED)
        raise QueryError(f"{len(found):,} running jobs are meant by {printable(asked, 80)!r}: {meant}")
    return _of_run(publication, known, found[0], asked)


def _no_job(known: KnownJobs, asked: str) -> str:
    """What is known of jobs, for a name that is none."""
    if not known.sources:
        return "no scheduler is asked for jobs (docs/jobs.md)"
    away = "".join(f" ({since(one.name, one.at, one.error)})" for one in known.away)
    return f"no running job is {printable(asked, 80)!r}{away}"


def _of_run(publication: Published, known: KnownJobs, found: RunningJob, asked: str) -> Job:
    if not found.hosts:
        nodes = printable(fold(found.unplanned), 120)
        raise NotFoundError(f"job {found.key} runs on {nodes}, and the plan has none of these")
    answer = job(publication, fold(found.hosts))
    (run,) = runs_of(view_of(publication), rail_status_of(publication.evaluated), (found,), known.sources)
    strange = tuple(dict.fromkeys((*answer.not_in_plan, *found.unplanned)))
    return replace(answer, query=asked, run=run, not_in_plan=strange, summary=_first(run, answer))


def _first(run: JobRun, answer: Job) -> str:
    """The answer to "is the network slowing this job?", with what it cost so far."""
    stale = f" {run.scheduler} does not answer: the job is as of {time_words(run.as_of)}." if run.stale else ""
    if run.findings:
        return f"Yes: {'; '.join(run.findings)}. {answer.summary}{stale}"
    if not run.harm:
        unseen = f" {run.unseen[0].upper()}{run.unseen[1:]}." if run.unseen else ""
        return f"{answer.summary}{unseen}{stale}"
    begun = min((one.since for one in run.harm if one.since is not None), default=None)
    since_when = f" since {time_words(begun)}" if begun else ""
    hours = f", {run.gpu_hours:,.1f} GPU-hours so far" if run.gpu_hours is not None else "; its GPU-hours are unknown"
    return f"{answer.summary} Job {run.key} is affected{since_when}{hours}.{stale}"


def ended_job(query: str, asked: Asked, runs: Sequence[JobRecord], past: Callable[[datetime], Past]) -> Job:
    """The last of these runs, the first in order: its hosts, and the state of their rails when it ended. `past` is the
    evaluation of a time. Raises NotFoundError where the plan has none of its hosts, or nothing is known of that time.
    """
    run = runs[0]
    found = job_of(view_of(asked.publication), run)
    key = printable(run.key, 80)
    ended = run.ended_at
    nodes = printable(run.nodes, 200) or "no node"
    span = f"from {time_words(run.begun_at)} to {time_words(ended)}" if ended else f"since {time_words(run.begun_at)}"
    again = len({one.key for one in runs}) < len(runs)
    others = f" It ran {count(len(runs), 'time')}; this is the last." * again
    if not found.hosts:
        raise NotFoundError(f"job {key} ran {span} on {nodes}, and the plan has none of these")
    place = fold(found.hosts)
    try:
        then = past(min(ended, asked.now)) if ended else Past(asked.publication, asked.history, None)
    except QueryError as error:
        raise NotFoundError(
            f"job {key} ran {span} on {printable(place, 200)}; what was wrong then is not known: {error.args[0]}"
        ) from error
    answer = job(then.publication, place)
    view = view_of(then.publication)
    (line,) = runs_of(view, rail_status_of(then.publication.evaluated), (found,), (), {0: ended} if ended else {})
    when = "When it ended" if ended else "Now"
    hours = f" Job {key} lost {line.gpu_hours:,.1f} GPU-hours by it." if line.harm and line.gpu_hours else ""
    events = asked.history.cause_events(run.begun_at, ended or asked.now, page=RowRange(MOST_EVENTS))
    before = "".join(f" While it ran: {one}." for one in _resolved(view, found.hosts, events, run.begun_at))
    return replace(
        answer,
        query=query,
        run=line,
        not_in_plan=tuple(dict.fromkeys((*answer.not_in_plan, *found.unplanned))),
        summary=f"Job {key} ran {span} on {count(len(found.hosts), 'host')}.{others} {when}: "
        f"{answer.summary}{hours}{before}",
        action="" if ended else answer.action,
        as_of=then.as_of,
    )


def _resolved(view: View, hosts: Iterable[str], events: Iterable[CauseEvent], begun: datetime) -> Iterator[str]:
    """The causes on the job's hosts and cables that were resolved before it ended, as sentences."""
    devices, ports = _places(view, hosts)
    ended: dict[str, CauseEvent] = {}
    for event in events:
        of_job = any(one in ports or one in devices for one in event.subjects)
        if event.kind is EventKind.RESOLVED and event.happened_at >= begun and of_job:
            ended.setdefault(event.cause, event)
    listed = sorted(ended.values(), key=lambda one: one.happened_at, reverse=True)
    for event in listed[:_MOST_RESOLVED]:
        yield f"{printable(event.summary, 300)}, until {time_words(event.happened_at)}"
    if len(listed) > _MOST_RESOLVED:
        yield f"{count(len(listed) - _MOST_RESOLVED, 'more cause')} that had been resolved"


def _places(view: View, hosts: Iterable[str]) -> tuple[set[str], set[str]]:
    """The hosts and the leaves of a job, and the planned ports at both ends of its cables."""
    index, cables = view.index, view.index.plan.cables
    codes = [view.device(name) for name in hosts]
    mine = [cables[place] for place in np.flatnonzero(np.isin(index.a_device, codes)).tolist()]
    devices = {index.devices.names[code] for code in codes} | {cable.b.device for cable in mine}
    return devices, {str(end) for cable in mine for end in (cable.a, cable.b)}


def _good(answer: Job) -> bool | None:
    if any(host.lost or host.degraded for host in answer.worst) or answer.pairs.cut or answer.pairs.rerouted:
        return False
    if (answer.causes and not answer.without_effect) or (answer.run is not None and answer.run.affected):
        return False
    return None if answer.worst or answer.pairs.unknown or answer.not_in_plan or answer.unevaluated else True


QUESTION = Question(
    "job",
    Job,
    (
        Parameter(
            "nodes",
            help="A job's id or name: 1234, 324_5, llama, ml/llama; or its hosts: 'gpu-[001-064]'.",
            kind=Kind.NODES,
            metavar="job|nodeset",
            label="Job or hosts",
            example="1234, or gpu-[001-064]",
        ),
    ),
    lambda asked, given: job_asked(asked.publication, given["nodes"]),
    "Whether the network slows a job: which rails of its hosts are connected, which are not, and how NCCL reacts.",
    good=_good,
    text=job_text,
    form=Form("Is the network slowing this job?", "Check job"),
)
