"""Polls the devices of a changing fabric like real ones: with delays, refusals and unreachable devices."""

from collections.abc import Sequence
from random import Random

from truerail.errors import ConnectError, TransportError
from truerail.model import Target
from truerail.model.names import device_key
from truerail.simulator.live.devices import Devices
from truerail.simulator.live.living_traffic import LivingTraffic
from truerail.simulator.live.living_world import LivingWorld
from truerail.transport.command_gate import refuse_undeclared
from truerail.transport.protocol import Answer

HOST_SECONDS = (0.01, 0.06)
SWITCH_SECONDS = (0.03, 0.2)
"""Range of the duration of one query. A switch's CPU is slow."""
NO_ROUTE_SECONDS = 1.0
"""Time until an unreachable address fails."""
_SHELLS = ("linux", "cumulus", "sonic")


class SimulatedTransport:
    """The `Transport` of a changing fabric. A target is found by its planned name."""

    def __init__(self, living: LivingWorld, traffic: LivingTraffic, rng: Random) -> None:
        self._living, self._rng = living, rng
        self._devices = Devices(living, traffic)
        self._machines = {device_key(name): name for name in living.world.fabric.plan.devices}

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        """One answer for each command, in order. Raises like real transports: `ConnectError` for an unpowered or
        missing machine, `TransportError` for one that hangs, after its timeout.
        """
        refuse_undeclared(target, commands)
        sleep = self._living.ambient.sleep
        machine = self._machines.get(device_key(target.name), "")
        world = self._living.world
        if machine in world.hung:
            await sleep(target.timeout_seconds)
            raise TransportError(f"{target.address}: no login within {target.timeout_seconds:g} s")
        if not machine or machine in world.absent:
            await sleep(NO_ROUTE_SECONDS)
            raise ConnectError(f"{target.address}: no route to host")
        took = self._rng.uniform(*(HOST_SECONDS if world.is_host(machine) else SWITCH_SECONDS))
        await sleep(took)
        if machine in world.absent:
            raise ConnectError(f"{target.address}: connection reset")
        return [self._answer(machine, command, took / len(commands)) for command in commands]

    async def close(self) -> None:
        """Nothing is open."""

    def _answer(self, machine: str, command: str, took_seconds: float) -> Answer:
        text = self._devices.answer(machine, command)
        if text is not None:
            return Answer(command, text, took_seconds=took_seconds)
        if self._devices.platform(machine) in _SHELLS:
            why = f"exit status 127: {command.split()[0]}: not found"
        else:
            why = "% Invalid input"
        return Answer(command, "", why, took_seconds, refused=True)
