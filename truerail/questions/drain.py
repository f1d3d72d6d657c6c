"""`drain NAME`: what ends while something is out of service, what is left, and how it is done.

As in `blast`, the actual position goes before the plan. A connection is a host's rail: it ends if no cable of that rail
is left, is kept if the cables left are members of the same bond (RoCE LAG: one RDMA device for both ports, whose queue
pairs the firmware moves to the port with link; Linux drivers/net/ethernet/mellanox/mlx5/core/lag), and is unknown if
another plane is left: NCCL does not mix planes (rule CAB008), other libraries may.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from shlex import quote

import numpy as np

from truerail.errors import QueryError
from truerail.files.nodesets import fold
from truerail.model.columns import Codes, distinct
from truerail.model.names import printable, some
from truerail.outputs.report_words import as_sentence, count
from truerail.questions.blast import Target, blast, hosts_below, target_of, weights_of
from truerail.questions.blast_answer import named
from truerail.questions.drain_answer import ENDS, SLOWER, Drain, DrainJob, drain_text
from truerail.questions.drain_lost import (
    Cells,
    Fate,
    cells_of,
    drain_hosts,
    faults_of,
    jobs_of,
    other_work,
    switches_of,
)
from truerail.questions.moments import end_of
from truerail.questions.question import RUNNING_JOBS, Asked, Form, Journal, Option, Parameter, Question
from truerail.questions.rail_status import RailStatus, rail_status_of
from truerail.questions.resolve import ResolvedTarget, rail_words, recognise, scope_of
from truerail.questions.working_time import folded, jobs_there, shortened, windows_announced
from truerail.views.view import View, view_of

RETRY = (
    "An RDMA connection without a path ends when its retries are used up: with NCCL's defaults after 34 s at the least "
    "(NCCL_IB_TIMEOUT=20, NCCL_IB_RETRY_CNT=7; 9 s before NCCL 2.23)"
)
"""4.096 us x 2^timeout for each of 8 attempts (InfiniBand specification, local ACK timeout; the hardware may wait up to
four times as long); the defaults are those of NCCL's guide, environment variables.
"""
MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a drain does: its answer without words. `impact` is the summary of `blast`, `below` the affected hosts as a
    node set.
    """

    answer: Drain
    impact: str
    below: str
    cells: Cells
    jobs_source: str

    @property
    def hit(self) -> tuple[DrainJob, ...]:
        """Jobs that lose a connection, or may lose one."""
        return tuple(job for job in self.answer.jobs if job.effect != SLOWER)


def rdma(one: Outcome) -> tuple[bool | None, str]:
    """Whether RDMA retries bridge it, why, and what is assumed. None: unknown."""
    if one.answer.down_now:
        return True, "It is down: no connection runs over it."
    if ends := one.cells.number(Fate.ENDS):
        return False, f"{_pairs(ends)} {'loses' if ends == 1 else 'lose'} the only path. {RETRY}."
    # without an uplink afterwards that works, or may work
    if cut := [switch.switch for switch in one.answer.switches if switch.now and switch.left + switch.unknown == 0]:
        why = f"{fold(cut)} would have no uplink: connections between leaves end, those within a leaf stay. {RETRY}."
        return False, why
    if one.cells.number(Fate.REDUCED, Fate.UNKNOWN):
        return None, _unknown(one.cells)
    if unsure := [switch.switch for switch in one.answer.switches if not switch.left and switch.unknown]:
        return None, f"Whether {fold(unsure)} keeps an uplink is unknown: no uplink that is left could be read."
    return True, _survives(one)


def _pairs(number: int) -> str:
    return f"{number:,} {'pair' if number == 1 else 'pairs'} of host and rail"


def _unknown(cells: Cells) -> str:
    words = []
    if reduced := cells.number(Fate.REDUCED):
        words.append(
            f"{_pairs(reduced)} {'keeps' if reduced == 1 else 'keep'} another plane: connections end "
            "unless NIC or library moves them there, which no device reports (NCCL does not mix planes)."
        )
    if unknown := cells.number(Fate.UNKNOWN):
        words.append(f"The cables of {_pairs(unknown)} could not be read.")
    return " ".join((*words, f"{RETRY}."))


def _survives(one: Outcome) -> str:
    if kept := one.cells.number(Fate.KEPT):
        return (
            f"{_pairs(kept)} {'moves' if kept == 1 else 'move'} to the other port of the "
            "bond (RoCE LAG): assumed to take less time than the retries, and both ports to be in the bond on the "
            "switches too."
        )
    if one.answer.switches:
        return (
            "Packets in flight are lost and resent over the other uplinks: assumed that routing converges before the "
            "retries are used up, as it does within seconds where the routes are withdrawn first."
        )
    return "No connection of any host runs over it."


def can_drain(one: Outcome, survives: bool | None) -> bool | None:
    """Whether no running job loses a connection; None if that is unknown."""
    if one.answer.down_now:
        return True
    if not one.answer.jobs_known:
        return True if survives else None
    if any(job.effect == ENDS for job in one.answer.jobs):
        return False
    return None if one.hit else True


def summary(one: Outcome, survives: bool | None) -> str:
    """The answer first, then what is lost."""
    if one.answer.down_now:
        return f"Yes: {one.impact}"
    return " ".join((_answer(one, survives), one.impact, *_compound(one)))


def _answer(one: Outcome, survives: bool | None) -> str:
    name = one.answer.name
    can = can_drain(one, survives)
    if can and not one.answer.jobs_known:
        return f"Yes: {name} can be taken out of service, no connection ends."
    if can:
        jobs = len(one.answer.jobs)
        slower = f" {count(jobs, 'job')} {'keep' if jobs > 1 else 'keeps'} less bandwidth." * bool(jobs)
        return f"Yes: no {one.jobs_source} job loses a connection.{slower}"
    if can is None and not one.answer.jobs_known:
        may = "ends" if survives is False else "may end"
        return f"Only without jobs, and which jobs run is unknown: what runs on {shortened(one.below)} {may}."
    verb = {True: "uses", False: "use"}[len(one.hit) == 1]
    return f"{'Not now' if can is False else 'Unknown'}: {_jobs(one.hit)} {verb} it."


def _jobs(jobs: Sequence[DrainJob]) -> str:
    names = [f"{job.name} on {count(job.hosts_affected, 'host')}" for job in jobs]
    return f"{count(len(jobs), 'job')} ({some(names, MOST_NAMED)})"


def _compound(one: Outcome) -> Iterator[str]:
    """Those who already have a fault on what is left."""
    both = [host for host in one.answer.hosts if host.already_lost and host.lost]
    if both:
        rails = rail_words({rail for host in both for rail in host.already_lost})
        hosts = named([host.host for host in both])
        verb = "loses" if len(both) == 1 else "lose"
        yield f"{hosts} {verb} both: what is drained, and {rails}, lost already."
    short = [switch for switch in one.answer.switches if switch.now < switch.planned]
    if short:
        least = short[0]
        yield (
            f"{count(len(short), 'switch', 'switches')} below {'has' if len(short) == 1 else 'have'} lost uplinks "
            f"already: {least.switch} would keep {least.left} of {least.planned}."
        )


def steps(one: Outcome, survives: bool | None) -> tuple[str, ...]:
    """What to do, in order."""
    if one.answer.down_now:
        return ("It is down: there is nothing to drain. Repair it.",)
    return tuple(as_sentence(step) for step in _steps(one, survives))


def _steps(one: Outcome, survives: bool | None) -> Iterator[str]:
    for fault in one.answer.faults[:MOST_NAMED]:
        who = " and ".join(filter(None, (fault.hosts, fault.switches)))
        yield f"Repair the {fault.kind} {fault.key} first: {shortened(who)} would have that fault and the drain"
    for work in one.answer.other_work[:MOST_NAMED]:
        who = " and ".join(filter(None, (work.hosts, work.switches)))
        until = f"{work.starts:%Y-%m-%d %H:%M} to {work.ends:%H:%M} UTC"
        yield f"Not together with the maintenance of {work.what}, {until}: it affects {shortened(who)} too"
    yield "Announce the maintenance"
    yield from _before(one, survives)
    if one.answer.switches:
        yield f"Withdraw its routes, and wait until truerail counters {one.answer.name} shows no traffic"
    yield f"Take {one.answer.name} out of service"
    if one.answer.hosts or one.answer.switches:
        yield "Take down nothing else of the affected hosts and switches until it is back"
    yield "Afterwards: truerail status shows what is not as before; then let jobs start"


def _before(one: Outcome, survives: bool | None) -> Iterator[str]:
    if survives:
        return
    who = shortened(one.below)
    yield f"Drain {who} in the scheduler, so that no new job starts there"
    if not one.answer.jobs_known:
        yield f"End or checkpoint the jobs on {who}: which ones run is unknown, --job NAME=NODES gives them"
    elif one.hit:
        yield f"End or checkpoint {_jobs(one.hit)}"


def announcement(one: Outcome, survives: bool | None, because: str) -> str:
    """The maintenance in words, for people."""
    why = f": {_line(because)}" if because.strip() else ""
    starts, ends = one.answer.starts, one.answer.ends
    until = f"{ends:%H:%M}" if ends.date() == starts.date() else f"{ends:%Y-%m-%d %H:%M}"
    parts = [f"Maintenance of {one.answer.name}, {starts:%Y-%m-%d %H:%M} to {until} UTC{why}.", *_affected(one)]
    if not survives:
        end = "may end" if survives is None else "end"
        parts.append(f"RDMA connections over it {end}: end or checkpoint jobs on these hosts before it begins.")
    elif one.answer.switches:
        parts.append("No connection ends; less bandwidth is left between leaves.")
    if one.hit:
        parts.append(f"Jobs: {', '.join(job.name for job in one.hit)}.")
    return " ".join(parts)


def _affected(one: Outcome) -> Iterator[str]:
    if one.answer.hosts:
        gpus = sum(len(host.gpus) for host in one.answer.hosts)
        rails = rail_words({rail for host in one.answer.hosts for rail in (*host.lost, *host.reduced)})
        yield f"Affected: {one.below}, {rails or 'no rail'}, {count(gpus, 'GPU')} without their rail."
        least = min(host.share_left for host in one.answer.hosts)
        share = Fraction(least).limit_denominator(100)
        yield f"At least {share} of each host's bandwidth is left." if least else "No bandwidth may be left to a host."
    elif one.answer.switches:
        least_up = min(switch.left / switch.planned for switch in one.answer.switches)
        share = Fraction(least_up).limit_denominator(100)
        below = count(len(one.answer.switches), "switch", "switches")
        yield f"Affected: {below} below, which keep at least {share} of the planned uplinks."
    else:
        yield "No host is affected."


def command(
    view: View, given: tuple[str, str, str, str], target: ResolvedTarget, starts: datetime, ends: datetime
) -> str:
    """The command that announces it, ready for a shell; `given` are what, start, until and reason in the user's words.
    A port has no maintenance, so its device is announced.
    """
    of, start, until, reason = given
    try:
        scope, what = scope_of(view, of)
    except QueryError:
        if not view.is_planned(target.device):
            return ""
        scope, what = "device", view.index.devices.names[target.device]
    whole = f"{scope} {what}" if scope in ("rail", "pod") else what
    times = f"--until {quote(until)}"
    if start.lower() != "now":
        times = f"--from {starts:%Y-%m-%dT%H:%MZ} --until {ends:%Y-%m-%dT%H:%MZ}"
    because = _line(reason) or _line(f"drain of {target.name}")
    return f"truerail maintenance {quote(whole)} {times} --because {quote(because)}"


def _line(text: str) -> str:
    """A reason on one line."""
    return printable(" ".join(text.split()), 200)


def drain(
    asked: Asked,
    of: str,
    job: str | None = None,
    start: str | None = None,
    until: str | None = None,
    because: str | None = None,
) -> Drain:
    """What a drain does. Raises NotFoundError for an unknown name or a job without a planned host, QueryError for an
    invalid node set or time.
    """
    publication = asked.publication
    view, standing = view_of(publication), rail_status_of(publication.evaluated)
    start, until = (start or "now").strip(), (until or "2h").strip()
    starts, ends = _times(start, until, asked.now)
    there = jobs_there(publication, job)
    target, meant = target_of(view, standing, of), recognise(view, of)
    impact = blast(publication, of)
    cells = cells_of(view, standing, target)
    hosts = drain_hosts(view, standing, target, cells)
    switches = switches_of(view, standing, target, {*meant.devices, meant.device})
    below = distinct(cells.host[cells.hit]) if len(target.host_cables) else hosts_below(standing, target)
    windows = windows_announced(view, asked.history, asked.now)
    answer = Drain(
        query=of,
        matched_type=impact.matched_type,
        name=meant.name,
        down_now=impact.down_now,
        can_drain_now=None,
        hosts=hosts,
        hosts_affected=len(below),
        gpus_affected=impact.gpus_affected,
        rails=impact.rails,
        share_left=_share_left(standing, target, below),
        switches=switches,
        uplink_share_left=min((one.left / one.planned for one in switches if one.planned), default=None),
        pairs_cut=impact.pairs_cut,
        rdma_survives=None,
        rdma="",
        connections_lost=cells.number(Fate.ENDS),
        connections_kept=cells.number(Fate.KEPT),
        connections_unknown=cells.number(Fate.REDUCED, Fate.UNKNOWN),
        jobs_known=there.known,
        jobs=jobs_of(view, there.jobs, cells, below, switches, impact.matched_type),
        not_in_plan=there.unplanned,
        faults=faults_of(view, target, below, switches),
        other_work=tuple(other_work(view, windows or (), target, below, switches, (starts, ends))),
        other_work_known=windows is not None,
        steps=(),
        starts=starts,
        ends=ends,
        announcement="",
        command="" if impact.down_now else command(view, (of, start, until, because or ""), meant, starts, ends),
        summary="",
        action="",
    )
    outcome = Outcome(answer, impact.summary, folded(view, below), cells, there.source)
    survives, why = rdma(outcome)
    done = steps(outcome, survives)
    return replace(
        answer,
        can_drain_now=can_drain(outcome, survives),
        rdma_survives=survives,
        rdma=why,
        steps=done,
        announcement=announcement(outcome, survives, because or ""),
        summary=summary(outcome, survives),
        action=done[0],
    )


def _times(start: str, until: str, now: datetime) -> tuple[datetime, datetime]:
    starts = now.astimezone(UTC) if start.lower() == "now" else end_of(start, now)
    ends = end_of(until, starts)
    if ends <= starts:
        raise QueryError(f"until {until!r}: it ends ({ends:%Y-%m-%d %H:%M}) before it begins ({starts:%H:%M})")
    return starts, ends


def _share_left(standing: RailStatus, target: Target, below: Codes) -> float | None:
    """The share of the affected hosts' planned bandwidth that is known to work afterwards; None without hosts that
    lose NICs.
    """
    if not len(target.host_cables) or not len(below):
        return None
    planned = standing.below.of_all(below.tolist())
    left = np.setdiff1d(planned[standing.stand[planned] == 0], target.host_cables)
    return float(weights_of(standing, left).sum() / weights_of(standing, planned).sum())


QUESTION = Question(
    "drain",
    Drain,
    (
        Parameter(
            "of",
            help="What to take out of service: leaf-3, gpu-012, 'rail 3', 'pod p1', spine-1, gpu-012/mlx5_3.",
            label="Switch, host, rail, pod or port",
            example="leaf-3",
        ),
        RUNNING_JOBS,
        Option(
            "start",
            help="When the maintenance begins: tomorrow 08:00, ISO 8601. [default: now]",
            metavar="TIME",
            label="Begins",
            example="now",
        ),
        Option(
            "until",
            help="When it ends: a time, or a duration from its beginning.",
            metavar="TIME",
            default="2h",
            label="Ends",
            example="2h",
        ),
        Option(
            "because", help="The reason, for the announcement.", metavar="TEXT", label="Reason", example="new optics"
        ),
    ),
    lambda asked, given: drain(asked, **given),
    "Whether a switch, a host, a rail, a pod or a port can be taken out of service now: what ends at once, what "
    "is left, whether RDMA retries bridge it, which jobs are hit, the steps, and the maintenance announcement.",
    good=lambda answer: answer.can_drain_now,
    text=drain_text,
    form=Form("Can I take this out of service?", "Plan the drain"),
    journal=lambda given: Journal.USED,
)
