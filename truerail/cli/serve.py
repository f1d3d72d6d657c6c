"""`truerail serve`: the service. Runs rounds on a schedule, keeps a history, serves the page, the API and metrics."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truerail.errors import CommandError

if TYPE_CHECKING:
    from truerail.cli.live import Fleet
    from truerail.model import Plan
    from truerail.service.round_loop import Watch
    from truerail.service.settings import Settings


def serve(
    config: Annotated[
        Path, typer.Option("--config", "-c", metavar="FILE", help="Settings file of the service.")
    ] = Path("truerail.yaml"),
    check: Annotated[
        bool, typer.Option("--check", help="Check settings, plan, inventory and certificate, then exit.")
    ] = False,
) -> None:
    """Monitor a fabric: rounds on a schedule, a journal, the page, the API and metrics. SIGHUP reloads."""
    from truerail.analysis.coverage import unlisted
    from truerail.cli import serving, terminal_output
    from truerail.outputs.report_words import count
    from truerail.service.logs import set_up

    settings, fleet = _read(config)
    if check:
        known = f"a plan of {len(fleet.plan.cables):,} cables" if fleet.plan else "no plan: the rails are inferred"
        _extras(settings)
        if said := _certificate(settings):
            terminal_output.remark(said)
        if fleet.plan and (missing := unlisted(fleet.plan, [target.name for target in fleet.targets])).devices:
            terminal_output.remark(f"{missing.summary}.")
        terminal_output.say(f"{config}: OK. {count(len(fleet.targets), 'device')}, {known}.")
        return
    set_up(settings.log)
    serving.run(_serve(config, settings, fleet))


def _extras(settings: "Settings") -> None:
    """Raises CommandError if packages are missing that the settings need."""
    from truerail.errors import MissingExtraError
    from truerail.service.otlp_session import require_otlp

    try:
        if settings.otlp:
            require_otlp()
    except MissingExtraError as error:
        raise CommandError(str(error)) from error


def _certificate(settings: "Settings") -> str:
    """The warning about the certificate's expiry. Raises CommandError if certificate or key cannot be used."""
    from truerail.errors import CertificateError
    from truerail.web.access.tls import Certificates

    try:
        return Certificates(settings.http.tls).warning if settings.http.tls else ""
    except CertificateError as error:
        raise CommandError(str(error)) from error


async def _serve(config: Path, settings: "Settings", fleet: "Fleet") -> None:
    import asyncio

    from truerail.cli.live import open_transport
    from truerail.cli.serving import serve_fabric
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

    source = PlanInForce(lambda: _plan(config), fleet.plan)
    await serve_fabric(
        settings, fleet.targets, source, open_transport(), ready=listening, stop=asyncio.Event(), reload=reload
    )


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
    from truerail.errors import SettingsError
    from truerail.service.loading import load_settings

    try:
        return load_settings(config)
    except SettingsError as error:
        raise CommandError(str(error)) from error
