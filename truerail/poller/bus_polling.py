"""The fleet of a judge whose pollers are on other machines: their messages come over the bus."""

import asyncio
import math
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import UTC, datetime

from nats.errors import Error
from structlog import get_logger

from truerail.errors import BusError, BusMessageError
from truerail.link.codec import opened, pack
from truerail.link.inbox import WARNED_SECONDS, Place
from truerail.link.live_pollers import LivePollers
from truerail.link.messages import Command
from truerail.link.nats_link import Bus, BusAddress
from truerail.link.streams import Follower, Timing, ensure
from truerail.link.subjects import Subjects, fields
from truerail.model.columns import grouped
from truerail.model.tasks import end
from truerail.poller.fleet import Work
from truerail.poller.received import Latest, PollersElsewhere, Received

# ----------------------------------------------------------------------------------------------------------------------
# Zones as a judge sees them: whether their pollers run, why a device is unknown, and when all have reported.


class ZoneWatch:
    """`away` has the reason why no message can come, empty while the bus answers."""

    def __init__(self, received: Received, live: LivePollers, away: Callable[[], str]) -> None:
        self._received, self._live, self._away = received, live, away
        self._begun_at = datetime.now(UTC)

    @property
    def zones(self) -> set[str]:
        """All zones of the inventory."""
        return {target.zone for target, _ in self._received.named.values()}

    def all_reported(self) -> bool:
        """Whether a poller runs, all that run have reported a round, and each device of their zones is described."""
        running, inbox = self._live.running, self._received.inbox
        zones = {zone for zone, _ in running}
        return (
            bool(running)
            and all(one.reported or not one.beat.devices for one in self._received.senders(running))
            and all(inbox.described(name) for zone in self.zones & zones for name in self._of(zone))
        )

    def expire(self) -> None:
        """Makes unknown what no poller keeps up to date."""
        away, running = self._away(), set(self._live.running)
        silent = {place: self._why(place) for place in self._received.inbox.senders if away or place not in running}
        self._received.expire(silent)
        for zone in self.zones:
            if why := self._why_zone(zone):
                self._received.never_polled(self._of(zone), why)

    def give_up(self) -> None:
        """Makes unknown what no poller has described by now."""
        for zone in self.zones:
            why = self._why_zone(zone) or f"no answer yet from the pollers of zone {zone}"
            self._received.never_polled(self._of(zone), why)

    def _why(self, place: Place) -> str:
        since = self._live.since.get(place, self._begun_at)
        return self._why_zone(place[0]) or f"poller {place[1]} of zone {place[0]} has not run since {since:%H:%M} UTC"

    def _why_zone(self, zone: str) -> str:
        """Why no device of a zone is polled; empty if one of its pollers runs."""
        if away := self._away():
            return away
        if self._live.of_zone(zone):
            return ""
        ended = [since for (of, _), since in self._live.since.items() if of == zone]
        return f"no poller in zone {zone} since {max(ended, default=self._begun_at):%H:%M} UTC"

    def _of(self, zone: str) -> list[str]:
        return [name for name, (target, _) in self._received.named.items() if target.zone == zone]


# ----------------------------------------------------------------------------------------------------------------------
# The fleet of a judge whose pollers are on other machines: their messages come over the bus.

_LOOK_SECONDS, _AGAIN_SECONDS = 0.5, 1.0
_LACKING_SECONDS = 2.0
"""A poller is asked to send again no more often than this: its answer is on its way."""


class BusPolling(PollersElsewhere):
    """`Polling` by the pollers of a bus. Nothing is to be evaluated before all that run have reported a round."""

    def __init__(
        self,
        work: Work,
        heard: Callable[[], None],
        address: BusAddress,
        subjects: Subjects,
        timing: Timing | None = None,
    ) -> None:
        super().__init__()
        self._address, self._subjects, self._timing = address, subjects, timing or Timing()
        self._heard, self._log = heard, get_logger()
        self._live = LivePollers(self._timing.ttl_seconds)
        self._bus = Bus(address, "truerail judge", subjects.inbox(), self._changed)
        self._received = Received(work, self._new_answers, zone_of=lambda target: target.zone, lacking=self._lacking)
        self._obs = self._cnt = self._rounds = self._follower(subjects.obs_stream, subjects.obs_of())
        self._begun = time.monotonic()
        self._away_at = datetime.now(UTC)
        self._wake = asyncio.Event()
        self._zones = ZoneWatch(self._received, self._live, self._away)
        self._following = self._gathered = self._report_asked = False
        self._asked_again: dict[Place, float] = {}
        self._problem = self._untaken = self._still = ""
        self._losses = 0
        self._clocks_off: set[tuple[Place, str]] = set()

    # --- what a service reads ---------------------------------------------------------------------------------------

    @property
    def latest(self) -> Latest:
        """The newest answers; none before those of all pollers that run are there."""
        return self._received.latest if self._gathered else Latest({})

    @property
    def figures(self) -> Mapping[str, float]:
        """Metrics of the pollers and of the bus."""
        senders = self._received.senders(self._live.running)
        counts = self._received.inbox.counts
        return {
            "pollers": len(self._live.running) + len(self._live.missing),
            "pollers_running": len(self._live.running),
            "poller_messages_dropped_total": self._received.inbox.dropped_total,
            "full_parse_differences_total": sum(one.beat.differences_total for one in senders),
            "agents_running": sum(one.beat.agents_running for one in senders),
            "agents_silent": sum(one.beat.agents_silent for one in senders),
            "agent_messages_dropped_total": sum(one.beat.agent_dropped_total for one in senders),
            "bus_connected": float(self._answers),
            "bus_reconnects_total": self._bus.reconnects_total,
            "bus_store_losses_total": self._losses,
            "bus_other_schema_total": counts["skipped_schema_total"],
            "bus_copies_missing": self._obs.copies_missing,
            "bus_zones_without_poller": len(self._zones.zones.difference(zone for zone, _ in self._live.running)),
            "bus_clock_offset_seconds": max((abs(one.clock_off_seconds) for one in senders), default=0.0),
        }

    @property
    def _running(self) -> Collection[Place]:
        return self._live.running

    # --- what a service does ----------------------------------------------------------------------------------------

    def start(self) -> None:
        """Connects, and again after each end of the connection."""
        self.spawn(self._serving())
        self.spawn(self._watching())

    def apply(self, work: Work) -> None:
        """Other devices; pollers have an inventory of their own."""
        self._received.apply(work)

    async def everything(self, only: Collection[str] | None = None) -> int:
        """Polls all devices now, or these, and those that report their fabric. Returns the number of devices."""
        named, wanted = self._received.named, self._wanted(only)
        by_zone = grouped((named[name][0].zone, name) for name in sorted(wanted))
        for place in self._live.running:
            if devices := by_zone.get(place[0]):
                await self._command(place, Command("poll", self._spoken(devices)))
        return len(wanted)

    async def stop(self) -> None:
        """Ends the connection."""
        await end(self._tasks)
        await self._bus.close()

    # --- the connection ---------------------------------------------------------------------------------------------

    def _follower(self, stream: str, subject: str, *, only_new: bool = False) -> Follower:
        return Follower(self._bus, stream, subject, self._take, only_new=only_new)

    async def _serving(self) -> None:
        while True:
            try:
                await self._bus.open()
                self._problem = ""
                self._changed(True)
                await self._follow()
            except (BusError, Error) as error:
                if str(error) != self._problem:
                    self._log.error("the bus cannot be used", error=str(error))
                self._problem = str(error)
            self._changed(False)
            await self._bus.close()
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _follow(self) -> None:
        """Takes messages until the connection ends for good. The observations first: a round refers to them."""
        names, timing = self._subjects, self._timing
        await self._bus.listen(names.live("*"), self._beat)
        await asyncio.sleep(timing.listen_seconds)
        self._report_asked = False
        self._obs = self._follower(names.obs_stream, names.obs_of())
        self._rounds = self._follower(names.round_stream, names.round("*"))
        self._cnt = self._follower(names.cnt_stream, names.cnt("*"), only_new=True)
        while not self._bus.ended.is_set():
            if self._bus.connected:
                await self._check()
            if self._rounds.caught_up and not self._report_asked:
                self._report_asked = True
                await self._ask_report()
            self._following = self._obs.caught_up and self._report_asked
            pause = timing.check_seconds if self._rounds.caught_up else _LOOK_SECONDS
            self._wake.clear()
            with suppress(TimeoutError):  # not wait_for: before Python 3.12 it may miss that it is cancelled
                async with asyncio.timeout(pause):
                    await self._wake.wait()

    async def _ask_report(self) -> None:
        """What is stored of a device is as old as its last change: pollers report when each answer was last read."""
        for sender in self._received.inbox.senders.values():
            sender.reported = False
        for place in self._live.running:
            await self._command(place, Command("report"))

    async def _check(self) -> None:
        try:
            bus = self._bus
            if made := await ensure(bus.streams, self._subjects, self._timing, in_cluster=bus.client.in_cluster):
                self._log.info("streams made", streams=", ".join(made))
            if await self._obs.check():
                self._store_lost()
            if self._obs.caught_up:
                await self._rounds.check()
                await self._cnt.check()
            self._still = ""
        except (BusError, Error) as error:
            self._log.warning("the streams of the bus do not answer", error=str(error))
            if not self._still:
                why = str(error).removeprefix(f"bus {self._address.url}: ") or type(error).__name__
                self._still, self._away_at = why, datetime.now(UTC)

    def _store_lost(self) -> None:
        self._losses += 1
        self._log.warning("the bus has lost its store: pollers send all again")
        self._received.inbox.forget_order()
        for place in self._live.running:
            self._lacking(place, None)

    def _changed(self, connected: bool) -> None:
        if connected:
            self._live.resume()
            for follower in (self._obs, self._rounds, self._cnt):
                follower.interrupted()
            self._wake.set()
        else:
            self._away_at, self._still = datetime.now(UTC), ""
            self._live.pause()

    # --- messages ---------------------------------------------------------------------------------------------------

    def _take(self, subject: str, data: bytes) -> None:
        """A message that was stored: its arrival says nothing of the poller's clock."""
        zone, last = fields(subject)
        poller = "" if subject.startswith(f"{self._subjects.prefix}.obs.") else last
        self._received.take(data, zone=zone, poller=poller, arrived_at=math.inf)
        if self._following and self._received.all_reported(self._live.running):
            self._received.evaluate()

    def _beat(self, subject: str, data: bytes, headers: dict[str, str]) -> None:
        place = fields(subject)
        if not data:
            self._live.ended(place)
            return
        with suppress(BusMessageError):
            envelope = opened(data)
            if self._live.heard(place, envelope.start, envelope.epoch):
                self._began_to_run(place, envelope.epoch)
        self._received.take(data, zone=place[0], poller=place[1])

    def _began_to_run(self, place: Place, epoch: int) -> None:
        """A sign of life is never an old message: this run counts, also where a clock was ahead before it."""
        self._log.info("a poller runs", zone=place[0], poller=place[1])
        if epoch < self._received.inbox.highest_epoch:
            self._received.inbox.forget_order()
            self._lacking(place, None)

    def _new_answers(self) -> None:
        if self._gathered:
            self._heard()

    def _lacking(self, place: Place, devices: Collection[str] | None) -> None:
        now = time.monotonic()
        if now - self._asked_again.get(place, -math.inf) > _LACKING_SECONDS:
            self._asked_again[place] = now
            wanted = None if devices is None else self._spoken(devices)
            self.spawn(self._command(place, Command("resend", wanted)))

    def _spoken(self, devices: Collection[str]) -> list[str]:
        """Devices as pollers name them: by the inventory; and as the plan does, for messages of such pollers."""
        named = self._received.named
        return sorted({name for one in devices for name in (one, named[one][0].name if one in named else one)})

    async def _command(self, place: Place, command: Command) -> None:
        with suppress(BusError):  # the poller is asked again, or another one has its devices
            await self._bus.send(self._subjects.cmd(*place), pack(command))

    async def _watching(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            self._live.expire()
            self._log_problems()
            if self._gathered:
                self._zones.expire()
            else:
                self._gather()

    def _gather(self) -> None:
        """Ends the wait of a judge that begins: all that run have reported, or the time is over."""
        complete = self._following and self._zones.all_reported()
        if complete or time.monotonic() - self._begun > self._timing.gather_seconds:
            self._gathered = True
            if not complete:
                self._zones.give_up()
            self._heard()

    def _away(self) -> str:
        if self._answers:
            return ""
        since = f"since {self._away_at:%H:%M} UTC"
        if self._bus.connected:
            return f"the bus {self._address.url} stores nothing {since}: {self._still}"
        return f"the bus {self._address.url} has not answered {since}"

    @property
    def _answers(self) -> bool:
        return self._bus.connected and not self._still

    def _log_problems(self) -> None:
        """Logs what is new: a message that could not be read, and a clock that somebody should set."""
        if self._received.inbox.problem != self._untaken:
            self._untaken = self._received.inbox.problem
            self._log.warning("a message of a poller was not taken", problem=self._untaken)
        senders = self._received.senders(self._live.running)
        off = {(one.place, one.start): one for one in senders if abs(one.clock_off_seconds) > WARNED_SECONDS}
        for (zone, poller), start in off.keys() - self._clocks_off:
            seconds = round(-off[(zone, poller), start].clock_off_seconds, 1)
            said = "the clock of a poller is wrong; its times are corrected"
            self._log.warning(said, zone=zone, poller=poller, ahead_seconds=seconds)
        self._clocks_off = set(off)
