"""A poller: asks its devices on a schedule of its own, and sends what it hears wherever its messages go."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable
from contextlib import suppress
from functools import partial

from truerail.errors import BusError
from truerail.link.messages import Command
from truerail.link.poller_outbox import Outbox, Outgoing
from truerail.model.tasks import end
from truerail.poller.fleet import Work
from truerail.poller.polling import PollScheduler
from truerail.poller.schedule import Schedule
from truerail.transport.protocol import Transport

BEAT_SECONDS = 3.0
RETRY_SECONDS = 1.0


Deliver = Callable[[Iterable[Outgoing]], Awaitable[None]]
"""Sends messages to a judge in this order, taking the next one when there is room. Raises BusError."""


class Worker:
    """Polls nothing before the first `apply`. `problem` is the last thing that went wrong inside."""

    def __init__(
        self, outbox: Outbox, transport: Transport, deliver: Deliver, *, beat_seconds: float = BEAT_SECONDS
    ) -> None:
        self._outbox, self._transport, self._deliver, self._beat_seconds = outbox, transport, deliver, beat_seconds
        self._news = asyncio.Event()
        self._schedule = Schedule(overran=self._overran, failed=self._failed)
        self._asking: PollScheduler | None = None
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begins to send, and to show that it runs."""
        self._schedule.start()
        self._tasks = [asyncio.create_task(self._sending()), asyncio.create_task(self._beating())]

    async def stop(self) -> None:
        """Ends polling; nothing more is sent."""
        self._schedule.stop()
        await end(self._tasks)
        if self._asking:
            await self._asking.stop()

    def apply(self, work: Work) -> None:
        """Polls these devices from now on, those that are new at once."""
        poller = work.poller(self._transport, self._differs)
        names = {device.name for device in poller.devices}
        if self._asking is None:
            self._asking = PollScheduler(poller, work, heard=self._heard, into=self._outbox)
            new = names
        else:
            new = names.difference(self._asking.devices)
            self._asking.use(poller, work)
        self._schedule.all_of(work.every_seconds, lambda name: partial(self._due, name), work.jitter_seconds)
        if new:
            self._asking.spawn(self._asking.everything(new))

    def command(self, command: Command) -> None:
        """Does what a judge asks for. An action that this version does not know is left."""
        if self._asking is None:
            return
        if command.action == "poll":
            known = set(self._asking.devices)
            self._asking.spawn(self._asking.everything(command.devices and known & set(command.devices)))
        elif command.action == "resend":
            self._outbox.resend(command.devices)
            self._heard()
        elif command.action == "report":
            self._outbox.report()
            self._heard()

    def changed(self, device: str, collectors: Collection[str]) -> None:
        """These answers of a device are to be read now, whatever the schedule says."""
        if self._asking is not None and device in self._asking.devices:
            self._asking.soon(device, collectors)

    async def _due(self, collector: str) -> None:
        if self._asking and self._asking.devices:
            await self._asking.due(collector)

    def _heard(self) -> None:
        if self._asking:
            self._outbox.round_done(self._asking.runs, self._asking.rounds_total, self._asking.waiting)
        self._news.set()

    async def _sending(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            try:
                await self._deliver(self._outbox.messages())
            except BusError:  # the link reports it; what was taken from the outbox may be lost
                await asyncio.sleep(RETRY_SECONDS)
                self._outbox.resend()
                self._heard()

    async def _beating(self) -> None:
        while True:
            with suppress(BusError):
                await self._deliver([self._outbox.beat()])
            await asyncio.sleep(self._beat_seconds)

    def _overran(self, job: str) -> None:
        if self._asking:
            self._asking.overran(job)

    def _differs(self, device: str, collector: str) -> None:
        self._outbox.differences_total += 1
        self._outbox.problem = f"an answer of {device} to {collector} that counted as unchanged has other facts"

    def _failed(self, job: str, error: BaseException) -> None:
        self._outbox.problem = f"{job}: {type(error).__name__}: {error}"
