"""Polls the devices of a changing fabric like real ones: with delays, refusals and unreachable devices."""

from collections.abc import Sequence
from random import Random

from truerail.errors import ConnectError, TransportError
from truerail.model import Target
from truerail.model.names import device_key
from truerail.simulator.live.living_traffic import LivingTraffic
from truerail.simulator.live.living_world import LiveEther, LivingWorld
from truerail.simulator.platforms import Platform, snmp
from truerail.simulator.traffic.ledger import CounterTable
from truerail.transport.command_gate import refuse_undeclared
from truerail.transport.protocol import Answer
from truerail.transport.snmp_transport import subtrees

# ----------------------------------------------------------------------------------------------------------------------
# A simulated device's current answers to commands: the tools of its platform, and their output.


class Devices:
    """All devices of a changing world. Steady answers are rendered once for each change of the world around
    a device.
    """

    def __init__(self, living: LivingWorld, traffic: LivingTraffic) -> None:
        self._living, self._traffic = living, traffic
        self._kept: dict[str, tuple[int, dict[str, str]]] = {}

    def answer(self, machine: str, command: str) -> str | None:
        """The device's output; None for an unknown command."""
        ether = self._living.turn()
        platform = self.platform(machine)
        if platform == "snmp" and (oids := subtrees(command)):
            return _walk(ether, machine, oids, self._traffic.sheet(machine))
        if (counted := self._traffic.answer(machine, command)) is not None:
            return counted
        system = self._living.world.system(machine)
        if prints := system.ports.get(command):
            return prints(ether, machine, self._traffic.sheet(machine))
        if tool := system.fleeting.get(command):
            return tool(ether, machine)
        return self._steady(system, ether, machine, command)

    def platform(self, machine: str) -> str:
        """The device's platform."""
        world = self._living.world
        return "linux" if world.is_host(machine) else world.platform(machine)

    def _steady(self, system: Platform, ether: LiveEther, machine: str, command: str) -> str | None:
        tool = system.steady.get(command)
        if tool is None:
            return None
        version = self._living.versions[machine]
        known, kept = self._kept.get(machine, (version, {}))
        if known != version:
            kept = {}
        if command not in kept:
            kept[command] = tool(ether, machine)
        self._kept[machine] = (version, kept)
        return kept[command]


def _walk(ether: LiveEther, switch: str, oids: tuple[str, ...], counted: CounterTable) -> str:
    """The rows of these subtrees; a cut walk keeps the order of the agent."""
    wanted = tuple(f".{oid}." for oid in oids)
    whole = snmp.walk(ether, switch, ether.neighbors(switch), counted)
    return "".join(line for line in whole.splitlines(keepends=True) if line.startswith(wanted))


# ----------------------------------------------------------------------------------------------------------------------
# Polls the devices of a changing fabric like real ones: with delays, refusals and unreachable devices.

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
