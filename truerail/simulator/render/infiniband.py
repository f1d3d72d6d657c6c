"""What an InfiniBand fabric answers: `ibnetdiscover` on one host tells all links, `ibstat` on each its own adapters.

Switches answer nothing: nobody logs into an unmanaged one. Formats as rdma-core 44 and recorded answers have them.
"""

import json
from collections.abc import Iterator

from truerail.model import Port, Role
from truerail.simulator.render.host import matrix
from truerail.simulator.world import World

DISCOVERY = "ibnetdiscover"
_HOST_GUIDS = 0xA088C20300000000
_SWITCH_GUIDS = 0xFC6A1C0300000000
_AGGREGATION = 8
"""What the GUID of a switch's aggregation node is more than that of the switch."""
_IPOIB_PREFIX = bytes.fromhex("00001049fe80000000000000")
"""Flags, queue pair and subnet, before the GUID of the port in the 20 octets of an IPoIB interface's address."""
_AGGREGATION_NAME = "Mellanox Technologies Aggregation Node"
_RATES = {800.0: "4xXDR", 400.0: "4xNDR", 200.0: "4xHDR", 100.0: "4xEDR"}
_CA = """CA '{device}'
	CA type: MT4129
	Number of ports: 1
	Firmware version: 28.39.1002
	Hardware version: 0
	Node GUID: {guid}
	System image GUID: {guid}
	Port 1:
		State: {state}
		Physical state: {physical}
		Rate: {rate:g}
		Base lid: {lid}
		LMC: 0
		SM lid: 1
		Capability mask: 0xa651e848
		Port GUID: {guid}
		Link layer: InfiniBand
"""


def answers(world: World, host: str) -> dict[str, str]:
    """Command to answer. The first host that can be read has discovered the fabric."""
    found = {
        "nvidia-smi topo -m": matrix(world, host),
        "ibstat": "".join(_adapters(world, host)),
        "ip -j -d link": json.dumps(list(_interfaces(world, host))) + "\n",
    }
    discoverer = next(machine for machine in world.fabric.models if machine not in world.absent)
    return found | ({DISCOVERY: discovery(world)} if host == discoverer else {})


def discovery(world: World) -> str:
    """The answer to `ibnetdiscover`. Only a port with light is in it; a machine that hangs still has its adapters'."""
    head = ["#", "# Topology file: generated on Fri Nov 20 14:00:00 2026", "#"]
    return "\n".join([*head, *_switches(world), *_hosts(world), *_aggregation_nodes(world)]) + "\n"


def _adapters(world: World, host: str) -> Iterator[str]:
    for slot, jack in enumerate(_jacks(world, host)):
        up = world.carrier(jack)
        yield _CA.format(
            device=world.nic_name(host, slot).rdma,
            guid=f"0x{_hca(world, jack):016x}",
            state="Active" if up else "Down",
            physical="LinkUp" if up else "Polling",
            rate=world.speed_gbps(jack) if up else 10,
            lid=_lid(world, host) + slot if up else 65535,
        )


def _interfaces(world: World, host: str) -> Iterator[dict[str, object]]:
    """The IPoIB interface above each adapter, which nobody has set up: the RDMA port beneath works without."""
    for slot, jack in enumerate(_jacks(world, host)):
        name, guid = world.nic_name(host, slot), _hca(world, jack).to_bytes(8)
        yield {
            "ifindex": 4 + slot,
            "ifname": name.netdev,
            "flags": ["BROADCAST", "MULTICAST"],
            "mtu": 4092,
            "operstate": "DOWN",
            "link_type": "infiniband",
            "address": (_IPOIB_PREFIX + guid).hex(":"),
            "parentbus": "pci",
            "parentdev": name.pci,
        }


def _switches(world: World) -> Iterator[str]:
    for switch, ports in world.fabric.ports.items():
        guid, name = _switch(world, switch), _description(world, Port(switch, ""))
        size = len(ports) + 1
        yield f"\nvendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x{guid:x}\nswitchguid=0x{guid:x}({guid:x})"
        yield f'Switch\t{size} "S-{guid:016x}"\t\t# "{name}" enhanced port 0 lid {_lid(world, switch)} lmc 0'
        for jack in (Port(switch, port) for port in ports):
            if world.carrier(jack):
                yield f"[{jack.name}]\t{_far(world, jack)}"
        far = f'"H-{guid + _AGGREGATION:016x}"[1]({guid + _AGGREGATION:x})'
        yield f'[{size}]\t{far} \t\t# "{_AGGREGATION_NAME}" lid 49151 4xNDR'


def _hosts(world: World) -> Iterator[str]:
    for host in world.fabric.models:
        for slot, jack in enumerate(_jacks(world, host)):
            if world.carrier(jack):
                guid, far = _hca(world, jack), world.far[jack]
                yield f"\nvendid=0x2c9\ndevid=0x1021\nsysimgguid=0x{guid:x}\ncaguid=0x{guid:x}"
                yield f'Ca\t1 "H-{guid:016x}"\t\t# "{_description(world, jack)}"'
                where = f'"S-{_switch(world, far.device):016x}"[{far.name}]'
                lids = (
                    f'lid {_lid(world, host) + slot} lmc 0 "{_description(world, far)}" lid {_lid(world, far.device)}'
                )
                yield f"[1]({guid:x}) \t{where}\t\t# {lids} {_rate(world, jack)}"


def _aggregation_nodes(world: World) -> Iterator[str]:
    """An adapter inside each switch that reduces what passes (SHARP), behind a port of its own."""
    for switch, ports in world.fabric.ports.items():
        guid, name = _switch(world, switch), _description(world, Port(switch, ""))
        own = guid + _AGGREGATION
        yield f"\nvendid=0x2c9\ndevid=0xcf09\nsysimgguid=0x{guid:x}\ncaguid=0x{own:x}"
        yield f'Ca\t1 "H-{own:016x}"\t\t# "{_AGGREGATION_NAME}"'
        far = f'"S-{guid:016x}"[{len(ports) + 1}]'
        yield f'[1]({own:x}) \t{far}\t\t# lid 49151 lmc 0 "{name}" lid {_lid(world, switch)} 4xNDR'


def _far(world: World, jack: Port) -> str:
    """The other end of a switch port's link, as the switch's own part of the answer has it."""
    far = world.far[jack]
    if world.is_host(far.device):
        node = f'"H-{_hca(world, far):016x}"[1]({_hca(world, far):x}) '
    else:
        node = f'"S-{_switch(world, far.device):016x}"[{far.name}]'
    return f'{node}\t\t# "{_description(world, far)}" lid {_lid(world, far.device)} {_rate(world, jack)}'


def _jacks(world: World, host: str) -> Iterator[Port]:
    field = world.fabric.shape.host_ports
    return (Port(host, getattr(name, field)) for name in world.fabric.models[host].names)


def _description(world: World, jack: Port) -> str:
    """What a node calls itself: a leaf as a managed switch does, a spine by its bare name."""
    name = world.announced_name(jack.device)
    if world.is_host(jack.device):
        return f"{name} {world.nic_name(jack.device, world.slot(jack)).rdma}"
    is_leaf = world.fabric.plan.devices[jack.device].role is Role.LEAF
    return f"MF0;{name}:MQM9700/U1" if is_leaf else name


def _hca(world: World, jack: Port) -> int:
    return _HOST_GUIDS + (world.fabric.order[jack.device] << 8) + world.slot(jack)


def _switch(world: World, switch: str) -> int:
    return _SWITCH_GUIDS + (world.fabric.order[switch] << 8)


def _lid(world: World, machine: str) -> int:
    return 1 + world.fabric.order[machine] * 16


def _rate(world: World, jack: Port) -> str:
    return _RATES[world.speed_gbps(jack)]
