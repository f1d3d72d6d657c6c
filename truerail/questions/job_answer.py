"""The answer of `job`, its sentences, and its text: rails, hosts with faults, causes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text

from truerail.analysis.cabling import State
from truerail.files.nodesets import fold
from truerail.model.cause_kinds import CAUSE_KINDS, CauseKind, Harm
from truerail.model.columns import NONE, grouped
from truerail.model.finding import Evaluation, Severity, Status, Verdict, is_down
from truerail.outputs.options import Options
from truerail.outputs.report_words import count, name, sentence
from truerail.outputs.text.blocks import PORT, QUIET, hanging, heading
from truerail.questions.answer_text import MOST_LINES, cause, grid, section, to_do
from truerail.questions.jobs_answer import JobRun, run_lines
from truerail.questions.rail_status import RailStatus, Stand
from truerail.questions.resolve import rail_words
from truerail.views.lines import seen_end, why_words
from truerail.views.pieces import AsOf, CauseLine
from truerail.views.view import View

MOST_NAMED = 3
_DOES = {
    CauseKind.PFC_STORM: ("PFC storm", "stalls {}"),
    CauseKind.PFC_DEADLOCK: ("PFC deadlock", "stalls {}"),
    CauseKind.LINK_DOWN: ("link down", "takes a rail from {}"),
    CauseKind.GPU_NIC_ORDER: ("GPU and NIC order", "slows {}"),
    CauseKind.DEGRADED_LINK: ("degraded link", "slows {}"),
    CauseKind.FLAPPING_LINK: ("flapping link", "interrupts {}"),
    CauseKind.SLOW_HOST: ("slow host", "slows {}"),
    CauseKind.UNREACHABLE: ("no answer", "leaves the rails of {} unknown"),
    CauseKind.MAINTENANCE: ("maintenance", "touches {}"),
    CauseKind.UNKNOWN: ("a fault of unknown cause", "affects {}"),
}
"""The name of a kind of cause in a sentence, and its effect on hosts. Others of cables put them on wrong rails."""
TRAFFIC_RULES = ("PFC", "RAL", "LNK", "LBL", "ECN", "INC", "NIC004", "NIC005")
"""Rules whose findings may slow a job."""

MOST_RULES = 6


@dataclass(frozen=True, slots=True)
class JobRail:
    """One rail of a job. `broken`, `unknown` and `degraded` are hosts as a node set; with the healthy ones they add up
    to `hosts`. Degraded hosts have only a part of their cables on the rail: one plane of two.
    """

    rail: int | None
    hosts: int
    connected: int
    broken: str
    unknown: str
    summary: str
    degraded: str = ""


@dataclass(frozen=True, slots=True)
class JobHost:
    """A host with faults. `lost` are rails without a usable same-rail path, `unknown` those in unknown state,
    `degraded` those that have lost a plane and still work.
    """

    host: str
    lost: tuple[int, ...]
    unknown: tuple[int, ...]
    summary: str
    causes: tuple[str, ...]
    """Keys."""
    degraded: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of hosts of the job, over all rails, by what NCCL would do between them. They add up to `total`.

    `same_rail`: NIC to NIC within the rail. `rerouted`: a detour (PXN through another GPU of the sender, or across the
    spine). `cut`: no path (rail-only fabric, rails that share none). `unknown`: not enough data.
    """

    total: int
    same_rail: int
    rerouted: int
    cut: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Job:
    """`job`, worst first."""

    query: str
    hosts: tuple[str, ...]
    not_in_plan: tuple[str, ...]
    rails: tuple[JobRail, ...]
    pairs: Pairs
    worst: tuple[JobHost, ...]
    causes: tuple[CauseLine, ...]
    summary: str
    action: str
    run: JobRun | None = None
    """The job as its scheduler reports it, where its id or its name was asked for."""
    as_of: AsOf | None = None
    unevaluated: str = ""
    """What may slow it and could not be evaluated, as far as it is on its path or only time is missing."""
    without_effect: bool = False
    """Whether none of its causes is known to affect its traffic: names alone, or congestion that is handled."""


def verdict(fault: str, causes: Sequence[CauseLine], hosts: int, evaluation: Evaluation) -> str:
    """The answer to "is the network slowing this job?": yes and why, perhaps, or no; and what could not be evaluated.

    `fault` is that of `fault_words`; `causes` are sorted by the number of affected hosts, most first.
    """
    if fault:
        return f"{fault}{beside(evaluation)}"
    rails = "this host's rails" if hosts == 1 else "these hosts' rails"
    return f"No network fault is known on {rails}{not_evaluated(evaluation)}.{_without_effect(causes)}"


def _without_effect(causes: Sequence[CauseLine]) -> str:
    """Why causes are listed below the answer that no fault is known: names alone, or congestion that is handled."""
    if not causes:
        return ""
    more = f" and {count(len(causes) - 1, 'more cause')}" if len(causes) > 1 else ""
    named = _named(causes[0])
    return f" {named[:1].upper()}{named[1:]}{more}: no effect on their traffic is known."


def fault_words(causes: Sequence[CauseLine], affected: Mapping[str, int], hosts: int, lost: int) -> str:
    """What slows the job, or may; empty if no fault is known. `affected` is the number of its hosts by a cause's key;
    `lost` hosts have lost a rail.
    """
    touching = [cause for cause in causes if affected.get(cause.key)]
    affecting = [cause for cause in touching if cause.kind != CauseKind.UNREACHABLE and not cause.undecided]
    if affecting:
        more = len(affecting) - 1
        also = f" {count(more, 'more cause')} affect{'s' if more == 1 else ''} them." if more else ""
        return f"Yes: {_what(affecting[0], affected, hosts)}.{also}"
    if lost:
        return f"Yes: {_of_hosts(lost, hosts)} {_has(lost)} lost a rail."
    if touching:
        return f"Perhaps: {_what(touching[0], affected, hosts)}."
    of_cables = [cause for cause in causes if not CAUSE_KINDS[CauseKind(cause.kind)].names]
    above = [cause for cause in of_cables if Severity(cause.severity) is not Severity.INFO]
    if above:
        return f"Perhaps: {_named(above[0])} is on their path, but none of their own links is affected."
    return ""


def not_evaluated(evaluation: Evaluation) -> str:
    """What may slow a job and could not be evaluated, after a comma; empty if everything was evaluated."""
    words = _incomplete(one for one in evaluation.verdicts if one.incomplete)
    return f", but {words}" if words else ""


def beside(evaluation: Evaluation) -> str:
    """What rules with findings could not evaluate, as a sentence after a blank; empty if nothing."""
    words = _incomplete(one for one in evaluation.verdicts if one.incomplete and one.status is Status.FAIL)
    return f" In addition, {words}." if words else ""


def _incomplete(verdicts: Iterable[Verdict]) -> str:
    """The commonest reason among traffic rules, the rules that it keeps from evaluating, and how many more."""
    unknown = [one for one in verdicts if one.rule.startswith(TRAFFIC_RULES)]
    if not unknown:
        return ""
    reason, rules = Counter(one.reason for one in unknown).most_common(1)[0]
    more = f", and {count(len(unknown) - rules, 'more rule')}" if len(unknown) > rules else ""
    of = [one for one in unknown if one.reason == reason]
    codes = ", ".join(sorted(one.rule for one in of)[:MOST_RULES])
    shown = codes if rules <= MOST_RULES else f"{count(rules, 'rule')} ({codes}, ...)"
    evaluated = "could not evaluate everything" if all(one.not_evaluated for one in of) else "could not be evaluated"
    return f"{shown} {evaluated} ({reason}){more}{_known_by(unknown)}"


def _known_by(verdicts: Iterable[Verdict]) -> str:
    ready = max((one.ready_at for one in verdicts if one.ready_at), default=None)
    return f"; counters will be enough at {ready:%H:%M:%S} UTC" if ready else ""


class Doubts:
    """The rules on traffic that cannot say anything yet, and those that cannot about some devices."""

    def __init__(self, evaluation: Evaluation) -> None:
        rules = [one for one in evaluation.verdicts if one.rule.startswith(TRAFFIC_RULES)]
        self._early = [one for one in rules if one.ready_at is not None]
        parts = ((one, part) for one in rules for part in one.not_evaluated)
        self._at = grouped((name.partition("/")[0], one) for one, part in parts for name in part.subjects)

    def about(self, devices: Iterable[str]) -> str:
        """What is not evaluated of these devices, and until when; empty if nothing."""
        found = {one.rule: one for one in (*self._early, *(one for name in devices for one in self._at.get(name, ())))}
        if not found:
            return ""
        more = f" and {count(len(found) - MOST_RULES, 'more rule')}" if len(found) > MOST_RULES else ""
        return f"not evaluated: {', '.join(sorted(found)[:MOST_RULES])}{more}{_known_by(found.values())}"


def _what(cause: CauseLine, affected: Mapping[str, int], hosts: int) -> str:
    kind = CauseKind(cause.kind)
    of_others = "puts {} on a wrong rail" if CAUSE_KINDS[kind].harm is Harm.CABLES else "affects {}"
    does = _DOES.get(kind, ("", of_others))[1]
    if cause.undecided:
        verb, _, rest = does.partition(" ")
        does = f"may {verb.removesuffix('s')} {rest}"
    return f"{_named(cause)} {does.format(_of_hosts(affected[cause.key], hosts))}"


def _named(cause: CauseLine) -> str:
    word = _DOES.get(CauseKind(cause.kind), (cause.kind.replace("-", " "), ""))[0]
    shown = cause.subjects if len(cause.subjects) <= 2 else (cause.subjects[0], f"{len(cause.subjects) - 1:,} more")
    if is_down(cause.kind, cause.subjects, cause.summary):
        return f"host {shown[0]} is down, which"
    return f"{word} {'from' if cause.kind == CauseKind.UNREACHABLE else 'at'} {' and '.join(shown)}"


def _of_hosts(number: int, hosts: int) -> str:
    return "your host" if hosts == 1 else f"{number:,} of your {hosts:,} hosts"


def headline(hosts: int, unplanned: Sequence[str], tally: tuple[int, int, int], rails: int, pairs: Pairs) -> str:
    """The job in one sentence: hosts that lose a rail, the effect on pairs, and what is unknown.

    `tally` is hosts with a rail lost, degraded, unknown. Pairs are counted on each rail.
    """
    lost, degraded, unknown = tally
    parts = []
    if lost:
        parts.append(f"{lost:,} of {count(hosts, 'host')} {_has(lost)} lost a rail")
    if degraded:
        parts.append(f"{count(degraded, 'host')} {_has(degraded)} one plane left on a rail")
    if unknown:
        parts.append(f"the rails of {count(unknown, 'host')} are unknown in part")
    if not parts:
        parts.append(f"{'All ' if hosts > 1 else ''}{count(hosts, 'host')} connected on {count(rails, 'rail')}")
    parts += _fate(pairs)
    if unplanned:
        parts.append(f"{count(len(unplanned), 'name')} not in the plan")
    return f"{parts[0][:1].upper()}{parts[0][1:]}{''.join(f'; {part}' for part in parts[1:])}."


def _has(number: int) -> str:
    return "has" if number == 1 else "have"


def _fate(pairs: Pairs) -> Iterator[str]:
    """The effect on pairs that do not stay on their rail; one sentence if all do."""
    if pairs.cut:
        yield f"{pairs.cut:,} of {count(pairs.total, 'pair')} cut: NCCL drops these connections"
    if pairs.rerouted:
        yield f"{pairs.rerouted:,} of {count(pairs.total, 'pair')} rerouted (PXN, or across the spine)"
    if pairs.unknown:
        yield f"{pairs.unknown:,} of {count(pairs.total, 'pair')} unknown"
    if pairs.total and pairs.same_rail == pairs.total:
        yield "every pair of hosts stays within its rail"


def rail_says(hosts: int, whole: int, lost: str, degraded: str, unknown: str) -> str:
    """One rail as a line."""
    if whole == hosts:
        return "connected on its one host" if hosts == 1 else f"connected on all {hosts:,} hosts"
    parts = [f"connected on {whole:,} of {hosts:,}"]
    parts += [f"{word} {names}" for word, names in (("lost on", lost), ("one plane left on", degraded)) if names]
    if unknown:
        parts.append(f"unknown on {unknown}")
    return ", ".join(parts)


def host_says(view: View, standing: RailStatus, host: int) -> str:
    """Why a host has faults: each of its cables that does not carry its rail, the first few."""
    bad = [cable for cable in view.layout.host_cables_of(host).tolist() if standing.stand[cable] != Stand.ON]
    reported = [_cable(view, standing, cable) for cable in bad[:MOST_NAMED]]
    if len({why for _, why in reported}) == 1 and len(bad) > 1 and "it is on" not in reported[0][1]:
        rails = rail_words({int(standing.index.rail[cable]) for cable in bad} - {NONE})
        return f"{rails or 'cables without a rail'}: {reported[0][1]}"
    more = f"; and {count(len(bad) - MOST_NAMED, 'more cable')}" if len(bad) > MOST_NAMED else ""
    return "; ".join(f"{name}: {why}" for name, why in reported) + more


def _cable(view: View, standing: RailStatus, cable: int) -> tuple[str, str]:
    planned = view.plan.cables[cable]
    plane = "" if planned.plane is None else f" plane {planned.plane}"
    name = planned.a.name if planned.rail is None else f"rail {planned.rail}{plane} ({planned.a.name})"
    if standing.stand[cable] == Stand.OFF and standing.wiring.state[cable] == State.RIGHT:
        return name, "RDMA is not active"
    return name, why_words(view, cable, seen_end(view, cable))


def first_action(worst: Sequence[JobHost], causes: Sequence[CauseLine], *, cut: bool) -> str:
    """One action: repair the first cause; if pairs are cut, the job must leave the hosts until then."""
    lost = [host.host for host in worst if host.lost]
    mend = next((cause.action for cause in causes if cause.action), "")
    if cut and lost:
        more = " and the others that have lost a rail" if len(lost) > MOST_NAMED else ""
        return f"{mend} Until then keep the job off {fold(lost[:MOST_NAMED])}{more}.".strip()
    if mend or not worst:
        return mend or "Nothing to do."
    return f"Check {worst[0].host} first: {worst[0].summary}."


def job_text(answer: Job, options: Options) -> Iterator[RenderableType]:
    """What to do, the pairs, every rail, the worst hosts, the causes."""
    yield from to_do(answer.action)
    if answer.run is not None:
        yield from run_lines(answer.run)
    if answer.not_in_plan:
        yield hanging("?", Text(f"not in the plan: {name(fold(answer.not_in_plan))}", style="bold magenta"))
    yield from _pair_lines(answer)
    yield from _rail_lines(answer)
    most = None if options.details else MOST_LINES
    yield from section(answer.worst, _host_line, "hosts", "Hosts with lost or unknown rails", "worst first", most=most)
    yield from section(answer.causes, cause, "causes", "Causes")


def _pair_lines(answer: Job) -> Iterator[RenderableType]:
    pairs = answer.pairs
    if not pairs.total:
        return
    words = [f"{pairs.same_rail:,} within the rail"]
    words += [f"{pairs.rerouted:,} rerouted"] * bool(pairs.rerouted)
    words += [f"{pairs.cut:,} cut"] * bool(pairs.cut) + [f"{pairs.unknown:,} unknown"] * bool(pairs.unknown)
    hosts = f"{count(len(answer.hosts), 'host')}, {count(len(answer.rails), 'rail')}"
    reported = f"{hosts}, {count(pairs.total, 'pair')} counted on each rail: {', '.join(words)}"
    yield hanging("", Text(reported, style=QUIET), indent=1)


def _rail_lines(answer: Job) -> Iterator[RenderableType]:
    whole = [rail for rail in answer.rails if rail.connected == rail.hosts]
    broken = grid("left", "fold")
    for rail in answer.rails:
        if rail.connected != rail.hosts:
            word = "no rail" if rail.rail is None else f"rail {rail.rail}"
            broken.add_row(Text(f"  {word}", style="bold"), sentence(rail.summary))
    yield heading("Rails")
    if len(whole) < len(answer.rails):
        yield broken
    if whole:
        named = rail_words(rail.rail for rail in whole if rail.rail is not None) or count(len(whole), "rail")
        yield Text(f"  {named} connected", style="green")


def _host_line(host: JobHost) -> RenderableType:
    return hanging(Text(name(host.host), style=PORT), Text(sentence(host.summary)))
