"""The TCP connection before a login. It costs only waiting, so a dead host waits here and takes no login's place."""

import asyncio
import socket

from truerail.errors import ConnectError, TransportError
from truerail.transport.hops import Hop
from truerail.transport.ssh_login import system_words

AT_ONCE = 2000
"""Connections under way at once: below the usual limit of open files for a service (4,096 and more)."""


async def reach(hop: Hop) -> socket.socket:
    """A connected socket to a hop's address. Raises `TransportError`, within the hop's time; `ConnectError` where
    another try may help.
    """
    try:
        async with asyncio.timeout(hop.seconds):
            return await _first_that_answers(hop)
    except TimeoutError:
        raise TransportError(f"{hop.where}: no login within {hop.seconds:g} s") from None
    except (ConnectionResetError, ConnectionAbortedError):
        raise ConnectError(f"{hop.where}: connection reset during the login") from None
    except OSError as error:
        raise ConnectError(f"{hop.where}: {system_words(error)}") from None


async def _first_that_answers(hop: Hop) -> socket.socket:
    loop = asyncio.get_running_loop()
    refused: OSError | None = None
    for family, kind, protocol, _, address in await loop.getaddrinfo(
        hop.address, hop.access.port, type=socket.SOCK_STREAM
    ):
        made = socket.socket(family, kind, protocol)
        made.setblocking(False)
        try:
            await loop.sock_connect(made, address)
        except OSError as error:
            made.close()
            refused = error
        except BaseException:
            made.close()
            raise
        else:
            return made
    raise refused or ConnectError(f"{hop.where}: no address")
