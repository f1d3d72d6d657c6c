"""`drain NAME`: what ends while something is out of service, what is left, and how it is done.

As in `blast`, the actual position goes before the plan. A connection is a host's rail: it ends if no cable of that rail
is left, is kept if the cables left are members of the same bond (RoCE LAG: one RDMA device for both ports, whose queue
pairs the firmware moves to the port with link; Linux drivers/net/ethernet/mellanox/mlx5/core/lag), and is unknown if
another plane is left: NCCL does not mix planes (rule CAB008), other libraries may.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from truerail.errors import QueryError
from truerail.model.columns import Codes
from truerail.questions.answers.blast import Target, blast, hosts_below, target_of, weights_of
from truerail.questions.answers.drain_hosts import cells_of, drain_hosts, switches_of
from truerail.questions.answers.drain_notice import announcement, command
from truerail.questions.answers.drain_others import faults_of, jobs_of, other_work
from truerail.questions.answers.drain_words import Outcome, can_drain, rdma, steps, summary
from truerail.questions.answers.jobs_given import folded, jobs_there
from truerail.questions.answers.moments import end_of
from truerail.questions.answers.rail_status import RailStatus, rail_status_of
from truerail.questions.answers.resolve import ResolvedTarget, recognise
from truerail.questions.answers.windows import windows_announced
from truerail.questions.drain import Drain
from truerail.questions.question import Asked
from truerail.views.view import view_of


@dataclass(frozen=True, slots=True)
class Wanted:
    """The parameters of the question."""

    of: str
    job: str | None = None
    start: str | None = None
    until: str | None = None
    because: str | None = None


def drain(asked: Asked, wanted: Wanted) -> Drain:
    """What a drain does. Raises NotFoundError for an unknown name or a job without a planned host, QueryError for an
    invalid node set or time.
    """
    publication = asked.publication
    view, standing = view_of(publication), rail_status_of(publication.evaluated)
    starts, ends = _times(wanted, asked.now)
    there = jobs_there(publication, wanted.job)
    target, meant = target_of(view, standing, wanted.of), recognise(view, wanted.of)
    impact = blast(publication, wanted.of)
    cells = cells_of(view, standing, target)
    hosts = drain_hosts(view, standing, target, cells)
    switches = switches_of(view, standing, target, _drained(meant))
    below = np.unique(cells.host[cells.hit]) if len(target.host_cables) else hosts_below(standing, target)
    windows = windows_announced(view, asked.history, asked.now)
    outcome = Outcome(
        impact=impact,
        target=meant,
        hosts=hosts,
        below=folded(view, below),
        switches=switches,
        cells=cells,
        jobs_known=there.known,
        jobs_source=there.source,
        jobs=jobs_of(view, there.jobs, cells, below, switches, impact.matched_type),
        faults=faults_of(view, target, below, switches),
        other_work=other_work(view, windows or (), target, below, switches, (starts, ends)),
        starts=starts,
        ends=ends,
    )
    survives, why = rdma(outcome)
    done = steps(outcome, survives)
    return Drain(
        query=wanted.of,
        matched_type=impact.matched_type,
        name=meant.name,
        down_now=impact.down_now,
        can_drain_now=can_drain(outcome, survives),
        hosts=hosts,
        hosts_affected=len(below),
        gpus_affected=impact.gpus_affected,
        rails=impact.rails,
        share_left=_share_left(standing, target, below),
        switches=switches,
        uplink_share_left=min((one.left / one.planned for one in switches if one.planned), default=None),
        pairs_cut=impact.pairs_cut,
        rdma_survives=survives,
        rdma=why,
        connections_lost=cells.ends,
        connections_kept=cells.kept,
        connections_unknown=cells.unknown,
        jobs_known=there.known,
        jobs=outcome.jobs,
        not_in_plan=there.unplanned,
        faults=outcome.faults,
        other_work=outcome.other_work,
        other_work_known=windows is not None,
        steps=done,
        starts=starts,
        ends=ends,
        announcement=announcement(outcome, survives, wanted.because or ""),
        command="" if impact.down_now else command(view, wanted, meant, starts, ends),
        summary=summary(outcome, survives, why),
        action=done[0] if done else "",
    )


def _times(wanted: Wanted, now: datetime) -> tuple[datetime, datetime]:
    start = (wanted.start or "now").strip()
    starts = now.astimezone(UTC) if start.lower() == "now" else end_of(start, now)
    ends = end_of(wanted.until or "2h", starts)
    if ends <= starts:
        raise QueryError(f"until {wanted.until!r}: it ends ({ends:%Y-%m-%d %H:%M}) before it begins ({starts:%H:%M})")
    return starts, ends


def _drained(meant: ResolvedTarget) -> frozenset[int]:
    """The devices that are out of service themselves."""
    return frozenset((*meant.devices, meant.device))


def _share_left(standing: RailStatus, target: Target, below: Codes) -> float | None:
    """The share of the affected hosts' planned bandwidth that is known to work afterwards; None without hosts that
    lose NICs.
    """
    if not len(target.host_cables) or not len(below):
        return None
    planned = standing.below.of_all(below.tolist())
    left = np.setdiff1d(planned[standing.stand[planned] == 0], target.host_cables)
    return float(weights_of(standing, left).sum() / weights_of(standing, planned).sum())
