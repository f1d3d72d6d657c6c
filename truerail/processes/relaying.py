"""The process beside a front on another machine than the judge: runs the relay until a signal."""

import asyncio
from collections.abc import Callable

from truerail.bus.nats_link import BusAddress
from truerail.bus.subjects import Subjects
from truerail.errors import BusError, CommandError
from truerail.model.tasks import end
from truerail.processes.child_signals import signals
from truerail.processes.front_relay import FrontRelay
from truerail.processes.post import Post


async def relaying(address: BusAddress, subjects: Subjects, post: Post, ready: Callable[[str], None]) -> None:
    """Follows the judge that leads until a signal comes. `ready` is called with the front's address, once it responds.
    Raises CommandError if the bus refuses the login for good.
    """
    stop = asyncio.Event()
    relay = FrontRelay(address, subjects, post.view)
    post.started()
    with signals(stop, lambda: None):  # at SIGHUP the front reads its settings again
        running = asyncio.create_task(relay.run(post.link, lambda: ready(post.url)))
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait((running, stopping), return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                await running
        except BusError as error:
            raise CommandError(str(error)) from error
        finally:
            await end([running, stopping])
