"""`blast DEVICE|PORT`: the impact if it goes down, or of its being down; and what may be drained.

The actual position goes before the plan: a cable on the wrong leaf is affected by that leaf, not by its planned one. A
cable without link, or in unknown state, counts with its planned leaf.
"""

from dataclasses import dataclass, replace

import numpy as np

from truerail.analysis.cabling import State, Why
from truerail.analysis.published import Published
from truerail.files.nodesets import fold
from truerail.model.columns import NONE, Codes, Mask, distinct
from truerail.model.plan import Role
from truerail.questions.blast_answer import Blast, BlastHost, BlastJob, Loss, blast_text, drain, summary
from truerail.questions.pairs import joined, rails_of
from truerail.questions.question import Form, Parameter, Question
from truerail.questions.rail_status import RailStatus, Stand, rail_status_of
from truerail.questions.resolve import ResolvedTarget, gpus_of, in_order, recognise
from truerail.views.view import View, view_of

_MOST_JOBS = 100


@dataclass(frozen=True)
class Target:
    """What may go down, with its host cables and uplinks. `device` is -1 for a port."""

    name: str
    matched_type: str
    device: int
    host_cables: Codes
    uplinks: Codes


def blast(publication: Published, of: str) -> Blast:
    """The impact while a device, or a port `device/port` with its cable, is down.

    `hosts` are those that lose NIC bandwidth. A switch above the leaves takes only a share of the uplinks: then `hosts`
    is empty, and `hosts_affected` counts the hosts below it. Raises NotFoundError.
    """
    view, standing = view_of(publication), rail_status_of(publication.evaluated)
    target = target_of(view, standing, of)
    hosts = _hosts(view, standing, target)
    below = hosts_below(standing, target) if not hosts else np.array([view.device(one.host) for one in hosts])
    gpus = {host: len(gpus_of(view, host)) for host in below.tolist()}
    jobs, affected = _jobs(publication, [view.index.devices.names[host] for host in below.tolist()])
    answer = Blast(
        query=of,
        matched_type=target.matched_type,
        down_now=_down(standing, target),
        hosts=hosts,
        hosts_affected=len(below),
        gpus_affected=sum(len(one.gpus) for one in hosts) if hosts else sum(gpus.values()),
        gpus_of_hosts=sum(gpus.values()),
        rails=_rails(standing, target),
        share_lost=_share(standing, target, below),
        uplink_share_lost=_uplink_share(standing, target),
        pairs_cut=_pairs_cut(standing, target) if standing.rail_only else 0,
        summary="",
        drain="",
        jobs=tuple(jobs[:_MOST_JOBS]),
        jobs_affected=affected,
    )
    loss = Loss(
        answer=answer,
        name=target.name,
        below=in_order(view, below.tolist()),
        of_rails=tuple(rails_of(standing, standing.below.of_all(below.tolist()))),
        elsewhere=_elsewhere(view, standing, target),
        weak=_weak(view, standing, target, below),
        rail_only=standing.rail_only,
    )
    return replace(answer, summary=summary(loss), drain=drain(loss))


def _jobs(publication: Published, below: list[str]) -> tuple[list[BlastJob], int | None]:
    """The running jobs on these hosts, and how many they are; None where that is not known."""
    known, hosts = publication.round.jobs, set(below)
    hit = ((job, [host for host in job.hosts if host in hosts]) for job in known.running)
    found = [BlastJob(j.key, j.scheduler, j.name, j.user, fold(here), len(here), j.nodes) for j, here in hit if here]
    found.sort(key=lambda one: (-one.hosts_affected, one.key))
    return found, None if not known.known or known.away or publication.hindsight is not None else len(found)


def target_of(view: View, standing: RailStatus, of: str) -> Target:
    meant = recognise(view, of)
    if meant.matched_type == "host":
        return Target(meant.name, "host", meant.device, meant.cables, meant.cables[:0])
    if meant.matched_type == "switch" and view.is_planned(meant.device):
        hanging = hanging_on(standing, meant.device)
        host = standing.index.from_host[hanging]
        uplinks = np.union1d(standing.below.of(meant.device), hanging[~host])
        role = view.layout.devices[meant.device].role.value
        return Target(meant.name, role, meant.device, hanging[host], uplinks)
    if meant.matched_type in ("rail", "pod"):
        return Target(meant.name, meant.matched_type, NONE, meant.cables, meant.cables[:0])
    if meant.devices:  # several at once: a rack, a row, a node set
        switches = [code for code in meant.devices if not standing.is_host(code)]
        cables = np.union1d(standing.below.of_all(meant.devices), hanging_on(standing, *switches))
        host = standing.index.from_host[cables]
        return Target(meant.name, meant.matched_type, NONE, cables[host], cables[~host])
    cables = _through(view, standing, meant)
    host = standing.index.from_host[cables]
    uplink = len(cables) > 0 and not host.any()
    return Target(meant.name, "uplink" if uplink else meant.matched_type, NONE, cables[host], cables[~host])


def _through(view: View, standing: RailStatus, meant: ResolvedTarget) -> Codes:
    """The cables of a port: on a switch the one actually in it, which need not be the planned one."""
    index = standing.index
    if meant.port == NONE or meant.port in index.a[meant.cables[:1]]:
        return meant.cables[:1] if meant.port != NONE else meant.cables
    seen = [cable for cable in meant.cables.tolist() if int(index.b[cable]) != meant.port]
    stays = standing.renamed | (view.wiring.state != State.WRONG)  # in the port planned for its upper end, if known
    own = [cable for cable in meant.cables.tolist() if cable not in seen and stays[cable]]
    return np.array(seen or own, dtype=np.int64)


def hanging_on(standing: RailStatus, *switches: int) -> Codes:
    """Cables whose upper end is on these switches: those that actually end there, and planned ones without any actual
    end.
    """
    planned = standing.above.of_all(switches)
    return np.union1d(standing.ends.of_all(switches), planned[standing.end[planned] < 0])


def _hosts(view: View, standing: RailStatus, target: Target) -> tuple[BlastHost, ...]:
    """The hosts that lose NIC bandwidth, largest loss first."""
    index = standing.index
    lost = np.bincount(index.a_device[target.host_cables], weights=weights_of(standing, target.host_cables))
    found = []
    for host in distinct(index.a_device[target.host_cables]).tolist():
        cables = target.host_cables[index.a_device[target.host_cables] == host]
        rails = tuple(rails_of(standing, cables))
        total = float(weights_of(standing, standing.below.of(host)).sum())
        gpus = gpus_of(view, host, None if target.device == host else rails)
        found.append((host, BlastHost(index.devices.names[host], gpus, rails, float(lost[host]) / total)))
    rank = view.layout.rank
    return tuple(one for _, one in sorted(found, key=lambda pair: (-pair[1].share_lost, rank[pair[0]])))


def weights_of(standing: RailStatus, cables: Codes) -> "np.typing.NDArray[np.float64]":
    """The planned bandwidth of cables; all equal unless the plan gives every speed."""
    speed = standing.index.speed_gbps
    host_speed = speed[standing.index.from_host]
    return np.ones(len(cables)) if np.isnan(host_speed).any() else speed[cables]


def hosts_below(standing: RailStatus, target: Target) -> Codes:
    """The hosts below the switches that lose uplinks."""
    devices = set(standing.index.a_device[target.uplinks].tolist())
    for _ in (Role.SUPERSPINE, Role.SPINE):
        devices |= set(standing.index.a_device[hanging_on(standing, *devices)].tolist())
    return np.array(sorted(one for one in devices if standing.is_host(one)), dtype=np.int64)


def _rails(standing: RailStatus, target: Target) -> tuple[int, ...]:
    """The affected rails: those of the host cables, else those of the hosts' cables on the leaves below."""
    cables = target.host_cables
    if not len(cables):
        lower = set(standing.index.a_device[target.uplinks].tolist())
        under = hanging_on(standing, *lower)
        spines = under[~standing.index.from_host[under]]
        leaves = set(standing.index.a_device[spines].tolist()) | lower
        cables = hanging_on(standing, *leaves)
        cables = cables[standing.index.from_host[cables]]
    return tuple(rails_of(standing, cables))


def _share(standing: RailStatus, target: Target, hosts: Codes) -> float:
    if not len(target.host_cables):
        return 0.0
    lost, total = (weights_of(standing, c).sum() for c in (target.host_cables, standing.below.of_all(hosts.tolist())))
    return float(lost / total)


def _uplink_share(standing: RailStatus, target: Target) -> float:
    """The lost share of the uplinks of the switches below; of its own uplinks for a leaf, which has none below."""
    own = standing.index.a_device[target.uplinks] == target.device
    lost = target.uplinks if own.all() else target.uplinks[~own]
    total = sum(len(standing.below.of(one)) for one in set(standing.index.a_device[lost].tolist()))
    return len(lost) / total if total else 0.0


def _pairs_cut(standing: RailStatus, target: Target) -> int:
    """Pairs of hosts that lose their last path on a rail, summed over rails."""
    index = standing.index
    cables = target.host_cables
    peers = distinct(index.a_device[standing.ends.of_all(distinct(standing.end[cables]).tolist())])
    near = standing.below.of_all(peers.tolist())
    near = near[np.isin(index.rail[near], index.rail[cables])]
    stand, end = standing.stand.copy(), standing.end.copy()
    stand[cables], end[cables] = Stand.OFF, NONE
    return joined(standing, near) - joined(replace(standing, stand=stand, end=end), near)


def _down(standing: RailStatus, target: Target) -> bool | None:
    """Whether it is actually down: no cable is seen, and none of those with a known state has link."""
    cables = np.concatenate([target.host_cables, target.uplinks])
    states = standing.wiring.state[cables]
    if bool(((states == State.RIGHT) | (states == State.WRONG)).any()):
        return False
    if target.device >= 0 and standing.wiring.read[target.device]:
        return False
    gone = (states == State.MISSING) | (standing.wiring.why[cables] == Why.PENDING)
    return True if len(cables) and bool(gone.all()) else None


def _elsewhere(view: View, standing: RailStatus, target: Target) -> tuple[list[str], list[str]]:
    """Differences from the plan: ports that are actually here but planned elsewhere, and those planned here but
    actually elsewhere.
    """
    if target.device < 0 or standing.is_host(target.device):
        return [], []
    here, planned = standing.ends.of(target.device), standing.above.of(target.device)
    moved = standing.end != standing.index.b_device

    def ports(cables: Codes, which: Mask) -> list[str]:
        return [str(view.plan.cables[cable].a) for cable in cables[which].tolist()]

    return ports(here, moved[here]), ports(planned, moved[planned] & (standing.end[planned] >= 0))


def _weak(view: View, standing: RailStatus, target: Target, hosts: Codes) -> list[str]:
    """Hosts that already have faults on the bandwidth that would remain: a drain takes more from them than it seems."""
    left = np.setdiff1d(standing.below.of_all(hosts.tolist()), target.host_cables)
    weak: list[int] = standing.index.a_device[left[standing.stand[left] != Stand.ON]].tolist()
    return in_order(view, set(weak))


def _good(answer: Blast) -> bool | None:
    """Good if it can be taken out and no host loses a connection; unknown if its state is unknown."""
    if answer.down_now is None:
        return None
    return not (answer.down_now or answer.hosts or answer.uplink_share_lost >= 1)


QUESTION = Question(
    "blast",
    Blast,
    (
        Parameter(
            "of",
            help="A device or a port: leaf-3, spine-1/swp4, gpu-012/mlx5_3.",
            label="Switch, host or port",
            example="leaf-3",
        ),
    ),
    lambda asked, given: blast(asked.publication, given["of"]),
    "The impact while a device, a port, a rail (rail3) or a pod is down, and what to do first.",
    good=_good,
    text=blast_text,
    form=Form("What is the impact if this is down?", "Show impact"),
)
