"""Ready-made questions of the history store. The API takes no SQL."""

from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
import orjson
from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from truerail.errors import CursorError
from truerail.history.history_tables import Field
from truerail.history.query.query_request import Form, QueryRequest
from truerail.history.query.run_query import QueryReport
from truerail.history.ready.ready_question import (
    LONGEST_VALUE,
    HistoryAnswer,
    ReadyParameter,
    ReadyQuestion,
    ready_question,
    ready_questions,
)
from truerail.questions.moments import moment
from truerail.web.answering import downloaded, reported
from truerail.web.context import RequestContext, WithContext
from truerail.web.listing import Wanted
from truerail.web.pagination import Page, PageRequest, pack, unpack, whole
from truerail.web.question_pool import LIMITS, MOST_CSV_ROWS
from truerail.web.request_fields import Time

router = APIRouter(tags=["past"])
_MOST_OFFSET = 10_000_000
_Word = Annotated[str | None, Query(max_length=LONGEST_VALUE)]


@dataclass(frozen=True, slots=True)
class HistoryQuestion:
    """A ready-made question. `no_data` says what an answer without rows means."""

    name: str
    title: str
    parameters: tuple[ReadyParameter, ...]
    columns: tuple[Field, ...]
    no_data: str


@router.get("/history/questions", response_model=Page[HistoryQuestion], name="history_questions")
async def questions(request: Request) -> Response:
    """The ready-made questions of the history store."""
    return reported(
        request, whole(msgspec.convert([*ready_questions().values()], list[HistoryQuestion], from_attributes=True))
    )


@router.get("/history/questions/{name}", response_model=HistoryAnswer, name="history_answer")
async def answer(
    request: Request,
    desk: WithContext,
    part: Wanted,
    name: Annotated[str, Path(max_length=100)],
    since: Time = None,
    until: Time = None,
    device: _Word = None,
    rail: _Word = None,
    lldp_name: _Word = None,
    least: _Word = None,
    step: _Word = None,
    idlest: _Word = None,
    form: Annotated[Literal["json", "csv"], Query(alias="format", description="csv has all rows")] = "json",
) -> Response:
    """The answer to a ready-made question from the history store. A question takes the parameters that it declares."""
    question = ready_question(name)
    named = {"since": since, "until": until, "device": device, "rail": rail, "lldp_name": lldp_name}
    named |= {"least": least, "step": step, "idlest": idlest}
    given = {key: value for key, value in named.items() if value is not None}
    if form == "csv":
        return await _csv(request, desk, question, given)
    return await _page(request, desk, question, given, part)


async def _page(
    request: Request, desk: RequestContext, question: ReadyQuestion, given: dict[str, str], part: PageRequest
) -> Response:
    """One page. A cursor keeps the times of the first page, so that `7d` means the same on all."""
    offset, given = _continued(part, given)
    asked = _request(desk, question, given, Form.TABLE, offset, part.limit)
    raw, report = await desk.history_queries.run(request, asked)
    found = orjson.loads(raw)
    times = [str(asked.parameters.get(key, "")) for key in ("since", "until")]
    following = pack([part.question, offset + report.rows, *times]) if report.more else None
    items = [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]
    notes = tuple(_notes(question, asked, report))
    values = dict(asked.parameters)
    name, title, no_data = question.name, question.title, question.no_data
    return reported(request, HistoryAnswer(name, title, values, question.columns, items, following, no_data, notes))


async def _csv(request: Request, desk: RequestContext, question: ReadyQuestion, given: dict[str, str]) -> Response:
    raw, _ = await desk.history_queries.run(request, _request(desk, question, given, Form.CSV, 0, MOST_CSV_ROWS))
    return downloaded(request, question.name, raw)


def _request(
    desk: RequestContext, question: ReadyQuestion, given: dict[str, str], form: Form, offset: int, rows: int
) -> QueryRequest:
    now = desk.tower.now()
    store = str(desk.history_queries.store)
    return question.request(store, given, lambda text: moment(text, now), form, LIMITS).page(offset, rows)


def _continued(part: PageRequest, given: dict[str, str]) -> tuple[int, dict[str, str]]:
    if not part.cursor:
        return 0, given
    _, offset, *times = unpack(part, int)
    if not 0 <= offset <= _MOST_OFFSET or len(times) != 2:
        raise CursorError("no cursor of this list: take `next` of an answer, or none for the begin")
    kept = {key: at for key, at in zip(("since", "until"), times, strict=True) if at}
    return offset, given | kept


def _notes(question: ReadyQuestion, asked: QueryRequest, report: QueryReport) -> list[str]:
    lost = len(report.unreadable)
    torn = [f"{lost:,} files of the store cannot be read: their rows are missing."] if lost else []
    return [*report.missing(asked, question.coverage_of), *torn]
