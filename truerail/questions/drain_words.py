"""The sentences of a drain: whether it can begin, what it ends, the steps, and the announcement."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from shlex import quote

from truerail.errors import QueryError
from truerail.files.nodesets import fold
from truerail.model.names import printable
from truerail.outputs.report_words import as_sentence, count
from truerail.questions.blast_answer import named
from truerail.questions.drain_answer import Drain, DrainJob, DrainSwitch
from truerail.questions.drain_lost import ENDS, SLOWER, Cells, Fate
from truerail.questions.resolve import ResolvedTarget, rail_words, scope_of
from truerail.questions.working_time import shortened
from truerail.views.view import View, some

RETRY = (
    "An RDMA connection without a path ends when its retries are used up: with NCCL's defaults after 34 s at the least "
    "(NCCL_IB_TIMEOUT=20, NCCL_IB_RETRY_CNT=7; 9 s before NCCL 2.23)"
)
"""4.096 us x 2^timeout for each of 8 attempts (InfiniBand specification, local ACK timeout; the hardware may wait up to
four times as long); the defaults are those of NCCL's guide, environment variables.
"""
MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a drain does: its answer without words. `impact` is the summary of `blast`, `below` the affected hosts as a
    node set.
    """

    answer: Drain
    impact: str
    below: str
    cells: Cells
    jobs_source: str

    @property
    def hit(self) -> tuple[DrainJob, ...]:
        """Jobs that lose a connection, or may lose one."""
        return tuple(job for job in self.answer.jobs if job.effect != SLOWER)

    @property
    def cut(self) -> tuple[DrainSwitch, ...]:
        """Switches without an uplink afterwards that works, or may work."""
        return tuple(one for one in self.answer.switches if one.now and one.left + one.unknown == 0)

    @property
    def unsure(self) -> tuple[DrainSwitch, ...]:
        """Switches whose uplinks that are left are all in unknown state."""
        return tuple(one for one in self.answer.switches if not one.left and one.unknown)


def rdma(one: Outcome) -> tuple[bool | None, str]:
    """Whether RDMA retries bridge it, why, and what is assumed. None: unknown."""
    if one.answer.down_now:
        return True, "It is down: no connection runs over it."
    if ends := one.cells.number(Fate.ENDS):
        return False, f"{_pairs(ends)} {'loses' if ends == 1 else 'lose'} the only path. {RETRY}."
    if one.cut:
        names = fold([switch.switch for switch in one.cut])
        why = f"{names} would have no uplink: connections between leaves end, those within a leaf stay. {RETRY}."
        return False, why
    if one.cells.number(Fate.REDUCED, Fate.UNKNOWN):
        return None, _unknown(one.cells)
    if one.unsure:
        names = fold([switch.switch for switch in one.unsure])
        return None, f"Whether {names} keeps an uplink is unknown: no uplink that is left could be read."
    return True, _survives(one)


def _pairs(number: int) -> str:
    return f"{number:,} {'pair' if number == 1 else 'pairs'} of host and rail"


def _unknown(cells: Cells) -> str:
    words = []
    if reduced := cells.number(Fate.REDUCED):
        words.append(
            f"{_pairs(reduced)} {'keeps' if reduced == 1 else 'keep'} another plane: connections end "
            "unless NIC or library moves them there, which no device reports (NCCL does not mix planes)."
        )
    if unknown := cells.number(Fate.UNKNOWN):
        words.append(f"The cables of {_pairs(unknown)} could not be read.")
    return " ".join((*words, f"{RETRY}."))


def _survives(one: Outcome) -> str:
    if kept := one.cells.number(Fate.KEPT):
        return (
            f"{_pairs(kept)} {'moves' if kept == 1 else 'move'} to the other port of the "
            "bond (RoCE LAG): assumed to take less time than the retries, and both ports to be in the bond on the "
            "switches too."
        )
    if one.answer.switches:
        return (
            "Packets in flight are lost and resent over the other uplinks: assumed that routing converges before the "
            "retries are used up, as it does within seconds where the routes are withdrawn first."
        )
    return "No connection of any host runs over it."


def can_drain(one: Outcome, survives: bool | None) -> bool | None:
    """Whether no running job loses a connection; None if that is unknown."""
    if one.answer.down_now:
        return True
    if not one.answer.jobs_known:
        return True if survives else None
    if any(job.effect == ENDS for job in one.answer.jobs):
        return False
    return None if one.hit else True


def summary(one: Outcome, survives: bool | None) -> str:
    """The answer first, then what is lost."""
    if one.answer.down_now:
        return f"Yes: {one.impact}"
    return " ".join((_answer(one, survives), one.impact, *_compound(one)))


def _answer(one: Outcome, survives: bool | None) -> str:
    name = one.answer.name
    can = can_drain(one, survives)
    if can and not one.answer.jobs_known:
        return f"Yes: {name} can be taken out of service, no connection ends."
    if can:
        jobs = len(one.answer.jobs)
        slower = f" {count(jobs, 'job')} {'keep' if jobs > 1 else 'keeps'} less bandwidth." * bool(jobs)
        return f"Yes: no {one.jobs_source} job loses a connection.{slower}"
    if can is None and not one.answer.jobs_known:
        may = "ends" if survives is False else "may end"
        return f"Only without jobs, and which jobs run is unknown: what runs on {shortened(one.below)} {may}."
    verb = {True: "uses", False: "use"}[len(one.hit) == 1]
    return f"{'Not now' if can is False else 'Unknown'}: {_jobs(one.hit)} {verb} it."


def _jobs(jobs: Sequence[DrainJob]) -> str:
    names = [f"{job.name} on {count(job.hosts_affected, 'host')}" for job in jobs]
    return f"{count(len(jobs), 'job')} ({some(names, MOST_NAMED)})"


def _compound(one: Outcome) -> Iterator[str]:
    """Those who already have a fault on what is left."""
    both = [host for host in one.answer.hosts if host.already_lost and host.lost]
    if both:
        rails = rail_words({rail for host in both for rail in host.already_lost})
        hosts = named([host.host for host in both])
        verb = "loses" if len(both) == 1 else "lose"
        yield f"{hosts} {verb} both: what is drained, and {rails}, lost already."
    short = [switch for switch in one.answer.switches if switch.now < switch.planned]
    if short:
        least = short[0]
        yield (
            f"{count(len(short), 'switch', 'switches')} below {'has' if len(short) == 1 else 'have'} lost uplinks "
            f"already: {least.switch} would keep {least.left} of {least.planned}."
        )


def steps(one: Outcome, survives: bool | None) -> tuple[str, ...]:
    """What to do, in order."""
    if one.answer.down_now:
        return ("It is down: there is nothing to drain. Repair it.",)
    return tuple(as_sentence(step) for step in _steps(one, survives))


def _steps(one: Outcome, survives: bool | None) -> Iterator[str]:
    for fault in one.answer.faults[:MOST_NAMED]:
        who = " and ".join(filter(None, (fault.hosts, fault.switches)))
        cause = f"{fault.id} first ({fault.kind}, {fault.key})"
        yield f"Repair {cause}: {shortened(who)} would have that fault and the drain"
    for work in one.answer.other_work[:MOST_NAMED]:
        who = " and ".join(filter(None, (work.hosts, work.switches)))
        until = f"{work.starts:%Y-%m-%d %H:%M} to {work.ends:%H:%M} UTC"
        yield f"Not together with the maintenance of {work.what}, {until}: it affects {shortened(who)} too"
    yield "Announce the maintenance"
    yield from _before(one, survives)
    if one.answer.switches:
        yield f"Withdraw its routes, and wait until truerail counters {one.answer.name} shows no traffic"
    yield f"Take {one.answer.name} out of service"
    if one.answer.hosts or one.answer.switches:
        yield "Take down nothing else of the affected hosts and switches until it is back"
    yield "Afterwards: truerail status shows what is not as before; then let jobs start"


def _before(one: Outcome, survives: bool | None) -> Iterator[str]:
    if survives:
        return
    who = shortened(one.below)
    yield f"Drain {who} in the scheduler, so that no new job starts there"
    if not one.answer.jobs_known:
        yield f"End or checkpoint the jobs on {who}: which ones run is unknown, --job NAME=NODES gives them"
    elif one.hit:
        yield f"End or checkpoint {_jobs(one.hit)}"


def announcement(one: Outcome, survives: bool | None, because: str) -> str:
    """The maintenance in words, for people."""
    why = f": {_line(because)}" if because.strip() else ""
    starts, ends = one.answer.starts, one.answer.ends
    until = f"{ends:%H:%M}" if ends.date() == starts.date() else f"{ends:%Y-%m-%d %H:%M}"
    parts = [f"Maintenance of {one.answer.name}, {starts:%Y-%m-%d %H:%M} to {until} UTC{why}.", *_affected(one)]
    if not survives:
        end = "may end" if survives is None else "end"
        parts.append(f"RDMA connections over it {end}: end or checkpoint jobs on these hosts before it begins.")
    elif one.answer.switches:
        parts.append("No connection ends; less bandwidth is left between leaves.")
    if one.hit:
        parts.append(f"Jobs: {', '.join(job.name for job in one.hit)}.")
    return " ".join(parts)


def _affected(one: Outcome) -> Iterator[str]:
    if one.answer.hosts:
        gpus = sum(len(host.gpus) for host in one.answer.hosts)
        rails = rail_words({rail for host in one.answer.hosts for rail in (*host.lost, *host.reduced)})
        yield f"Affected: {one.below}, {rails or 'no rail'}, {count(gpus, 'GPU')} without their rail."
        least = min(host.share_left for host in one.answer.hosts)
        share = Fraction(least).limit_denominator(100)
        yield f"At least {share} of each host's bandwidth is left." if least else "No bandwidth may be left to a host."
    elif one.answer.switches:
        least_up = min(switch.left / switch.planned for switch in one.answer.switches)
        share = Fraction(least_up).limit_denominator(100)
        below = count(len(one.answer.switches), "switch", "switches")
        yield f"Affected: {below} below, which keep at least {share} of the planned uplinks."
    else:
        yield "No host is affected."


def command(
    view: View, given: tuple[str, str, str, str], target: ResolvedTarget, starts: datetime, ends: datetime
) -> str:
    """The command that announces it, ready for a shell; `given` are what, start, until and reason in the user's words.
    A port has no maintenance, so its device is announced.
    """
    of, start, until, reason = given
    try:
        scope, what = scope_of(view, of)
    except QueryError:
        if not view.is_planned(target.device):
            return ""
        scope, what = "device", view.index.devices.names[target.device]
    whole = f"{scope} {what}" if scope in ("rail", "pod") else what
    times = f"--until {quote(until)}"
    if start.lower() != "now":
        times = f"--from {_iso(starts)} --until {_iso(ends)}"
    because = _line(reason) or _line(f"drain of {target.name}")
    return f"truerail maintenance {quote(whole)} {times} --because {quote(because)}"


def _line(text: str) -> str:
    """A reason on one line."""
    return printable(" ".join(text.split()), 200)


def _iso(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%MZ}"
