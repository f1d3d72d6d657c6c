"""What the processes of `truerail demo --distributed` do: the fabric, and the roles of `truerail serve` around it."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truerail.cli.demo_stage import Stage
from truerail.link.nats_link import BusAddress
from truerail.link.subjects import Subjects
from truerail.model import DEFAULT_ZONE
from truerail.poller.bus_poller import BusPoller
from truerail.poller.bus_polling import bus_polling
from truerail.roles.front_bus import JudgePlace
from truerail.roles.judge import judge
from truerail.roles.post import Post
from truerail.roles.service import serve
from truerail.service.leadership import Leadership
from truerail.service.logs import set_up
from truerail.service.plans import PlanInForce
from truerail.service.polled_work import work_of
from truerail.service.settings import Settings
from truerail.simulator.live import LivingFabric
from truerail.simulator.live.fabric_socket import FabricSocket, FabricSocketTransport


@dataclass(frozen=True)
class Roles:
    """The roles of one demo; each method is a process that lasts until a signal."""

    fabric: LivingFabric
    settings: Settings
    bus: str
    socket: Path

    def simulated_fabric(self, stage: Stage) -> None:
        """The fabric changes, and answers pollers."""
        stage.narrate()

        async def living(stop: asyncio.Event) -> None:
            await FabricSocket(self.fabric.transport, self.fabric.targets).listen(self.socket)
            playing = asyncio.create_task(self.fabric.director.play())
            await stop.wait()
            playing.cancel()
            with suppress(asyncio.CancelledError):
                await playing

        asyncio.run(_until_signal(living))

    def poller(self, name: str) -> None:
        """Polls its share of the fabric."""
        set_up(self.settings.log)
        work = work_of(self.settings, self.fabric.targets, None)

        async def polling(stop: asyncio.Event) -> None:
            transport = FabricSocketTransport(self.socket, name)
            await BusPoller(work, transport, self._address, self._subjects, DEFAULT_ZONE, name).run(stop)

        asyncio.run(_until_signal(polling))

    def judge(self, name: str, port: int) -> None:
        """Evaluates while it leads, and stands by else."""
        set_up(self.settings.log)
        address, subjects, plan = self._address, self._subjects, self.fabric.plan

        async def judging(post: Post) -> None:
            await judge(
                self.settings, self.fabric.targets, PlanInForce(lambda: plan, plan), self.fabric.transport, post,
                ready=lambda url: None, stop=asyncio.Event(), polling=bus_polling(address, subjects),
                leading=lambda: Leadership(address, subjects, name),
            )  # fmt: skip

        serve(self._at(port), judging)

    def front(self, port: int) -> None:
        """Serves the page, the API and metrics."""
        set_up(self.settings.log)
        serve(self._at(port), JudgePlace(self._address, self._subjects, lambda url: None))

    @property
    def _address(self) -> BusAddress:
        return BusAddress(self.bus)

    @property
    def _subjects(self) -> Subjects:
        return Subjects(self.settings.fabric)

    def _at(self, port: int) -> Settings:
        return self.settings.model_copy(update={"http": self.settings.http.model_copy(update={"port": port})})


async def _until_signal(work: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await work(stop)
