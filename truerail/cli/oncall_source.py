"""The source of an on-call answer: the running service, or a local evaluation."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truerail.analysis.published import Published
from truerail.errors import CommandError, NotFoundError, QueryError
from truerail.model import Plan, Reading
from truerail.model.history import NoHistory
from truerail.questions.question import Asked, Given, Journal, Kind, Question
from truerail.views.pieces import AsOf
from truerail.views.plain import as_json

if TYPE_CHECKING:
    from truerail.cli.evaluating import Seen


_UNKNOWN = (404, 422)
"""Answers of a service that may not know the command or one of its parameters."""


@dataclass(frozen=True, slots=True)
class Source:
    """The source: a service, unless a capture or an inventory is named."""

    service: str
    token_file: Path | None
    capture: Path | None
    inventory: Path | None
    plan: Path | None
    at: str | None = None
    """The time to answer for, from the journal or the rounds of the capture; None: now."""

    @property
    def local(self) -> bool:
        """Whether the answer is computed locally."""
        return self.capture is not None or self.inventory is not None


def ask(question: Question[Any], given: Given, source: Source) -> tuple[Any, Any]:
    """The answer, and its JSON. Raises CommandError for whatever stands between."""
    return _here(question, given, source) if source.local else _service(question, given, source)


def _here(question: Question[Any], given: Given, source: Source) -> tuple[Any, Any]:
    if source.at is not None and source.capture is None:
        raise CommandError("--at needs a journal or earlier rounds. Use --service, or --capture with several rounds")
    if question.journal(given) is Journal.NEEDED:
        raise CommandError(f"{question.name} needs the journal of a running service. Use --service")
    try:
        publication, as_of = _publication(source)
        now = datetime.now(UTC) if as_of is None else as_of.at
        answer = question.find(Asked(publication, NoHistory(), now), given)
    except (QueryError, NotFoundError) as error:
        raise CommandError(str(error.args[0])) from error
    answer = answer if as_of is None else replace(answer, as_of=as_of)
    return answer, as_json(answer)


def _service(question: Question[Any], given: Given, source: Source) -> tuple[Any, Any]:
    from truerail.errors import AnswerError
    from truerail.views.plain import answer_from_json

    if source.plan is not None:
        raise CommandError("a plan file goes with a capture or an inventory: a service has its own plan")
    query = _query(question, given) | ({} if source.at is None else {"at": source.at})
    value = _fetched(question, query, source)
    try:
        return answer_from_json(question.answer, value), value
    except AnswerError as error:
        from truerail.cli.version_skew import explained_answer

        raise CommandError(explained_answer(source.service, source.token_file, str(error))) from error


def _fetched(question: Question[Any], query: dict[str, str | None], source: Source) -> Any:
    """The JSON of an answer. Raises CommandError; for what the service does not know, with the versions of both."""
    from truerail.cli.oncall_service import fetched, sent

    name = question.name
    try:
        if any(one.kind is Kind.TEXT and query[one.name] for one in question.parameters):
            body = {key: value for key, value in query.items() if value is not None}
            return sent("POST", source.service, name, body, source.token_file, {})
        return fetched(source.service, name, query, source.token_file)
    except CommandError as error:
        if getattr(error.__cause__, "code", None) not in _UNKNOWN:
            raise
        from truerail.cli.version_skew import explained

        given = [key for key, value in query.items() if value is not None]
        raise CommandError(explained(source.service, source.token_file, name, given, str(error))) from error


def _query(question: Question[Any], given: Given) -> dict[str, str | None]:
    """The parameters as the API takes them; what was not given is left out."""
    values = {one.name: given[one.name] for one in question.parameters if one.kind is not Kind.CAPTURE}
    return {
        name: None if value is None or value is False else "true" if value is True else str(value)
        for name, value in values.items()
    }


def _publication(source: Source) -> tuple[Published, AsOf | None]:
    """The evaluation of a capture or of an inventory's devices, and its time if one was wanted."""
    from truerail.cli.evaluating import inferred
    from truerail.cli.plug_history import round_of
    from truerail.rounds import evaluate, publication_of

    if source.capture is not None and source.inventory is not None:
        raise CommandError("give a capture or an inventory, not both")
    intended, seen, as_of = _round(source)
    snapshot, notes = seen.snapshot(), list(seen.notes)
    answered(snapshot.readings, source.capture or source.inventory)
    if intended is None:
        intended, reported = inferred(snapshot)
        notes = [*reported, *notes]
    round = round_of(intended, seen, snapshot)
    publication = publication_of(round, evaluate(round, notes=notes))
    if as_of is None:
        return publication, None
    from truerail.cli.oncall_past import as_past

    return as_past(publication), as_of


def answered(readings: Iterable[Reading], place: Path | None) -> None:
    """Raises CommandError if no device of a round gave a readable answer."""
    if all(reading.error for reading in readings):
        raise CommandError(f"{place}: no device gave a readable answer, nothing was evaluated")


def _round(source: Source) -> tuple[Plan | None, "Seen", AsOf | None]:
    """The plan, if any, and one round: read from the capture, or collected now; with its time if one was wanted."""
    from truerail.cli.evaluating import load_plan, read

    if source.capture is not None:
        plan = load_plan(source.plan) if source.plan else None
        if source.at is None:
            return plan, read(source.capture, plan), None
        from truerail.cli.oncall_past import round_at

        return plan, *round_at(source.capture, plan, source.at)
    from truerail.cli import live, live_progress

    assert source.inventory is not None  # noqa: S101 - one of the two is there, see `Source.local`
    fleet = live.load_fleet(source.inventory, source.plan)
    with live_progress.reported() as progress:
        return fleet.plan, live.one_round(fleet, progress=progress), None
