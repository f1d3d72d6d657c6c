"""The answer of `blast`, its sentences, and its text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from rich.console import RenderableType
from rich.text import Text

from truerail.files.nodesets import fold
from truerail.outputs.options import Options
from truerail.outputs.report_words import count, name, sentence
from truerail.outputs.text.blocks import PORT, hanging
from truerail.questions.answer_text import MOST_LINES, rows, section
from truerail.questions.resolve import rail_words
from truerail.views.pieces import AsOf

MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class BlastHost:
    """An affected host. `share_lost` is the share of its planned bandwidth, 0..1."""

    host: str
    gpus: tuple[int, ...]
    rails: tuple[int, ...]
    share_lost: float


@dataclass(frozen=True, slots=True)
class BlastJob:
    """A running job on affected hosts; `hosts` are these as a node set."""

    key: str
    scheduler: str
    name: str
    user: str
    hosts: str
    hosts_affected: int
    hosts_total: int


@dataclass(frozen=True, slots=True)
class Blast:
    """`blast DEVICE|PORT`: the impact if it goes down, or of its being down.

    `share_lost` is the lost share of the bandwidth of all affected hosts together, `uplink_share_lost` that of the
    rail's uplinks. `pairs_cut` are pairs of hosts that lose their last path on a rail-only fabric. `drain` says what
    can be taken out, one rail at a time, and what then still works.
    """

    query: str
    matched_type: str
    down_now: bool | None
    hosts: tuple[BlastHost, ...]
    hosts_affected: int
    gpus_affected: int
    gpus_of_hosts: int
    rails: tuple[int, ...]
    share_lost: float
    uplink_share_lost: float
    pairs_cut: int
    summary: str
    drain: str
    jobs: tuple[BlastJob, ...] = ()
    """The running jobs there, those with most hosts there first, at most 100."""
    jobs_affected: int | None = None
    """How many they are; None where a scheduler does not answer, or none is asked."""
    as_of: AsOf | None = None


@dataclass(frozen=True, slots=True)
class Loss:
    """What the words of an answer are made of. `below` are all affected hosts, `of_rails` all rails that these have,
    `elsewhere` the ports that are here but planned elsewhere or planned here but elsewhere, `weak` hosts that already
    have faults on what would remain.
    """

    answer: Blast
    name: str
    below: Sequence[str]
    of_rails: tuple[int, ...]
    elsewhere: tuple[Sequence[str], Sequence[str]]
    weak: Sequence[str]
    rail_only: bool

    @property
    def host(self) -> bool:
        """Whether it is a whole host."""
        return self.answer.matched_type == "host"


def summary(loss: Loss) -> str:
    """The impact: what is lost, what remains, which hosts are affected, and whether it is down now."""
    parts = [_now(loss), _damage(loss)]
    if loss.answer.pairs_cut:
        verb = "are" if loss.answer.down_now else "would be"
        parts.append(f"Rail-only: {count(loss.answer.pairs_cut, 'pair')} of hosts {verb} cut, with no other path.")
    for ports, where in zip(loss.elsewhere, ("here and counted", "elsewhere and not counted"), strict=True):
        if ports:
            parts.append(f"Not as planned: {named(ports)} {'is' if len(ports) == 1 else 'are'} cabled {where}.")
    return " ".join(part for part in parts if part)


def _now(loss: Loss) -> str:
    if loss.answer.down_now is None:
        return f"Whether {loss.name} is down is unknown."
    return f"{loss.name} is down." if loss.answer.down_now else ""


def _damage(loss: Loss) -> str:
    gpus = sum(len(one.gpus) for one in loss.answer.hosts)
    if loss.answer.hosts and not loss.host:
        lost = Fraction(loss.answer.share_lost).limit_denominator(1000)
        verb = "lose" if loss.answer.down_now or len(loss.answer.hosts) > 1 else "loses"
        who = f"{count(len(loss.answer.hosts), 'host')} ({count(gpus, 'GPU')})"
        would = "" if loss.answer.down_now else f"Without {loss.name} "
        whose = "its" if len(loss.answer.hosts) == 1 else "their"
        if lost == 1:
            return f"{would}{who} {verb} all of {whose} bandwidth."
        return f"{would}{who} {verb} {lost} of {whose} bandwidth{_on(loss)}; {1 - lost} remains."
    if loss.host:
        return (
            f"{'Its' if loss.answer.down_now else f'Without {loss.name} its'} {count(gpus, 'GPU')} are off all rails."
        )
    if not loss.below:
        return f"No planned cable depends on {loss.name}."
    lost = Fraction(loss.answer.uplink_share_lost).limit_denominator(1000)
    return (
        f"Without {loss.name} the switches below lose {lost} of their uplinks{_on(loss)}; no host loses its NIC, "
        f"{count(len(loss.below), 'host')} share the remaining uplinks."
    )


def _on(loss: Loss) -> str:
    """The affected rails; empty if these are all rails of the hosts."""
    return f" on {rail_words(loss.answer.rails)}" if loss.answer.rails and loss.answer.rails != loss.of_rails else ""


def drain(loss: Loss) -> str:
    """What fails at once if it is drained, what remains afterwards, and what to do first."""
    if loss.answer.down_now:
        return "It is down: there is nothing left to drain."
    if loss.host:
        return f"At once: every job on {loss.name} fails. Drain its jobs first; no other host is affected."
    if loss.answer.uplink_share_lost and not loss.answer.hosts:
        if loss.answer.uplink_share_lost >= 1:
            return (
                "At once: traffic between leaves stops, because this is the only uplink path. "
                "Drain the jobs that use several leaves first."
            )
        return (
            "At once: packets in flight are lost and resent; no connection ends. Afterwards the other "
            "uplinks carry the traffic. First withdraw its routes. Take down one at a time, and wait until it is back."
        )
    if not loss.answer.hosts:
        return "No host depends on it: it can be taken out of service."
    if loss.rail_only and loss.answer.pairs_cut:
        return f"Not under jobs: no way leads round a rail, and jobs across {named(loss.below)} would fail{_on(loss)}."
    left = sorted(set(loss.of_rails) - set(loss.answer.rails))
    if loss.answer.share_lost >= 1:
        return f"Drain the jobs of {named(loss.below)} first: no bandwidth remains for them."
    if loss.weak:
        return (
            f"Not under jobs: the RDMA connections over it end at once. Repair {named(loss.weak)} first: the rails "
            "that would remain for them have faults."
        )
    rest = (
        f"{rail_words(left)} carr{'y' if len(left) > 1 else 'ies'} the traffic"
        if left
        else "the hosts that keep NICs carry their traffic on these"
        if any(one.share_lost >= 1 for one in loss.answer.hosts)
        else "the other plane carries the traffic"
    )
    few = len(loss.below) == 1
    return (
        f"Not under jobs. At once: the RDMA connections over it end, and with them every job that runs on "
        f"{'this host' if few else 'these hosts'}. First end or checkpoint the jobs of {named(loss.below)}. Afterwards "
        f"{rest}, for jobs that start then. One rail at a time: take down no other of these hosts until it is back."
    )


def named(names: Sequence[str]) -> str:
    """Names as a node set, limited to the first few."""
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    whole = fold(names)
    return whole if len(whole) <= 60 else fold(names[:MOST_NAMED]) + more


def blast_text(answer: Blast, options: Options) -> Iterator[RenderableType]:
    """What may be drained, the figures, and the affected hosts, grouped by equal loss."""
    yield hanging("do", Text(sentence(answer.drain), style="bold"), indent=2)
    yield Text()
    yield rows(_figures(answer))
    alike = groupby(answer.hosts, key=lambda one: (one.rails, one.gpus, one.share_lost))
    groups = [(fold([one.host for one in found]), key[1:]) for key, found in alike]
    most = None if options.details else MOST_LINES
    yield from section(groups, _group, "groups of hosts", "Hosts that lose bandwidth", most=most)
    aside = "" if answer.jobs_affected is not None else "as last reported"
    total = answer.jobs_affected or len(answer.jobs)
    yield from section(answer.jobs, _job, "jobs", "Jobs that run there", aside, most=most, total=total)


def _group(group: tuple[str, tuple[tuple[int, ...], float]]) -> RenderableType:
    hosts, (gpus, share) = group
    lost = f"{share:.1%} of its bandwidth, GPU {', '.join(map(str, gpus)) or 'none'}"
    return hanging("", Text(f"{name(hosts)}: {lost}"))


def _job(job: BlastJob) -> RenderableType:
    title = Text().append(name(job.key), style=PORT).append(f"  {name(job.name)}" * bool(job.name))
    user = f" of {name(job.user)}" if job.user else ""
    hosts = f"{job.hosts_affected:,} of its {count(job.hosts_total, 'host')} ({name(job.hosts)})"
    return hanging("", title.append(f"{user}: {hosts}"))


def _figures(answer: Blast) -> Iterator[tuple[str, RenderableType | str]]:
    now = {True: "down now", False: "up now", None: "state unknown"}
    yield "state", f"{name(answer.matched_type)}, {now[answer.down_now]}"
    gpus = f"{answer.gpus_affected:,} of their {count(answer.gpus_of_hosts, 'GPU')}"
    yield "affected", f"{count(answer.hosts_affected, 'host')}, {gpus}"
    yield "bandwidth", f"{answer.share_lost:.1%} lost, {1 - answer.share_lost:.1%} remains"
    if answer.uplink_share_lost:
        yield "uplinks", f"{answer.uplink_share_lost:.1%} lost, {1 - answer.uplink_share_lost:.1%} remains"
    if answer.jobs_affected is not None or answer.jobs:
        yield "jobs", f"{answer.jobs_affected:,} running" if answer.jobs_affected is not None else "unknown"
    if answer.pairs_cut:
        yield "cut", f"{count(answer.pairs_cut, 'pair')} of hosts, counted on each rail"
