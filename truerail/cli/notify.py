"""`truerail notify test`: sends a test message to the receivers of the settings."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truerail.cli import terminal_output
from truerail.cli.serve import Config, read_settings
from truerail.errors import CommandError, DeliveryError, MissingExtraError

if TYPE_CHECKING:
    from truerail.service.notify.notification import Notification
    from truerail.service.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Notifications of the service.")


@app.callback()
def _group() -> None:
    """A group, so that `test` is its command and not the group itself."""


@app.command("test", short_help="Send a test message to each receiver.")
def send_test(
    config: Config = Path("truerail.yaml"),
    receiver: Annotated[str, typer.Option(metavar="NAME", help="Send to this receiver alone.")] = "",
) -> None:
    """Send a test message to each receiver of `notify`, and to the log records of `otlp`. Exit code 2 if one fails."""
    from truerail.service.notify.notifier import channels

    settings = read_settings(config)
    names = _chosen(list(channels(settings)), receiver, config)
    message, failed = _message(settings), []
    for name in names:
        if why := _sent(settings, name, message):
            failed.append(f"{name}: not delivered: {why}")
        else:
            terminal_output.say(f"{name}: delivered")
    if failed:
        raise CommandError("\n".join(failed))


def _chosen(known: list[str], name: str, config: Path) -> list[str]:
    from truerail.files.problems import nearest

    if not known:
        raise CommandError(f"{config}: has no receivers: add notify, with a webhook")
    if name and name not in known:
        raise CommandError(f"{config}: no receiver is called {name!r}{nearest(name, known)}")
    return [name] if name else known


def _message(settings: "Settings") -> "Notification":
    import time
    from datetime import UTC, datetime

    from truerail.service.notify.fault_news import message_of_test

    return message_of_test(settings.fabric, datetime.now(UTC), str(time.time_ns() // 1000), settings.page.url)


def _sent(settings: "Settings", name: str, message: "Notification") -> str:
    """Why a receiver did not take a message; empty if it did."""
    from truerail.extras import require
    from truerail.service.notify.notifier import channels
    from truerail.service.notify_settings import OTLP

    try:
        if name == OTLP:
            require("otlp", "otlp")
        channels(settings)[name]().send(message)
    except (DeliveryError, MissingExtraError) as error:
        return str(error)
    return ""
