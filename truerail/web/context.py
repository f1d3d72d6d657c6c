"""State shared by all requests: the newest publication with its indexes, and the number of open streams."""

import asyncio
import threading
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import count
from secrets import token_hex
from typing import Annotated, Any

from fastapi import Depends, Request

from truerail.analysis.published import Published
from truerail.errors import NotReadyError
from truerail.model.history import Acknowledgement, History
from truerail.model.life import Mute
from truerail.model.plan import Plan
from truerail.outputs.metrics import Exposition
from truerail.questions.moments import moment as moment_of
from truerail.questions.past_publication import Past, past_of
from truerail.questions.question import Asked, Given, Question
from truerail.service.api import ServiceAPI
from truerail.service.mutes import mutes
from truerail.service.settings import Settings
from truerail.views.fabric_map import fabric_map
from truerail.views.view import View, view_of, warm
from truerail.web.access.tls import Certificates
from truerail.web.etag import to_bytes
from truerail.web.question_pool import HistoryQueries, QuestionPool
from truerail.web.request_fields import Time

# ----------------------------------------------------------------------------------------------------------------------
# One evaluation as the web shows it, with its answers.

KEPT_BYTES = 16 << 20
"""Cache of one publication's answers: all open pages send the same requests after a new evaluation."""


class CachedEvaluation:
    """One publication as the web shows it. `serial` differs for every publication, even with the same number, and
    after every restart.
    """

    def __init__(self, publication: Published, serial: str, history: History | None = None) -> None:
        self.publication = publication
        self.serial = serial
        self.history = history
        """What was known before it, of a publication of the past; None: the journal."""
        self._kept: dict[str, bytes] = {}
        self._room = KEPT_BYTES

    @cached_property
    def view(self) -> View:
        """The index over it that every view reads."""
        return view_of(self.publication)

    @cached_property
    def map_body(self) -> bytes:
        """The fabric map as JSON: rendered once, shared by all requests and streams."""
        return to_bytes(fabric_map(self.publication))

    def answer(self, tag: str) -> bytes | None:
        """The cached answer with this tag."""
        return self._kept.get(tag)

    def keep(self, tag: str, body: bytes) -> bytes:
        """Caches an answer; the oldest ones are evicted."""
        self._room += len(self._kept.pop(tag, b"")) - len(body)
        self._kept[tag] = body
        while self._room < 0:
            self._room += len(self._kept.pop(next(iter(self._kept))))
        return body


# ----------------------------------------------------------------------------------------------------------------------
# Answers of the past: the last restored states are kept, a few at a time, beside the live evaluation.

MOST_KEPT = 2
"""Restored states in memory: one that is looked at, and the one before it."""
KEPT_FOR = timedelta(minutes=1)
"""A state is restored again after this time: what was still open may have ended, and queued rounds are written."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A past, and its evaluation as endpoints show it."""

    at: datetime
    plan: Plan
    made: datetime
    past: Past
    shown: CachedEvaluation


class PastRounds:
    """Restores the state of a time, and keeps it for further questions of that time. One thread restores at a time, the
    others wait: at most `MOST_KEPT` restored fabrics, and one in the making, stay in memory.
    """

    def __init__(self) -> None:
        self._restoring = threading.Lock()
        self._kept: list[Restored] = []
        self._serials = (f"{token_hex(6)}-{number}" for number in count(1))

    def answer(self, question: Question[Any], given: Given, asked: Asked, at: datetime) -> Any:
        """The answer to a question at a time. Raises what `past_of` and the question raise."""
        past = self.restored(asked, at).past
        answer = question.find(Asked(past.publication, past.history, at), given)
        orders = {"action": ""} if hasattr(answer, "action") else {}  # it may long be done
        return replace(answer, as_of=past.as_of, **orders)

    def restored(self, asked: Asked, at: datetime) -> Restored:
        """The state of a time. Raises what `past_of` raises."""
        with self._restoring:
            found = next((one for one in self._kept if one.at == at and one.plan is asked.publication.plan), None)
            if found is None or asked.now - found.made > KEPT_FOR:
                self._kept = [one for one in self._kept if one is not found][: MOST_KEPT - 1]
                found = self._restore(asked, at)
            self._kept = [found, *(one for one in self._kept if one is not found)]
            return found

    def _restore(self, asked: Asked, at: datetime) -> Restored:
        past = past_of(asked, at)
        publication = replace(past.publication, mutes=_mutes(past.publication, asked.history, at))
        shown = CachedEvaluation(publication, next(self._serials), past.history)
        warm(publication)
        assert shown.map_body  # noqa: S101 - computed here, in a thread
        return Restored(at, publication.plan, asked.now, replace(past, publication=publication), shown)


def _mutes(past: Published, history: History, at: datetime) -> dict[str, Mute]:
    """What was acknowledged or under maintenance then. Raises JournalUnavailableError."""
    findings = (*past.evaluation.findings, *past.pending_resolution)
    notes = [replace(one, ended_at=None) for one in history.acknowledgements(open_only=False) if _in_force(one, at)]
    windows = [one for one in history.windows(open_only=False) if one.at <= at]
    return mutes(past.plan, findings, past.evaluation.causes, notes, windows, at)


def _in_force(note: Acknowledgement, at: datetime) -> bool:
    return note.at <= at and (note.ended_at is None or at < note.ended_at)


# ----------------------------------------------------------------------------------------------------------------------
# State shared by all requests: the newest publication with its indexes, and the number of open streams.

QUICK, LARGE, JOURNAL = (4, 2), (2, 1), (8, 4)
"""Threads, and how many of them one caller has at a time: for answers to a question; for those to a body and for whole
lists, which take longer; for queries of the journal, whose database may hang.
"""


class RequestContext:
    """One for each application; used from the event loop's thread."""

    def __init__(self, tower: ServiceAPI, settings: Settings, exposition: Exposition | None = None) -> None:
        self.tower = tower
        self.settings = settings
        self.streams = 0
        self.remote = False
        """Whether this is a front on another machine than the judge."""
        self.certificates: Certificates | None = None
        """With TLS, once the service listens."""
        self.exposition = exposition or Exposition()
        self.journal_threads = QuestionPool(*JOURNAL, "journal questions")
        self.history_queries = HistoryQueries(settings)
        self.past = PastRounds()
        self.thinking = QuestionPool(*QUICK, "questions")
        self.large = QuestionPool(*LARGE, "large questions")
        self._boot = token_hex(6)
        self._count = 0
        self._shown: CachedEvaluation | None = None
        self._making = asyncio.Lock()

    def close(self) -> None:
        """Ends the threads, which answer nothing more."""
        for threads in (self.journal_threads, self.thinking, self.large, self.history_queries.pool):
            threads.close()

    @property
    def figures(self) -> dict[str, float]:
        """The web's own metrics, by name."""
        ends = self.certificates.ends if self.certificates else None
        of_tls = {"tls_certificate_not_after_timestamp_seconds": ends.timestamp()} if ends else {}
        return {"event_streams": float(self.streams), **of_tls}

    async def shown(self) -> CachedEvaluation:
        """The newest publication with its indexes, built once in a thread while the event loop continues. Raises
        NotReadyError.
        """
        newest = self._newest()
        while self._shown is None or self._shown.publication is not newest:
            async with self._making:
                newest = self._newest()
                if self._shown is None or self._shown.publication is not newest:
                    self._shown = await self._make_ready(newest)
        return self._shown

    async def as_of(self, request: Request, at: str) -> CachedEvaluation:
        """The evaluation of a time, in words, restored from the journal in a thread. Raises NotReadyError, QueryError,
        JournalUnavailableError, and what the pool raises.
        """
        newest, now = (await self.shown()).publication, self.tower.now()
        asked, moment = Asked(newest, self.tower.history, now, self.tower.counted), moment_of(at, now)
        return await self.journal_threads.run(request, lambda: self.past.restored(asked, moment).shown)

    def _newest(self) -> Published:
        newest = self.tower.publication
        if newest is None:
            raise NotReadyError("nothing has been evaluated yet: the first round still runs")
        return newest

    async def _make_ready(self, publication: Published) -> CachedEvaluation:
        self._count += 1
        shown = CachedEvaluation(publication, f"{self._boot}-{self._count}")
        await asyncio.to_thread(lambda: shown.map_body)
        return shown


def context_of(request: Request) -> RequestContext:
    """The context of the request's application."""
    desk: RequestContext = request.app.state.desk
    return desk


async def shown_of(request: Request) -> CachedEvaluation:
    """The newest publication. Raises NotReadyError."""
    return await context_of(request).shown()


async def shown_as_of(request: Request, at: Time = None) -> CachedEvaluation:
    """The newest publication, or that of a time. Raises NotReadyError, QueryError, JournalUnavailableError."""
    return await (shown_of(request) if at is None else context_of(request).as_of(request, at))


WithContext = Annotated[RequestContext, Depends(context_of)]
Newest = Annotated[CachedEvaluation, Depends(shown_of)]
NewestOrPast = Annotated[CachedEvaluation, Depends(shown_as_of)]
"""With the parameter `at`: what an endpoint shows as of a time."""
