"""The on-call questions: an endpoint for each, the same answers as the command line and the page."""

from collections.abc import Awaitable, Callable, Iterable
from inspect import Parameter as Argument
from inspect import Signature
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import StringConstraints
from starlette.responses import Response

from truerail.errors import NotInViewError, NotReadyError
from truerail.model.history import History, NoHistory
from truerail.questions import questions
from truerail.questions.job import QUESTION as JOB
from truerail.questions.moments import moment as moment_of
from truerail.questions.question import LONGEST_LIST, Asked, Journal, Kind, Parameter, Question
from truerail.views.view import LONGEST_NODESET
from truerail.web.answering import pondered, timed
from truerail.web.context import Newest, WithContext
from truerail.web.etag import to_bytes
from truerail.web.remembering import remembered, running_or_ended
from truerail.web.request_fields import LONGEST_NAME, Time, Written, done

_TYPES: dict[Kind, Any] = {
    **dict.fromkeys((Kind.NAME, Kind.NODES, Kind.LIST, Kind.TEXT), str),
    Kind.TIME: Time,
    Kind.NUMBER: int,
    Kind.FLAG: bool,
}
"""What the API takes; a parameter of another kind is one of the command line."""
_LONGEST = {Kind.NAME: LONGEST_NAME, Kind.NODES: LONGEST_NODESET, Kind.LIST: LONGEST_LIST, Kind.TEXT: LONGEST_LIST}
_AT = Argument("at", Argument.KEYWORD_ONLY, annotation=Time, default=None)
"""A question of the past."""
_STATUS = {True: 200, False: 409, None: 503}
"""Of the answer of a question that programs ask before they act."""
_OTHER_STATUS: dict[int | str, dict[str, Any]] = {
    409: {"description": "Not good."},
    503: {"description": "Not known, or nothing has been evaluated yet."},
}
_BESIDE = (("request", Request), ("desk", WithContext), ("shown", Newest))


class FileBody(Written):
    """The file of a question that has no other parameter: a scheduler's topology is longer than an address may be. The
    service bounds every body.
    """

    text: Annotated[str, StringConstraints(min_length=1)]


def router_of(declared: Iterable[Question[Any]]) -> APIRouter:
    """An endpoint for each question; one about a file has a second, which takes it as a body. Readers may ask both."""
    router = APIRouter(tags=["on-call"])
    for question in declared:
        operation = question.operation or f"the_{question.name.replace('-', '_')}"
        router.add_api_route(
            f"/{question.name}",
            _endpoint(question),
            response_model=question.answer,
            name=operation,
            description=question.description,
            responses=_OTHER_STATUS if question.gate else None,
        )
        if any(one.kind is Kind.TEXT for one in question.parameters):
            router.add_api_route(
                f"/{question.name}",
                _endpoint_of_body(question),
                methods=["POST"],
                response_model=question.answer,
                name=f"{operation}_of_a_body",
                description=f"{question.description} The parameters are sent as a body: a file may be longer than a "
                "query. Nothing is stored.",
            )
    return router


def _endpoint_of_body(question: Question[Any]) -> Callable[..., Awaitable[Response]]:
    async def answer(request: Request, desk: WithContext, shown: Newest, body: FileBody) -> Response:
        asked = Asked(shown.publication, NoHistory(), desk.tower.now())
        return done(await desk.large.run(request, lambda: question.find(asked, {"text": body.text})))

    return answer


def _endpoint(question: Question[Any]) -> Callable[..., Awaitable[Response]]:
    """A function with the parameters of the question, as FastAPI reads them from its signature."""
    parameters = [one for one in question.parameters if one.kind in _TYPES]

    async def answer(request: Request, desk: WithContext, shown: Newest, **values: Any) -> Response:
        given = {one.name: one.default for one in question.parameters}
        given |= {one.name: values[one.variable] for one in parameters}
        if (at := values.get("at")) is not None:
            moment = moment_of(at, desk.tower.now())

            def then(history: History) -> Any:
                asked = Asked(shown.publication, history, desk.tower.now(), desk.tower.counted)
                return desk.past.answer(question, given, asked, moment)

            return await remembered(request, then)

        def found(history: History) -> Any:
            return question.find(Asked(shown.publication, history, desk.tower.now()), given)

        if question.gate:  # programs act by it
            if desk.tower.stale_since:
                raise NotInViewError(question.name)
            if why := desk.tower.away:
                raise NotReadyError(why)
            reported = found(NoHistory())
            return Response(to_bytes(reported), _STATUS[question.good(reported)], media_type="application/json")
        if question.timed:
            return await timed(request, lambda: found(NoHistory()))
        if question is JOB:
            return await running_or_ended(request, shown, given["nodes"], lambda: found(NoHistory()))
        if question.journal(given) is Journal.UNUSED:
            return await pondered(request, shown, lambda: found(NoHistory()))
        return await remembered(request, found)

    arguments = [Argument(name, Argument.KEYWORD_ONLY, annotation=kind) for name, kind in _BESIDE]
    taken = [*map(_argument, parameters), *([_AT] if question.takes_at else ())]
    signature = Signature([*arguments, *taken], return_annotation=Response)
    setattr(answer, "__signature__", signature)  # noqa: B010 - mypy knows no such attribute of a function
    return answer


def _argument(one: Parameter) -> Argument:
    bounds: dict[str, Any] = {
        "alias": one.name if one.variable != one.name else None,
        "description": one.help,
        "min_length": 1 if one.kind in _LONGEST else None,
        "max_length": _LONGEST.get(one.kind),
        "ge": one.least,
        "le": one.most if one.most is not None else one.most_in_api,
    }
    query: Any = Query(**{name: value for name, value in bounds.items() if value is not None})
    kind = _TYPES[one.kind]
    optional = not one.needed and one.default is None and one.kind is not Kind.TIME
    default = Argument.empty if one.needed else one.default
    kind = Annotated[kind | None if optional else kind, query]
    return Argument(one.variable, Argument.KEYWORD_ONLY, annotation=kind, default=default)


router = router_of(questions())
