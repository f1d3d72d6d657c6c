"""Findings, causes, cables and uplinks as rows of an answer."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

import numpy as np

from truerail.analysis.cabling import State, Why, Wiring
from truerail.analysis.cabling.named_by import VERIFIED, named_by
from truerail.errors import JournalUnavailableError
from truerail.model.cause_kinds import CAUSE_KINDS, Harm
from truerail.model.columns import NONE, Codes
from truerail.model.finding import Cause, Finding, Move, Severity, causes_before
from truerail.model.history import History
from truerail.model.life import Life, LifeState
from truerail.model.plan import Port
from truerail.outputs.report_words import order
from truerail.views.cause_jobs import MOST_JOBS, cause_jobs, jobs_by_cause
from truerail.views.pieces import CablePath, CauseLine, End, FindingLine, MoveLine, StateCount, Uplinks
from truerail.views.view import View

STATES = {State.RIGHT: "right", State.WRONG: "wrong", State.MISSING: "missing", State.UNKNOWN: "unknown"}
"""`CableState` words by wiring state."""

T = TypeVar("T")
Otherwise = TypeVar("Otherwise")
UNKNOWN = "unknown"
MOST_MOVES = 16
"""For a cause with more moves, a cable shows only the moves that concern it."""

_NOT_SEEN = {
    Why.LINK_DOWN: "no link: an end that answered reports its port down",
    Why.DISABLED: "no link: the port of one of its ends is switched off",
    Why.SILENT: "both ends run LLDP, and neither sees the other",
    Why.NOT_READ: "no device that answered has the data",
    Why.AMBIGUOUS: "the neighbors on its ports are contradictory; check again in two minutes",
    Why.DEVICE_SILENT: "one of its devices sends and receives no LLDP, so its LLDP seems to be off",
    Why.PENDING: "host down: it does not answer, and none of its ports has link",
    Why.NIC_ABSENT: "its host answers and has no such NIC",
    Why.UNNUMBERED: "the discovery has its switch as several nodes whose ports the plan does not number",
    Why.NOT_KEPT: "the journal keeps no reason of that time",
    Why.CONTRADICTED: "the plan is wrong here, see `truerail plan lint`",
    Why.NIC_OPEN: "its leaf hears the right host, and not which of its NICs",
    Why.UNNAMED: "the plan names ports that its device does not have",
    Why.UNDECIDED: "it has a place, but without a plan too few hosts show its rail",
}
"""Why a cable's position is unknown. For `Why.SEEN` its actual position is the reason."""

_NOT_DISCOVERED = {
    Why.LINK_DOWN: "no link: an end that answered, or the discovery of the fabric, reports its port down",
    Why.SILENT: "its host reports link, but the discovery of the fabric has none there",
    Why.AMBIGUOUS: "several nodes bear the name of one of its devices",
}
"""The same for data from the discovery of an InfiniBand fabric."""


def finding_line(view: View, finding: Finding) -> FindingLine:
    """A finding with its life and its mute."""
    key = finding.id
    life, mute = view.lives.get(key), view.mutes.get(key)
    muted = mute.kind.value if mute else None
    return line_of_finding(key, finding, view.sight.cause_of.get(key), life, muted=muted, **_by_now(view, key))


def line_of_finding(key: str, finding: Finding, cause: str | None, life: Life | None, **more: Any) -> FindingLine:
    """A finding that is in the evaluation or in the journal."""
    return FindingLine(
        id=key,
        rule=finding.rule,
        name=finding.name,
        severity=finding.severity.value,
        subject=finding.subject,
        rail=finding.rail,
        expected=finding.expected,
        observed=finding.observed,
        summary=finding.summary,
        action=finding.action,
        confidence=finding.confidence,
        cause=cause,
        state=_life_word(life),
        since=life.since if life else None,
        **more,
    )


def finding_lines_of(view: View, findings: Iterable[Finding]) -> tuple[FindingLine, ...]:
    """Findings as rows, in the order given."""
    return tuple(finding_line(view, finding) for finding in findings)


def _life_word(life: Life | None) -> str:
    return (life.state if life else LifeState.NEW).value


def _by_now(view: View, key: str) -> Mapping[str, Any]:
    """Of a line of the past: the action of that time, and when it ended."""
    known = view.hindsight
    return {} if known is None else {"suggested": known.actions.get(key, ""), "ended": known.ended.get(key)}


def cause_line(view: View, cause: Cause) -> CauseLine:
    """A cause with its impact, life, and whether all findings it explains are muted. Computed once for each view."""
    key = view.sight.key_of(cause)
    if key not in view.cause_lines:
        view.cause_lines[key] = _cause_line(view, key, cause)
    return view.cause_lines[key]


def _cause_line(view: View, key: str, cause: Cause) -> CauseLine:
    explained = [f for f in map(view.finding, cause.explains) if f is not None]
    life = view.cause_lives.get(key)
    moves = tuple(_move_line(view, move) for move in cause.moves)
    return line_of_cause(
        key,
        cause,
        life,
        (finding.severity for finding in explained),
        moves,
        impact=view.sight.impact[key],
        impact_known=view.sight.harm_known(key),
        muted=_muted(view, cause.explains),
        undecided=cause.undecided,
        **_by_now(view, key),
        **_jobs(view, key, life.since if life else None),
    )


def line_of_cause(
    key: str, cause: Cause, life: Life | None, severities: Iterable[Severity], moves: tuple[MoveLine, ...], **more: Any
) -> CauseLine:
    """A cause that is in the evaluation or in the journal; `severities` are those of its findings."""
    return CauseLine(
        key=key,
        id=cause.id,
        kind=cause.kind.value,
        subjects=cause.subjects,
        summary=cause.summary,
        action=cause.action,
        confidence=cause.confidence,
        severity=max(severities, key=lambda one: one.rank, default=Severity.INFO).value,
        explains=cause.explains,
        moves=moves,
        alternatives=tuple(alternative.summary for alternative in cause.alternatives),
        to_confirm=cause.to_confirm,
        state=_life_word(life),
        since=life.since if life else None,
        **more,
    )


def _jobs(view: View, key: str, since: datetime | None) -> Mapping[str, Any]:
    """The running jobs that a cause affects; those of a time in the past are not known."""
    known = view.round.jobs
    if view.hindsight is not None or not known.sources:
        return {}
    hit = view.evaluated.once(jobs_by_cause).get(key, ())
    found = tuple(cause_jobs(view.sight, key, hit, since)[:MOST_JOBS])
    return {"jobs": found, "jobs_affected": len(hit) if known.known else None}


def _move_line(view: View, move: Move) -> MoveLine:
    first = causes_before(move, view.sight.causes.values())
    return MoveLine(str(move.cable), str(move.source), str(move.target), first, move.after)


def _muted(view: View, findings: Sequence[str]) -> str | None:
    mutes = [view.mutes.get(finding) for finding in findings]
    first = mutes[0] if mutes else None
    return first.kind.value if first and all(mutes) else None


def cause_lines(view: View, causes: Iterable[Cause] | None = None) -> tuple[CauseLine, ...]:
    """Causes (by default all) in order of impact: most GPUs first, then higher severity, then what stalls traffic, then
    higher confidence.
    """
    lines = [cause_line(view, cause) for cause in (view.sight.causes.values() if causes is None else causes)]
    stalls = {kind.value for kind, known in CAUSE_KINDS.items() if known.harm is Harm.STARVES}
    lines.sort(key=lambda c: (-c.impact, -Severity(c.severity).rank, c.kind not in stalls, -c.confidence, order(c.id)))
    return tuple(lines)


def state_count(states: Codes) -> StateCount:
    """The number of cables in each state, from an array of shape (states,)."""
    right, wrong, missing, unknown = states.tolist()
    return StateCount(right + wrong + missing + unknown, right, wrong, missing, unknown)


def count_of(wiring: Wiring, cables: Codes) -> StateCount:
    """The states of these cables."""
    return state_count(np.bincount(wiring.state[cables], minlength=len(State)))


def place_of(view: View, port: int) -> tuple[str, int | None, int | None, str | None]:
    """A port's name, rail and plane, and the planned other end."""
    cable = int(view.index.cables_at(np.array([port]))[0])
    if cable == NONE:
        return str(view.index.spell(port)), None, None, None
    planned = view.plan.cables[cable]
    peer = planned.b if int(view.index.a[cable]) == port else planned.a
    return str(view.index.spell(port)), planned.rail, planned.plane, str(peer)


def end_of_port(view: View, port: int) -> End:
    """A port, planned or not, with its plan data."""
    cable = int(view.index.cables_at(np.array([port]))[0])
    return _end(view, view.index.spell(port), view.plan.cables[cable].rail if cable >= 0 else None)


def end_of_device(view: View, device: int) -> End:
    """A device as an end without a port name."""
    return _end(view, Port(view.index.devices.names[device], ""), None)


def _end(view: View, port: Port, rail: int | None) -> End:
    device = view.plan.placed(port.device)
    if device is None:
        return End(port.device, port.name, None, rail=rail)
    role = device.role.value if port.device in view.plan.devices else None
    return End(port.device, port.name, role, device.pod, device.rack, device.unit, rail)


def seen_end(view: View, cable: int) -> End | None:
    """Where the cable's nearer end actually is; a device without a port if the port is unknown; None if the position is
    unknown.
    """
    wiring, index = view.wiring, view.index
    place = int(wiring.place[cable])
    if place >= 0:
        return end_of_port(view, place)
    if wiring.state[cable] not in (State.RIGHT, State.WRONG):
        return None
    heard = int(wiring.heard[index.a[cable]])
    if heard >= 0:
        return end_of_device(view, heard)
    return end_of_device(view, int(index.b_device[cable])) if wiring.state[cable] == State.RIGHT else None


def why_words(view: View, cable: int, seen: End | None) -> str:
    """The reason for a cable's state, as a short sentence without a full stop."""
    state, planned = view.wiring.state[cable], view.plan.cables[cable].b
    if state == State.RIGHT:
        return "it is where it is planned"
    if state == State.WRONG:
        return f"it is on {seen.name}, not on {planned}" if seen else f"{planned} hears another device"
    why = Why(int(view.wiring.why[cable]))
    return _NOT_DISCOVERED.get(why, _NOT_SEEN[why]) if view.wiring.met else _NOT_SEEN[why]


@dataclass(frozen=True, slots=True)
class CableLine:
    """A planned cable in a list."""

    subject: str
    planned: str
    actual: str | None
    rail: int | None
    plane: int | None
    pod: str
    label: str
    state: str
    why: str
    verified: str
    findings: tuple[str, ...]


def cable_line(view: View, cable: int) -> CableLine:
    """A planned cable as a row of a list."""
    planned, seen = view.plan.cables[cable], seen_end(view, cable)
    device, ends = view.plan.devices.get(planned.a.device), (str(planned.a), str(planned.b))
    return CableLine(
        subject=ends[0],
        planned=ends[1],
        actual=seen.name if seen else None,
        rail=planned.rail,
        plane=planned.plane,
        pod=device.pod if device else "",
        label=planned.label,
        state=STATES[State(int(view.wiring.state[cable]))],
        why=why_words(view, cable, seen),
        verified=_verified(view, cable),
        findings=tuple(finding.id for finding in view.findings_on(ends)),
    )


def _verified(view: View, cable: int) -> str:
    """What confirms a cable: a word of `VERIFIED`, or `unknown` as of a time."""
    return UNKNOWN if view.hindsight else VERIFIED[view.sight.verified[cable]]


def uplinks_of(view: View, switch: int) -> tuple[Uplinks, ...]:
    """The cables from a switch to each switch above it. Counted once for each evaluation."""
    known = view.sight.uplinks
    if switch not in known:
        known[switch] = _uplinks_of(view, switch)
    return known[switch]


def _uplinks_of(view: View, switch: int) -> tuple[Uplinks, ...]:
    cables = view.layout.uplinks_of(switch)
    names = [view.plan.cables[cable].b.device for cable in cables.tolist()]
    planned = Counter(names)
    states = view.wiring.state[cables].tolist()
    right = Counter(name for name, state in zip(names, states, strict=True) if state == State.RIGHT)
    return tuple(Uplinks(name, planned[name], right[name]) for name in sorted(planned, key=order))


def cable_path(view: View, cable: int, since: datetime | None = None) -> CablePath:
    """A planned cable with all details, by its number. `since` is the time of its last known change."""
    planned, index = view.plan.cables[cable], view.index
    a, a_device = int(index.a[cable]), int(index.a_device[cable])
    host, seen = bool(index.from_host[cable]), seen_end(view, cable)
    switch = int(index.b_device[cable]) if seen is None else view.device(seen.device)
    findings = view.findings_on([str(planned.a), str(planned.b), planned.a.device, planned.b.device])
    ports = index.a[view.layout.cables_of(a_device)] if host else index.a[:0]
    return CablePath(
        subject=str(planned.a),
        a=_end(view, planned.a, planned.rail),
        gpus=view.nics.gpus(a_device, ports, a) if host else (),
        nic=view.nics.nic(a) if host else None,
        rail=planned.rail,
        plane=planned.plane,
        label=planned.label,
        length_m=planned.length_m,
        planned_speed_gbps=planned.speed_gbps,
        planned=_end(view, planned.b, planned.rail),
        actual=seen,
        state=STATES[State(int(view.wiring.state[cable]))],
        why=why_words(view, cable, seen),
        verified=_verified(view, cable),
        witnesses=() if view.hindsight else named_by(view.wiring, cable),
        confidence=view.wiring.confidence(cable),
        since=since,
        uplinks=uplinks_of(view, switch) if switch != NONE else (),
        findings=finding_lines_of(view, findings),
        causes=_causes_on(view, findings, (str(planned.a), str(planned.b))),
        via=tuple(_end(view, port, None) for port in planned.via),
    )


def _causes_on(view: View, findings: Sequence[Finding], ends: tuple[str, str]) -> tuple[CauseLine, ...]:
    """The causes of a cable. For a cause about whole leaves, only the part that concerns this cable is shown."""
    here = {finding.id for finding in findings}
    return tuple(
        replace(
            line,
            explains=tuple(finding for finding in line.explains if finding in here),
            moves=line.moves if len(line.moves) <= MOST_MOVES else tuple(m for m in line.moves if _touches(m, ends)),
        )
        for line in cause_lines(view, view.causes_of(findings, ends))
    )


def _touches(move: MoveLine, ends: tuple[str, str]) -> bool:
    return move.cable in ends or move.source in ends or move.target in ends


def cable_paths(view: View, cables: Codes, history: History) -> tuple[CablePath, ...]:
    """The paths of several cables, in their order; the history is queried once."""
    numbers = cables.tolist()
    ports = [str(view.plan.cables[cable].a) for cable in numbers]
    since: Mapping[str, datetime] = journal_or(lambda: history.link_since(ports), {})
    return tuple(cable_path(view, cable, since.get(port)) for cable, port in zip(numbers, ports, strict=True))


def journal_or(ask: Callable[[], T], otherwise: Otherwise) -> T | Otherwise:
    """What the journal has; something else where it cannot be read."""
    try:
        return ask()
    except JournalUnavailableError:
        return otherwise
