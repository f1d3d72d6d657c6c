"""How an evaluation is measured against the truth of a simulated fabric."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from truerail.model import CableState, Cause, CauseKind, Evaluation, Move, Plan, Port
from truerail.model.names import port_key
from truerail.simulator import TrueCause, Truth

Key = tuple[CauseKind, frozenset[str]]


@dataclass(slots=True)
class Score:
    """Counts over one fabric or many; `mistakes` tells each miss and each false alarm in words.

    A cable counts as *found* when it is wrong or missing and said to be just that. What neither end can tell (`unknown`
    in the truth) is neither right nor wrong, and only saying that it is plugged wrongly is a mistake; `left_open` of
    these `unknowable` ones are said to be unknown.
    """

    fabrics: int = 0
    cables: int = 0
    cables_found: int = 0
    cables_missed: int = 0
    cables_false: int = 0
    causes_found: Counter[CauseKind] = field(default_factory=Counter)
    causes_missed: Counter[CauseKind] = field(default_factory=Counter)
    causes_false: Counter[CauseKind] = field(default_factory=Counter)
    undecidable: Counter[str] = field(default_factory=Counter)
    unknowable: int = 0
    left_open: int = 0
    moves: int = 0
    moves_needed: int = 0
    moves_beyond: int = 0
    moves_short: int = 0
    moves_of_right: int = 0
    moves_astray: int = 0
    mistakes: list[str] = field(default_factory=list)

    def add(self, other: "Score") -> None:
        """Adds another fabric's counts."""
        for name in self.__slots__:
            mine, theirs = getattr(self, name), getattr(other, name)
            setattr(self, name, mine + theirs)

    @property
    def perfect(self) -> bool:
        """Whether nothing was missed, invented or moved in vain."""
        return not self.mistakes


def score(truth: Truth, evaluation: Evaluation) -> Score:
    """Measures one evaluation."""
    result = Score(fabrics=1, cables=len(evaluation.plan.cables))
    _cables(result, truth, evaluation)
    _causes(result, truth, evaluation)
    _moves(result, truth, evaluation)
    return result


def _cables(result: Score, truth: Truth, evaluation: Evaluation) -> None:
    states = evaluation.cable_states
    said_wrong = {port for port, state in states.items() if state is CableState.WRONG}
    said_missing = {port for port, state in states.items() if state is CableState.MISSING}
    missed = (truth.wrong - said_wrong) | (truth.missing - said_missing)
    false = (said_wrong - truth.wrong) | (said_missing - truth.missing - truth.unknown)
    result.unknowable = len(truth.unknown)
    result.left_open = sum(states[port] is CableState.UNKNOWN for port in truth.unknown)
    result.cables_found = len(truth.wrong | truth.missing) - len(missed)
    result.cables_missed = len(missed)
    result.cables_false = len(false)
    result.mistakes += [f"cable missed: {port}, said to be {states[port]}" for port in sorted(missed)]
    result.mistakes += [f"cable falsely {states[port]}: {port}" for port in sorted(false)]


def _causes(result: Score, truth: Truth, evaluation: Evaluation) -> None:
    """A cause is found when its kind and its subjects are reported; undecidable ones are counted apart."""
    reported = {_key(cause): cause for cause in evaluation.causes}
    for cause in (*truth.causes, *truth.noise):
        if cause.decidable:
            found = reported.pop(_true_key(cause), None)
            (result.causes_found if found else result.causes_missed)[cause.kind] += 1
            if not found:
                result.mistakes.append(f"cause missed: {cause.kind} {' '.join(cause.subjects)}")
        else:
            verdict = _undecided(cause, reported)
            result.undecidable[verdict] += 1
            if verdict == "missed":
                result.mistakes.append(f"undecidable cause missed: {cause.kind} {' '.join(cause.subjects)}")
    for kind, subjects in reported:
        if kind is CauseKind.UNKNOWN and subjects <= set(map(str, truth.unknown)):
            continue
        result.causes_false[kind] += 1
        result.mistakes.append(f"cause invented: {kind} {' '.join(sorted(subjects))}")


def _key(cause: Cause) -> Key:
    return cause.kind, frozenset(cause.subjects)


def _true_key(cause: TrueCause) -> Key:
    return cause.kind, frozenset(cause.subjects)


def _undecided(truth: TrueCause, reported: dict[Key, Cause]) -> str:
    """What is reported a cause that the evidence cannot decide. Takes out of `reported` what speaks of it."""
    for key in _explanations(truth):
        cause = reported.pop(key, None)
        if cause is None:
            continue
        if cause.kind is truth.kind and len(cause.moves) == truth.moves:
            return "reported"
        if any(other.kind is truth.kind and len(other.moves) == truth.moves for other in cause.alternatives):
            return "reported as an alternative"
        return "reported as something else"
    return "missed"


def _explanations(truth: TrueCause) -> Iterator[Key]:
    yield _true_key(truth)
    for other in truth.alternatives:
        yield other.kind, frozenset(other.subjects or truth.subjects)


def _moves(result: Score, truth: Truth, evaluation: Evaluation) -> None:
    """Moves are followed where the evidence decides everything.

    Elsewhere they rest on the explanation that is reported: only the moves of right cables that belong to no
    undecidable cause are counted there.
    """
    if not truth.decidable:
        hidden = {cable for cause in truth.causes if not cause.decidable for cable in cause.cables}
        for move, verdict in followed(truth, evaluation):
            if verdict == "right" and move.cable not in hidden:
                result.moves_of_right += 1
                result.mistakes.append(f"a right cable is moved: {move.cable} from {move.source} to {move.target}")
        return
    moves = [move for cause in evaluation.causes for move in cause.moves]
    needed = len(truth.moved - truth.unknown)  # no one can be asked to move a cable that no answer speaks of
    result.moves, result.moves_needed = len(moves), needed
    result.moves_beyond, result.moves_short = max(0, len(moves) - needed), max(0, needed - len(moves))
    if len(moves) != needed:
        result.mistakes.append(f"{len(moves)} moves where {needed} are needed")
    for move, verdict in followed(truth, evaluation):
        if verdict != "home":
            idle = verdict == "right"
            result.moves_of_right += idle
            result.moves_astray += not idle
            what = "a right cable is moved" if idle else "a cable is moved to a wrong place"
            result.mistakes.append(f"{what}: {move.cable} from {move.source} to {move.target}")


def followed(truth: Truth, evaluation: Evaluation) -> Iterator[tuple[Move, str]]:
    """Every move that is asked for, and whether it brings a cable `home`, moves a `right` one, or goes `astray`."""
    jacks = {_spelled(b): a for a, b in truth.wiring.items()}
    bearer = {name: machine for machine, name in truth.hostnames.items()}
    for cause in evaluation.causes:
        for move in cause.moves:
            verdicts = {_follow(evaluation.plan, jacks, names, move) for names in ({}, bearer)}
            still = move.cable in truth.wiring and move.cable not in truth.moved and not truth.hostnames
            yield move, "home" if "home" in verdicts else "right" if still or "right" in verdicts else "astray"


def _follow(plan: Plan, jacks: dict[Port, Port], bearer: dict[str, str], move: Move) -> str:
    """Whether the cable that sits in the move's source is `right` there, comes `home` by the move, or goes `astray`.

    `bearer` says which machine bears a name: a switch may be reported by its planned name or by the one it bears now.
    """
    source, target = (_spelled(Port(bearer.get(p.device, p.device), p.name)) for p in (move.source, move.target))
    jack = jacks.get(source)
    planned = plan.peer_of(jack) if jack else None
    home = _spelled(planned) if planned else None
    if jack and home == source:
        return "right"
    return "home" if home == target else "astray"


def _spelled(port: Port) -> Port:
    """A port in the one spelling of those that vendors print interchangeably."""
    return Port(port.device, port_key(port.name))
