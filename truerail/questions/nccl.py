"""`truerail nccl`: every connection of a job on its rail, and whether the network slows it; from logs alone, or joined
with what a service has evaluated.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial

from truerail.analysis.cabling.joined import State
from truerail.analysis.nccl import End, NcclJob
from truerail.analysis.nccl.job_connections import Crossing
from truerail.analysis.nccl.job_path import Chain, JobPath, Step, job_path
from truerail.analysis.published import Published
from truerail.analysis.round import Round
from truerail.errors import QueryError
from truerail.model import Fact, Plan, Reading, Snapshot
from truerail.model.finding import Evaluation
from truerail.model.names import device_key
from truerail.model.nccl_facts import NcclNetwork, NcclRank, NcclRing, NcclSetting, NcclTree, NcclVersion
from truerail.questions.nccl_answer import (
    NcclAnswer,
    NcclChain,
    NcclCrossing,
    NcclFinding,
    NcclHopLine,
    NcclNicLine,
    NcclPlace,
    NcclStep,
)
from truerail.rounds import evaluate_further
from truerail.views.lines import STATES

_Places = Callable[[tuple[int, ...]], tuple[tuple[str, ...], tuple[str, ...]]]
"""Gives the cables of planned ports, and the leaves' ports where these are seen."""
_DEDUPLICATED = "Ray left out lines that its workers print alike: RAY_DEDUP_LOGS=0 keeps them"
LOG_RULES = ("JOB002", "JOB003", "JOB004", "JOB005", "JOB006", "JOB010")
"""Those that read the logs of jobs."""


def nccl_answer(round: Round, evaluation: Evaluation, job: NcclJob, *, hops: bool = True) -> NcclAnswer:
    """The answer for the jobs whose logs a round has. `hops`: whether it lists every end of every connection."""
    path = job_path(job, evaluation, counted=round.counters is not None)
    ranks_of = _ranks_of(job)
    places = cache(partial(_ends_of, job))  # few NICs are at many ends
    own = {rank.rank for rank in job.all(NcclRank)} | {end.rank for end in job.ends}
    crossings = tuple(_crossing(one) for one in (*job.crossings, *job.symmetric_crossings))
    return NcclAnswer(
        _summary(path),
        {False: "fault", True: "good", None: "unknown"}[path.good],
        (*path.unknown, *[_DEDUPLICATED] * bool(job.values("DEDUP_LOGS"))),
        tuple(f"{one.library} {one.version}" for one in job.all(NcclVersion)),
        tuple(map(job.names, job.hosts)),
        tuple(sorted(str(host) for host, code in job.host_of.items() if code < 0 and host is not None)),
        len(own),
        len({end.hop.channel for end in job.ends}),
        len({ring.ranks for ring in job.all(NcclRing)}),
        len({tree.channel for tree in job.all(NcclTree)}),
        len({end.key for end in job.ends}),
        len(job.pairs),
        sum(end.hop.proxy_rank is not None for end in job.ends),
        tuple(sorted({one.network for one in job.all(NcclNetwork)} | {end.hop.net for end in job.ends})),
        tuple(dict.fromkeys(f"{one.name}={one.value}" for one in job.all(NcclSetting))),
        len(path.cables),
        tuple(_nics(job, ranks_of, places)),
        crossings,
        tuple(_findings(job, path, ranks_of)),
        tuple(_chain(job, one, places) for one in path.chains),
        tuple(_hop(end, places) for end in job.ends) if hops else (),
    )


def nothing_shown(*unknown: str) -> NcclAnswer:
    """The answer for logs that show no rank, no device and no connection, with what they have in place of them."""
    summary = "not known whether it is the network: the log has no rank, no device and no connection"
    return NcclAnswer(summary, "unknown", unknown, (), (), (), 0, 0, 0, 0, 0, 0, 0, (), (), 0, (), (), (), (), ())


def _summary(path: JobPath) -> str:
    cables = f"this job's {len(path.cables)} cable{'s' if len(path.cables) != 1 else ''}"
    if path.findings:
        count = len(path.findings)
        return f"the network: {count} finding{'s' if count > 1 else ''} on the path of {cables}"
    if path.good:
        return f"not the network: no finding on {cables}, every one of them seen and right"
    if not path.cables:
        return "not known whether it is the network: no connection of this job could be joined with a planned cable"
    return f"not known whether it is the network: no finding on {cables}, but not all of it is known"


def _ranks_of(job: NcclJob) -> dict[int, set[int]]:
    """Planned host port to the ranks that use it."""
    found: dict[int, set[int]] = {}
    for end in job.ends:
        for port in end.nic.ports:
            found.setdefault(port, set()).add(end.rank)
    return found


def _ends_of(job: NcclJob, ports: tuple[int, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    wiring, numbers = job.wiring, [job.nics.cable[port] for port in ports]
    cables = [wiring.index.plan.cables[number] for number in numbers]
    moved = [wiring.state[number] == State.WRONG and wiring.place[number] >= 0 for number in numbers]
    places = zip(wiring.place[numbers].tolist(), cables, moved, strict=True)
    leaves = [str(wiring.index.spell(place) if elsewhere else cable.b) for place, cable, elsewhere in places]
    return tuple(str(cable.a) for cable in cables), tuple(leaves)


def _nics(job: NcclJob, ranks_of: dict[int, set[int]], places: _Places) -> Iterator[NcclNicLine]:
    order = (State.WRONG, State.MISSING, State.UNKNOWN, State.RIGHT)
    for nic, (ends, direct) in sorted(job.used.items(), key=lambda one: (one[0].host, one[0].index)):
        states = {State(int(job.wiring.state[job.nics.cable[port]])) for port in nic.ports}
        state = next((STATES[one] for one in order if one in states), "unknown")
        ranks = tuple(sorted({rank for port in nic.ports for rank in ranks_of[port]}))
        host = job.names(nic.host) if nic.host >= 0 else None
        rails, planned = tuple(sorted(nic.rails)), tuple(sorted(nic.planned_rails))
        where = places(nic.ports)
        yield NcclNicLine(host, nic.index, nic.devices, *where, rails, planned, state, ends, direct, ranks)


def _hop(end: End, places: _Places) -> NcclHopLine:
    hop, nic = end.hop, end.nic
    gpu = hop.from_gpu if hop.direction == "send" else hop.to_gpu
    return NcclHopLine(
        *(hop.channel, hop.connection, hop.from_rank, hop.to_rank, hop.direction, end.rank, hop.host, gpu),
        *(hop.proxy_rank, hop.nic, nic.devices, *places(nic.ports), tuple(sorted(nic.rails)), hop.gdr),
    )


def _chain(job: NcclJob, chain: Chain, places: _Places) -> NcclChain:
    steps = tuple(_step(job, step, places) for step in chain.steps)
    rails = {rail for step in steps for end in (step.send, step.receive) if end for rail in end.rails}
    return NcclChain(
        *(chain.kind, chain.channel, chain.comm, chain.ranks, not chain.cut, tuple(sorted(rails))),
        sum(step.crosses is True for step in steps),
        chain.unknown + sum(step.crosses is None for step in steps),
        steps,
    )


def _step(job: NcclJob, step: Step, places: _Places) -> NcclStep:
    crosses = job.crosses(step.send, step.receive)
    return NcclStep(step.source, step.target, _place(step.send, places), _place(step.receive, places), crosses)


def _place(end: End | None, places: _Places) -> NcclPlace | None:
    if end is None:
        return None
    hop, nic = end.hop, end.nic
    return NcclPlace(hop.host, hop.proxy_rank, hop.nic, nic.devices, *places(nic.ports), tuple(sorted(nic.rails)))


def _crossing(one: Crossing) -> NcclCrossing:
    hop = one.send.hop
    sends = hop.direction == "send"
    rails = (one.rails, one.other_rails) if sends else (one.other_rails, one.rails)
    return NcclCrossing(hop.channel, hop.from_rank, hop.to_rank, *rails, one.by_symmetry)


def _findings(job: NcclJob, path: JobPath, ranks_of: dict[int, set[int]]) -> Iterator[NcclFinding]:
    cables = job.wiring.index.plan.cables
    by_name = {str(end): ranks for port, ranks in ranks_of.items() for end in cables[job.nics.cable[port]][:2]}
    for one in path.findings:
        places = {one.subject, one.expected or "", one.observed or ""}
        ranks = set().union(*(by_name.get(place, set()) for place in places))
        ranks |= {rank for name, of in by_name.items() if name.partition("/")[0] == one.subject for rank in of}
        yield NcclFinding(one.rule, one.severity.value, one.subject, one.summary, one.action, tuple(sorted(ranks)))


def devices_of(names: Iterable[str], plan: Plan) -> list[str]:
    """The device of each log by its name: the planned host that it is named after."""
    known = {device_key(name): name for name in plan.devices}
    return [known.get(device_key(name.partition(".")[0]), f"log {name}") for name in names]


def nccl_asked(publication: Published, logs: Sequence[tuple[str, Sequence[Fact]]], *, hops: bool) -> NcclAnswer:
    """The answer for logs by their names. Raises QueryError if they show no job."""
    past, snapshot = publication.round, publication.snapshot
    devices = devices_of([name for name, _ in logs], publication.plan)
    given = zip(logs, devices, strict=True)
    readings = [Reading(one, "nccl_log", snapshot.at, tuple(facts), source=name) for (name, facts), one in given]
    joined = Snapshot(snapshot.at, [*snapshot.readings, *readings], snapshot.previous, snapshot.inventory)
    round = Round(past.plan, joined, past.counters, past.before, past.earlier, past.cabling, past.jobs_before)
    if round.nccl is None:
        raise QueryError("no lines of NCCL with ranks, devices or connections")
    return nccl_answer(round, evaluate_further(publication.evaluation, round, LOG_RULES), round.nccl, hops=hops)
