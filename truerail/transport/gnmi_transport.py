"""Switches by gNMI: Get, and Subscribe of mode ONCE where a switch refuses Get; nothing else is ever called.

One channel for each device, which is held between rounds, over TLS with the device's certificate checked. A device that
does not answer costs its own time limit and gives up its turn (`truerail.transport.turns`). gRPC is imported with the
first device.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from truerail.errors import TransportError
from truerail.extras import needs
from truerail.model import GnmiAccess, Target
from truerail.transport.command_gate import refuse_undeclared
from truerail.transport.framing import LIMITS, Limits
from truerail.transport.gnmi_login import GnmiLogin, gnmi_login
from truerail.transport.protocol import Answer
from truerail.transport.turns import Turns

AT_ONCE = 64
"""Devices at work at once: gRPC parses their answers in this process."""

if TYPE_CHECKING:
    from truerail.transport.gnmi_session import GnmiSession

_Key = tuple[str, GnmiAccess]


class GnmiTransport:
    """Queries switches by gNMI. A command is a request as the client gnmic writes it."""

    def __init__(self, *, at_once: int = AT_ONCE, limits: Limits = LIMITS) -> None:
        self._turns = Turns(at_once)
        self._limits = limits
        self._busy: defaultdict[_Key, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._sessions: dict[_Key, tuple[GnmiLogin, GnmiSession]] = {}

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        """One answer for each command, in order, within `target.timeout_seconds` for each. Raises `TransportError` if
        the device cannot be queried, `UndeclaredCommandError` before anything is sent.
        """
        refuse_undeclared(target, commands)
        access = target.gnmi
        if access is None:
            raise TransportError("the inventory says nothing of gNMI for this device")
        login = gnmi_login(access)
        key = (target.address, access)
        async with self._busy[key], self._turns.turn():
            session = await self._session(key, login)
            try:
                answers = await session.answers(commands, target.timeout_seconds)
            except BaseException:
                await self._end(key)
                raise
            if session.lost:
                await self._end(key)
            return answers

    async def close(self) -> None:
        """Ends all channels."""
        for key in tuple(self._sessions):
            await self._end(key)

    async def _session(self, key: _Key, login: GnmiLogin) -> "GnmiSession":
        """The device's session; a new one where a file or the password has changed since."""
        held = self._sessions.get(key)
        if held is None or held[0] != login:
            await self._end(key)
            needs("gnmi", "gNMI")
            from truerail.transport.gnmi_session import GnmiSession

            held = self._sessions[key] = (login, GnmiSession(*key, login, self._limits))
        return held[1]

    async def _end(self, key: _Key) -> None:
        held = self._sessions.pop(key, None)
        if held:
            await held[1].close()
