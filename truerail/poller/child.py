"""The process of one poller that a service has started: `python -m truerail.poller.child FD ZONE NAME EPOCH PARENT`.

It ends with its parent: the kernel ends it, and so does the end of the socket.
"""

import asyncio
import signal
import socket
import sys
from functools import partial

from truerail.link.codec import unpack
from truerail.link.messages import Command
from truerail.link.poller_outbox import Outbox
from truerail.link.socket_link import deliver, read_frame
from truerail.model.own_process import end_with
from truerail.poller.event_loop import run
from truerail.poller.fleet import Work
from truerail.poller.worker import Worker
from truerail.transport.fleet_transport import Routes
from truerail.transport.protocol import Transport


def main(transport: Transport | None = None) -> None:
    """Polls until the socket ends. `transport` is that to real devices, unless a test has another."""
    fd, zone, name, epoch, parent = sys.argv[1:]
    end_with(int(parent))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: the parent ends its children
    outbox = Outbox(zone, name, epoch=int(epoch))
    run(_run(int(fd), outbox, transport))


async def _run(fd: int, outbox: Outbox, transport: Transport | None) -> None:
    opened = transport or Routes()
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=fd))
    worker = Worker(outbox, opened, partial(deliver, writer))
    worker.start()
    while (data := await read_frame(reader)) is not None:
        command = unpack(Command, data)
        if command.action == "work":
            worker.apply(unpack(Work, command.work))
        else:
            worker.command(command)
    await worker.stop()
    await opened.close()


if __name__ == "__main__":
    main()
