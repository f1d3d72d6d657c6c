"""What an evaluation of a fabric with odd devices is worth: no right cable moved, no fault passed over in silence."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from benchmarks.accuracy.scoring import followed
from truerail.model import CableState, Cause, CauseKind, Evaluation, Port, Severity, Status
from truerail.simulator import Simulation, TrueCause, Truth
from truerail.simulator.behaviours import CATALOGUE, Behaviours


@dataclass(slots=True)
class BehaviourScore:
    """Counts over one fabric or many. `problems` holds what must not happen, one line each.

    A planted fault is found when its kind and subjects are named exactly, *unknown* when every cable that it touches is
    said to be unknown or a circle of cables is named as far as it is seen, and missed otherwise. `loud` are faultless
    fabrics with a finding at warning or above.
    """

    fabrics: int = 0
    faultless: int = 0
    loud: int = 0
    right_moved: int = 0
    astray: int = 0
    cables_false: int = 0
    cables_missed: int = 0
    cables_unknown: int = 0
    uncaused: int = 0
    causes_found: int = 0
    causes_unknown: int = 0
    causes_missed: int = 0
    causes_false: int = 0
    unread: int = 0
    problems: list[str] = field(default_factory=list)

    def add(self, other: "BehaviourScore") -> None:
        """Adds another fabric's counts."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


def behaviour_score(simulation: Simulation, evaluation: Evaluation) -> BehaviourScore:
    """Measures one evaluation."""
    score = BehaviourScore(fabrics=1, unread=len(evaluation.collection_errors))
    score.problems += [
        f"not read: {one.device} {one.collector}: {one.error}" for one in evaluation.collection_errors[:3]
    ]
    _moves(score, simulation, evaluation)
    _cables(score, simulation, evaluation)
    _causes(score, simulation, evaluation)
    truth = simulation.truth
    if not truth.causes and not truth.noise:
        score.faultless = 1
        _faultless(score, simulation.world.behaviours, evaluation)
    return score


def _moves(score: BehaviourScore, simulation: Simulation, evaluation: Evaluation) -> None:
    for move, verdict in followed(simulation.truth, evaluation):
        is_open = verdict == "astray" and not simulation.truth.decidable  # it rests on the explanation that is given
        if verdict != "home" and not is_open:
            score.right_moved += verdict == "right"
            score.astray += verdict == "astray"
            what = "a right cable is moved" if verdict == "right" else "a cable is moved to a wrong place"
            score.problems.append(f"{what}: {move.cable} from {move.source} to {move.target}")


def _cables(score: BehaviourScore, simulation: Simulation, evaluation: Evaluation) -> None:
    truth, states = simulation.truth, evaluation.cable_states
    caused = {finding.subject for finding in evaluation.findings if finding.id in evaluation.cause_of}
    caused |= {subject for cause in evaluation.causes for subject in cause.subjects}
    for port, state in states.items():
        score.cables_unknown += state is CableState.UNKNOWN
        if port in truth.wrong | truth.missing:
            if state is CableState.RIGHT:
                score.cables_missed += 1
                score.problems.append(
                    f"a {'wrong' if port in truth.wrong else 'missing'} cable passes as right: {port}"
                )
        elif port in truth.unknown and (state is not CableState.WRONG or _may_be_wrong(port, truth)):
            continue
        elif state in (CableState.WRONG, CableState.MISSING):
            score.cables_false += 1
            score.problems.append(f"a right cable is said to be {state}: {port}")
    for port in truth.missing:
        if str(port) not in caused and port.device not in caused:
            score.uncaused += 1
            score.problems.append(f"a missing cable without a cause: {port}, said to be {states[port]}")


def _may_be_wrong(port: Port, truth: Truth) -> bool:
    """Whether a cable whose port at the other end is in no answer may be reported as wrong: the device there shows it,
    where a cable or a name is in another's place. As with cables whose ports are known, the names that devices and NICs
    announce count: NICs that have each other's names are wrong by name, and their cause asks for no move.
    """
    return port in truth.moved or port in truth.astray or bool(truth.hostnames)


def _causes(score: BehaviourScore, simulation: Simulation, evaluation: Evaluation) -> None:
    named = Named(evaluation.causes)
    truth = simulation.truth
    for cause in (*truth.causes, *truth.noise):
        if any(named.take(key) for key in _accepted(cause)):
            score.causes_found += 1
        elif _is_left_open(cause, simulation, evaluation) or _is_seen_in_part(cause, named):
            score.causes_unknown += 1
        else:
            score.causes_missed += 1
            score.problems.append(f"cause missed: {cause.kind} {' '.join(cause.subjects[:4])}")
    expected = {rule for flag in simulation.world.behaviours.choices for rule in CATALOGUE[flag].expected}
    rules = {finding.id: finding.rule for finding in evaluation.findings}
    for said in named.left():
        if said.kind is not CauseKind.UNKNOWN and not {rules.get(finding) for finding in said.explains} & expected:
            score.causes_false += 1
            score.problems.append(f"cause invented: {_brief(said)}")


def _accepted(cause: TrueCause) -> Iterator[tuple[CauseKind, frozenset[str]]]:
    yield cause.kind, frozenset(cause.subjects)
    for other in cause.alternatives:
        if other.subjects:
            yield other.kind, frozenset(other.subjects)
        elif cause.kind is CauseKind.GPU_NIC_ORDER:
            yield other.kind, frozenset(map(str, cause.cables))
        else:
            yield other.kind, frozenset(cause.subjects)


def _is_left_open(cause: TrueCause, simulation: Simulation, evaluation: Evaluation) -> bool:
    """Whether nothing is claimed of the cables of a fault that was not found; of an order of GPUs and NICs that no
    answer shows, whether it is said to be unknown.

    Where no answer tells the port at the other end (`Truth.unknown`), the device there is all that can be said. Such a
    fault is left open where each cable that is on another device is said to be wrong for an unknown cause: which port
    it should go to instead, and whether its neighbours are in theirs, is in no answer.
    """
    hidden = any(other.kind is CauseKind.UNKNOWN for other in cause.alternatives)
    if cause.kind is CauseKind.GPU_NIC_ORDER and hidden:
        unknown = any(one.rule == "NIC001" and one.status is Status.UNKNOWN for one in evaluation.verdicts)
        return unknown and _is_in_no_answer(cause, evaluation)
    if _is_on_other_devices(cause, simulation, evaluation):
        return True
    return cause.kind in _OF_CABLES and hidden and _is_in_no_answer(cause, evaluation)


_OF_CABLES = (CauseKind.CABLE_SWAP, CauseKind.CABLE_ROTATION, CauseKind.BUNDLE_SWAP)


def _is_on_other_devices(cause: TrueCause, simulation: Simulation, evaluation: Evaluation) -> bool:
    """Whether its cables are unknown, missing, or wrong by their devices for a cause that is said to be unknown; one
    on its own device may then be in any port of it.
    """
    states, truth = evaluation.cable_states, simulation.truth
    named = {subject for said in evaluation.causes if said.kind is CauseKind.UNKNOWN for subject in said.subjects}
    vague = {port for port in cause.cables if port in truth.unknown and str(port) in named}
    vague = {port for port in vague if states.get(port) is CableState.WRONG}
    return bool(cause.cables) and all(
        states.get(port) in (CableState.UNKNOWN, CableState.MISSING)
        or port in vague
        or (vague and port in truth.unknown and _is_on_its_device(simulation, port))
        for port in cause.cables
    )


def _is_in_no_answer(cause: TrueCause, evaluation: Evaluation) -> bool:
    """Whether it is said of each host of a fault that no answer shows that its NICs may be in each other's places.

    Each of its cables is unknown, or heard in the place of a cable of the same host: then `right` is all that can be
    said of the host that is there, and which of its NICs it is has to be said to be unknown, host by host (TEL003,
    `places_by_name`; TEL001 where the host does not answer at all).
    """
    states = evaluation.cable_states
    said = {one.subject for one in evaluation.findings if one.rule == "TEL003" and dict(one.detail)["places_by_name"]}
    silent = {one.subject for one in evaluation.findings if one.rule == "TEL001"}
    return all(
        states[port] is CableState.UNKNOWN or (states[port] is CableState.RIGHT and port.device in said | silent)
        for port in cause.cables
    )


def _is_on_its_device(simulation: Simulation, port: Port) -> bool:
    planned, wired = simulation.plan.peer_of(port), simulation.truth.wiring.get(port)
    return planned is not None and wired is not None and planned.device == wired.device


def _is_seen_in_part(cause: TrueCause, named: "Named") -> bool:
    """Whether the cables of a circle or of crossed bundles that are seen wrong are named, one by one or in pairs, and
    nothing else, where others that no one hears belong to it. Takes these causes from `named`.
    """
    seen = {str(port) for other in cause.alternatives if other.kind is CauseKind.CABLE_MOVE for port in other.cables}
    if not seen:
        return False
    kinds = {other.kind for other in cause.alternatives if other.cables}
    paths = [key for key in named.remaining() if key[0] in kinds and key[1] <= seen]
    if set().union(*(subjects for _, subjects in paths)) != seen:
        return False
    for key in paths:
        named.take(key)
    return True


Key = tuple[CauseKind, frozenset[str]]


class Named:
    """The causes that are named and not yet taken for a true one, by kind and subjects. Two of one kind on the same
    subjects are two. But one order of NICs may stand for several crossed bundles: where the answers bear out both, each
    of the bundles is found in it, if it names them all as what else it may be.
    """

    def __init__(self, causes: Iterable[Cause]) -> None:
        self._causes: dict[Key, list[Cause]] = {}
        for cause in causes:
            self._causes.setdefault((cause.kind, frozenset(cause.subjects)), []).append(cause)
        self._more: dict[Key, int] = {}
        """How many more true causes each of those taken last may stand for."""

    def take(self, key: Key) -> bool:
        """Whether there is such a cause, which is then no longer left; or one that was taken and has more alternatives
        than true causes have been found in it.
        """
        causes = self._causes.get(key)
        if causes is None:
            return False
        if causes:
            self._more[key] = len(causes.pop(0).alternatives) - 1
            return True
        self._more[key] -= 1
        return key[0] is CauseKind.GPU_NIC_ORDER and self._more[key] >= 0

    def remaining(self) -> list[Key]:
        """The kind and subjects of each that is left."""
        return [key for key, causes in self._causes.items() for _ in causes]

    def left(self) -> list[Cause]:
        """All that are left."""
        return [cause for causes in self._causes.values() for cause in causes]


def _faultless(score: BehaviourScore, behaviours: Behaviours, evaluation: Evaluation) -> None:
    expected = {rule for flag in behaviours.choices for rule in CATALOGUE[flag].expected}
    loud = [one for one in evaluation.at_or_above(Severity.WARNING) if one.rule not in expected]
    if loud:
        score.loud = 1
        first = loud[0]
        score.problems.append(f"{len(loud)} findings on a faultless fabric, the first {first.rule}: {first.summary}")


def _brief(cause: Cause) -> str:
    return f"{cause.kind} {' '.join(cause.subjects[:4])}: {len(cause.moves)} moves"
