"""Text that all reports share: the verdict, places, counts, and foreign text made safe."""

from dataclasses import dataclass
from enum import StrEnum

from truerail.model import Cause, Device, Evaluation, Plan, Port, Severity
from truerail.model.names import natural_key, printable

LONGEST_SENTENCE = 1000
LONGEST_NAME = 120
FEWEST_TO_DOUBT = 16
"""From this number of planned cables on, the plan is doubted rather than the cabling."""
INFERRED = "No plan is given: the fabric is compared with what most of its hosts agree on."


class Tone(StrEnum):
    """The tone of a verdict: `DOUBT` if nothing is known to be wrong but not everything was evaluated."""

    GOOD = "good"
    DOUBT = "doubt"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Headline:
    """The verdict in two lines: the cables, and what to do about them (empty if there is nothing to do)."""

    tone: Tone
    cables: str
    repair: str


def name(text: str) -> str:
    """A foreign name, safe on one line."""
    return printable(text, LONGEST_NAME)


def sentence(text: str) -> str:
    """Foreign text, safe on one line."""
    return printable(text, LONGEST_SENTENCE)


def as_sentence(text: str) -> str:
    """Text from another part of the program, with an initial capital (never on a name) and a full stop."""
    safe = sentence(text).strip()
    first = safe.partition(" ")[0]
    safe = safe[:1].upper() + safe[1:] if first.isalpha() and first.islower() else safe
    return safe if not safe or safe[-1] in ".!?…:" else f"{safe}."


def instruction(cause: Cause) -> str:
    """What to do about a cause, without the list of moves if the text repeats it: reports show moves as a table.
    Includes what to repair before the moves.
    """
    head, colon, tail = cause.action.partition(": ")
    if not (colon and cause.moves and str(cause.moves[0].target) in tail):
        return as_sentence(cause.action)
    first = " and ".join(dict.fromkeys(move.after for move in cause.moves if move.after))
    return as_sentence(f"{head}, not before {first}" if first else head)


def count(number: int, one: str, many: str = "") -> str:
    """`1 cable`, `2 cables`, `12,500 hosts`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def port_of(subject: str, plan: Plan) -> Port | None:
    """The port named by a subject such as `gpu-012/enp26s0f0np0`; None for a device."""
    device, slash, port = subject.partition("/")
    return Port(device, port) if slash and subject not in plan.devices else None


def place(device: Device | None) -> str:
    """`rack A03 unit 12`, as much of it as the plan contains; empty without either."""
    if device is None:
        return ""
    rack = f"rack {name(device.rack)}" if device.rack else ""
    return f"{rack} unit {device.unit}".strip() if device.unit is not None else rack


def place_of(subject: str | Port, plan: Plan) -> str:
    """The location of the device of a port or subject."""
    return place(plan.placed(str(subject).partition("/")[0]) or plan.placed(str(subject)))


def sure(confidence: float) -> str:
    """A confidence as a percentage that never rounds up to certainty."""
    return f"{int(confidence * 100)} %"


def order(subject: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key of names and subjects: `swp2` before `swp10`."""
    return natural_key(subject)


def title(plan: Plan) -> str:
    """The title of a report: the plan's name, else its file."""
    return "inferred plan" if plan.inferred else name(plan.name or plan.source or "unnamed plan")


def headline(evaluation: Evaluation) -> Headline:
    """The verdict on the whole fabric. Cables in unknown state are never reported as fine."""
    summary = evaluation.summary
    bad = summary.cables_wrong + summary.cables_missing
    loud = len(evaluation.at_or_above(Severity.WARNING))
    doubtful = summary.cables_unknown or evaluation.collection_errors or not summary.cables_planned
    tone = Tone.BAD if bad or loud else Tone.DOUBT if doubtful else Tone.GOOD
    return Headline(tone, _cables(evaluation), _repair(evaluation))


def misfit(evaluation: Evaluation) -> str:
    """A question if the plan hardly fits the snapshot; empty if it does.

    Swapped labels make whole leaves wrong and move nothing. Most cables have to move only with a plan of another
    fabric, or with ports numbered otherwise, and not in a real data hall.
    """
    summary = evaluation.summary
    moves = sum(len(cause.moves) for cause in evaluation.causes)
    if evaluation.plan.inferred or summary.cables_planned < FEWEST_TO_DOUBT or 2 * moves <= summary.cables_planned:
        return ""
    return f"{moves:,} of {summary.cables_planned:,} cables would have to move: is this the plan of this fabric?"


def _cables(evaluation: Evaluation) -> str:
    summary = evaluation.summary
    planned = summary.cables_planned
    if not planned:
        return "The plan has no cables: there is nothing to evaluate."
    if summary.cables_right == planned:
        return f"All {count(planned, 'cable')} are right." if planned > 1 else "The one planned cable is right."
    parts = (
        (summary.cables_wrong, "wrong"),
        (summary.cables_missing, "missing"),
        (summary.cables_unknown, "could not be evaluated"),
    )
    not_right = ", ".join(f"{number:,} {word}" for number, word in parts if number)
    return f"{not_right}; {summary.cables_right:,} of {count(planned, 'cable')} right."


def _repair(evaluation: Evaluation) -> str:
    findings = len(evaluation.findings)
    if not findings:
        return "" if evaluation.collection_errors or evaluation.summary.cables_unknown else "Nothing to do."
    explained = len(evaluation.cause_of.keys() & {finding.id for finding in evaluation.findings})
    moves = sum(len(cause.moves) for cause in evaluation.causes)
    causes = len(evaluation.causes)
    if not causes:
        return f"{count(findings, 'finding')}, none explained by a common cause."
    explain = "explains" if causes == 1 else "explain"
    tail = f"; {count(moves, 'cable')} to move." if moves else "; no cable to move."
    return f"{count(causes, 'cause')} {explain} {explained:,} of {count(findings, 'finding')}{tail}"
