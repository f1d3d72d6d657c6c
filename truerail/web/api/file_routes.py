"""The on-call questions about a file, sent as a body: a scheduler's topology is longer than an address may be."""

from collections.abc import Awaitable, Callable, Iterable
from inspect import Parameter as Argument
from inspect import Signature
from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import StringConstraints, create_model
from starlette.responses import Response

from truerail.model.history import NoHistory
from truerail.questions import questions
from truerail.questions.question import Asked, Kind, Question
from truerail.web.context import Newest, WithContext
from truerail.web.params import LONGEST_NAME
from truerail.web.writing import Written, done

Text = Annotated[str, StringConstraints(min_length=1)]
"""A file's content: the service bounds every body."""
Word = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]


def router_of(declared: Iterable[Question[Any]]) -> APIRouter:
    """An endpoint for each question with a file. Nothing is stored: readers may ask them."""
    router = APIRouter(tags=["on-call"])
    for question in declared:
        if any(one.kind is Kind.TEXT for one in question.parameters):
            router.add_api_route(
                f"/{question.name}",
                _endpoint(question),
                methods=["POST"],
                response_model=question.answer,
                name=f"{question.operation or f'the_{question.name}'}_of_a_body",
                description=f"{question.description} The parameters are sent as a body: a file may be longer than a "
                "query. Nothing is stored.",
            )
    return router


def _endpoint(question: Question[Any]) -> Callable[..., Awaitable[Response]]:
    fields: dict[str, Any] = {
        one.name: (kind, ...) if one.needed else (kind | None, one.default)
        for one in question.parameters
        if (kind := {Kind.TEXT: Text, Kind.NAME: Word}.get(one.kind))
    }
    body_of = create_model("".join(map(str.title, question.name.split("-"))) + "Body", __base__=Written, **fields)

    async def answer(request: Request, desk: WithContext, shown: Newest, body: Any) -> Response:
        given = {one.name: getattr(body, one.name, one.default) for one in question.parameters}

        def found() -> Any:
            return question.find(Asked(shown.publication, NoHistory(), desk.tower.now()), given)

        return done(await desk.large.run(request, found))

    kinds = {"request": Request, "desk": WithContext, "shown": Newest, "body": body_of}
    arguments = [Argument(name, Argument.KEYWORD_ONLY, annotation=kind) for name, kind in kinds.items()]
    setattr(answer, "__signature__", Signature(arguments, return_annotation=Response))  # noqa: B010 - as in oncall_routes
    return answer


router = router_of(questions())
