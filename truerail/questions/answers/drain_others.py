"""What else bears on a drain: running jobs, faults that are open, and other announced work."""

from collections.abc import Iterable, Iterator
from datetime import datetime

import numpy as np

from truerail.model.columns import Codes, Mask
from truerail.outputs.report_words import count
from truerail.questions.answers.blast import Target
from truerail.questions.answers.drain_hosts import Cells, Fate
from truerail.questions.answers.jobs_given import GivenJob, folded, jobs_on
from truerail.questions.answers.subjects import rail_words
from truerail.questions.answers.windows import Window
from truerail.questions.drain import DrainFault, DrainJob, DrainSwitch, OtherWork
from truerail.views.view import View

ENDS, SLOWER, UNKNOWN = "ends", "slower", "unknown"


def jobs_of(
    view: View,
    jobs: Iterable[GivenJob],
    cells: Cells,
    below: Codes,
    switches: Iterable[DrainSwitch],
    matched_type: str,
) -> tuple[DrainJob, ...]:
    """The jobs on affected hosts, those that end first, then by the number of hosts."""
    cut = not len(cells.host) and any(one.left + one.unknown == 0 for one in switches)
    found = [_job(view, job, hit, cells, cut, matched_type) for job, hit in jobs_on(jobs, below)]
    order = (ENDS, UNKNOWN, SLOWER)
    return tuple(sorted(found, key=lambda one: (order.index(one.effect), -one.hosts_affected, one.name)))


def _job(view: View, job: GivenJob, hit: Codes, cells: Cells, cut: bool, matched_type: str) -> DrainJob:
    effect, why = _effect(job, hit, cells, cut, matched_type)
    hosts = folded(view, hit)
    summary = f"{count(len(hit), 'host')} of {len(job.hosts):,}: {why}"
    return DrainJob(job.name, hosts, len(hit), len(job.hosts), effect, summary)


def _effect(job: GivenJob, hit: Codes, cells: Cells, cut: bool, matched_type: str) -> tuple[str, str]:
    mine = np.isin(cells.host, hit) & cells.hit
    ends = mine & (cells.fate == Fate.ENDS)
    if matched_type == "host":
        return ENDS, "its host is out of service"
    if ends.any() and len(job.hosts) == 1:
        return UNKNOWN, "it runs on one host, and whether it uses the network is unknown"
    if ends.any():
        return ENDS, f"its connections on {rail_words(_rails(cells, ends)) or 'these hosts'} end"
    if (mine & np.isin(cells.fate, (Fate.REDUCED, Fate.UNKNOWN))).any():
        return UNKNOWN, "whether its connections end depends on what is not known"
    if cut:
        return (UNKNOWN, "its hosts may use several leaves") if len(job.hosts) > 1 else (SLOWER, "it runs on one host")
    return SLOWER, "no connection ends, less bandwidth is left"


def _rails(cells: Cells, which: Mask) -> list[int]:
    return [rail for rail in np.unique(cells.rail[which]).tolist() if rail >= 0]


def faults_of(view: View, target: Target, below: Codes, switches: Iterable[DrainSwitch]) -> tuple[DrainFault, ...]:
    """Open causes that affect what would remain, those with most hosts and switches first."""
    rest = _remaining(view, target, below, switches)
    found = []
    for key, cables in view.sight.affected.items():
        here = cables[rest[cables]]
        if len(here):
            cause = view.sight.causes[key]
            hosts, ups = _ends(view, here)
            row = DrainFault(key, cause.id, cause.kind.value, cause.summary, folded(view, hosts), folded(view, ups))
            found.append(((-len(hosts) - len(ups), -view.sight.impact[key], key), row))
    return tuple(row for _, row in sorted(found, key=lambda one: one[0]))


def other_work(
    view: View,
    windows: Iterable[Window],
    target: Target,
    below: Codes,
    switches: Iterable[DrainSwitch],
    span: tuple[datetime, datetime],
) -> tuple[OtherWork, ...]:
    """Announced maintenance in this time on what would remain. One that covers all that is drained is its own."""
    return tuple(_overlapping(view, windows, target, _remaining(view, target, below, switches), span))


def _overlapping(
    view: View, windows: Iterable[Window], target: Target, rest: Mask, span: tuple[datetime, datetime]
) -> Iterator[OtherWork]:
    own = np.concatenate([target.host_cables, target.uplinks])
    for one in windows:
        here = np.flatnonzero(one.cables & rest)
        if one.starts >= span[1] or one.ends <= span[0] or not len(here) or (len(own) and one.cables[own].all()):
            continue
        hosts, ups = _ends(view, here)
        yield OtherWork(one.target, one.starts, one.ends, one.reason, folded(view, hosts), folded(view, ups))


def _remaining(view: View, target: Target, below: Codes, switches: Iterable[DrainSwitch]) -> Mask:
    """Which cables would remain to those who lose some: the other NICs of hosts, the other uplinks of switches."""
    index = view.index
    lower = np.zeros(len(index.devices.names) + 1, dtype=bool)
    lower[[view.device(one.switch) for one in switches]] = True
    if len(target.host_cables):
        lower[below] = True
    rest = lower[index.a_device]
    rest[target.host_cables] = rest[target.uplinks] = False
    return np.asarray(rest, dtype=bool)


def _ends(view: View, cables: Codes) -> tuple[Codes, Codes]:
    """The hosts and the switches at the lower ends."""
    lower = np.unique(view.index.a_device[cables])
    host = np.array([view.index.devices.is_host(code) for code in lower.tolist()], dtype=bool)
    return lower[host], lower[~host]
