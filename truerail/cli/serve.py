"""`truerail serve`: the service. Runs rounds on a schedule, keeps a history, serves the page, the API and metrics."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truerail.cli import terminal_output
from truerail.cli.bus_commands import Cert, Key, bus_address, subjects_of
from truerail.cli.exit_codes import refusing, with_options_of
from truerail.errors import BusError, CertificateError, CommandError, SettingsError
from truerail.extras import require

if TYPE_CHECKING:
    from truerail.cli.live import Fleet
    from truerail.link.nats_link import BusAddress
    from truerail.model import Plan
    from truerail.poller.bus_poller import BusPoller
    from truerail.poller.fleet import Work
    from truerail.poller.polling import PollingMaker
    from truerail.service.leadership import Leadership
    from truerail.service.round_loop import Watch
    from truerail.service.settings import Settings

Config = Annotated[Path, typer.Option("--config", "-c", metavar="FILE", help="Settings file of the service.")]
ROLES = ("poller", "judge", "front")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """The options of `serve`."""

    config: Config = Path("truerail.yaml")
    check: Annotated[
        bool, typer.Option("--check", help="Check settings, plan, inventory and certificate, then exit.")
    ] = False
    pollers: Annotated[
        str,
        typer.Option(
            "--pollers", metavar="N", help="Processes that poll; auto: none below 2,000 devices, else one a core."
        ),
    ] = "auto"
    role: Annotated[
        str,
        typer.Option(
            "--role", metavar="ROLE", help="poller, judge or front, each on a machine of its own; else all in one."
        ),
    ] = ""
    bus: Annotated[
        str, typer.Option("--bus", metavar="URL", help="The bus of these roles: tls://HOST:PORT, a NATS server.")
    ] = ""
    creds: Annotated[
        Path | None, typer.Option("--creds", metavar="FILE", help="Login at the bus: nkey seed or NATS credentials.")
    ] = None
    ca: Annotated[
        Path | None, typer.Option("--ca", metavar="FILE", help="Certification authority of the bus, a PEM file.")
    ] = None
    cert: Cert = None
    key: Key = None
    zone: Annotated[
        str, typer.Option("--zone", metavar="ZONE", help="The zone of a poller, as in the inventory; default: default.")
    ] = ""
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="The name of a poller in its zone; default: the host's.")
    ] = ""

    def check_role(self) -> None:
        """Raises CommandError if the options of roles do not fit together, or a package is missing."""
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
        return bus_address(self.bus, self.creds, self.ca, self.cert, self.key)


@with_options_of(ServeOptions)
def serve(options: ServeOptions) -> None:
    """Monitor a fabric: rounds on a schedule, a journal, the page, the API and metrics. SIGHUP reloads."""
    from truerail.analysis.coverage import unlisted
    from truerail.outputs.report_words import count
    from truerail.service.logs import set_up

    options.check_role()
    if options.role == "poller" and not options.check:
        _serve_poller(options)
        return
    if options.role == "front":
        _serve_front(options)
        return
    settings, fleet = _read(options.config)
    if options.check:
        known = f"a plan of {len(fleet.plan.cables):,} cables" if fleet.plan else "no plan: the rails are inferred"
        if settings.otlp:
            require("otlp", "otlp")
        if said := certificate_warning(settings):
            terminal_output.remark(said)
        if fleet.plan and (missing := unlisted(fleet.plan, [target.name for target in fleet.targets])).devices:
            terminal_output.remark(f"{missing.summary}.")
        terminal_output.say(f"{options.config}: OK. {count(len(fleet.targets), 'device')}, {known}.")
        return
    set_up(settings.log)
    polling = _polling(options, settings, len(fleet.targets))
    _serve(options.config, settings, fleet, polling, _judge_leadership(options, settings))


def _polling(options: ServeOptions, settings: "Settings", devices: int) -> "PollingMaker | None":
    """What polls, where the service does not do so itself. Raises CommandError."""
    from truerail.poller.processes import PollerProcesses

    if options.role:
        if settings.probe:
            raise CommandError("probe: only a service without --role logs in to hosts, so that it can probe them")
        if options.pollers != "auto":
            raise CommandError("--pollers is for a service without --role: pollers of a bus are started on their own")
        return _judge_polling(options, settings)
    count = _pollers(options.pollers, devices)
    return partial(PollerProcesses, count=count) if count else None


def _pollers(wanted: str, devices: int) -> int:
    """The number of polling processes. Raises CommandError."""
    from truerail.poller.processes import MOST_POLLERS, auto_pollers

    if wanted == "auto":
        return auto_pollers(devices)
    if not wanted.isdecimal() or int(wanted) > MOST_POLLERS:
        raise CommandError(f"--pollers {wanted}: neither auto nor a number from 0 to {MOST_POLLERS}")
    return int(wanted)


def certificate_warning(settings: "Settings") -> str:
    """The warning about the certificate's expiry. Raises CommandError if certificate or key cannot be used."""
    from truerail.web.access.tls import Certificates

    with refusing(CertificateError):
        return Certificates(settings.http.tls).warning if settings.http.tls else ""


def _serve(
    config: Path,
    settings: "Settings",
    fleet: "Fleet",
    polling: "PollingMaker | None",
    leading: "Callable[[], Leadership] | None",
) -> None:
    from truerail.cli.live import open_transport
    from truerail.roles.judge import judge
    from truerail.roles.post import Post
    from truerail.roles.service import serve
    from truerail.service.logs import logger
    from truerail.service.plans import PlanInForce

    def listening(url: str) -> None:
        logger().info("listening", url=url)

    def reload(watch: "Watch") -> None:
        try:
            settings, fleet = _read(config)
            watch.use(settings, fleet.targets, fleet.plan)
        except CommandError as error:
            logger().error("not reloaded, the running configuration is kept", error=str(error))

    async def judging(post: Post) -> None:
        plan, stop = PlanInForce(lambda: _plan(config), fleet.plan), asyncio.Event()
        start = partial(judge, settings, fleet.targets, plan, open_transport(), post, ready=listening, stop=stop)
        await start(reload=reload, polling=polling, leading=leading)

    serve(settings, judging, lambda: read_settings(config))


def _read(config: Path) -> "tuple[Settings, Fleet]":
    """The content of all files. Raises CommandError with a line for each problem."""
    from truerail.cli.live import load_fleet

    settings = read_settings(config)
    return settings, load_fleet(settings.inventory, settings.plan)


def _plan(config: Path) -> "Plan | None":
    """Reads the plan again, for the API, which reports each problem: raises PlanError."""
    from truerail.cli.live import load_fleet
    from truerail.plans import load

    settings = read_settings(config)
    return load(settings.plan) if settings.plan else load_fleet(settings.inventory, None).plan


def read_settings(config: Path) -> "Settings":
    """The settings alone. Raises CommandError with a line for each problem."""
    from truerail.service.loading import load_settings

    with refusing(SettingsError):
        return load_settings(config)


# ----------------------------------------------------------------------------------------------------------------------
# `truerail serve --role`: pollers and a judge on machines of their own, and the bus between them.


def _judge_polling(options: ServeOptions, settings: "Settings") -> "PollingMaker":
    """The polling of a judge. Raises CommandError if the bus cannot be reached, or refuses the login."""
    from truerail.link.nats_link import Bus
    from truerail.poller.bus_polling import BusPolling

    address, subjects = options.address, subjects_of(settings.fabric)

    async def probe() -> None:
        bus = Bus(address, "truerail judge", subjects.inbox())
        await bus.open()
        await bus.close()

    _run(probe())
    return partial(BusPolling, address=address, subjects=subjects)


def _judge_leadership(options: ServeOptions, settings: "Settings") -> "Callable[[], Leadership] | None":
    """Makes the part of this judge in who leads; None for a service without a bus."""
    if not options.role:
        return None
    from os import getpid
    from socket import gethostname
    from uuid import uuid4

    from truerail.service.leadership import Leadership

    name = f"{gethostname()}:{getpid()}:{uuid4().hex}"  # of this service: each judge that it starts follows the last
    return lambda: Leadership(options.address, subjects_of(settings.fabric), name)


def _serve_front(options: ServeOptions) -> None:
    """Serves until a signal comes; `--check` only reads the settings. A front needs no inventory and no journal.
    Raises CommandError if it cannot begin: settings, port, or the bus.
    """
    from truerail.link.inspection import front_login
    from truerail.roles.front_bus import JudgePlace
    from truerail.roles.service import serve
    from truerail.service.logs import logger, set_up

    settings = read_settings(options.config)
    if options.check:
        if warning := certificate_warning(settings):
            terminal_output.remark(warning)
        terminal_output.say(f"{options.config}: OK for a front of the fabric {settings.fabric}.")
        return
    set_up(settings.log)
    address, subjects = options.address, subjects_of(settings.fabric)
    _run(front_login(address, subjects))
    place = JudgePlace(address, subjects, lambda url: logger().info("listening", url=url, bus=options.bus))
    serve(settings, place, lambda: read_settings(options.config))


def _serve_poller(options: ServeOptions) -> None:
    """Polls until a signal comes. Raises CommandError if it cannot begin, or if the bus refuses it for good."""
    from socket import gethostname

    from truerail.agent.allowed_commands import name_token
    from truerail.cli.live import open_transport
    from truerail.model import DEFAULT_ZONE
    from truerail.model.names import is_plain_name
    from truerail.poller.bus_poller import BusPoller
    from truerail.service.logs import logger, set_up

    settings = read_settings(options.config)
    set_up(settings.log)
    zone, name = options.zone or DEFAULT_ZONE, options.name or name_token(gethostname())
    if not is_plain_name(name):
        raise CommandError(f"--name {name}: expected letters, digits, _ and -, at most 64")

    async def polling() -> None:
        transport = open_transport()
        poller = BusPoller(_work(settings), transport, options.address, subjects_of(settings.fabric), zone, name)
        stop = asyncio.Event()
        with _signals(stop, poller, options.config):
            try:
                await poller.run(stop, lambda: logger().info("polling", zone=zone, poller=name, bus=options.bus))
            finally:
                await transport.close()

    _run(polling())


def _signals(stop: asyncio.Event, poller: "BusPoller", config: Path) -> AbstractContextManager[None]:
    import signal

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


def _run(body: Coroutine[Any, Any, None]) -> None:
    from truerail.poller.event_loop import run

    with refusing(BusError):
        run(body)
