"""The front: page, API, metrics and events, from the view. It evaluates nothing and holds nothing of its own."""

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from truerail.errors import AccessError, CertificateError, CommandError, JournalUnusableError, ListenError
from truerail.journal import open_journal
from truerail.model.history import History, NoHistory
from truerail.model.pause import garbage_of_the_young_only
from truerail.model.tasks import end
from truerail.roles.child_signals import signals
from truerail.roles.front_link import SILENT_SECONDS, FrontLink, Takes
from truerail.roles.front_service import FrontService, StoredExposition
from truerail.roles.front_socket import SocketFrontLink
from truerail.roles.judge import SWITCH_SECONDS
from truerail.roles.post import Post
from truerail.service.logs import logger
from truerail.service.settings import Settings
from truerail.web.application import create_app
from truerail.web.http_server import Listening, serve

if TYPE_CHECKING:
    from truerail.roles.front_bus import JudgePlace


async def front(
    settings: Settings, post: Post, renewed: Callable[[], Settings] | None, place: "JudgePlace | None" = None
) -> None:
    """Serves until a signal comes. `renewed` reads the settings again, whose access applies then; it raises
    CommandError. `place`: the judge is on another machine, and reads the journal. Raises CommandError if it cannot
    start.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    garbage_of_the_young_only()
    remote = place is not None
    history = None if remote else await asyncio.to_thread(_history, settings)
    service, stop = FrontService(post.view, _link(post, place), history), asyncio.Event()
    try:
        app = create_app(service, settings, ask=service.link.ask, exposition=StoredExposition(service), remote=remote)
    except AccessError as error:
        raise CommandError(str(error)) from error

    def listening(found: Listening) -> None:
        app.state.desk.certificates = found.certificates
        post.started()
        if place:
            place.ready(post.url)

    following: list[asyncio.Task[None]] = []
    await service.refresh()
    with signals(stop, (lambda: _renew(app, renewed)) if renewed else None):
        following.append(asyncio.create_task(service.run()))
        following.append(asyncio.create_task(_say_stop(service, stop)))
        with suppress(TimeoutError):  # readers that come back find the events that they missed
            async with asyncio.timeout(SILENT_SECONDS):
                await service.link.heard.wait()
        try:
            await serve(app, settings, stop, listening, post.http)
        except (ListenError, CertificateError) as error:
            raise CommandError(str(error)) from error
        finally:
            stop.set()
            await end(following, failed=True)


def _link(post: Post, place: "JudgePlace | None") -> Callable[[Takes], FrontLink]:
    if place is None:
        return partial(SocketFrontLink, post.link_path)
    from truerail.roles.front_bus import BusFrontLink

    return partial(BusFrontLink, place, post.view)


async def _say_stop(service: FrontService, stop: asyncio.Event) -> None:
    await stop.wait()
    service.events.add("stop", b"{}")


def _history(settings: Settings) -> History:
    try:
        return open_journal(settings.journal) if settings.journal.url else NoHistory()
    except JournalUnusableError as error:
        raise CommandError(str(error)) from error


def _renew(app: Any, renewed: Callable[[], Settings]) -> None:
    """Applies renewed certificates and access."""
    certificates = app.state.desk.certificates
    try:
        if certificates is not None:
            certificates.reload()
            certificates.warn()
    except CertificateError as error:
        logger().error("certificate not reloaded, the old one is kept", error=str(error))
    try:
        app.state.gate.renew(renewed())
    except (AccessError, CommandError) as error:
        logger().error("access not reloaded, the old settings are kept", error=str(error))
