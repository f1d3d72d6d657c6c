"""What a simulated device answers to a command, now: the tools that it has, by its platform, and what each prints."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from truerail.simulator.live.hearing import LiveEther
from truerail.simulator.live.traffic import LivingTraffic
from truerail.simulator.live.world import LivingWorld
from truerail.simulator.render import eos, host, ip_link, junos, lldpd, nvue, nxos, snmp, sonic, switch, sysfs
from truerail.simulator.render.beacon import Heard
from truerail.simulator.render.links import Link, links
from truerail.transport.probe import OS_RELEASE, VERSION
from truerail.transport.snmp_walks import subtrees

Tool = Callable[[LiveEther, str], str]
Tools = Mapping[str, Tool]


@dataclass(frozen=True, slots=True)
class Kit:
    """The tools of one platform. What `steady` ones print changes with the world alone, what `fleeting` ones print
    also with time.
    """

    steady: Tools
    fleeting: Tools


class Devices:
    """All devices of a living world. Steady answers are made once for each change of the world around a device."""

    def __init__(self, living: LivingWorld, traffic: LivingTraffic) -> None:
        self._living, self._traffic = living, traffic
        self._kept: dict[str, tuple[int, dict[str, str]]] = {}

    def answer(self, machine: str, command: str) -> str | None:
        """What the device prints; None where it does not know the command."""
        ether = self._living.turn()
        platform = self.platform(machine)
        if platform == "snmp" and (oids := subtrees(command)):
            return _walk(ether, machine, oids, self._traffic.counted(machine))
        if (counted := self._traffic.answer(machine, platform, command)) is not None:
            return counted
        kit = KITS[platform]
        if tool := kit.fleeting.get(command):
            return tool(ether, machine)
        return self._steady(kit, ether, machine, command)

    def platform(self, machine: str) -> str:
        """What the device runs."""
        world = self._living.world
        return "linux" if world.is_host(machine) else world.platform(machine)

    def _steady(self, kit: Kit, ether: LiveEther, machine: str, command: str) -> str | None:
        tool = kit.steady.get(command)
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


def _walk(ether: LiveEther, switch_name: str, oids: tuple[str, ...], counted: snmp.Counted) -> str:
    """The rows of these subtrees; a cut walk keeps the order of the agent."""
    wanted = tuple(f".{oid}." for oid in oids)
    whole = snmp.walk(ether, switch_name, switch.neighbors(ether, switch_name), counted)
    return "".join(line for line in whole.splitlines(keepends=True) if line.startswith(wanted))


def _heard(render: Callable[[Iterable[Heard]], str]) -> Tool:
    """A tool that prints the neighbours, on a host or on a switch."""

    def tool(ether: LiveEther, machine: str) -> str:
        on_host = ether.world.is_host(machine)
        return render(host.neighbors(ether, machine) if on_host else switch.neighbors(ether, machine))

    return tool


def _interfaces(ether: LiveEther, machine: str) -> Iterable[ip_link.Interface]:
    on_host = ether.world.is_host(machine)
    return host.interfaces(ether, machine) if on_host else switch.interfaces(ether, machine)


def _lldpd(before: str = "") -> Tools:
    """lldpd's own clients in the formats that can be read again; `before` is what they are called through."""
    renders = {"json0": lldpd.json0, "json": lldpd.json, "keyvalue": lldpd.keyvalue}
    spellings = ("lldpctl -f {}", "lldpcli show neighbors details -f {}", "lldpcli -f {} show neighbors details")
    return {
        before + spelling.format(name): _heard(render) for name, render in renders.items() for spelling in spellings
    }


def _ip() -> Tools:
    """iproute2."""
    tools: dict[str, Tool] = {}
    for show in ("", " show"):
        for flags in ("-j -d", "-d -j"):
            tools[f"ip {flags} link{show}"] = lambda ether, name: ip_link.link(_interfaces(ether, name), details=True)
        tools[f"ip -j link{show}"] = lambda ether, name: ip_link.link(_interfaces(ether, name), details=False)
        for word in ("addr", "address", "a"):
            tools[f"ip -j {word}{show}"] = lambda ether, name: ip_link.addr(_interfaces(ether, name))
    return tools


def _says(text: str) -> Tool:
    return lambda ether, name: text


def _rdma(ether: LiveEther, name: str) -> str:
    return host.rdma_answer(ether.world, name)


def _speeds(ether: LiveEther, name: str) -> str:
    return host.speeds(ether.world, name)


def _links(render: Callable[[Iterable[Link]], str]) -> Tool:
    """A tool that prints the state and speed of a switch's ports."""
    return lambda ether, name: render(links(ether, name))


def _matrix(ether: LiveEther, name: str) -> str:
    return host.matrix(ether.world, name)


def _eos(ether: LiveEther, name: str) -> str:
    return eos.lldp_json(ether.world.fabric.ports[name], switch.neighbors(ether, name), ether.now)


_HOST = {
    "nvidia-smi topo -m": _matrix,
    "nvidia-smi topo --matrix": _matrix,
    "rdma link": _rdma,
    "rdma link show": _rdma,
    sysfs.SPEEDS: _speeds,
    OS_RELEASE: _says('NAME="Ubuntu"\nVERSION_ID="22.04"\nID=ubuntu\nID_LIKE=debian\n'),
}
_SONIC = {**_lldpd(), **_lldpd("docker exec lldp "), "show lldp table": _heard(sonic.lldp_table)}
_VERSIONS = {
    "sonic": "\nSONiC Software Version: SONiC.202311.2\nDistribution: Debian 11.9\n",
    "eos": "Arista DCS-7060DX5-64S\nSoftware image version: 4.31.2F\n",
    "nxos": "Cisco Nexus Operating System (NX-OS) Software\n  NXOS: version 10.3(4a)\n",
    "junos": "Model: qfx5220-32cd\nJunos: 22.4R3-S2.11-EVO\n",
}
KITS: Mapping[str, Kit] = {
    "linux": Kit({**_HOST, **_ip()}, _lldpd()),
    "cumulus": Kit(
        {
            **_ip(),
            OS_RELEASE: _says('NAME="Cumulus Linux"\nVERSION_ID=5.9.1\nID=cumulus-linux\n'),
            sysfs.SPEEDS: _links(switch.linux_speeds),
        },
        {**_lldpd(), "nv show interface lldp -o json": _heard(nvue.lldp_json)},
    ),
    "sonic": Kit(
        {
            **_ip(),
            VERSION: _says(_VERSIONS["sonic"]),
            OS_RELEASE: _says("ID=debian\n"),
            "show interfaces status": _links(switch.sonic_status),
        },
        _SONIC,
    ),
    "eos": Kit(
        {VERSION: _says(_VERSIONS["eos"]), "show interfaces status | json": _links(eos.status_json)},
        {"show lldp neighbors detail | json": _eos},
    ),
    "nxos": Kit(
        {
            VERSION: _says(_VERSIONS["nxos"]),
            "show interface status | json": _links(nxos.status_json),
            "show interface status": _links(nxos.status_text),
        },
        {
            "show lldp neighbors detail | json": _heard(nxos.lldp_json),
            "show lldp neighbors detail": _heard(nxos.lldp_text),
        },
    ),
    "junos": Kit(
        {VERSION: _says(_VERSIONS["junos"]), "show interfaces media | display json": _links(junos.media_json)},
        {"show lldp neighbors detail | display json": _heard(junos.lldp_json)},
    ),
    "snmp": Kit({}, {}),
}
"""The tools of each platform. An SNMP agent has none: it is walked."""
