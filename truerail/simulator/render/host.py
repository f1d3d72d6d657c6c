"""What a host answers."""

from collections.abc import Callable, Iterable, Iterator

from truerail.model import Port
from truerail.simulator.render import ip_link, lldpd, sysfs
from truerail.simulator.render.beacon import Ether, Heard, out_of_band, storage
from truerail.simulator.render.links import Link
from truerail.simulator.render.rdma import rdma_link
from truerail.simulator.render.topo import topo
from truerail.simulator.world import World

_MANAGEMENT = "eno1"
_FIRST_INDEX = 4
_MTU = 9000
_STORAGE_GBPS = 200.0
LLDP: dict[str, Callable[[Iterable[Heard]], str]] = {
    "lldpctl -f json0": lldpd.json0,
    "lldpctl -f json": lldpd.json,
    "lldpctl -f keyvalue": lldpd.keyvalue,
}


def answers(ether: Ether, host: str) -> dict[str, str]:
    """Command to answer. A host uses one of lldpd's formats; with `World.mixed`, hosts differ in which."""
    world = ether.world
    command = "lldpctl -f json0" if not world.mixed else list(LLDP)[world.fabric.order[host] % len(LLDP)]
    found_interfaces = list(interfaces(ether, host))
    found = {
        "nvidia-smi topo -m": matrix(world, host),
        "rdma link": rdma_link(rdma_ports(world, host)),
        command: LLDP[command](neighbors(ether, host)),
        "ip -j -d link": ip_link.link(found_interfaces, details=True),
        sysfs.SPEEDS: speeds(world, host),
    }
    if world.fabric.shape.subnets:
        found["ip -j addr"] = ip_link.addr(found_interfaces)
    return found


def _jacks(world: World, host: str) -> list[tuple[int, int, Port]]:
    """Slot that a port is named for, slot that it sits in, and its jack; in the order of names."""
    model, field = world.fabric.models[host], world.fabric.shape.host_ports
    found = [
        (world.named_slot(host, slot), slot, Port(host, getattr(name, field))) for slot, name in enumerate(model.names)
    ]
    return sorted(found)


def matrix(world: World, host: str) -> str:
    """The answer to `nvidia-smi topo -m`."""
    model = world.fabric.models[host]
    return topo(
        model,
        world.nic_order.get(host, tuple(range(model.rails))),
        world.gpu_order.get(host, tuple(range(model.gpus))),
    )


def neighbors(ether: Ether, host: str) -> Iterator[Heard]:
    """Everybody whom the host hears, in the order of its interfaces, storage last."""
    world, model = ether.world, ether.world.fabric.models[host]
    if world.management:
        yield out_of_band(ether, host, _MANAGEMENT)
    for named, slot, jack in _jacks(world, host):
        yield from ether.heard(jack, model.names[named].netdev, slot + 1)
    if host not in world.deaf:
        for index, name in enumerate(model.storage_names):
            yield storage(ether, host, name.netdev, index)


def rdma_ports(world: World, host: str) -> list[tuple[str, bool, str]]:
    """RDMA device, whether its link is up, and its netdev; in the order of devices."""
    model = world.fabric.models[host]
    found = [
        (model.names[named].rdma, world.carrier(jack), model.names[named].netdev)
        for named, _, jack in _jacks(world, host)
    ]
    found += [(name.rdma, True, name.netdev) for name in model.storage_names]
    return sorted(found, key=lambda item: int(item[0].rpartition("_")[2]))


def speeds(world: World, host: str) -> str:
    """The speed of every RDMA device and interface: rails, storage, management."""
    model = world.fabric.models[host]
    found = [
        (model.names[named], world.carrier(jack), world.speed_gbps(jack)) for named, _, jack in _jacks(world, host)
    ]
    found += [(name, True, _STORAGE_GBPS) for name in model.storage_names]
    rdma = [Link(name.rdma, up, gbps) for name, up, gbps in found]
    netdevs = [Link(name.netdev, up, gbps) for name, up, gbps in found]
    return sysfs.speeds(rdma, [Link(_MANAGEMENT, up=True, gbps=1.0), *netdevs])


def interfaces(ether: Ether, host: str) -> Iterator[ip_link.Interface]:
    """Every interface of the host: management, rails, storage."""
    world, model = ether.world, ether.world.fabric.models[host]
    index = _FIRST_INDEX
    management = world.address(host)
    yield ip_link.Interface(
        2, _MANAGEMENT, world.host_mac(host, -1), True, 1500, "0000:03:00.0", address=f"{management}/16"
    )
    for index, (named, slot, jack) in enumerate(_jacks(world, host), _FIRST_INDEX):
        name = model.names[named]
        address = _rail_address(world, host, named) if world.fabric.shape.subnets else ""
        yield ip_link.Interface(
            index,
            name.netdev,
            world.host_mac(host, slot),
            world.carrier(jack),
            _MTU,
            name.pci,
            ether.label(jack),
            address,
        )
    for number, name in enumerate(model.storage_names):
        yield ip_link.Interface(
            index + 1 + number, name.netdev, world.host_mac(host, 50 + number), True, _MTU, name.pci
        )


def _rail_address(world: World, host: str, named: int) -> str:
    """The address of the NIC that bears these names: configured by name, in the subnet of that name's rail."""
    rail, plane = divmod(named, world.fabric.shape.planes)
    number = world.fabric.order[host] * world.fabric.shape.planes + plane + 1
    return f"10.{rail}.{number >> 8 & 255}.{number & 255}/16"
