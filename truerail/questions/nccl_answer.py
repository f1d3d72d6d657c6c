"""The answer of `truerail nccl`, and its text: verdict, findings, NICs, crossings, on demand every hop."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from truerail.files.nodesets import fold
from truerail.outputs.report_words import as_sentence, count, name, sentence

_MARKS = {"fault": "✗", "good": "✓", "unknown": "?"}
_MOST = 12
_MOST_RANKS = 8
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NcclNicLine:
    """A NIC that a job uses. `cables` are its planned host ports, `leaves` the ports where these are seen plugged in,
    the planned ones where they are not seen elsewhere; `rails` those of these ports. None and empty are unknown.
    """

    host: str | None
    index: int
    devices: tuple[str, ...]
    cables: tuple[str, ...]
    leaves: tuple[str, ...]
    rails: tuple[int, ...]
    planned_rails: tuple[int, ...]
    state: str
    """Of its cables, the worst: `right`, `wrong`, `missing`, `unknown`."""
    ends: int
    gdr: int
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NcclHopLine:
    """One end of a connection: rank, GPU, NIC, cable, leaf, rail. `carried_by` is the rank that sends in its place."""

    channel: int
    connection: int | None
    from_rank: int
    to_rank: int
    direction: str
    rank: int
    host: str | None
    gpu: str | None
    carried_by: int | None
    nic: int
    devices: tuple[str, ...]
    cables: tuple[str, ...]
    leaves: tuple[str, ...]
    rails: tuple[int, ...]
    gdr: bool


@dataclass(frozen=True, slots=True)
class NcclPlace:
    """One end of a step: the NIC, its cables, leaves and rails as in `NcclNicLine`. `carried_by` is the rank whose NIC
    it is, with PXN.
    """

    host: str | None
    carried_by: int | None
    nic: int
    devices: tuple[str, ...]
    cables: tuple[str, ...]
    leaves: tuple[str, ...]
    rails: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NcclStep:
    """A step of a ring or tree from host to host. An end that is None is not in the log. `crosses` rails: None if
    that is unknown.
    """

    from_rank: int
    to_rank: int
    send: NcclPlace | None
    receive: NcclPlace | None
    crosses: bool | None


@dataclass(frozen=True, slots=True)
class NcclChain:
    """A ring or a tree. `ranks` are a ring's in the log's order, a tree's from the root down; without `complete` the
    log does not have all of them. `rails` are those of its steps, of which `crossings` leave the rail and `unknown` are
    not known to stay.
    """

    kind: str
    channel: int
    comm: str | None
    ranks: tuple[int, ...]
    complete: bool
    rails: tuple[int, ...]
    crossings: int
    unknown: int
    steps: tuple[NcclStep, ...]


@dataclass(frozen=True, slots=True)
class NcclCrossing:
    """A connection between rails. `by_symmetry`: one end is not in the log, and follows from hosts that are alike."""

    channel: int
    from_rank: int
    to_rank: int
    from_rails: tuple[int, ...]
    to_rails: tuple[int, ...]
    by_symmetry: bool


@dataclass(frozen=True, slots=True)
class NcclFinding:
    """A finding on the path, and the ranks that use what it is about; none if it is about a switch."""

    rule: str
    severity: str
    subject: str
    summary: str
    action: str
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NcclAnswer:
    """`truerail nccl`. `network` is `fault`, `good` or `unknown`; `unknown` says why."""

    summary: str
    network: str
    unknown: tuple[str, ...]
    versions: tuple[str, ...]
    hosts: tuple[str, ...]
    not_in_plan: tuple[str, ...]
    ranks: int
    channels: int
    rings: int
    trees: int
    connections: int
    both_ends: int
    pxn: int
    networks: tuple[str, ...]
    settings: tuple[str, ...]
    cables: int
    nics: tuple[NcclNicLine, ...]
    crossings: tuple[NcclCrossing, ...]
    findings: tuple[NcclFinding, ...]
    chains: tuple[NcclChain, ...]
    hops: tuple[NcclHopLine, ...]


def nccl_text(answer: NcclAnswer, *, details: bool) -> str:
    """Lines for a terminal."""
    return "\n".join(_lines(answer, details))


def _lines(answer: NcclAnswer, details: bool) -> Iterator[str]:
    yield f"{_MARKS[answer.network]} {as_sentence(answer.summary)}"
    for why in answer.unknown:
        yield f"  ? {sentence(why)}"
    yield ""
    networks = ", ".join(map(name, answer.networks)) or "an unknown network"
    yield f"  {', '.join(map(name, answer.versions)) or 'version unknown'}, over {networks}"
    hosts = f"{count(len(answer.hosts), 'host')} ({name(fold(answer.hosts))})" if answer.hosts else "no planned host"
    shapes = f"{count(answer.rings, 'ring')}, {count(answer.trees, 'tree')}"
    yield f"  {hosts}, {count(answer.ranks, 'rank')}, {count(answer.channels, 'channel')}, {shapes}"
    if answer.not_in_plan:
        yield f"  not in the plan: {name(', '.join(answer.not_in_plan))}"
    both = f"{answer.both_ends} with both ends in the log"
    yield f"  {count(answer.connections, 'connection')}, {both}; PXN on {answer.pxn}"
    if answer.settings:
        yield f"  settings: {name(', '.join(answer.settings))}"
    most = None if details else _MOST
    yield from _section("Findings on the path", answer.findings, _finding, _MOST, "--format json")
    for symmetric, title in enumerate(("Connections that cross rails", "By symmetry, not seen: they cross rails")):
        found = [one for one in answer.crossings if one.by_symmetry == bool(symmetric)]
        yield from _section(f"{title} ({len(found)})", found, _crossing, most)
    title = "NICs in use: device, cable, leaf, rail; state; ends of connections"
    yield from _section(title, answer.nics, _nic, most and 2 * most)
    between = [one for one in answer.chains if one.steps or one.unknown]
    if not details:
        between.sort(key=lambda one: (-one.crossings, -one.unknown))
    draw = partial(_chain, details=details)
    yield from _section("Rings and trees: their steps between hosts", between, draw, most)
    if details:
        yield from _hops(answer)


def _section(
    title: str, items: Sequence[T], draw: Callable[[T], Iterable[str]], most: int | None, how: str = "--details"
) -> Iterator[str]:
    """A title, the lines of the first items, and how many more there are; nothing without items."""
    if items:
        yield from ("", title)
    for item in items[:most]:
        yield from draw(item)
    if most is not None and len(items) > most:
        yield f"  and {len(items) - most} more: {how}"


def _finding(one: NcclFinding) -> Iterator[str]:
    yield f"  ! {one.severity} {name(one.rule)} {name(one.subject)}{_ranks(one.ranks)}"
    yield f"    {sentence(one.summary)}"
    yield f"    do {sentence(one.action)}"


def _ranks(ranks: tuple[int, ...]) -> str:
    if not ranks:
        return ""
    more = ", ..." if len(ranks) > _MOST_RANKS else ""
    return f", rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks[:_MOST_RANKS]))}{more}"


def _crossing(one: NcclCrossing) -> Iterator[str]:
    rails = f"rail {_rails(one.from_rails)} to rail {_rails(one.to_rails)}"
    yield f"  channel {one.channel:02}  rank {one.from_rank} to {one.to_rank}: {rails}"


def _rails(rails: tuple[int, ...]) -> str:
    return "/".join(map(str, rails)) or "?"


def _nic(one: NcclNicLine) -> Iterator[str]:
    device = "+".join(one.devices) or f"index {one.index}"
    cables = "+".join(one.cables) or f"{one.host or 'unknown host'}: planned port unknown"
    planned = f", planned rail {_rails(one.planned_rails)}" if one.planned_rails != one.rails else ""
    some = f", {one.gdr} with GPUDirect RDMA" if one.gdr else " without GPUDirect RDMA"
    gdr = "" if one.gdr == one.ends else some
    place = f"{name(cables)} -> {name('+'.join(one.leaves)) or '?'}  rail {_rails(one.rails)}{planned}"
    yield f"  [{one.index}] {name(device)}  {place}; {one.state}; {count(one.ends, 'end')}{gdr}{_ranks(one.ranks)}"


def _chain(one: NcclChain, details: bool) -> Iterator[str]:
    parts = [f"{count(len(one.steps), 'step')} on rail {_rails(one.rails)}"]
    parts += [f"{one.crossings} cross rails"] if one.crossings else []
    parts += [f"{one.unknown} unknown"] if one.unknown else []
    parts += [] if one.complete else ["not all ranks are in the log"]
    yield f"  {one.kind} {one.channel:02}  {'; '.join(parts)}"
    if details:
        yield f"    ranks {' '.join(map(str, one.ranks))}"
        for step in one.steps:
            ends = f"{_place(step.send)} => {_place(step.receive)}"
            mark = " crosses rails" if step.crosses else "" if step.crosses is False else " unknown"
            yield f"    {step.from_rank} -> {step.to_rank}: {ends}{mark}"


def _place(place: NcclPlace | None) -> str:
    if place is None:
        return "not in the log"
    devices = "+".join(place.devices) or f"{place.host or 'unknown host'} index {place.nic}"
    by = "" if place.carried_by is None else f" of rank {place.carried_by} (PXN)"
    way = " -> ".join(("+".join(place.cables) or "?", "+".join(place.leaves) or "?"))
    return f"{name(devices)}{by}, {name(way)}, rail {_rails(place.rails)}"


def _hops(answer: NcclAnswer) -> Iterator[str]:
    yield ""
    yield "Hops: rank, GPU, NIC, cable, leaf, rail"
    for one in answer.hops:
        connection = "" if one.connection is None else f"/{one.connection}"
        by = "" if one.carried_by is None else f" by rank {one.carried_by} (PXN)"
        gpu = "" if one.gpu is None else f" GPU {name(one.gpu)}"
        places = ("+".join(one.devices) or str(one.nic), "+".join(one.cables) or "?", "+".join(one.leaves) or "?")
        hop = f"{one.channel:02}{connection} {one.from_rank} -> {one.to_rank} {one.direction}"
        yield f"  {hop}: rank {one.rank}{gpu}{by} -> {name(' -> '.join(places))} -> rail {_rails(one.rails)}"
