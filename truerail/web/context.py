"""State shared by all requests: the newest publication with its indexes, and the number of open streams."""

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
from truerail.web.past_rounds import PastRounds

AT_ONCE = 8
"""Most concurrent queries of the journal. They have their own threads: if a database hangs, nothing else waits for a
thread.
"""

THINKING = 2
"""Most concurrent expensive answers, in threads beside the event loop."""
KEPT_BYTES = 16 << 20
"""Cache of one publication's answers: all open pages send the same requests after a new evaluation."""


class CachedEvaluation:
    """One publication as the web shows it. `serial` differs for every publication, even with the same number, and
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
        self.past = PastRounds()
        self.thinking = ThreadPoolExecutor(THINKING, "questions")
        self._boot = token_hex(6)
        self._count = 0
        self._shown: CachedEvaluation | None = None
        self._making = asyncio.Lock()

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


WithContext = Annotated[RequestContext, Depends(context_of)]
Newest = Annotated[CachedEvaluation, Depends(shown_of)]
