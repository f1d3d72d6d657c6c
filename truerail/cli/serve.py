"""`truerail serve`: always watching. Runs rounds on a schedule, remembers, serves the page, the API and metrics."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truerail.cli.errors import CannotJudge

if TYPE_CHECKING:
    from truerail.inventory import Inventory
    from truerail.model import Plan
    from truerail.service.settings import Settings
    from truerail.service.watch import Watch


def serve(
    config: Annotated[Path, typer.Option("--config", "-c", metavar="FILE", help="The service's settings.")] = Path(
        "truerail.yaml"
    ),
    check: Annotated[bool, typer.Option("--check", help="Read the settings, plan and inventory, then end.")] = False,
) -> None:
    """Watch a fabric: rounds on a schedule, a journal, the page, the API and metrics. SIGHUP reloads."""
    from truerail.cli import serving, terminal
    from truerail.service.logs import set_up

    settings, inventory, plan = _read(config)
    if check:
        known = f"a plan of {len(plan.cables):,} cables" if plan else "no plan: the rails will be inferred"
        terminal.say(f"{config}: good. {len(inventory.targets):,} devices, {known}.")
        return
    set_up(settings.log)
    serving.run(_serve(config, settings, inventory, plan))


async def _serve(config: Path, settings: "Settings", inventory: "Inventory", plan: "Plan | None") -> None:
    import asyncio

    from truerail.cli.live import open_transport
    from truerail.cli.serving import serve_fabric
    from truerail.service.logs import logger
    from truerail.service.plans import PlanInForce

    def listening(url: str) -> None:
        logger().info("listening", url=url)

    def reload(watch: "Watch") -> None:
        try:
            settings, inventory, plan = _read(config)
            watch.use(settings, inventory.targets, plan)
        except CannotJudge as error:
            logger().error("not reloaded, everything stays as it was", error=str(error))

    source = PlanInForce(lambda: _plan(_settings(config), _inventory(_settings(config))), plan)
    await serve_fabric(
        settings, inventory.targets, source, open_transport(), ready=listening, stop=asyncio.Event(), reload=reload
    )


def _read(config: Path) -> "tuple[Settings, Inventory, Plan | None]":
    """Everything that the files say. Raises CannotJudge with a line for each problem."""
    settings = _settings(config)
    inventory = _inventory(settings)
    return settings, inventory, _plan(settings, inventory)


def _settings(config: Path) -> "Settings":
    from truerail.service.loading import SettingsError, load_settings

    try:
        return load_settings(config)
    except SettingsError as error:
        raise CannotJudge(str(error)) from error


def _inventory(settings: "Settings") -> "Inventory":
    from truerail.inventory import InventoryError, load_inventory

    try:
        found = load_inventory(settings.inventory)
    except InventoryError as error:
        raise CannotJudge(str(error)) from error
    if not found.targets:
        raise CannotJudge(f"{settings.inventory}: holds no device, there is nothing to watch")
    return found


def _plan(settings: "Settings", inventory: "Inventory") -> "Plan | None":
    from truerail.plans import load

    return load(settings.plan) if settings.plan else inventory.plan
