"""Connections to many SSH servers, held between rounds. A bounded number is made at once; a dead one is made again."""

import asyncio
import socket
from contextvars import Context
from dataclasses import dataclass

import asyncssh

from truerail.errors import ConnectError, TransportError
from truerail.transport.hops import Hop, hop_before
from truerail.transport.ssh_login import login, system_words
from truerail.transport.turns import Turns, clock_stopped

# ----------------------------------------------------------------------------------------------------------------------
# The TCP connection before a login. It costs only waiting, so a dead host waits here and takes no login's place.

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


# ----------------------------------------------------------------------------------------------------------------------
# Connections to many SSH servers, held between rounds. A bounded number is made at once; a dead one is made again.

_CLOSING_SECONDS = 2.0
_Opening = asyncio.Task[asyncssh.SSHClientConnection]


@dataclass(frozen=True, slots=True)
class _Held:
    """A connection, or the login that leads to it."""

    task: _Opening
    has_turn: asyncio.Event
    """Set once the login has its turn, or has failed before."""


class Connections:
    """One connection for each hop, jump hosts among them: a thousand devices behind one share its connection."""

    def __init__(self, handshakes: int) -> None:
        self._handshakes = Turns(handshakes)
        self._reaching = asyncio.Semaphore(AT_ONCE)
        self._held: dict[Hop, _Held] = {}

    async def to(self, hop: Hop) -> asyncssh.SSHClientConnection:
        """The open connection to a hop. Raises `TransportError`; all that wait for one login share what becomes of it.

        A caller that is cancelled leaves the login to the others; `close` ends it where there are none. The device's
        clock starts with its login.
        """
        held = self._held.get(hop)
        if held is None or _dead(held.task):
            held = self._held[hop] = self._begin(hop)
        if not held.task.done():
            with clock_stopped():
                await held.has_turn.wait()
        return held.task.result() if held.task.done() else await asyncio.shield(held.task)

    def drop(self, hop: Hop) -> None:
        """Gives up a connection that no longer answers."""
        held = self._held.pop(hop, None)
        if held is not None:
            _abort(held.task)

    async def close(self) -> None:
        """Ends all connections and all logins that are under way."""
        tasks = [held.task for held in self._held.values()]
        self._held.clear()
        for task in tasks:
            _abort(task)
        if tasks:
            await asyncio.wait(tasks, timeout=_CLOSING_SECONDS)
        closing = [asyncio.create_task(task.result().wait_closed()) for task in tasks if _made(task)]
        if closing:
            _, late = await asyncio.wait(closing, timeout=_CLOSING_SECONDS)
            for waiting in late:
                waiting.cancel()

    def _begin(self, hop: Hop) -> _Held:
        """Starts a login, in a context of its own: it outlives the device's clock that is there now."""
        has_turn = asyncio.Event()
        task = asyncio.create_task(self._open(hop, has_turn), context=Context())
        task.add_done_callback(_heard)
        task.add_done_callback(lambda _: has_turn.set())
        return _Held(task, has_turn)

    async def _open(self, hop: Hop, has_turn: asyncio.Event) -> asyncssh.SSHClientConnection:
        before = hop_before(hop)
        if before:
            via = await self._to_jump_host(before)
            async with self._handshakes.turn():
                has_turn.set()
                return await login(hop, via)
        async with self._reaching:
            reached = await reach(hop)
        try:
            async with self._handshakes.turn():
                has_turn.set()
                return await login(hop, reached)
        except BaseException:
            reached.close()
            raise

    async def _to_jump_host(self, hop: Hop) -> asyncssh.SSHClientConnection:
        try:
            return await self.to(hop)
        except TransportError as error:
            kind = ConnectError if isinstance(error, ConnectError) else TransportError
            raise kind(f"jump host {error}") from None


def _made(held: _Opening) -> bool:
    return held.done() and not held.cancelled() and held.exception() is None


def _dead(held: _Opening) -> bool:
    return held.done() and (not _made(held) or held.result().is_closed())


def _heard(held: _Opening) -> None:
    """Retrieves an exception, so that asyncio does not log it as never retrieved."""
    if not held.cancelled():
        held.exception()


def _abort(held: _Opening) -> None:
    if _made(held):
        held.result().abort()
    else:
        held.cancel()
