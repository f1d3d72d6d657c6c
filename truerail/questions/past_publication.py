"""A publication of the past: what the journal knew at a time, under the plan now in force.

Cables, findings and causes come back; counters, what could not be evaluated, and who answered do not. What the journal
does not have is unknown. The live publication is only read: the names of NICs and GPUs are its own.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from msgspec import structs

from rules import rules
from truerail.analysis.cabling import State, Why, Wiring
from truerail.analysis.cabling.joined import join
from truerail.analysis.counters import CounterView
from truerail.analysis.published import EvaluatedRound, Hindsight, Published
from truerail.analysis.round import Round
from truerail.errors import QueryError
from truerail.history.past_counters import PastCounters
from truerail.model import CableState, Cause, Evaluation, Finding, NotEvaluated, Status, Verdict
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import NONE
from truerail.model.facts import GpuNicPath, Neighbor, NetLink, RdmaLink
from truerail.model.history import History, KeptCause, KeptFinding, LinkPlace, MaintenanceWindow, NoHistory, PastState
from truerail.model.life import LifeState
from truerail.model.names import natural_key
from truerail.model.plan import Plan, Port
from truerail.model.reading import Reading
from truerail.model.snapshot import Snapshot
from truerail.questions.question import Asked
from truerail.rounds import cable_states, summary_of
from truerail.views.lines import STATES
from truerail.views.pieces import AsOf

_STATES = {word: state for state, word in STATES.items()}
_ANY_TIME = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
GAP = timedelta(minutes=15)
"""A longer time without a round is named: nothing is known of it."""
NOT_KEPT = "the journal keeps findings and cabling, not what could not be evaluated then"
_COUNTED = {
    60: "counters are those of the history store, minute by minute, without errors and discards",
    3600: "counters are those of the history store, means of the hour, without errors and discards",
}
NO_ANSWERS = "the journal keeps no answers of devices; the names of NICs and GPUs are those of now"
NO_COUNTERS = "the journal keeps no counters and no answers of devices; the names of NICs and GPUs are those of now"


@dataclass(frozen=True, eq=False)
class PastRound(Round):
    """A round whose cabling is known, perhaps its counters, and nothing else."""

    known: Wiring = field(kw_only=True)

    @property
    def cabling(self) -> Wiring:
        """The cabling as it was."""
        return self.known


def past_round(live: Published, state: PastState, counters: CounterView | None = None) -> Round:
    """The cabling at a time, under the plan now in force, with the counters of that time, if they are known."""
    plan = live.plan
    names = live.evaluated.once(_names)
    readings = [*names, *_unplanned_places(plan, state.links)]
    snapshot = Snapshot(state.at, readings)
    wiring = join(plan, snapshot)
    same = state.plan_digest == live.plan_digest
    _restore(wiring, state.links, same_plan=same)
    down = {name for one in state.causes if one.cause.kind is CauseKind.UNREACHABLE for name in one.cause.subjects}
    _restore_read(wiring, down)
    return PastRound(plan, Snapshot(state.at, names), counters, known=wiring)


def _names(evaluated: EvaluatedRound) -> list[Reading]:
    """The readings with names of NICs and GPUs, without the state of anything."""
    found = []
    for reading in evaluated.round.snapshot.readings:
        facts = tuple(fact for fact in map(_named, reading.facts) if fact is not None)
        if facts:
            found.append(structs.replace(reading, facts=facts))
    return found


def _named(fact: Any) -> NetLink | RdmaLink | GpuNicPath | None:
    if isinstance(fact, GpuNicPath):
        return fact
    if isinstance(fact, NetLink):
        return NetLink(fact.netdev, fact.mac, pci_address=fact.pci_address, aliases=fact.aliases, kind=fact.kind)
    if isinstance(fact, RdmaLink):
        return RdmaLink(fact.device, fact.port, None, None, fact.netdev, pci_address=fact.pci_address)
    return None


def _unplanned_places(plan: Plan, links: Mapping[str, LinkPlace]) -> Iterator[Reading]:
    """A neighbour for each place that the plan does not have, so that the place gets a code."""
    for port, link in links.items():
        near, far = (Port(*word.partition("/")[::2]) for word in (port, link.place or ""))
        if not far.name or plan.cable_at(far) is not None:
            continue
        fact = Neighbor(near.name, system_name=far.device, port_id=far.name, port_id_type="ifname")
        yield Reading(near.device, "lldp_past", _ANY_TIME, (fact,))


def _restore(wiring: Wiring, links: Mapping[str, LinkPlace], *, same_plan: bool) -> None:
    """Fills what a join would find out: the state, place and partner of every cable."""
    index = wiring.index
    size = len(wiring.partner)
    for column in (wiring.partner, wiring.heard, wiring.place):
        column[:] = NONE
    wiring.ambiguous[:], wiring.sure[:] = False, 0.0
    wiring.state[:], wiring.why[:] = State.UNKNOWN, Why.NOT_KEPT
    for number, cable in enumerate(index.plan.cables):
        link = links.get(str(cable.a))
        if link is None:
            continue
        device, _, name = (link.place or "").partition("/")
        at = index.devices.find(device) if device else NONE
        found = int(index.find(np.array([at]), [name or None])[0])
        place = found if found < size else NONE
        state = _STATES[link.state] if same_plan else _state(cable.b, link)
        wiring.state[number], wiring.place[number] = state, place
        wiring.why[number] = Why.SEEN if state in (State.RIGHT, State.WRONG) else Why.NOT_KEPT
        if place != NONE:
            wiring.partner[index.a[number]], wiring.partner[place] = place, index.a[number]
        elif at != NONE:
            wiring.heard[index.a[number]] = at


def _state(planned: Port, link: LinkPlace) -> State:
    """The state of a cable under another plan than that under which it was recorded."""
    if link.place is None:
        return State.MISSING if link.state == CableState.MISSING.value else State.UNKNOWN
    return State.RIGHT if link.place in (str(planned), planned.device) else State.WRONG


def _restore_read(wiring: Wiring, down: Collection[str]) -> None:
    """A device has answered if something is known of one of its cables, and no cause says that it did not."""
    index = wiring.index
    wiring.read[:] = wiring.listened[:] = False
    known = wiring.state != State.UNKNOWN
    for device in (index.a_device[known], index.b_device[known]):
        wiring.read[device] = wiring.listened[device] = True
    codes = [code for code in map(index.devices.find, down) if code != NONE]
    wiring.read[codes] = wiring.listened[codes] = False
    wiring.read[-1] = wiring.listened[-1] = False


class PastHistory(NoHistory):
    """The history up to that time: since when each link was as it was, and the maintenance announced then."""

    def __init__(self, links: Mapping[str, LinkPlace], windows: tuple[MaintenanceWindow, ...]) -> None:
        self._links, self._windows = links, windows

    def windows(self, *, open_only: bool = True) -> Sequence[MaintenanceWindow]:
        """The maintenance that was open or announced then."""
        return self._windows

    def link_since(self, ports: Collection[str]) -> Mapping[str, datetime]:
        """When each of these ports had last changed."""
        known = ((port, self._links.get(port)) for port in ports)
        return {port: one.changed_at for port, one in known if one is not None and one.changed_at is not None}


@dataclass(frozen=True)
class Past:
    """What a question of the past is asked of, and what goes with its answer."""

    publication: Published
    history: History
    as_of: AsOf | None
    """None of what is so now."""


def past_of(asked: Asked, at: datetime) -> Past:
    """The past at `at`. Raises QueryError for a time of which the journal has nothing, JournalUnavailableError."""
    live, history = asked.publication, asked.history
    since = history.kept_since()
    if since is None:
        raise QueryError("the past needs a journal, and there is none: ask about now")
    if at > asked.now:
        raise QueryError(f"{at:%Y-%m-%d %H:%M:%S UTC} is still to come")
    if at < since:
        raise QueryError(
            f"{at:%Y-%m-%d %H:%M:%S UTC} lies before the journal, which begins at {since:%Y-%m-%d %H:%M:%S UTC}"
        )
    state = history.as_of(at)
    counted = asked.counted(at) if asked.counted else None
    round = past_round(live, state, counted.counters if counted else None)
    findings = [one.finding for one in state.findings if _shown(one)]
    causes = _numbered(one.cause for one in state.causes if _shown(one))
    evaluation = without_actions(_evaluation(round, findings, causes, state.round_at or at))
    unknown = tuple(_unknown(live, state, int(np.count_nonzero(round.cabling.state == State.UNKNOWN)), counted))
    actions = {one.life.id: one.finding.action for one in state.findings}
    actions |= {one.life.id: one.cause.action for one in state.causes}
    publication = Published(
        0,
        live.fabric,
        EvaluatedRound(round, evaluation),
        plan_digest=live.plan_digest,
        journal=live.journal,
        hindsight=Hindsight(state.at, state.round_at, unknown, actions, state.ended),
        lives={one.life.id: one.life for one in state.findings},
        cause_lives={one.life.id: one.life for one in state.causes},
        pending_resolution=tuple(one.finding for one in state.findings if not _shown(one)),
    )
    return Past(publication, PastHistory(state.links, _windows(history, at)), AsOf(at, state.round_at, unknown))


def _shown(one: KeptFinding | KeptCause) -> bool:
    """Whether the round of that time had it."""
    return one.present and one.life.state is not LifeState.UNSEEN


def _windows(history: History, at: datetime) -> tuple[MaintenanceWindow, ...]:
    """The maintenance that was open or announced then, as it was announced."""
    known = (one for one in history.windows(open_only=False) if one.at <= at < min(one.ends, one.ended_at or one.ends))
    return tuple(replace(one, ended_at=None) for one in known)


def without_actions(evaluation: Evaluation) -> Evaluation:
    """An evaluation of the past, without what was to do: that may be done."""
    findings = tuple(replace(one, action="") for one in evaluation.findings)
    causes = tuple(replace(one, action="", to_confirm="") for one in evaluation.causes)
    return replace(evaluation, findings=findings, causes=causes)


def _unknown(live: Published, state: PastState, cables: int, counted: PastCounters | None) -> Iterator[str]:
    """What cannot be restored, as sentences without their full stops."""
    at, before, after = state.at, state.round_at, state.next_at
    if before is None:
        yield "no round of that time is kept: this is the state after the last change before it"
    elif at - before > GAP:
        until = f"{after:%Y-%m-%d %H:%M:%S UTC}" if after else "now"
        yield f"no round between {before:%Y-%m-%d %H:%M:%S UTC} and {until}: this is the state before that"
    if state.plan_digest != live.plan_digest:
        yield "another plan was in force then: places are compared with the plan of now"
    if cables:
        yield f"{cables:,} of {len(live.plan.cables):,} cables are unknown at that time"
    if counted is None:
        yield NO_COUNTERS
    else:
        yield _COUNTED[counted.bucket_seconds]
        yield NO_ANSWERS


def _numbered(causes: Iterable[Cause]) -> tuple[Cause, ...]:
    """In their order and under their names of then; numbered again where these were not kept."""
    ordered = sorted(causes, key=lambda cause: natural_key(cause.id))
    if len({cause.id for cause in ordered if cause.id}) == len(ordered):
        return tuple(ordered)
    return tuple(replace(cause, id=f"C{number}") for number, cause in enumerate(ordered, 1))


def _evaluation(round: Round, findings: list[Finding], causes: tuple[Cause, ...], at: datetime) -> Evaluation:
    wiring = round.cabling
    ordered = tuple(sorted(findings, key=lambda one: (-one.severity.rank, one.rule, one.subject)))
    return Evaluation(
        at=at,
        plan=round.plan,
        findings=ordered,
        causes=causes,
        verdicts=tuple(_verdicts(round.plan, {one.rule for one in ordered})),
        collection_errors=(),
        summary=summary_of(wiring, ordered),
        cable_states=cable_states(wiring),
    )


def _verdicts(plan: Plan, found: Collection[str]) -> Iterator[Verdict]:
    part = (NotEvaluated(NOT_KEPT),)
    for code, rule in rules().items():
        if not rule.applies_to(plan):
            yield Verdict(code, Status.NOT_APPLICABLE)
        else:
            status = Status.FAIL if code in found else Status.UNKNOWN
            yield Verdict(code, status, why=NOT_KEPT, not_evaluated=part)
