"""Who leads of several judges on one bus: this one stands by until it holds the lease, and ends when it has lost it."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from structlog import get_logger

from truerail.errors import JournalUnavailableError
from truerail.journal import Journal
from truerail.link.leases import JudgeLease, LeaseTiming
from truerail.link.nats_link import Bus, BusAddress
from truerail.link.subjects import Subjects
from truerail.model.tasks import end


class Leadership:
    """One judge's part, with a connection of its own: a long round delays no renewal. Begin it once."""

    def __init__(self, address: BusAddress, subjects: Subjects, judge: str, timing: LeaseTiming | None = None) -> None:
        self.address, self.subjects, self.judge = address, subjects, judge
        self._timing = timing or LeaseTiming()
        self._bus = Bus(address, "truerail judge's lease", subjects.inbox())
        self._lease: JudgeLease | None = None
        self._fence: asyncio.Task[None] | None = None
        self._connected = asyncio.Event()
        self._log = get_logger()
        self.epoch = 0
        """Of this leader; 0 before it leads."""

    @property
    def held(self) -> bool:
        """Whether this judge leads now. Right also after the process was stopped for a while."""
        return self._lease is not None and self.epoch > 0 and self._lease.held

    @property
    def figures(self) -> Mapping[str, float]:
        """Metrics: of all judges of a fabric, one leads."""
        held = self.held
        return {"judge_leader": float(held), "judge_epoch": float(self.epoch if held else 0)}

    async def begin(self, journal: Journal | None) -> None:
        """Stands by until this judge leads. Its epoch is then the highest in the journal, which refuses the writes of
        every leader before.
        """
        await self._bus.opened(lambda why: self._log.warning("this judge waits for the bus", error=why))
        lease = self._lease = JudgeLease(self._bus.streams, self.subjects, self.judge, self._timing)
        self._connected.set()
        self._log.info("this judge stands by")
        await lease.take()
        self.epoch = await _claim(lease, journal)
        if journal is not None:
            self._fence = asyncio.create_task(self._claim_again(lease, journal))

    async def lost(self) -> str:
        """Waits until this judge leads no more. Returns why."""
        await self._connected.wait()
        assert self._lease is not None  # noqa: S101 - it is connected
        await self._lease.lost.wait()
        return self._lease.why_lost

    async def end(self) -> None:
        """Lets a standby lead at once."""
        if self._fence is not None:
            await end([self._fence])
        if self._lease is not None:
            await self._lease.release()
        await self._bus.close()

    async def _claim_again(self, lease: JudgeLease, journal: Journal) -> None:
        """Where the journal has fenced off a judge that the bus still lets lead: an earlier leader came late, or the
        bus counts from the beginning again. Two renewals since then prove that this one leads.
        """
        while True:
            await asyncio.sleep(self._timing.attempt_seconds)
            if journal.fenced:
                known = lease.renewals
                while lease.renewals < known + 2:
                    await asyncio.sleep(self._timing.attempt_seconds)
                self.epoch = await _claim(lease, journal)
                self._log.warning("this judge leads with another epoch", epoch=self.epoch)


async def _claim(lease: JudgeLease, journal: Journal | None) -> int:
    """The epoch. A journal that does not answer learns it with the first write."""
    epoch = lease.revision
    if journal is not None:
        with suppress(JournalUnavailableError):
            epoch = await asyncio.to_thread(journal.lead, epoch)
    lease.write_epoch(epoch)
    return epoch
