"""The answer of `drain`, and its text: the steps, the figures, the losses, and the announcement."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from rich.console import RenderableType
from rich.text import Text

from truerail.files.nodesets import fold
from truerail.outputs.options import Options
from truerail.outputs.report_words import as_sentence, count, name, sentence
from truerail.outputs.text.blocks import PORT, hanging, heading
from truerail.questions.answer_text import MOST_LINES, rows, section, when
from truerail.questions.resolve import rail_words
from truerail.views.pieces import AsOf

ENDS, SLOWER, UNKNOWN = "ends", "slower", "unknown"
_EFFECTS = {ENDS: "✗", UNKNOWN: "?", SLOWER: "-"}
_KNOWN = {True: "yes", False: "no", None: "unknown"}


@dataclass(frozen=True, slots=True)
class DrainHost:
    """A host that a drain takes bandwidth from. `lost` are rails without a cable afterwards, `reduced` those that keep
    a plane, `unknown` those whose remaining cables are in unknown state, `already_lost` those lost before, `left` those
    that stay as they are. `share_left` is the share of its planned bandwidth that is known to remain, 0..1.
    """

    host: str
    gpus: tuple[int, ...]
    """On the rails that are lost."""
    lost: tuple[int, ...]
    reduced: tuple[int, ...]
    unknown: tuple[int, ...]
    already_lost: tuple[int, ...]
    left: tuple[int, ...]
    share_left: float


@dataclass(frozen=True, slots=True)
class DrainSwitch:
    """A switch below that loses uplinks: how many are planned, work now, remain afterwards, and are in unknown state
    among the remaining ones.
    """

    switch: str
    planned: int
    now: int
    left: int
    unknown: int


@dataclass(frozen=True, slots=True)
class DrainJob:
    """A job on affected hosts, given or running. `effect` is `ends`, `slower` or `unknown`; `hosts` is a node set."""

    name: str
    hosts: str
    hosts_affected: int
    hosts_total: int
    effect: str
    summary: str


@dataclass(frozen=True, slots=True)
class DrainFault:
    """An open cause on what would remain. `hosts` and `switches`, as node sets, have both: its fault and the drain."""

    key: str
    kind: str
    summary: str
    hosts: str
    switches: str


@dataclass(frozen=True, slots=True)
class OtherWork:
    """Announced maintenance in the same time that covers other cables of the affected hosts or switches."""

    what: str
    starts: datetime
    ends: datetime
    reason: str
    hosts: str
    switches: str


@dataclass(frozen=True, slots=True)
class Drain:
    """`drain DEVICE|RAIL|POD|PORT`. `can_drain_now`: whether no running job loses a connection; None: unknown.

    `rdma_survives`: whether RDMA retries bridge it, so that no connection ends; `rdma` says why, and what is assumed.
    `connections` are pairs of host and rail: `connections_lost` end, `connections_kept` move to another port of their
    bond, `connections_unknown` depend on what is not known. `share_left` is that of the affected hosts' planned
    bandwidth, `uplink_share_left` that of the planned uplinks of the switch that keeps the least.
    """

    query: str
    matched_type: str
    name: str
    down_now: bool | None
    can_drain_now: bool | None
    hosts: tuple[DrainHost, ...]
    hosts_affected: int
    gpus_affected: int
    rails: tuple[int, ...]
    share_left: float | None
    switches: tuple[DrainSwitch, ...]
    uplink_share_left: float | None
    pairs_cut: int
    rdma_survives: bool | None
    rdma: str
    connections_lost: int
    connections_kept: int
    connections_unknown: int
    jobs_known: bool
    jobs: tuple[DrainJob, ...]
    not_in_plan: tuple[str, ...]
    """Nodes of jobs that the plan does not have."""
    faults: tuple[DrainFault, ...]
    other_work: tuple[OtherWork, ...]
    other_work_known: bool
    steps: tuple[str, ...]
    starts: datetime
    ends: datetime
    announcement: str
    command: str
    """Announces the maintenance when pasted into a shell; empty if it is down or cannot be announced."""
    summary: str
    action: str
    as_of: AsOf | None = None


def drain_text(answer: Drain, options: Options) -> Iterator[RenderableType]:
    """The steps first; then what is lost and left; then the announcement and its command."""
    most = None if options.details else MOST_LINES
    yield Text()
    yield rows(_figures(answer))
    yield hanging("", Text(sentence(answer.rdma)), indent=1)
    yield heading("Steps")
    for number, step in enumerate(answer.steps, 1):
        yield hanging(f"{number}.", Text(sentence(step), style="bold" if number == 1 else ""), indent=2)
    if answer.not_in_plan:
        yield hanging("?", Text(f"not in the plan: {name(fold(answer.not_in_plan))}", style="bold magenta"))
    yield from section(answer.jobs, _job, "jobs", "Jobs", most=most)
    alike = groupby(answer.hosts, key=lambda h: (h.lost, h.reduced, h.unknown, h.already_lost, h.share_left))
    hosts = [(fold([one.host for one in found]), _host(found[0])) for _, of in alike if (found := list(of))]
    yield from section(hosts, _group, "groups of hosts", "Hosts", "least left first", most=most)
    switches = [(fold([one.switch for one in of]), words) for words, of in groupby(answer.switches, key=_switch)]
    yield from section(switches, _group, "groups of switches", "Switches below", "least left first", most=most)
    if answer.faults or answer.other_work:
        yield heading("On what would be left")
    yield from section(answer.faults, _fault, "causes", most=most)
    yield from map(_work, answer.other_work[:most])
    yield heading("Announcement")
    yield hanging("", Text(sentence(answer.announcement)), indent=1)
    if answer.command:
        yield Text()
        yield Text("\n".join(_lines(sentence(answer.command), options.width)), style="bold", overflow="fold")


def _figures(answer: Drain) -> Iterator[tuple[str, RenderableType | str]]:
    now = {True: "down now", False: "up now", None: "state unknown"}
    yield "state", f"{name(answer.matched_type)}, {now[answer.down_now]}"
    yield "affected", f"{count(answer.hosts_affected, 'host')}, {count(answer.gpus_affected, 'GPU')}"
    if answer.share_left is not None:
        yield "bandwidth", f"{answer.share_left:.1%} of these hosts' remains"
    if answer.uplink_share_left is not None:
        yield "uplinks", f"at least {answer.uplink_share_left:.1%} of each switch's remain"
    if answer.pairs_cut:
        yield "cut", f"{count(answer.pairs_cut, 'pair')} of hosts, counted on each rail"
    yield "RDMA", f"retries bridge it: {_KNOWN[answer.rdma_survives]}{_connections(answer)}"
    if not answer.jobs_known:
        yield "jobs", f"unknown{', as last reported below' * bool(answer.jobs)}: give them with --job NAME=NODES"
    if not answer.other_work_known:
        yield "other work", "unknown: the journal cannot be read"


def _connections(answer: Drain) -> str:
    lost, kept, unknown = answer.connections_lost, answer.connections_kept, answer.connections_unknown
    parts = ((lost, "end"), (kept, "move within their bond"), (unknown, "unknown"))
    words = ", ".join(f"{number:,} {word}" for number, word in parts if number)
    return f" (host and rail: {words})" if words else ""


def _job(job: DrainJob) -> RenderableType:
    words = f"{name(job.name)} ({name(job.hosts)}): {sentence(job.summary)}"
    return hanging(_EFFECTS.get(job.effect, "?"), Text(words))


def _group(group: tuple[str, str]) -> RenderableType:
    """Devices that lose the same, and what."""
    names, words = group
    return hanging("", Text().append(name(names), style=PORT).append(f": {words}"))


def _host(one: DrainHost) -> str:
    parts = {"loses": one.lost, "keeps a part of": one.reduced, "unknown:": one.unknown}
    parts["lost already:"] = one.already_lost
    words = [f"{verb} {rail_words(rails)}" for verb, rails in parts.items() if rails]
    left = f"keeps {rail_words(one.left)}" if one.left else "keeps no other rail"
    return ", ".join((*words, left, f"{one.share_left:.1%} of its bandwidth"))


def _switch(one: DrainSwitch) -> str:
    unknown = f", {one.unknown} of them unknown" if one.unknown else ""
    return f"{one.now} of {one.planned} uplinks work, {one.left} afterwards{unknown}"


def _work(work: OtherWork) -> RenderableType:
    who = ", ".join(filter(None, (work.hosts, work.switches)))
    span = f"{when(work.starts)} to {when(work.ends)}"
    return hanging("!", Text(f"maintenance of {name(work.what)} on {name(who)}, {span}: {sentence(work.reason)}"))


def _fault(fault: DrainFault) -> RenderableType:
    who = ", ".join(filter(None, (fault.hosts, fault.switches)))
    return hanging("!", Text(f"{name(fault.kind)} {name(fault.key)} on {name(who)}: {as_sentence(fault.summary)}"))


def _lines(command: str, width: int) -> Iterator[str]:
    """A command in lines that a shell joins, broken before its options where it is too long for one."""
    line = "  "
    for part in command.replace(" --", "\n--").split("\n"):
        if line.strip() and len(line) + len(part) + 3 > width:
            yield f"{line} \\"
            line = "    "
        line += f"{' ' if line.strip() else ''}{part}"
    yield line
