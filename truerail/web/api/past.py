"""The history: rounds, changes, plans, and the audit log. Newest first; a cursor continues after its row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Literal, TypeVar

from fastapi import APIRouter, Request
from starlette.responses import Response

from truerail.model.history import (
    AuditRecord,
    EventKind,
    FindingEvent,
    History,
    LinkChange,
    PlanVersion,
    RoundRecord,
    RowRange,
)
from truerail.questions.moments import span
from truerail.web.context import Newest, WithContext
from truerail.web.listing import Wanted
from truerail.web.pagination import Page, PageRequest, pack, unpack, whole
from truerail.web.remembering import remembered
from truerail.web.request_fields import Nodes, Operator, Time

router = APIRouter(tags=["past"])
MOST_CHANGES = 1000
T = TypeVar("T")
_BACK = "1d"
"""The history's range without `since`."""


@dataclass(frozen=True, slots=True)
class CauseChange:
    """A cause began (`appeared`, `regressed`, `flapping`) or ended (`resolved`). As of `at` it is, or is no longer."""

    at: datetime
    kind: str
    cause: str
    cause_kind: str
    summary: str


@dataclass(frozen=True, slots=True)
class JournalSpan:
    """The times that `at` takes: from `begins` (None: there is no journal) to `ends`, which is now. `changes` are those
    of causes, oldest first; `complete` is False if there were more before them.
    """

    begins: datetime | None
    ends: datetime
    changes: tuple[CauseChange, ...]
    complete: bool


@router.get("/journal", response_model=JournalSpan)
async def journal(request: Request, desk: WithContext) -> Response:
    """The span of the journal, and when causes began and ended: the times worth looking at with `at`."""
    now = desk.tower.now()
    return await remembered(request, lambda kept: _span(kept, now))


def _span(kept: History, now: datetime) -> JournalSpan:
    begins = kept.kept_since()
    events = kept.cause_events(begins, now, page=RowRange(MOST_CHANGES + 1)) if begins else ()
    changes = [
        CauseChange(event.happened_at, event.kind.value, event.cause, event.cause_kind, event.summary)
        for event in events[:MOST_CHANGES]
        if event.kind not in (EventKind.UNSEEN, EventKind.RETURNED)
    ]
    ordered = sorted(changes, key=lambda one: (one.at, one.cause))
    return JournalSpan(begins, now, tuple(ordered), len(events) <= MOST_CHANGES)


@router.get("/rounds", response_model=Page[RoundRecord])
async def rounds(request: Request, part: Wanted) -> Response:
    """Evaluations in numbers."""
    return await remembered(request, lambda kept: _listing(part, kept.rounds, lambda row: row.number))


@router.get("/history", response_model=Page[LinkChange | FindingEvent])
async def history(
    request: Request,
    desk: WithContext,
    shown: Newest,
    part: Wanted,
    kind: Literal["links", "findings"] = "links",
    since: Time = None,
    until: Time = None,
    nodes: Nodes = None,
) -> Response:
    """Changes of links, or events of findings; those of the last day without `since`."""
    start, end = span(since or _BACK, until, desk.tower.now())
    devices = [shown.view.layout.devices[code].name for code in shown.view.nodes(nodes).tolist()] if nodes else None

    def ask(kept: History) -> Page[LinkChange] | Page[FindingEvent]:
        if kind == "links":
            return _listing(part, partial(kept.link_changes, start, end, devices=devices), lambda row: row.seq)
        return _listing(part, partial(kept.finding_events, start, end, devices=devices), lambda row: row.seq)

    return await remembered(request, ask)


@router.get("/plans", response_model=Page[PlanVersion])
async def plans(request: Request) -> Response:
    """The plans that were in force."""
    return await remembered(request, lambda kept: whole(kept.plans()))


@router.get("/audit", response_model=Page[AuditRecord])
async def audit(request: Request, part: Wanted, caller: Operator) -> Response:
    """Every manual change, for operators."""
    return await remembered(request, lambda kept: _listing(part, kept.audit, lambda row: row.seq))


def _listing(part: PageRequest, ask: Callable[..., Sequence[T]], number: Callable[[T], int]) -> Page[T]:
    """Reads one row more than wanted, to see whether there are more. Raises CursorError."""
    before = int(unpack(part, int)[1]) if part.cursor else None
    rows = ask(page=RowRange(part.limit + 1, before))
    items = rows[: part.limit]
    following = pack([part.question, number(items[-1])]) if len(rows) > part.limit else None
    return Page(items, None, following)
