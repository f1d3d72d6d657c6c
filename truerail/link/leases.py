"""The lease of the judge: one of several leads, the others stand by.

The lease is a key of the bucket of live roles. A judge that finds none creates it, and renews it by its revision: of
two that try at once, the bus accepts one. It expires with the bucket's time to live. A holder whose renewals are not
answered stops before that, by its own monotonic clock: it needs nothing from outside to know that it leads no more.
"""

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

import msgspec
from nats.errors import Error
from nats.js import JetStreamContext
from nats.js.errors import APIError, NotFoundError
from structlog import get_logger

from truerail.link.subjects import Subjects
from truerail.model.tasks import end

_EXPECTED, _OPERATION = "Nats-Expected-Last-Subject-Sequence", "KV-Operation"
_WRONG_SEQUENCE = (10071, 10164)
"""Error codes of a revision that is not the last one. Source: nats-server, server/errors.json."""


@dataclass(frozen=True, slots=True)
class LeaseTiming:
    """Seconds between renewals, without an accepted one until the holder stops, and between attempts of a standby. The
    bucket's time to live must be longer than `stop_seconds` by what the slowest write of a leader takes.
    """

    renew_seconds: float = 3.0
    stop_seconds: float = 6.0
    attempt_seconds: float = 1.0


class Holder(msgspec.Struct, frozen=True):
    """What the lease says: the judge that leads, the id of its run, since when (Unix seconds), and its epoch."""

    judge: str
    run: str
    since: float
    epoch: int = 0


class JudgeLease:
    """The lease, as one judge sees it. `lost` is set when it has led and leads no more; it does not lead again.

    `judge` is a name that no process has at the same time: the lease of an earlier run of that name is free at once,
    since what started this run has seen that one end.
    """

    def __init__(
        self, streams: JetStreamContext, subjects: Subjects, judge: str, timing: LeaseTiming | None = None
    ) -> None:
        self._streams, self._stream = streams, subjects.live_stream
        self._subject = subjects.judge_lease
        self._timing, self._clock = timing or LeaseTiming(), time.monotonic
        self._mine = Holder(judge, uuid4().hex, 0.0)
        self._until, self._last = float("-inf"), 0
        self._renewing: asyncio.Task[None] | None = None
        self._log = get_logger()
        self.renewals = 0
        """Accepted ones."""
        self.revision = 0
        """Of the lease when it was taken: higher than that of every holder before, in one store of the bus."""
        self.holder: Holder | None = None
        """Who leads, as last read; None while no one is known to."""
        self.lost = asyncio.Event()
        self.why_lost = ""

    @property
    def held(self) -> bool:
        """Whether this judge leads now. It does not ask the bus: a holder that was stopped knows when it goes on."""
        return not self.lost.is_set() and self._clock() < self._until

    async def take(self) -> None:
        """Waits until this judge leads; it then renews the lease until `release`, or until it is `lost`."""
        while not await self._attempt():
            await asyncio.sleep(self._timing.attempt_seconds)
        self._log.info("this judge leads", judge=self._mine.judge, revision=self.revision)
        self._renewing = asyncio.create_task(self._renew_until_lost())

    def write_epoch(self, epoch: int) -> None:
        """The next renewal shows this epoch to the others."""
        self._mine = msgspec.structs.replace(self._mine, epoch=epoch)

    async def release(self) -> None:
        """Ends the lease, if it is held: another judge leads at its next attempt."""
        if self._renewing is not None:
            await end([self._renewing])
        if self.held:
            self._until = float("-inf")
            with suppress(Error, OSError, TimeoutError):  # it expires
                await self._put(b"", self._last, {_OPERATION: "DEL"})

    # --- one step -----------------------------------------------------------------------------------------------------

    async def _attempt(self) -> bool:
        """Takes the lease if it is free. A bus that does not answer has no lease to give."""
        asked_at = self._clock()
        try:
            last = await self._read()
            if self.holder is not None and self.holder.judge != self._mine.judge:
                return False
            self._mine = msgspec.structs.replace(self._mine, since=datetime.now(UTC).timestamp())
            self.revision = self._last = await self._put(msgspec.json.encode(self._mine), last)
        except (Error, OSError, TimeoutError):
            return False
        self._until, self.holder = asked_at + self._timing.stop_seconds, self._mine
        return True

    async def _read(self) -> int:
        """Sets `holder`; returns the revision that the next write has to name."""
        try:
            message = await self._streams.get_last_msg(self._stream, self._subject)
        except NotFoundError:
            self.holder = None
            return 0
        ended = _OPERATION in (message.headers or {})
        self.holder = None if ended else _holder(message.data or b"")
        return message.seq or 0

    async def _put(self, data: bytes, last: int, headers: dict[str, str] | None = None) -> int:
        """Writes the key if `last` is its revision. Returns the new one."""
        named = {_EXPECTED: str(last), **(headers or {})}
        timeout = self._timing.renew_seconds
        return (await self._streams.publish(self._subject, data, timeout=timeout, headers=named)).seq

    async def _renew_until_lost(self) -> None:
        pause = self._timing.renew_seconds
        while self.held:
            await asyncio.sleep(min(pause, max(self._until - self._clock(), 0.0)))
            try:
                pause = self._timing.renew_seconds if await self._renew() else self._timing.attempt_seconds
            except APIError:
                self._lose("another judge has taken the lease, or the bus has lost it")
        self._lose(f"the bus has not renewed the lease for {self._timing.stop_seconds:g} s")

    async def _renew(self) -> bool:
        """One renewal; False if the bus does not answer. Raises APIError if the lease is another's."""
        asked_at = self._clock()
        if asked_at >= self._until:
            return False
        try:
            self._last = await self._put(msgspec.json.encode(self._mine), self._last)
        except APIError as error:
            if error.err_code not in _WRONG_SEQUENCE:
                return False
            if not await self._stored_before():
                raise
        except (Error, OSError, TimeoutError):
            return False
        self._until = asked_at + self._timing.stop_seconds
        self.renewals += 1
        return True

    async def _stored_before(self) -> bool:
        """Whether the last write is this judge's: the bus has stored a renewal without its answer arriving."""
        try:
            last = await self._read()
        except (Error, OSError, TimeoutError):
            return False
        if self.holder is None or self.holder.run != self._mine.run:
            return False
        self._last = last
        return True

    def _lose(self, why: str) -> None:
        if not self.lost.is_set():
            self.why_lost = why
            self.lost.set()
            self._log.error("this judge leads no more", judge=self._mine.judge, why=why)


def _holder(data: bytes) -> Holder:
    """The holder that a value names; one without a name for bytes that no judge wrote: they expire as well."""
    try:
        return msgspec.json.decode(data, type=Holder)
    except msgspec.MsgspecError:
        return Holder("", "", 0.0)
