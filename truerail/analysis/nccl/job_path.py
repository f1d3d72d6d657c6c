"""The path of a job: the cables that its connections use, the findings on them, and whether all of it is known.

"Not the network" is a claim about all of it: every rank, every connection with both ends and every step of a connected
ring or tree is in the log, every cable is seen where it is planned, every device on the way answered, the counters of
two rounds are there, and no rule on cables, links or pauses left a part of it out. Otherwise it is not known.

Rings and trees are in the order that the log prints, with the connection of each step between hosts. Between two ranks
of one host there is no network, and no line. A step whose line is not in the log is unknown, never taken for one on the
rail.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from truerail.analysis.cabling.joined import State
from truerail.analysis.nccl.ends import End
from truerail.analysis.nccl.job_connections import NcclJob
from truerail.model.columns import grouped
from truerail.model.finding import Evaluation, Finding, Status, Verdict
from truerail.model.names import some
from truerail.model.nccl_facts import NcclRank, NcclRing, NcclTorn, NcclTree
from truerail.model.plan import Cable

_Pair = tuple[str | None, int, int, int]
"""Communicator, channel, sending rank, receiving rank."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step from rank to rank between hosts: its ends, as far as the log has them."""

    source: int
    target: int
    send: End | None
    receive: End | None


@dataclass(frozen=True, slots=True)
class Chain:
    """A ring or a tree on one channel. `steps` are those between hosts; those of a tree go up, from child to parent.

    `unknown` counts further pairs of ranks: their hosts differ or are unknown, and no line has their connection. With
    `cut` the printed order does not have all ranks.
    """

    kind: str
    channel: int
    comm: str | None
    ranks: tuple[int, ...]
    """A ring's in its order; a tree's from the root down, level by level."""
    steps: tuple[Step, ...]
    unknown: int
    cut: bool


def chains(job: NcclJob) -> tuple[Chain, ...]:
    """The rings and trees of the job's communicators, each once."""
    return tuple(_Chains(job).all())


class _Chains:
    def __init__(self, job: NcclJob) -> None:
        self._job = job
        self._ends: tuple[dict[_Pair, End], dict[_Pair, End]] = ({}, {})
        for end in job.ends:
            hop = end.hop
            if hop.connection:
                continue  # 0 is of rings and trees (NCCL's src/transport.cc), 1 of point-to-point
            self._ends[hop.direction != "send"].setdefault((hop.comm, hop.channel, hop.from_rank, hop.to_rank), end)
        self._comms = {end.hop.comm for end in job.ends} | {rank.comm for rank in job.all(NcclRank)}
        self._size = _sizes(job)
        self._host = {(rank.comm, rank.rank): rank.host for rank in job.all(NcclRank)}
        for end in job.ends:
            self._host.setdefault((end.hop.comm, end.rank), end.hop.host)

    def all(self) -> Iterator[Chain]:
        rings = {(ring.channel, self._comm(ring.comm), ring.ranks) for ring in self._job.all(NcclRing)}
        for channel, comm, ranks in sorted(rings, key=lambda one: (one[0], one[1] or "", one[2])):
            cut = self._is_cut(comm, ranks)
            known = ranks[:-1] if cut else ranks  # the last number of a cut line may be cut, too
            pairs = [*pairwise(known), *(() if cut or len(ranks) < 2 else ((ranks[-1], ranks[0]),))]
            yield self._chain("ring", channel, comm, ranks, pairs)
        trees: dict[tuple[int, str | None], dict[int, int | None]] = {}
        for tree in self._job.all(NcclTree):
            parents = trees.setdefault((tree.channel, self._comm(tree.comm)), {})
            parents[tree.rank] = tree.parent
            for child in tree.children:
                parents.setdefault(child, tree.rank)
        for (channel, comm), parents in sorted(trees.items(), key=lambda one: (one[0][0], one[0][1] or "")):
            ranks = _from_root(parents)
            up = [(rank, parent) for rank in ranks if (parent := parents.get(rank)) is not None]
            yield self._chain("tree", channel, comm, ranks, up)

    def _comm(self, comm: str | None) -> str | None:
        """The communicator: the only one, where the line does not show it."""
        return next(iter(self._comms)) if comm is None and len(self._comms) == 1 else comm

    def _is_cut(self, comm: str | None, ranks: tuple[int, ...]) -> bool:
        return len(ranks) < self._size.get(comm, len(ranks))

    def _chain(
        self, kind: str, channel: int, comm: str | None, ranks: tuple[int, ...], pairs: Iterable[tuple[int, int]]
    ) -> Chain:
        steps, unknown = [], 0
        for source, target in pairs:
            key = (comm, channel, source, target)
            send, receive = self._ends[0].get(key), self._ends[1].get(key)
            if send is not None or receive is not None:
                steps.append(Step(source, target, send, receive))
            elif not self._on_one_host(comm, source, target):
                unknown += 1
        return Chain(kind, channel, comm, ranks, tuple(steps), unknown, self._is_cut(comm, ranks))

    def _on_one_host(self, comm: str | None, one: int, other: int) -> bool:
        host = self._host.get((comm, one))
        return host is not None and host == self._host.get((comm, other))


def _from_root(parents: Mapping[int, int | None]) -> tuple[int, ...]:
    """The ranks of a tree, level by level; those that do not hang on a root, as in a log of some hosts, come last."""
    children = grouped((parent if parent in parents else None, rank) for rank, parent in sorted(parents.items()))
    order, seen, level = [], set[int](), children.get(None, [])
    while level:
        order += level
        seen.update(level)
        level = [child for rank in level for child in children.get(rank, ()) if child not in seen]
    return (*order, *(rank for rank in sorted(parents) if rank not in seen))


def absent_ranks(job: NcclJob) -> int:
    """Ranks of the communicators that no line of the log is of."""
    of_lines = {(rank.comm, rank.rank) for rank in job.all(NcclRank)}
    seen = grouped(of_lines | {(end.hop.comm, end.rank) for end in job.ends})
    return sum(max(count - len(seen[comm]), 0) for comm, count in _sizes(job).items())


def _sizes(job: NcclJob) -> dict[str | None, int]:
    """The number of ranks of each communicator."""
    found: dict[str | None, int] = {}
    for rank in job.all(NcclRank):
        found[rank.comm] = max(rank.ranks, found.get(rank.comm, 0))
    return found


# ----------------------------------------------------------------------------------------------------------------------
# The path of a job.


_NEEDED = ("CAB", "LNK001", "LNK002", "LNK003", "NIC002", "NIC003", "PFC001", "PFC002", "PFC003", "JOB")
"""Rules without which a path is not known to be good."""
_few = partial(some, more=" and {} more")


@dataclass(frozen=True)
class JobPath:
    """`cables` are planned ones. `unknown` are the reasons why nothing can be said of the rest, as sentences without
    their full stops; empty if all of it is known.
    """

    cables: tuple[Cable, ...]
    findings: tuple[Finding, ...]
    unknown: tuple[str, ...]
    chains: tuple[Chain, ...]
    """The job's rings and trees."""

    @property
    def good(self) -> bool | None:
        """Whether it is known to have no fault; None if that is unknown."""
        return False if self.findings else None if self.unknown or not self.cables else True


def job_path(job: NcclJob, evaluation: Evaluation, *, counted: bool) -> JobPath:
    """The path of all connections of a job. `counted`: whether counters of two rounds were evaluated."""
    cables = _cables(job)
    numbers = {cable: number for number, cable in enumerate(job.wiring.index.plan.cables)}
    ports = {str(port) for cable in cables for port in (cable.a, cable.b)}
    devices = {port.device for cable in cables for port in (cable.a, cable.b)} | set(map(job.names, job.hosts))
    findings = tuple(one for one in evaluation.findings if is_on(one, ports, devices))
    shapes = chains(job)
    unknown = [*_not_in_log(job, shapes), *_unread(job, evaluation, devices)]
    unknown += _unseen(job, [numbers[cable] for cable in cables])
    if not counted:
        unknown.append("counters of two rounds were not read: pauses and errors are unknown")
    unknown += unevaluated(evaluation.verdicts, ports | devices)
    return JobPath(cables, findings, tuple(dict.fromkeys(unknown)), shapes)


def _cables(job: NcclJob) -> tuple[Cable, ...]:
    """Those of the NICs in use, and the uplinks of leaves between which connections run."""
    index = job.wiring.index
    plan = index.plan
    found = {job.nics.cable[port] for port in job.used_ports}
    leaf_of = {port: int(index.b_device[job.nics.cable[port]]) for port in job.used_ports}
    climbing: set[int] = set()
    for ends in {(send.nic, receive.nic) for send, receive in job.pairs}:
        sending, receiving = ({leaf_of[port] for port in nic.ports} for nic in ends)
        if sending != receiving:  # planes have a leaf each, and connect leaf by leaf
            climbing |= sending | receiving
    cables = dict.fromkeys(plan.cables[number] for number in sorted(found))
    above = [job.names(leaf) for leaf in sorted(climbing)]
    while above:
        uplinks = [cable for device in above for cable in plan.uplinks_of(device) if cable not in cables]
        cables |= dict.fromkeys(uplinks)
        above = list(dict.fromkeys(cable.b.device for cable in uplinks))
    return tuple(cables)


def is_on(finding: Finding, ports: set[str], devices: set[str]) -> bool:
    """Whether a finding is about one of these ports or devices."""
    if finding.subject in ports or finding.subject in devices or {finding.expected, finding.observed} & ports:
        return True
    return any(text in ports for text in _texts(finding.detail))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _texts(tuple(value.items()))
    elif isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from _texts(one)


def _not_in_log(job: NcclJob, shapes: Iterable[Chain]) -> Iterator[str]:
    """What the log lacks. A ring or tree of which no connection is there was not connected: NCCL does so on use."""
    for torn in job.all(NcclTorn):
        lines = f"{torn.lines:,} torn lines of {torn.log} are" if torn.lines > 1 else f"1 torn line of {torn.log} is"
        yield f"{lines} left out: connections may be missing from line {torn.first} on"
    lone = len({end.key for end in job.ends}) - len(job.pairs)
    if lone:
        yield f"{lone} of its {len(job.pairs) + lone} connections have one end in the log"
    if not job.ends:
        yield "the log has no connections over the network"
    absent = absent_ranks(job)
    if absent:
        yield f"{absent} of its ranks have no line in the log"
    lacking = sum(chain.unknown for chain in shapes if chain.steps)
    if lacking:
        yield f"{lacking} steps of its rings and trees are not in the log"


def _unread(job: NcclJob, evaluation: Evaluation, devices: set[str]) -> Iterator[str]:
    outside = sorted(str(host) for host, code in job.host_of.items() if code < 0 and host is not None)
    if outside:
        yield f"the plan has no host {_few(outside)}"
    if job.unknown_nics:
        yield f"the planned ports of {len(job.unknown_nics)} of its {len(job.used)} NICs are unknown"
    codes = [job.wiring.index.devices.find(device) for device in devices]
    unread = sorted(job.names(code) for code in codes if not job.wiring.read[code])
    unread = sorted({*unread, *(one.device for one in evaluation.collection_errors if one.device in devices)})
    if unread:
        yield f"{len(unread)} of its {len(devices)} devices were not read, or not wholly: {_few(unread)}"


def _unseen(job: NcclJob, numbers: list[int]) -> Iterator[str]:
    unseen = [number for number in numbers if job.wiring.state[number] != State.RIGHT]
    if unseen:
        names = [str(job.wiring.index.a_port(number)) for number in unseen]
        yield f"{len(unseen)} of its {len(numbers)} cables were not seen where they are planned: {_few(names)}"


def unevaluated(verdicts: Iterable[Verdict], path: set[str]) -> Iterator[str]:
    """The rules that could not evaluate all of a path, as a sentence; nothing if all of them did."""
    lacking = [
        one.rule
        for one in verdicts
        if one.rule.startswith(_NEEDED)
        and (one.status is Status.ERROR or one.missing or any(_concerns(part, path) for part in one.not_evaluated))
    ]
    if lacking:
        yield f"rules that were not evaluated on all of it: {_few(lacking)}"


def _concerns(part: Any, path: set[str]) -> bool:
    """Whether a part that was not evaluated is, or may be, on the path."""
    return not part.rest_evaluated or not part.subjects or any(subject in path for subject in part.subjects)
