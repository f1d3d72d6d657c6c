"""The source of an on-call answer: the running service, or a local evaluation."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from truerail.analysis.published import Published
from truerail.errors import CommandError, NotFoundError, QueryError
from truerail.model import Reading
from truerail.model.history import History, NoHistory
from truerail.views.plain import as_json

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Source:
    """The source: a service, unless a capture or an inventory is named."""

    service: str
    token_file: Path | None
    capture: Path | None
    inventory: Path | None
    plan: Path | None

    @property
    def local(self) -> bool:
        """Whether the answer is computed locally."""
        return self.capture is not None or self.inventory is not None


@dataclass(frozen=True, slots=True)
class Question:
    """One question: its route in the API with its query, and the function that answers it locally. `here` is None if
    only a service can answer, because that needs the history.
    """

    kind: type[Any]
    route: str
    query: Mapping[str, str | None]
    here: Callable[[Published, History], Any] | None


def ask(question: Question, source: Source) -> tuple[Any, Any]:
    """The answer, and its JSON. Raises CommandError for any error."""
    return _here(question, source) if source.local else _service(question, source)


def _here(question: Question, source: Source) -> tuple[Any, Any]:
    if question.here is None:
        raise CommandError(f"{question.route} needs the journal of a running service. Use --service")
    try:
        answer = question.here(_publication(source), NoHistory())
    except (QueryError, NotFoundError) as error:
        raise CommandError(str(error.args[0])) from error
    return answer, as_json(answer)


def _service(question: Question, source: Source) -> tuple[Any, Any]:
    from truerail.cli.oncall_service import fetched
    from truerail.errors import AnswerError
    from truerail.questions.answers_json import answer_from_json

    if source.plan is not None:
        raise CommandError("a plan file goes with a capture or an inventory: a service has its own plan")
    value = fetched(source.service, question.route, question.query, source.token_file)
    try:
        return answer_from_json(question.kind, value), value
    except AnswerError as error:
        raise CommandError(f"{source.service}: not an answer of truerail: {error}") from error


def _publication(source: Source) -> Published:
    """The evaluation of a capture or of an inventory's devices."""
    from truerail.analysis.round import Round
    from truerail.cli.evaluating import inferred
    from truerail.cli.plug_history import with_plug_history
    from truerail.questions.capture import publication_of
    from truerail.rounds import evaluate
    from truerail.transport.replay import Capture

    if source.capture is not None and source.inventory is not None:
        raise CommandError("give a capture or an inventory, not both")
    intended, seen = _round(source)
    snapshot, notes = seen.snapshot(), list(seen.notes)
    answered(snapshot.readings, source.capture or source.inventory)
    if intended is None:
        intended, reported = inferred(snapshot)
        notes = [*reported, *notes]
    round = Round(intended, snapshot)
    if isinstance(seen, Capture):
        with_plug_history(round, seen)
    return publication_of(round, evaluate(round, notes=notes))


def answered(readings: Iterable[Reading], place: Path | None) -> None:
    """Raises CommandError if no device of a round gave a readable answer."""
    if all(reading.error for reading in readings):
        raise CommandError(f"{place}: no device gave a readable answer, nothing was evaluated")


def _round(source: Source) -> Any:
    """The plan, if any, and one round: read from the capture, or collected now."""
    from truerail.cli.evaluating import load_plan, read

    if source.capture is not None:
        plan = load_plan(source.plan) if source.plan else None
        return plan, read(source.capture, plan)
    from truerail.cli import live, live_progress

    assert source.inventory is not None  # noqa: S101 - one of the two is there, see `Source.local`
    fleet = live.load_fleet(source.inventory, source.plan)
    with live_progress.reported() as progress:
        return fleet.plan, live.one_round(fleet, progress=progress)
