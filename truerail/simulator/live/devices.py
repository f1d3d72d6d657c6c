"""A simulated device's current answers to commands: the tools of its platform, and their output."""

from truerail.simulator.live.hearing import LiveEther
from truerail.simulator.live.living_traffic import LivingTraffic
from truerail.simulator.live.living_world import LivingWorld
from truerail.simulator.platforms import Platform, snmp
from truerail.transport.snmp_walks import subtrees


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
            return _walk(ether, machine, oids, self._traffic.counted(machine))
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


def _walk(ether: LiveEther, switch: str, oids: tuple[str, ...], counted: snmp.Counted) -> str:
    """The rows of these subtrees; a cut walk keeps the order of the agent."""
    wanted = tuple(f".{oid}." for oid in oids)
    whole = snmp.walk(ether, switch, ether.neighbors(switch), counted)
    return "".join(line for line in whole.splitlines(keepends=True) if line.startswith(wanted))
