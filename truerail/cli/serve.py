"""`truerail serve`: the service. Runs rounds on a schedule, keeps a history, serves the page, the API and metrics."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truerail.cli.exit_codes import refusing
from truerail.cli.serve_bus import BusOptions, judge_leadership, judge_polling, serve_front, serve_poller
from truerail.errors import CertificateError, CommandError, SettingsError

if TYPE_CHECKING:
    from truerail.cli.live import Fleet
    from truerail.model import Plan
    from truerail.poller.polling import PollingMaker
    from truerail.service.leadership import Leadership
    from truerail.service.round_loop import Watch
    from truerail.service.settings import Settings


def serve(
    config: Annotated[
        Path, typer.Option("--config", "-c", metavar="FILE", help="Settings file of the service.")
    ] = Path("truerail.yaml"),
    check: Annotated[
        bool, typer.Option("--check", help="Check settings, plan, inventory and certificate, then exit.")
    ] = False,
    pollers: Annotated[
        str,
        typer.Option(
            "--pollers", metavar="N", help="Processes that poll; auto: none below 2,000 devices, else one a core."
        ),
    ] = "auto",
    role: Annotated[
        str,
        typer.Option(
            "--role", metavar="ROLE", help="poller, judge or front, each on a machine of its own; else all in one."
        ),
    ] = "",
    bus: Annotated[
        str, typer.Option("--bus", metavar="URL", help="The bus of these roles: tls://HOST:PORT, a NATS server.")
    ] = "",
    creds: Annotated[
        Path | None, typer.Option("--creds", metavar="FILE", help="Login at the bus: nkey seed or NATS credentials.")
    ] = None,
    ca: Annotated[
        Path | None, typer.Option("--ca", metavar="FILE", help="Certification authority of the bus, a PEM file.")
    ] = None,
    cert: Annotated[
        Path | None,
        typer.Option("--cert", metavar="FILE", help="Certificate of this role, where the bus asks for one."),
    ] = None,
    key: Annotated[Path | None, typer.Option("--key", metavar="FILE", help="Its key.")] = None,
    zone: Annotated[
        str, typer.Option("--zone", metavar="ZONE", help="The zone of a poller, as in the inventory; default: default.")
    ] = "",
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="The name of a poller in its zone; default: the host's.")
    ] = "",
) -> None:
    """Monitor a fabric: rounds on a schedule, a journal, the page, the API and metrics. SIGHUP reloads."""
    from truerail.analysis.coverage import unlisted
    from truerail.cli import terminal_output
    from truerail.outputs.report_words import count
    from truerail.service.logs import set_up

    options = BusOptions(role, bus, creds, ca, cert, key, zone, name)
    options.check()
    if role == "poller" and not check:
        serve_poller(options, config)
        return
    if role == "front":
        serve_front(options, config, check=check)
        return
    settings, fleet = _read(config)
    if check:
        known = f"a plan of {len(fleet.plan.cables):,} cables" if fleet.plan else "no plan: the rails are inferred"
        _extras(settings)
        if said := certificate_warning(settings):
            terminal_output.remark(said)
        if fleet.plan and (missing := unlisted(fleet.plan, [target.name for target in fleet.targets])).devices:
            terminal_output.remark(f"{missing.summary}.")
        terminal_output.say(f"{config}: OK. {count(len(fleet.targets), 'device')}, {known}.")
        return
    set_up(settings.log)
    polling = _polling(pollers, options, settings, len(fleet.targets))
    _serve(config, settings, fleet, polling, judge_leadership(options, settings))


def _polling(pollers: str, options: BusOptions, settings: "Settings", devices: int) -> "PollingMaker | None":
    """What polls, where the service does not do so itself. Raises CommandError."""
    from truerail.poller.processes import PollerProcesses

    if options.role:
        if settings.probe:
            raise CommandError("probe: only a service without --role logs in to hosts, so that it can probe them")
        if pollers != "auto":
            raise CommandError("--pollers is for a service without --role: pollers of a bus are started on their own")
        return judge_polling(options, settings)
    count = _pollers(pollers, devices)
    return partial(PollerProcesses, count=count) if count else None


def _pollers(wanted: str, devices: int) -> int:
    """The number of polling processes. Raises CommandError."""
    from truerail.poller.processes import MOST_POLLERS, auto_pollers

    if wanted == "auto":
        return auto_pollers(devices)
    if not wanted.isdecimal() or int(wanted) > MOST_POLLERS:
        raise CommandError(f"--pollers {wanted}: neither auto nor a number from 0 to {MOST_POLLERS}")
    return int(wanted)


def _extras(settings: "Settings") -> None:
    """Raises CommandError if packages are missing that the settings need."""
    from truerail.extras import require

    if settings.otlp:
        require("otlp", "otlp")


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
        import asyncio

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
