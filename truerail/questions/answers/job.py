"""`job NODESET`: which rails of these hosts are right, which are not, and how NCCL reacts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from truerail.analysis.published import Published
from truerail.files.nodesets import fold
from truerail.model.cause_kinds import CAUSE_KINDS, Harm
from truerail.model.columns import NONE, Codes
from truerail.questions.answers.job_words import fault_words, headline, host_says, rail_says, to_do, verdict
from truerail.questions.answers.pairs import count_pairs
from truerail.questions.answers.rail_status import RailStatus, Stand, rail_status_of
from truerail.questions.answers.subjects import hosts_asked, in_order
from truerail.questions.job import Job, JobHost, JobRail
from truerail.views.lines import cause_lines
from truerail.views.pieces import CauseLine
from truerail.views.view import View, view_of

MOST_HOSTS = 1000
"""Maximum number of faulty hosts listed one by one, worst first. `Job.rails` has all of them as node sets."""
WHOLE, DEGRADED, LOST, UNKNOWN = range(4)


@dataclass(frozen=True)
class Cells:
    """The state of each host of a job on each of its rails, shapes (cells,). `state` is one of the four above."""

    host: Codes
    rail: Codes
    state: Codes


UPLINK_RULES = ("CAP001", "LBL001", "LBL002", "LBL003")
"""Rules whose findings are about a switch's traffic on its uplinks."""


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
    rails = tuple(_rails(view, cells))
    hurt_by = _by_host(view, _touching(view, standing, asked.codes, cables))
    worst = tuple(_worst(view, standing, cells, hurt_by))
    affected = _affected(view, cables, asked.codes)
    touching = {key: 0 for keys in hurt_by.values() for key in keys} | dict.fromkeys(affected, 0)
    lines = _by_hosts(cause_lines(view, [view.sight.causes[key] for key in touching]), affected)
    tally = _tally(cells)
    fault = fault_words(lines, affected, len(asked.codes), tally[0])
    return Job(
        query=nodeset,
        hosts=tuple(in_order(view, asked.codes.tolist())),
        not_in_plan=asked.unplanned,
        rails=rails,
        pairs=pairs,
        worst=worst,
        causes=lines,
        summary=f"{verdict(fault, lines, len(asked.codes), publication.evaluation)} "
        f"{headline(len(asked.codes), asked.unplanned, tally, len(rails), pairs)}",
        action=to_do(worst, lines, cut=pairs.cut > 0),
        without_effect=bool(lines) and not fault,
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


def _by_hosts(lines: tuple[CauseLine, ...], affected: Mapping[str, int]) -> tuple[CauseLine, ...]:
    """Causes that affect most of the job's hosts first; ties in order of impact."""
    return tuple(sorted(lines, key=lambda line: -affected.get(line.key, 0)))


def cells_of(standing: RailStatus, cables: Codes) -> Cells:
    """Host cables grouped by host and rail. A rail with a cable in unknown state is unknown, never right; it is
    degraded if some of its cables are known to be lost and another is known to work.
    """
    index = standing.index
    key, group = np.unique(index.a_device[cables] << 16 | (index.rail[cables] + 1), return_inverse=True)
    stand = standing.stand[cables]
    on, off, unknown = (
        np.bincount(group[stand == kind], minlength=len(key)) for kind in (Stand.ON, Stand.OFF, Stand.UNKNOWN)
    )
    state = np.select([(on > 0) & (off > 0), unknown > 0, on > 0], [DEGRADED, UNKNOWN, WHOLE], LOST)
    return Cells(key >> 16, (key & 0xFFFF) - 1, state.astype(np.int64))


def _rails(view: View, cells: Cells) -> Iterator[JobRail]:
    """Every rail of the job: faulty ones first, by the number of affected hosts."""
    made = []
    for rail in np.unique(cells.rail).tolist():
        on = cells.rail == rail
        hosts = {state: cells.host[on & (cells.state == state)].tolist() for state in range(4)}
        lost, degraded, unknown = (fold(in_order(view, hosts[state])) for state in (LOST, DEGRADED, UNKNOWN))
        summary = rail_says(int(np.count_nonzero(on)), len(hosts[WHOLE]), lost, degraded, unknown)
        named = None if rail == NONE else rail
        trouble = (-len(hosts[LOST]), -len(hosts[DEGRADED]), -len(hosts[UNKNOWN]), rail == NONE, rail)
        row = JobRail(named, int(np.count_nonzero(on)), len(hosts[WHOLE]), lost, unknown, summary, degraded)
        made.append((trouble, row))
    yield from (row for _, row in sorted(made, key=lambda one: one[0]))


def _worst(
    view: View, standing: RailStatus, cells: Cells, hurt_by: Mapping[int, Mapping[str, None]]
) -> Iterator[JobHost]:
    """Hosts with faults, those with most rails lost first."""
    bad = np.flatnonzero(cells.state != WHOLE)
    rails: dict[int, dict[int, list[int]]] = {}
    for host, rail, state in zip(
        *(column[bad].tolist() for column in (cells.host, cells.rail, cells.state)), strict=True
    ):
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
        yield JobHost(name, lost, unknown, summary, tuple(hurt_by.get(host, ())), degraded)


def _touching(view: View, standing: RailStatus, hosts: Codes, cables: Codes) -> Codes:
    """Indices of the findings that concern a job: on its hosts, their cables, its leaves as devices, and, if the job
    has a rail on several leaves, the uplinks of these.
    """
    index, findings = view.index, view.findings
    if not len(findings):
        return np.empty(0, dtype=np.int64)
    leaves = np.unique(standing.end[cables])
    device = np.zeros(len(index.devices.names) + 1, dtype=bool)
    device[leaves[leaves >= 0]] = True
    cable = np.zeros(len(standing.stand) + 1, dtype=bool)
    climbs = len(np.unique(index.rail[cables] << 32 | (standing.end[cables] + 1))) > len(np.unique(index.rail[cables]))
    if climbs:
        cable[:-1] = device[index.a_device] & ~index.from_host
    cable[cables] = True
    host = np.zeros_like(device)
    host[hosts] = True
    on_device = (findings.cable < 0) & (device | host)[findings.device]
    if not climbs:  # the balance and load of a leaf's uplinks do not affect a job whose traffic stays on the leaf
        on_device &= ~np.isin(findings.rule.astype(str), UPLINK_RULES)
    return np.flatnonzero(cable[findings.cable] | on_device | host[findings.device])


def _by_host(view: View, places: Codes) -> dict[int, dict[str, None]]:
    """Keys of causes by the devices whose findings they explain."""
    found: dict[int, dict[str, None]] = {}
    for place in places.tolist():
        key = view.sight.cause_of.get(view.findings.ids[place])
        if key is not None:
            found.setdefault(int(view.findings.device[place]), {})[key] = None
    return found


def _tally(cells: Cells) -> tuple[int, int, int]:
    """Hosts with a lost rail, with a degraded rail, with a rail in unknown state."""
    lost, degraded, unknown = (len(np.unique(cells.host[cells.state == state])) for state in (LOST, DEGRADED, UNKNOWN))
    return lost, degraded, unknown
