"""Rings and trees in the order that the log prints, and the connection of each step between hosts.

Between two ranks of one host there is no network, and no line. A step whose line is not in the log is unknown, never
taken for one on the rail.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from truerail.analysis.nccl.ends import End
from truerail.analysis.nccl.job_connections import NcclJob
from truerail.model.columns import grouped
from truerail.model.nccl_facts import NcclRank, NcclRing, NcclTree

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
