"""Answers of agents in place of SSH: a host whose agent runs is not asked, one whose agent is silent is."""

import asyncio
from collections.abc import Sequence

from truerail.errors import TransportError
from truerail.model import Target
from truerail.poller.agent_answers import AgentAnswers
from truerail.transport.command_gate import refuse_undeclared
from truerail.transport.fleet_transport import kind_of
from truerail.transport.protocol import Answer, Transport

WHOLE_SECONDS = 5.0
"""How long a host waits for the answers of an agent that runs, before it is asked by SSH."""
_LOOK_SECONDS = 0.05


class AgentTransport:
    """A `Transport` in front of another one."""

    def __init__(self, agents: AgentAnswers, beyond: Transport) -> None:
        self._agents, self._beyond = agents, beyond

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        """One answer for each command, in order. Raises `TransportError`."""
        if kind_of(target) != "hosts":
            return await self._beyond.ask(target, commands)
        if await self._has_answers(target.name):
            refuse_undeclared(target, commands)
            return self._agents.answers(target.name, commands)
        since = self._agents.silent_since(target.name)
        try:
            return await self._beyond.ask(target, commands)
        except TransportError as error:
            if since is None:
                raise
            raise type(error)(f"agent silent since {since:%H:%M} UTC, and by SSH: {error}") from None

    async def close(self) -> None:
        """Ends all connections of the other one."""
        await self._beyond.close()

    async def _has_answers(self, device: str) -> bool:
        """Whether an agent runs that has sent all; one that runs and has not is asked for it."""
        left = WHOLE_SECONDS
        while self._agents.runs(device) and not self._agents.begins(device) and left > 0.0:
            if self._agents.whole(device):
                return True
            self._agents.request(device)
            await asyncio.sleep(_LOOK_SECONDS)
            left -= _LOOK_SECONDS
        return False
