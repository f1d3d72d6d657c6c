"""Evaluates one round. Rules run one by one: a rule without a result, or with a bug, does not affect the others."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from collector import at_once, collectors
from rules import rules as all_rules
from truerail.analysis.cabling import State, Why, Wiring
from truerail.analysis.counters.evidence import with_counters
from truerail.analysis.coverage import not_listed, roles_not_asked
from truerail.analysis.explained import Explained, with_explained
from truerail.analysis.probes.results import coverage, words_of
from truerail.analysis.probes.round_trips import words as round_trip_words
from truerail.analysis.published import EvaluatedRound, Published
from truerail.analysis.round import Round
from truerail.analysis.rule import Rule
from truerail.causes import explain, explain_lasting
from truerail.model import (
    CableState,
    Cause,
    Evaluation,
    Fact,
    Finding,
    Optic,
    Port,
    PortCounters,
    Reading,
    Role,
    Severity,
    Status,
    Summary,
    Verdict,
)
from truerail.model.finding import with_actions
from truerail.model.life import Maintained
from truerail.model.names import folded, natural_key, printable, some
from truerail.plans.linting import contradictions
from truerail.verify import proven

# ----------------------------------------------------------------------------------------------------------------------
# Finds the device whose answers break a rule, by bisection, so that the rule still evaluates all others.


def without_culprit(rule: Rule, round: Round) -> tuple[str, tuple[Finding, ...]]:
    """The device whose answers alone break a rule, and the rule's findings without it. Empty if it is not a single
    device.
    """
    suspects = list(dict.fromkeys(reading.device for reading in round.snapshot.readings))
    while len(suspects) > 1:
        half = len(suspects) // 2
        first, second = suspects[:half], suspects[half:]
        on_second, on_first = (_breaks(rule, _without(round, part)) for part in (first, second))
        if on_first == on_second:  # both halves break it, or only both together
            return "", ()
        suspects = first if on_first else second
    if not suspects:
        return "", ()
    rest = _without(round, suspects)
    try:
        return suspects[0], rule.look(rest).findings
    except Exception:  # noqa: BLE001 - another device breaks it, or more than this one
        return "", ()


def _without(round: Round, devices: Sequence[str]) -> Round:
    gone, snapshot = set(devices), round.snapshot
    readings = [reading for reading in snapshot.readings if reading.device not in gone]
    return replace(round, snapshot=replace(snapshot, readings=readings))


def _breaks(rule: Rule, round: Round) -> bool:
    try:
        rule.look(round)
    except Exception:  # noqa: BLE001 - any exception is the result
        return True
    return False


# ----------------------------------------------------------------------------------------------------------------------
# The rules, one after the other.


_ONE_ROUND = "it needs the counters of two rounds or more, at most 15 minutes apart"
_UNPLANNED = "CAB009"
_MOST_DEVICES = 8
"""Maximum devices named in the line about unplanned links."""
_STATES = {
    State.RIGHT: CableState.RIGHT,
    State.WRONG: CableState.WRONG,
    State.MISSING: CableState.MISSING,
    State.UNKNOWN: CableState.UNKNOWN,
}


def evaluate(
    round: Round, *, only: Collection[str] | None = None, notes: Iterable[str] = (), work: Sequence[Maintained] = ()
) -> Evaluation:
    """Compares the snapshot of a round with its plan: findings, their causes, and what could not be evaluated.

    `only` limits the rules by code. A rule without any device's answer to its facts is `unknown`, never passed; a rule
    that breaks is an `error` verdict, and the others still run. `work` is what maintenance windows cover now.
    """
    plan, snapshot, wiring = round.plan, round.snapshot, round.cabling
    answered = _answered(round)
    findings: list[Finding] = []
    verdicts: list[Verdict] = []
    wanted = [rule for code, rule in all_rules().items() if only is None or code in only]
    for rule in wanted:
        if not rule.after_causes:
            verdict, found = _run(rule, round, answered)
            verdicts.append(verdict)
            findings += found
    findings = with_counters(round.telemetry, findings) if round.counters is not None else findings
    lasting, causes, later = explain_lasting(round, _ordered(findings), verdicts, work)
    ordered, causes = _ordered(lasting), proven(wiring, causes)
    failed = {finding.rule for finding in ordered}
    verdicts = [replace(one, status=Status.FAIL) if one.rule in failed else one for one in verdicts]
    explained = Explained(round, ordered, causes, tuple(verdicts))
    joined: list[Finding] = []
    for rule in wanted:
        if rule.after_causes:
            verdict, found = _run(rule, round, answered, explained)
            verdicts.append(verdict)
            joined += found
    if joined:
        ordered, causes = _ordered((*ordered, *joined)), with_explained(causes, joined)
    verdicts.sort(key=lambda verdict: verdict.rule)
    return Evaluation(
        at=snapshot.at,
        plan=plan,
        findings=with_actions(ordered, causes),
        causes=causes,
        verdicts=tuple(verdicts),
        collection_errors=tuple(reading for reading in snapshot.readings if reading.error and _missed(reading, round)),
        summary=summary_of(wiring, ordered),
        cable_states=cable_states(wiring),
        notes=(
            *notes,
            *wiring.identity.fit.used,
            *_notes(wiring),
            *(f"{one.id} is a fault of truerail: please report it with this capture" for one in causes if one.unproven),
            *_unplanned(ordered),
            *_probed(round),
        ),
        serials=_serials(round, causes),
        lasting=later,
    )


def publication_of(round: Round, evaluation: Evaluation | None = None, fabric: str = "") -> Published:
    """The publication of a round. Evaluates it if no evaluation is given."""
    return Published(0, fabric, EvaluatedRound(round, evaluation or evaluate(round)))


def evaluate_further(evaluation: Evaluation, round: Round, codes: Collection[str]) -> Evaluation:
    """The evaluation of a round that contains further facts, which only the rules `codes` read: these are evaluated,
    the rest is taken over.
    """
    answered = _answered(round)
    verdicts = {one.rule: one for one in evaluation.verdicts}
    found: list[Finding] = []
    for code in codes:
        verdicts[code], more = _run(all_rules()[code], round, answered)
        found += more
    rest = [one for one in evaluation.findings if one.rule not in codes]
    joined = [one for one in rest if all_rules()[one.rule].after_causes]
    before = [one for one in rest if not all_rules()[one.rule].after_causes]
    causes = with_explained(proven(round.cabling, explain(round, _ordered([*before, *found]))), joined)
    findings = _ordered([*rest, *with_actions(found, causes)])
    return replace(evaluation, findings=findings, causes=causes, verdicts=tuple(verdicts.values()))


def _ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda f: (-f.severity.rank, f.rule, natural_key(f.subject))))


def _serials(round: Round, causes: Iterable[Cause]) -> dict[str, str]:
    """By port, the serial numbers that the devices of causes and those at the other ends of their cables report."""
    plan = round.plan
    ports = {port for cause in causes for move in cause.moves for port in (move.source, move.cable)}
    ports |= {
        Port(device, name) for cause in causes for device, _, name in (one.partition("/") for one in cause.subjects)
    }
    devices = {end.device for port in ports for end in (port, plan.peer_of(port)) if end}
    table = round.snapshot.table(Optic)
    wanted = [code for code, name in enumerate(table.devices) if name in devices]
    rows = np.flatnonzero(np.isin(table.device, wanted)).tolist() if wanted and len(table.rows) else []
    found = ((table.devices[int(table.device[row])], table.rows[row]) for row in rows)
    return {f"{device}/{optic.port}": optic.serial for device, optic in found if optic.serial}


def _missed(reading: Reading, round: Round) -> bool:
    """Whether a missing answer matters: counters are useless in a single round."""
    return round.counters is not None or reading.collector in at_once()


def _run(
    rule: Rule, round: Round, answered: set[type[Fact]], explained: Explained | None = None
) -> tuple[Verdict, Sequence[Finding]]:
    if not rule.applies_to(round.plan):
        return Verdict(rule.code, Status.NOT_APPLICABLE), ()
    missing = tuple(kind.__name__ for kind in rule.missing(answered))
    if missing:
        why = _ONE_ROUND if missing == (PortCounters.__name__,) and round.counters is None else ""
        return Verdict(rule.code, Status.UNKNOWN, missing=missing, why=why), ()
    try:
        evaluated = rule.look(explained or round)
    except Exception as error:  # noqa: BLE001 - a bug in one rule must not affect the others; its verdict is `error`
        culprit, found = ("", ()) if rule.after_causes else without_culprit(rule, round)
        on = f"; {culprit} causes it, the others are evaluated" if culprit else ""
        return Verdict(rule.code, Status.ERROR, error=f"{type(error).__name__}: {printable(str(error))}{on}"), found
    if not evaluated.applies:
        return Verdict(rule.code, Status.NOT_APPLICABLE), ()
    status = Status.FAIL if evaluated.findings else Status.UNKNOWN if evaluated.not_evaluated else Status.PASS
    why, ready = "; ".join(part.why for part in evaluated.not_evaluated), None
    if evaluated.not_evaluated and PortCounters in rule.needs and round.counters is not None:
        ready = round.counters.settled_at
    return Verdict(
        rule.code, status, why=why, not_evaluated=evaluated.not_evaluated, ready_at=ready
    ), evaluated.findings


def _answered(round: Round) -> set[type[Fact]]:
    """Kinds of facts that at least one device was asked for and reported. Counters are useless in a single round."""
    yields = {name: collector.yields for name, collector in collectors().items()}
    reported = {reading.collector for reading in round.snapshot.readings if not reading.error}
    kinds = {kind for name in reported for kind in yields.get(name, ())}
    return kinds if round.counters is not None else kinds - {PortCounters}


def summary_of(wiring: Wiring, findings: Sequence[Finding]) -> Summary:
    """How many cables are in each state, how many hosts were read, and findings by severity."""
    counts = np.bincount(wiring.state, minlength=len(State)).tolist()
    loud: Mapping[str, int] = Counter(str(f.severity) for f in findings)
    hosts = [code for code, tier in enumerate(wiring.index.devices.tier) if tier == Role.HOST.tier]
    return Summary(
        cables_planned=len(wiring.state),
        cables_right=counts[State.RIGHT],
        cables_wrong=counts[State.WRONG],
        cables_missing=counts[State.MISSING],
        cables_unknown=counts[State.UNKNOWN],
        hosts=len(hosts),
        hosts_read=int(np.count_nonzero(wiring.read[hosts])),
        findings={str(severity): loud.get(str(severity), 0) for severity in reversed(Severity)},
    )


def cable_states(wiring: Wiring) -> dict[Port, CableState]:
    """State of every planned cable, by its end nearer to the GPUs: of two there the first's, as in the index."""
    words, states = [_STATES[state] for state in State], dict[Port, CableState]()
    for cable, state in zip(wiring.index.plan.cables, wiring.state.tolist(), strict=True):
        states.setdefault(cable.a, words[state])
    return states


def _unplanned(findings: Iterable[Finding]) -> Iterable[str]:
    """Unplanned links, in one line: each of them is a finding of its own."""
    counts = Counter(finding.device for finding in findings if finding.rule == _UNPLANNED)
    if counts:
        shown = ", ".join(f"{device} ({count})" for device, count in counts.most_common(_MOST_DEVICES))
        more = f" and {len(counts) - _MOST_DEVICES:,} more devices" if len(counts) > _MOST_DEVICES else ""
        links = "1 link is" if counts.total() == 1 else f"{counts.total():,} links are"
        yield f"{links} not in the plan ({_UNPLANNED}): {shown}{more}"


def _probed(round: Round) -> Iterable[str]:
    """What the probes of the round speak for, if it has any."""
    found = coverage(round)
    if found:
        yield found.words
    if doubts := words_of(round):
        yield doubts
    if times := round_trip_words(round):
        yield times


def _by_place(wiring: Wiring) -> Iterable[str]:
    """InfiniBand switches without a name of their own."""
    names, found = wiring.index.devices.names, wiring.identity
    if found.placed:
        many = len(found.placed) != 1
        shown = [f"{names[true]} is {names[node]}" for node, true in sorted(found.placed.items(), key=lambda p: p[1])]
        yield (
            f"{len(shown):,} switch{'es' * many} of the plan {'are' if many else 'is'} known by the wiring alone, so a "
            "whole switch in another's place stays undetected; give GUIDs as chassis_ids in the plan: "
            f"{some(shown, _MOST_DEVICES)}"
        )
    if found.unplaced:
        many = len(found.unplaced) != 1
        yield (
            f"{len(found.unplaced):,} switch{'es' * many} that {'bear' if many else 'bears'} no name of "
            f"{'their' if many else 'its'} own may be any switch of the plan that was not met, so its cables stay "
            f"unknown; give GUIDs as chassis_ids in the plan: {folded(names[code] for code in found.unplaced)}"
        )


def _notes(wiring: Wiring) -> Iterable[str]:
    if (wiring.why == Why.CONTRADICTED).any():
        yield from wiring.index.plan.once(contradictions)
    for role in roles_not_asked(wiring):
        yield f"no {role} is polled: their cables are evaluated from the other ends alone"
    missing = not_listed(wiring)
    if missing.devices:
        yield missing.summary
    names = wiring.index.devices.names
    for device, name in sorted(wiring.identity.announces.items()):
        yield f"{names[device]} announces itself as {names[name]}; its report is filed under that name"
    yield from _by_place(wiring)
    for name, device in sorted(wiring.identity.strange.items()):
        if name == device:
            continue  # an unplanned device, under its own name
        yield f"{names[device]} announces itself as {names[name]}, a name not in the plan"
