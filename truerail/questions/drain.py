"""`drain NAME`: what ends while something is out of service, what is left, and how it is done.

As in `blast`, the actual position goes before the plan. A connection is a host's rail: it ends if no cable of that rail
is left, is kept if the cables left are members of the same bond (RoCE LAG: one RDMA device for both ports, whose queue
pairs the firmware moves to the port with link; Linux drivers/net/ethernet/mellanox/mlx5/core/lag), and is unknown if
another plane is left: NCCL does not mix planes (rule CAB008), other libraries may.
"""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from truerail.errors import QueryError
from truerail.model.columns import Codes, distinct
from truerail.questions.blast import Target, blast, hosts_below, target_of, weights_of
from truerail.questions.drain_answer import Drain, drain_text
from truerail.questions.drain_lost import Fate, cells_of, drain_hosts, faults_of, jobs_of, other_work, switches_of
from truerail.questions.drain_words import Outcome, announcement, can_drain, command, rdma, steps, summary
from truerail.questions.moments import end_of
from truerail.questions.question import RUNNING_JOBS, Asked, Form, Journal, Option, Parameter, Question
from truerail.questions.rail_status import RailStatus, rail_status_of
from truerail.questions.resolve import recognise
from truerail.questions.working_time import folded, jobs_there, windows_announced
from truerail.views.view import view_of


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
