"""`truerail serve --role`: pollers and a judge on machines of their own, and the bus between them."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truerail.cli.exit_codes import refusing
from truerail.errors import BusError, CommandError
from truerail.extras import require

if TYPE_CHECKING:
    from truerail.link.nats_link import BusAddress
    from truerail.link.subjects import Subjects
    from truerail.poller.bus_poller import BusPoller
    from truerail.poller.fleet import Work
    from truerail.poller.polling import PollingMaker
    from truerail.service.leadership import Leadership
    from truerail.service.settings import Settings

ROLES = ("poller", "judge", "front")


@dataclass(frozen=True, slots=True)
class BusOptions:
    """The options of `serve` on roles."""

    role: str = ""
    bus: str = ""
    creds: Path | None = None
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    zone: str = ""
    name: str = ""

    def check(self) -> None:
        """Raises CommandError if they do not fit together, or a package is missing."""
        if not self.role:
            given = [name for name in ("bus", "creds", "ca", "cert", "key", "zone", "name") if getattr(self, name)]
            if given:
                raise CommandError(f"--{given[0]} needs --role poller, judge or front")
            return
        if self.role not in ROLES:
            raise CommandError(f"--role {self.role}: expected one of {', '.join(ROLES)}")
        if not self.bus:
            raise CommandError(f"--role {self.role} needs --bus, such as tls://bus.example:4222")
        if self.role != "poller" and (self.zone or self.name):
            raise CommandError(f"--{'zone' if self.zone else 'name'} is for --role poller: a {self.role} has all zones")
        require("bus", f"--role {self.role}")

    @property
    def address(self) -> "BusAddress":
        """The address of the bus. Raises CommandError."""
        from truerail.link.nats_link import BusAddress

        with refusing(BusError):
            return BusAddress(self.bus, self.creds, self.ca, self.cert, self.key)


def judge_polling(options: BusOptions, settings: "Settings") -> "PollingMaker":
    """The polling of a judge. Raises CommandError if the bus cannot be reached, or refuses the login."""
    from truerail.link.nats_link import Bus
    from truerail.poller.bus_polling import BusPolling

    address, subjects = options.address, _subjects(settings)

    async def probe() -> None:
        bus = Bus(address, "truerail judge", subjects.inbox())
        await bus.open()
        await bus.close()

    _run(probe())
    return partial(BusPolling, address=address, subjects=subjects)


def judge_leadership(options: BusOptions, settings: "Settings") -> "Callable[[], Leadership] | None":
    """Makes the part of this judge in who leads; None for a service without a bus."""
    if not options.role:
        return None
    from os import getpid
    from socket import gethostname
    from uuid import uuid4

    from truerail.service.leadership import Leadership

    name = f"{gethostname()}:{getpid()}:{uuid4().hex}"  # of this service: each judge that it starts follows the last
    return lambda: Leadership(options.address, _subjects(settings), name)


def serve_front(options: BusOptions, config: Path, *, check: bool) -> None:
    """Serves until a signal comes; with `check` it only reads the settings. A front needs no inventory and no journal.
    Raises CommandError if it cannot begin: settings, port, or the bus.
    """
    from truerail.cli import terminal_output
    from truerail.cli.serve import certificate_warning, read_settings
    from truerail.link.inspection import front_login
    from truerail.roles.front_bus import JudgePlace
    from truerail.roles.service import serve
    from truerail.service.logs import logger, set_up

    settings = read_settings(config)
    if check:
        if warning := certificate_warning(settings):
            terminal_output.remark(warning)
        terminal_output.say(f"{config}: OK for a front of the fabric {settings.fabric}.")
        return
    set_up(settings.log)
    address, subjects = options.address, _subjects(settings)
    _run(front_login(address, subjects))
    place = JudgePlace(address, subjects, lambda url: logger().info("listening", url=url, bus=options.bus))
    serve(settings, place, lambda: read_settings(config))


def serve_poller(options: BusOptions, config: Path) -> None:
    """Polls until a signal comes. Raises CommandError if it cannot begin, or if the bus refuses it for good."""
    from socket import gethostname

    from truerail.agent.allowed_commands import name_token
    from truerail.cli.live import open_transport
    from truerail.cli.serve import read_settings
    from truerail.model import DEFAULT_ZONE
    from truerail.model.names import is_plain_name
    from truerail.poller.bus_poller import BusPoller
    from truerail.service.logs import logger, set_up

    settings = read_settings(config)
    set_up(settings.log)
    zone, name = options.zone or DEFAULT_ZONE, options.name or name_token(gethostname())
    if not is_plain_name(name):
        raise CommandError(f"--name {name}: expected letters, digits, _ and -, at most 64")

    async def polling() -> None:
        transport = open_transport()
        poller = BusPoller(_work(settings), transport, options.address, _subjects(settings), zone, name)
        stop = asyncio.Event()
        with _signals(stop, poller, config):
            try:
                await poller.run(stop, lambda: logger().info("polling", zone=zone, poller=name, bus=options.bus))
            finally:
                await transport.close()

    _run(polling())


def _signals(stop: asyncio.Event, poller: "BusPoller", config: Path) -> AbstractContextManager[None]:
    import signal

    from truerail.cli.serve import read_settings
    from truerail.roles.post import signals
    from truerail.service.logs import logger

    def reload() -> None:
        try:
            poller.use(_work(read_settings(config)))
            logger().info("reloaded")
        except (CommandError, BusError) as error:
            logger().error("not reloaded, the running configuration is kept", error=str(error))

    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stop.set)
    return signals(stop, reload)


def _work(settings: "Settings") -> "Work":
    """The devices of the inventory. A poller needs no plan."""
    from truerail.cli.live import load_fleet
    from truerail.service.polled_work import work_of

    return work_of(settings, load_fleet(settings.inventory, None).targets, None)


def _subjects(settings: "Settings") -> "Subjects":
    from truerail.link.subjects import Subjects

    return Subjects(settings.fabric)


def _run(body: Coroutine[Any, Any, None]) -> None:
    from truerail.poller.event_loop import run

    with refusing(BusError):
        run(body)
