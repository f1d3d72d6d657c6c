"""What all requests share: the newest publication made ready to be read, and how many streams are open."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from secrets import token_hex
from typing import Annotated

from fastapi import Depends, Request

from truerail.analysis.published import Published
from truerail.errors import NotReadyError
from truerail.outputs.metrics import Exposition
from truerail.service.api import ServiceAPI
from truerail.service.settings import Settings
from truerail.views.fabric_map import fabric_map
from truerail.views.view import View, view_of
from truerail.web.access.tls import Certificates
from truerail.web.body import to_bytes

AT_ONCE = 8
"""Questions that are put to the journal at the same time. They have threads of their own: where a database hangs,
nothing else waits for a thread.
"""

THINKING = 2
"""Questions about the whole fabric that are thought about at the same time, beside the event loop."""
KEPT_BYTES = 16 << 20
"""Answers of one publication that are kept: everybody who looks asks the same once an evaluation is new."""


class CachedEvaluation:
    """One publication as the web shows it. `serial` differs for every publication, those of one number included, and
    after every restart.
    """

    def __init__(self, publication: Published, serial: str) -> None:
        self.publication = publication
        self.serial = serial
        self._kept: dict[str, bytes] = {}
        self._room = KEPT_BYTES

    @cached_property
    def view(self) -> View:
        """The index over it that every view reads."""
        return view_of(self.publication)

    @cached_property
    def map_body(self) -> bytes:
        """The fabric map as JSON: made once, shared by all requests and streams."""
        return to_bytes(fabric_map(self.publication))

    def answer(self, tag: str) -> bytes | None:
        """The answer with this tag, where it was given before."""
        return self._kept.get(tag)

    def keep(self, tag: str, body: bytes) -> bytes:
        """Keeps an answer for the next who asks; the oldest make room."""
        self._room += len(self._kept.pop(tag, b"")) - len(body)
        self._kept[tag] = body
        while self._room < 0:
            self._room += len(self._kept.pop(next(iter(self._kept))))
        return body


class RequestContext:
    """One for each application; used from the event loop's thread."""

    def __init__(self, tower: ServiceAPI, settings: Settings) -> None:
        self.tower = tower
        self.settings = settings
        self.streams = 0
        self.certificates: Certificates | None = None
        """With TLS, once the service listens."""
        self.exposition = Exposition()
        self.journal_threads = ThreadPoolExecutor(AT_ONCE, "journal questions")
        self.thinking = ThreadPoolExecutor(THINKING, "questions")
        self._boot = token_hex(6)
        self._count = 0
        self._shown: CachedEvaluation | None = None
        self._making = asyncio.Lock()

    @property
    def figures(self) -> dict[str, float]:
        """What the web counts of itself, by the names of its metrics."""
        ends = self.certificates.ends if self.certificates else None
        of_tls = {"tls_certificate_not_after_timestamp_seconds": ends.timestamp()} if ends else {}
        return {"event_streams": float(self.streams), **of_tls}

    async def shown(self) -> CachedEvaluation:
        """The newest publication, with its indexes built: in a thread, once, while the event loop goes on. Raises
        NotReady.
        """
        newest = self._newest()
        while self._shown is None or self._shown.publication is not newest:
            async with self._making:
                newest = self._newest()
                if self._shown is None or self._shown.publication is not newest:
                    self._shown = await self._make_ready(newest)
        return self._shown

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
    """The desk of the application that a request came to."""
    desk: RequestContext = request.app.state.desk
    return desk


async def shown_of(request: Request) -> CachedEvaluation:
    """The newest publication. Raises NotReadyError."""
    return await context_of(request).shown()


WithContext = Annotated[RequestContext, Depends(context_of)]
Newest = Annotated[CachedEvaluation, Depends(shown_of)]
