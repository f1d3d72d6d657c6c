"""The poller role: asks its share of one zone, and sends what it reads over the bus.

The share follows from the names of those that run in the zone. It needs inventory and credentials, no plan.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from structlog import get_logger

from truerail.agent.allowed_commands import name_token
from truerail.errors import BusError, BusMessageError, TransportError
from truerail.link.codec import opened, unpack
from truerail.link.live_pollers import LivePollers
from truerail.link.messages import Command
from truerail.link.nats_link import Bus, BusAddress
from truerail.link.poller_outbox import Outbox
from truerail.link.shards import owner
from truerail.link.streams import BusSender, Timing
from truerail.link.subjects import Subjects, fields
from truerail.model import Target
from truerail.model.tasks import end
from truerail.poller.agent_answers import AgentAnswers
from truerail.poller.fleet import Work
from truerail.poller.worker import Worker
from truerail.transport.command_gate import refuse_undeclared
from truerail.transport.fleet_transport import kind_of
from truerail.transport.protocol import Answer, Transport

# ----------------------------------------------------------------------------------------------------------------------
# Answers of agents in place of SSH: a host whose agent runs is not asked, one whose agent is silent is.

WHOLE_SECONDS = 5.0
"""How long a host waits for the answers of an agent that runs, before it is asked by SSH."""
_WHOLE_LOOK_SECONDS = 0.05


class AgentTransport:
    """A `Transport` in front of another one."""

    def __init__(self, agents: AgentAnswers, beyond: Transport) -> None:
        self._agents, self._beyond = agents, beyond

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        """One answer for each command, in order. Raises `TransportError`."""
        if kind_of(target) != "hosts":
            return await self._beyond.ask(target, commands)
        if await self._has_answers(target.name):
            refuse_undeclared(target, commands)
            return self._agents.answers(target.name, commands)
        since = self._agents.silent_since(target.name)
        try:
            return await self._beyond.ask(target, commands)
        except TransportError as error:
            if since is None:
                raise
            raise type(error)(f"agent silent since {since:%H:%M} UTC, and by SSH: {error}") from None

    async def close(self) -> None:
        """Ends all connections of the other one."""
        await self._beyond.close()

    async def _has_answers(self, device: str) -> bool:
        """Whether an agent runs that has sent all; one that runs and has not is asked for it."""
        left = WHOLE_SECONDS
        while self._agents.runs(device) and not self._agents.begins(device) and left > 0.0:
            if self._agents.whole(device):
                return True
            self._agents.request(device)
            await asyncio.sleep(_WHOLE_LOOK_SECONDS)
            left -= _WHOLE_LOOK_SECONDS
        return False


# ----------------------------------------------------------------------------------------------------------------------
# The poller role: asks its share of one zone, and sends what it reads over the bus.

_LOOK_SECONDS, _LOG_SECONDS = 0.2, 10.0


class BusPoller:
    """One poller of a zone. `work` has the devices of all zones."""

    def __init__(
        self,
        work: Work,
        transport: Transport,
        address: BusAddress,
        subjects: Subjects,
        zone: str,
        name: str,
        timing: Timing | None = None,
    ) -> None:
        self._zone, self._name, self._subjects = zone, name, subjects
        self._timing = timing or Timing()
        self._place = (zone, name)
        self._outbox = Outbox(zone, name)
        self._bus = Bus(address, f"truerail poller {zone}/{name}", subjects.inbox(zone), self._changed)
        self._sender = BusSender(self._bus, subjects, zone, name, self._lost)
        self._lacking: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue()
        self._agents = AgentAnswers(lambda device, word: self._lacking.put_nowait((device, word)))
        self._outbox.agents = self._of_agents
        asked = AgentTransport(self._agents, transport)
        self._worker = Worker(self._outbox, asked, self._sender.deliver, beat_seconds=self._timing.beat_seconds)
        self._live = LivePollers(self._timing.ttl_seconds)
        self._problem, self._logged = "", -_LOG_SECONDS
        self._others = True
        self._shared: frozenset[str] | None = None
        self._log = get_logger().bind(zone=zone, poller=name)
        self.use(work)

    def use(self, work: Work) -> None:
        """Other devices or another pace from now on."""
        self._work = _of_zone(work, self._zone)
        self._agents.devices(self._work.targets)
        self._others, self._shared = True, None

    async def run(self, stop: asyncio.Event, ready: Callable[[], None] = lambda: None) -> None:
        """Polls until `stop` is set. `ready` is called once it polls. Raises BusError if it cannot begin, or if the bus
        refuses it for good.
        """
        await self._bus.open()
        asking = asyncio.create_task(self._ask_agents())
        try:
            await self._bus.listen(self._subjects.live(self._zone), self._heard)
            await self._bus.listen(self._subjects.raw(self._zone), self._answered)
            await self._listen(stop)
            await self._bus.listen(self._subjects.cmd(self._zone, self._name), self._commanded)
            self._share()
            self._worker.start()
            ready()
            try:
                await self._poll(stop)
            finally:
                await self._worker.stop()
                with suppress(BusError):
                    await self._bus.send(self._subjects.live(self._zone, self._name), b"", {"KV-Operation": "DEL"})
        finally:
            await end([asking])
            await self._bus.close()

    async def _listen(self, stop: asyncio.Event) -> None:
        """Waits until all that run are heard. Raises BusError if one of them has this name."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._timing.listen_seconds):
                await stop.wait()
        if self._place in self._live.running:
            raise BusError(f"zone {self._zone} has a poller {self._name} that runs: give this one another --name")

    async def _poll(self, stop: asyncio.Event) -> None:
        checked = time.monotonic()
        while not stop.is_set():
            if self._bus.ended.is_set():
                raise BusError(f"bus {self._bus.address.url}: has ended the connection: {self._bus.problem}")
            self._others |= self._live.expire()
            if self._others:
                self._share()
            if time.monotonic() - checked > self._timing.check_seconds:
                checked = time.monotonic()
                await self._sender.check()
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await stop.wait()

    def _share(self) -> None:
        """Asks the devices that are this poller's now."""
        self._others = False
        pollers = {*self._live.of_zone(self._zone), self._name}
        mine = frozenset(name for name in self._work.named() if owner(name, pollers) == self._name)
        if mine == self._shared:
            return
        self._shared = mine
        epoch = max(int(time.time()), self._live.epoch, self._outbox.epoch) + 1  # above all that have these devices now
        self._agents.keep(mine)
        self._outbox.moved(epoch)
        self._worker.apply(self._work.part(mine))
        self._log.info("share of the zone", devices=len(mine), pollers=len(pollers), epoch=epoch)

    def _heard(self, subject: str, data: bytes, headers: dict[str, str]) -> None:
        """A sign of life of a poller of the zone, its own among them."""
        place = fields(subject)
        if not data:
            self._others |= place != self._place and self._live.ended(place)
            return
        with suppress(BusMessageError):
            envelope = opened(data)
            if envelope.start != self._outbox.start:
                self._others |= self._live.heard(place, envelope.start, envelope.epoch)

    def _answered(self, subject: str, data: bytes, headers: dict[str, str]) -> None:
        """Answers of an agent. What has changed by an event is read at once."""
        device, collectors = self._agents.take(fields(subject)[1], data)
        if collectors:
            self._worker.changed(device, collectors)
        if self._agents.problem != self._problem and time.monotonic() - self._logged > _LOG_SECONDS:
            self._problem, self._logged = self._agents.problem, time.monotonic()
            self._log.warning("a message of an agent was not taken", problem=self._problem)

    async def _ask_agents(self) -> None:
        """Asks who runs, then for what is lacking. A bus without these rights is not asked: no agent can use it."""
        await asyncio.sleep(self._timing.listen_seconds / 4)
        self._agents.find()
        while True:
            device, word = await self._lacking.get()
            subject = f"{self._subjects.agent_inbox(self._zone, name_token(device))}.ask"
            if self._subjects.agent_inbox(self._zone).lower() not in self._bus.problem.lower():
                with suppress(BusError):
                    await self._bus.send(subject, word)

    def _of_agents(self) -> tuple[int, int, int]:
        return self._agents.running, self._agents.silent, self._agents.counts["dropped_total"]

    def _commanded(self, subject: str, data: bytes, headers: dict[str, str]) -> None:
        with suppress(BusMessageError):
            self._worker.command(unpack(Command, data))

    def _changed(self, connected: bool) -> None:
        if connected:
            self._live.resume()
            self._agents.resume()
        else:
            self._live.pause()
            self._agents.pause()

    def _lost(self) -> None:
        self._log.warning("the bus has lost its store: all is sent again")
        self._worker.command(Command("resend"))


def _of_zone(work: Work, zone: str) -> Work:
    """The devices of one zone. Raises BusError if there is none."""
    targets = [target for target in work.targets if target.zone == zone]
    if not targets:
        known = ", ".join(sorted({target.zone for target in work.targets}))
        raise BusError(f"--zone {zone}: the inventory has no device of this zone, only of {known}")
    return replace(work, targets=tuple(targets))
