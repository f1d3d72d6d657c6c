"""The source of an on-call answer: the running service, or a local evaluation."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from truerail.cli.exit_codes import refusing
from truerail.cli.oncall_service import fetched, sent, versions_named
from truerail.errors import CommandError, NotFoundError, QueryError
from truerail.model.history import NoHistory
from truerail.questions.question import Asked, Given, Journal, Kind, Question
from truerail.views.plain import answer_from_json, as_json


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
        raise CommandError("--at needs a journal or earlier rounds. Use --service, or --from with several rounds")
    if question.journal(given) is Journal.NEEDED:
        if question.between_rounds and source.capture is not None and source.inventory is None:
            from truerail.cli.oncall_local import diff_rounds

            answer = diff_rounds(source.capture, source.plan, given)
            return answer, as_json(answer)
        raise CommandError(f"{question.name} needs the journal of a running service. Use --service")
    from truerail.cli.oncall_local import publication

    with refusing(QueryError, NotFoundError):
        shown, as_of = publication(source)
        now = datetime.now(UTC) if as_of is None else as_of.at
        answer = question.find(Asked(shown, NoHistory(), now), given)
    answer = answer if as_of is None else replace(answer, as_of=as_of)
    return answer, as_json(answer)


def _service(question: Question[Any], given: Given, source: Source) -> tuple[Any, Any]:
    if source.plan is not None:
        raise CommandError("a plan file goes with a capture or an inventory: a service has its own plan")
    query = _query(question, given) | ({} if source.at is None else {"at": source.at})
    known = {key: value for key, value in query.items() if value is not None}
    with versions_named(source.service, source.token_file, question.name, known):
        if any(one.kind is Kind.TEXT and one.name in known for one in question.parameters):
            value = sent("POST", source.service, question.name, known, source.token_file, {})
        else:
            value = fetched(source.service, question.name, known, source.token_file)
        return answer_from_json(question.answer, value), value


def _query(question: Question[Any], given: Given) -> dict[str, str | None]:
    """The parameters as the API takes them; what was not given is left out."""
    values = {one.name: given[one.name] for one in question.parameters if one.kind is not Kind.CAPTURE}
    return {
        name: None if value is None or value is False else "true" if value is True else str(value)
        for name, value in values.items()
    }
