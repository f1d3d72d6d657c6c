"""How a run's evaluations are measured against what is true of its traffic."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.telemetry.drawn import CABLING, FULL, GLOBAL, IN_STEP, SINCE, Drawn, evaluated
from truerail.model import Cause, CauseKind, Evaluation
from truerail.simulator.traffic import FlowFaultKind, FlowTruth

K, C = FlowFaultKind, CauseKind
EXPECTED: dict[str, frozenset[CauseKind]] = {
    K.STORM: frozenset({C.PFC_STORM}),
    K.SLOW_RECEIVER: frozenset({C.SLOW_HOST}),
    K.DEADLOCK: frozenset({C.PFC_DEADLOCK}),
    K.HALF_SPEED: frozenset({C.DEGRADED_LINK}),
    K.STRAGGLER: frozenset({C.SLOW_HOST}),
    IN_STEP: frozenset({C.SLOW_HOST}),
    K.DIRTY_OPTIC: frozenset({C.DEGRADED_LINK}),
    K.FLAPS: frozenset({C.FLAPPING_LINK}),
    K.POLARIZATION: frozenset({C.ECMP_POLARIZATION}),
    K.DEAD_MEMBER: frozenset({C.DEAD_MEMBER}),
    K.INCAST: frozenset({C.OVERLOAD}),
    FULL: frozenset({C.OVERLOAD}),
    GLOBAL: frozenset({C.CONFIGURATION}),
    K.MISSING_UPLINK: frozenset({C.LINK_DOWN}),
    K.WRONG_RAIL: frozenset({C.CABLE_SWAP, C.CABLE_MOVE}),
}
"""The kinds of cause that tell a fault. A job that only looks wrong, and a healthy fabric, have none."""
LOAD = (C.OVERLOAD,)
"""Congestion that the jobs make themselves is no fault and no false alarm: it is there or not, as traffic falls."""


@dataclass(slots=True)
class Score:
    """Counts over runs of one kind. `seconds` are those from a fault to the first evaluation that names it."""

    runs: int = 0
    found: int = 0
    culprit: int = 0
    alone: int = 0
    """Runs in which the fault's cause explains every finding but those of congestion."""
    false: Counter[CauseKind] = field(default_factory=Counter)
    """Causes of other kinds or at other places, at the end of a run; congestion not counted."""
    false_critical: int = 0
    """Those of them with a critical finding."""
    loads: int = 0
    seconds: list[float] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)

    def add(self, other: "Score") -> None:
        """Adds other runs' counts."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


def score(drawn: Drawn, marks: Sequence[float] | None = None) -> Score:
    """Runs and measures one seed, evaluated at these seconds."""
    result = Score(runs=1)
    last: tuple[Evaluation, list[FlowTruth]] | None = None
    for mark, evaluation, truth in evaluated(drawn, marks):
        wanted = K.STRAGGLER if drawn.kind == IN_STEP else drawn.kind
        faults = [fault for fault in truth if fault.kind == wanted]
        if mark > SINCE and not result.seconds and _true(evaluation, faults):
            result.seconds.append(mark - SINCE)
        last = evaluation, faults
    if last is not None:
        _end(result, drawn, *last)
    if drawn.kind in (*CABLING, GLOBAL) or not result.found:
        result.seconds = []
    return result


def _end(result: Score, drawn: Drawn, evaluation: Evaluation, faults: list[FlowTruth]) -> None:
    true = _true(evaluation, faults)
    kinds = EXPECTED.get(drawn.kind, frozenset())
    result.found = int(any(cause.kind in kinds for cause in evaluation.causes))
    result.culprit = int(bool(true))
    critical = {finding.id for finding in evaluation.findings if finding.severity.rank == 2}
    others = [cause for cause in evaluation.causes if cause.key not in {one.key for one in true}]
    wrong = [cause for cause in others if cause.kind not in LOAD and not _is_habit(drawn, cause)]
    result.false.update(cause.kind for cause in wrong)
    result.false_critical = sum(not critical.isdisjoint(cause.explains) for cause in wrong)
    result.loads = int(len(others) > len(wrong))
    result.alone = int(bool(true) and not wrong)
    if kinds and not true:
        result.mistakes.append(f"{drawn}: {_place(faults)} not named")
    result.mistakes += [f"{drawn}: {cause.kind} at {cause.subjects[0]}, which is not so" for cause in wrong]


def _is_habit(drawn: Drawn, cause: Cause) -> bool:
    """Whether it names what a host's habits make true: it restarted, or its PFC is off."""
    habits = drawn.traffic.habits
    if cause.kind is C.CONFIGURATION:
        return set(cause.subjects) <= habits.without_pfc
    return cause.kind is C.FLAPPING_LINK and set(cause.subjects) <= habits.restarted


def _place(faults: list[FlowTruth]) -> str:
    return ", ".join(fault.culprit or "a whole tier" for fault in faults) or "nothing"


def _true(evaluation: Evaluation, faults: list[FlowTruth]) -> list[Cause]:
    """The causes that name these faults: the right kind at the right place.

    A storm that "may be a deadlock" does not name a deadlock, and counts as a false storm: all counters of these runs
    are read, caches only delay them, so by the end of a run the truth can be seen. Leaving it open is right for the
    minute in which it cannot be seen, and is measured as time to the first evaluation that names it.
    """
    found: list[Cause] = []
    for fault in faults:
        places = {name for port in fault.ports for name in (port, port.partition("/")[0])}
        ports = set(fault.ports)
        for cause in evaluation.causes:
            near = places if fault.kind in (K.DEADLOCK, GLOBAL) else ports
            if cause.kind in EXPECTED.get(fault.kind, ()) and (not near or not near.isdisjoint(cause.subjects)):
                found.append(cause)
    return found


__all__ = ["EXPECTED", "Score", "score"]
