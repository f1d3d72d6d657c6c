"""A rank of a job is missing, behind or slow, as NCCL reports it: with what the network has to do with it.

## Why it matters
All ranks wait for the one that is missing or behind. The first question is whether to look at its cables
or at its host: a hang that is not the network's has led to cordoned switches.

## How it is detected
NCCL's RAS reports ranks that are missing, dead, or have launched fewer operations than others of their communicator.
NCCL's Inspector, by Prometheus, shows GPUs whose bus bandwidth is below 0.8 of the median of their communicator, in the
same collective and size, in three windows of 30 seconds; both numbers are judged, not measured.
The rank's host and GPU give its cables. A finding on them or on their leaves is named; without one it is not the
network only where every cable is seen where it is planned, and every rule on cables, links and pauses was evaluated
with counters. Otherwise it is not known.

## What to do
Where a finding is named, repair that. Where it is not the network, look at the rank's process: a crash, a data loader,
a GPU that has fallen off the bus. A rank that is behind may only be so for a moment: ask RAS again after 30 seconds,
and compare the number of operations.

## Decide
- `is on its path`: repair what the line names; the rank follows.
- `whether it is the network is not known`: poll the devices that the line speaks of, then look again. Once it says that
  it is not the network, look at the process and the GPU of that rank.

## False positives
Ranks that move have different numbers of operations. An answer of RAS that is old.
"""

from collections.abc import Iterable, Iterator, Mapping
from statistics import median
from typing import NamedTuple

import numpy as np

from rules._examples import down, finds_nic, hears, railed
from truerail.analysis.cabling import State
from truerail.analysis.explained import AFFECTED_BY, DeviceCables, Explained
from truerail.analysis.nccl.job_path import is_on, unevaluated
from truerail.analysis.rule import Case, Findings, NotApplicableError, Round, report_not_evaluated, rule
from truerail.model import Evidence, Fact, Finding, NetAddress, NotEvaluated, Severity
from truerail.model.columns import Codes
from truerail.model.names import printable
from truerail.model.nccl_facts import NcclBandwidth, RasRank

_SHARE = 0.8
"""Of the median of its communicator, below which a GPU counts as slow: judged, not measured."""
_WINDOWS = 3
"""The newest times at which it has to be so: one window is a checkpoint or a data loader."""
_FEWEST = 3
"""GPUs without which a median names no culprit."""


class _SlowGpu(NamedTuple):
    """A GPU below the share in each of the newest windows, its newest bandwidth, and the median then."""

    sample: NcclBandwidth
    median_gbs: float


_GONE = ("missing", "dead", "abort")
_BEHIND = 0.5
"""Of a rank that one answer shows behind: ranks that move are behind for a moment."""


@rule("JOB007", Severity.WARNING, [], after_causes=True)
def rank_behind(explained: Explained) -> Findings:
    """Ranks that are missing or behind."""
    round = explained.round
    table = round.snapshot.table(RasRank)
    if not table.rows and not round.snapshot.table(NcclBandwidth).rows:
        raise NotApplicableError
    hosts, unknown, worst = _hosts_by_address(round), dict[str, None](), dict[str, Finding]()
    for held in (*_by_ras(round), *_by_inspector(round)):
        code = _host(round, held.host, hosts)
        if code < 0:
            unknown[held.host or held.look] = None
            continue
        finding = _finding(explained, held, code)
        if finding.subject not in worst or finding.confidence > worst[finding.subject].confidence:
            worst[finding.subject] = finding
    yield from worst.values()
    report_not_evaluated(_unplaced(tuple(unknown), len(table.rows) or len(unknown)))


class _Held(NamedTuple):
    """A rank that holds up its job: what it is called, what is wrong with it, and the fact that shows it."""

    device: str
    host: str | None
    name: str
    gpu: int | None
    what: str
    look: str
    confidence: float
    fact: RasRank | NcclBandwidth


def _by_ras(round: Round) -> Iterator[_Held]:
    table = round.snapshot.table(RasRank)
    for row, rank in enumerate(table.rows):
        gone = rank.state in _GONE
        if gone or rank.behind:
            device, look = table.devices[int(table.device[row])], f"rank {rank.rank}"
            what = f"is {rank.state}" if gone else f"is behind: {rank.operations} of {rank.most} operations"
            name = f"{look} of {printable(rank.comm, 40)}"
            yield _Held(device, rank.host, name, rank.gpu, what, look, 0.9 if gone else _BEHIND, rank)


def _by_inspector(round: Round) -> Iterator[_Held]:
    device = next((one.device for one in round.snapshot.readings if one.collector == "nccl_inspector"), "")
    for one, median_gbs in _slow_gpus(round.snapshot.table(NcclBandwidth).rows):
        what = (
            f"is slow in {printable(one.collective, 40)} of {printable(one.bytes, 20)}: {one.busbw_gbs:,.1f} GB/s, "
            f"where the median is {median_gbs:,.1f}, in {_WINDOWS} windows"
        )
        job = f" of job {printable(one.job, 80)}" if one.job else ""
        name = f"a rank{job}, communicator {printable(one.comm, 40)},"
        yield _Held(device, one.node, name, one.gpu, what, "the rank", _BEHIND, one)


def _unplaced(names: tuple[str, ...], ranks: int) -> Iterator[NotEvaluated]:
    if names:
        shown = ", ".join(printable(name, 60) for name in names[:4])
        many = f"the hosts of {len(names)} ranks that are missing or behind are not known ({shown})"
        why = f"{many}: RAS gives addresses, which no host of the plan reports"
        yield NotEvaluated(why, "rank", len(names), ranks, rest_evaluated=True)


def _hosts_by_address(round: Round) -> dict[str, int]:
    """Planned hosts by their addresses."""
    table, devices = round.snapshot.table(NetAddress), round.cabling.index.devices
    codes = [devices.find(name) for name in table.devices]
    return {fact.address: codes[int(table.device[row])] for row, fact in enumerate(table.rows)}


def _host(round: Round, name: str | None, hosts: dict[str, int]) -> int:
    devices = round.cabling.index.devices
    code = devices.find(name) if name else -1
    code = hosts.get(name or "", -1) if code < 0 else code
    return code if 0 <= code < devices.planned and devices.is_host(code) else -1


def _cables(round: Round, host: int, gpu: int | None) -> Codes:
    """The host cables that a GPU uses: GPU g of G has rail g * R // G of its host's R rails. All of them where that is
    not known.
    """
    index = round.cabling.index
    device = round.plan.devices[index.devices.names[host]]
    own = round.plan.once(DeviceCables).at(device.name)
    cables: Codes = own[index.from_host[own]]
    rails, place = np.unique(index.rail[cables], return_inverse=True)
    gpus = len(rails) if device.gpus is None else device.gpus
    if gpu is None or not 0 <= gpu < gpus or gpus < len(rails) or (rails < 0).any():
        return cables
    return np.asarray(cables[place == gpu * len(rails) // gpus], dtype=np.int64)


def _finding(explained: Explained, held: _Held, host: int) -> Finding:
    round, index = explained.round, explained.round.cabling.index
    cables = _cables(round, host, held.gpu)
    name = index.devices.names[host]
    planned = [round.plan.cables[cable] for cable in cables.tolist()]
    ports = {str(end) for cable in planned for end in (cable.a, cable.b)}
    devices = {name, *(cable.b.device for cable in planned)}
    on_path = [one for one in explained.findings if _slows(one) and is_on(one, ports, devices)]
    cause = next((key for one in on_path if (key := explained.cause_of.get(one.id))), None)
    gpu = "" if held.gpu is None else f" (GPU {held.gpu})"
    rails = {int(rail) for rail in index.rail[cables].tolist()}
    return rank_behind.found(
        planned[0].a if len(planned) == 1 else name,
        summary=f"{held.name} on {name}{gpu} {held.what}; {_why(explained, on_path, cables, ports | devices)}",
        action=f"Repair what {on_path[0].rule} reports at {on_path[0].subject} first."
        if on_path
        else f"Look at the process of {held.look} on {name}, and at its GPU.",
        rail=rails.pop() if len(rails) == 1 else None,
        confidence=held.confidence,
        evidence=(_evidence(round, held.device, held.fact),),
        detail=(((AFFECTED_BY, cause),) if cause else ()),
    )


def _slows(finding: Finding) -> bool:
    """Whether it is a fault: what was not read is no reason for a rank to be behind."""
    return finding.severity is not Severity.INFO and not finding.rule.startswith("TEL")


def _evidence(round: Round, device: str, fact: RasRank | NcclBandwidth) -> Evidence:
    reading = next(one for one in round.snapshot.readings if one.device == device and fact in one.facts)
    return Evidence(device, reading.collector, reading.at, fact)


def _why(explained: Explained, on_path: list[Finding], cables: Codes, path: set[str]) -> str:
    """What the network has to do with it."""
    if on_path:
        more = f" and {len(on_path) - 1} more" if len(on_path) > 1 else ""
        return f"{on_path[0].rule} at {printable(on_path[0].subject, 80)}{more} is on its path"
    wiring = explained.round.cabling
    unseen = int(np.count_nonzero(wiring.state[cables] != State.RIGHT))
    many = f"{len(cables)} cable{'s' if len(cables) > 1 else ''}"
    if unseen or not len(cables):
        return f"whether it is the network is not known: {unseen} of its {many} not seen where planned"
    unread = sorted(name for name in path if "/" not in name and not wiring.read[wiring.index.devices.find(name)])
    if unread:
        return f"whether it is the network is not known: {unread[0]} was not read"
    if explained.round.counters is None:
        return "whether it is the network is not known: counters of two rounds were not read"
    lacking = next(unevaluated(explained.verdicts, path), "")
    if lacking:
        return f"whether it is the network is not known: {lacking}"
    return f"not the network: no finding on its {many}"


def _slow_gpus(samples: Iterable[NcclBandwidth]) -> Iterator[_SlowGpu]:
    """GPUs that are slow in a collective, as NCCL's Inspector reports the bus bandwidth of each; in the order of their
    communicators, collectives and sizes.
    """
    groups: dict[tuple[str, str, str], dict[float, dict[tuple[str, int | None], NcclBandwidth]]] = {}
    for one in samples:
        if one.at is not None:
            windows = groups.setdefault((one.comm, one.collective, one.bytes), {})
            windows.setdefault(one.at, {})[one.node, one.gpu] = one
    for windows in groups.values():
        newest = [windows[at] for at in sorted(windows)[-_WINDOWS:]]
        if len(newest) == _WINDOWS:
            yield from _slow(newest)


def _slow(windows: list[dict[tuple[str, int | None], NcclBandwidth]]) -> Iterator[_SlowGpu]:
    medians = [median(one.busbw_gbs for one in window.values()) for window in windows]
    for gpu, sample in windows[-1].items():
        if all(len(window) >= _FEWEST for window in windows) and all(
            _below(window, gpu, middle) for window, middle in zip(windows, medians, strict=True)
        ):
            yield _SlowGpu(sample, medians[-1])


def _below(window: Mapping[tuple[str, int | None], NcclBandwidth], gpu: tuple[str, int | None], middle: float) -> bool:
    sample = window.get(gpu)
    return sample is not None and sample.busbw_gbs < _SHARE * middle


PLAN = railed(2, rails=2)
_HEARD = [hears(f"nic{rail}", f"leaf-{rail}/swp1") for rail in (0, 1)]
_BROKEN: list[Fact] = [down("nic0"), _HEARD[1]]


def _rank(state: str = "running", *, host: str = "gpu-1", gpu: int | None = 0, behind: bool = True) -> RasRank:
    return RasRank("0xabc", 3, host, gpu, state, behind, 90 if behind else 100, 100)


def _bandwidth(node: str, busbw_gbs: float, at: float | None = 60.0, gpu: int | None = 0) -> NcclBandwidth:
    return NcclBandwidth("7", node, gpu, "0xabc", 4, "AllReduce", "1-2GB", busbw_gbs, at)


def _windows(slow: str, last: float = 100.0, *, others: int = 3) -> list[NcclBandwidth]:
    """Three windows in which a GPU is slow, the last one as given; its peers are as fast as each other."""
    peers = [f"gpu-{number}" for number in range(2, 2 + others)]
    ends = [(30.0, 100.0), (60.0, 100.0), (90.0, last)]
    return [_bandwidth(*one, at) for at, mine in ends for one in ((slow, mine), *((peer, 300.0) for peer in peers))]


EXAMPLES = {
    "A GPU is slow in three windows, and its cable has no link.": finds_nic(
        {"gpu-1": _BROKEN, "nccl-inspector": [*_windows("gpu-1")]}
    ),
    "Of a slow GPU that is behind as well, the first finding counts.": finds_nic(
        {"gpu-1": [*_HEARD, _rank()], "nccl-inspector": [*_windows("gpu-1")]}
    ),
    "Its cable has no link.": finds_nic({"gpu-1": [*_BROKEN, _rank()]}),
    "Nothing is known to be wrong.": finds_nic({"gpu-1": [*_HEARD, _rank("missing", behind=False)]}),
    "Its host is an address, and its GPU is unknown.": Case(
        {"gpu-1": [*_HEARD, NetAddress("eth0", "10.0.0.1", 24), _rank("dead", host="10.0.0.1", gpu=None)]}, "gpu-1"
    ),
    # Quiet:
    "All ranks are at the same operation.": Case({"gpu-1": [*_HEARD, _rank(behind=False)]}),
    "RAS was not asked.": Case({"gpu-1": _HEARD}),
    "It was slow, and is not now.": Case({"nccl-inspector": [*_windows("gpu-1", 299.0)]}),
    "Of two GPUs the median names none.": Case({"nccl-inspector": [*_windows("gpu-1", others=1)]}),
    "One window is too short.": Case({"nccl-inspector": [_bandwidth("gpu-1", 1.0), _bandwidth("gpu-2", 9.0)]}),
    "A file has no windows.": Case({"nccl-inspector": [_bandwidth("gpu-1", 1.0, None)]}),
    "The slow one is no host of the plan.": Case({"nccl-inspector": [*_windows("cpu-1")]}, unknown=True),
    "No host has the address.": Case({"gpu-1": [*_HEARD, _rank(host="10.0.0.9")]}, unknown=True),
}
