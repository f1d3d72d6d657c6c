"""A host's answers."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from truerail.model import Port
from truerail.simulator.behaviours import Behaviours, identities
from truerail.simulator.fabric.ether import Ether, out_of_band, storage
from truerail.simulator.fabric.lldp_frames import Heard
from truerail.simulator.fabric.servers import device_number
from truerail.simulator.fabric.world import World, shifted
from truerail.simulator.platforms._platform import Link
from truerail.simulator.platforms.linux import cable_modules, ip_link, lldpctl, sysfs_files
from truerail.simulator.platforms.linux.topo import KINDS as TOPO_KINDS
from truerail.simulator.platforms.linux.topo import topo

# ----------------------------------------------------------------------------------------------------------------------
# `rdma link` (iproute2): one line per port, each with its trailing blank.

UP = "ACTIVE physical_state LINK_UP"
POLLING = "DOWN physical_state POLLING"
DISABLED = "DOWN physical_state DISABLED"


def rdma_link(links: Iterable[tuple[str, bool, str]]) -> str:
    """The answer for RDMA device, whether it is up, and its netdev."""
    return rdma_states((device, UP if up else POLLING, netdev) for device, up, netdev in links)


def rdma_states(links: Iterable[tuple[str, str, str]], *, blank_lines: bool = False) -> str:
    """The answer for RDMA device, its state as printed, and its netdev, empty if it has none."""
    lines = (
        f"link {device}/1 state {state} " + (f"netdev {netdev} " if netdev else "") for device, state, netdev in links
    )
    return ("\n\n" if blank_lines else "\n").join(lines) + "\n"


# ----------------------------------------------------------------------------------------------------------------------
# `mlxlink -c` of each NIC: the bit error rates of its link since its counters were cleared (mstflint
# `mlxlink_commander.cpp`; recorded answers of a BlueField-3).

_NO_ERROR = "15E-255"
_TITLE = "Physical Counters and BER Info"


COMMAND = "mlxlink -c"


def mlxlink(behaviours: Behaviours, device: str, *key: object, up: bool) -> str:
    """The answer for an RDMA device, below its command. Healthy links have 1e-12 to 8e-7 before FEC; just after they
    came up, more for a few seconds, and frames are lost.
    """
    draw = behaviours.draw("ber", *key)
    is_new = behaviours.value("mlxlink_rates") == "new"
    minutes = 0.1 + 0.8 * draw if is_new else 90.0 * 3000**draw
    raw = 10 ** (-5 + draw if is_new else -12 + 5.9 * behaviours.draw("raw_ber", *key))
    values = (
        ("Time Since Last Clear [Min]", f"{minutes:.1f}"),
        ("Effective Physical Errors", "41" if is_new else "0"),
        ("Effective Physical BER", "2E-12" if is_new else _NO_ERROR),
        ("Raw Physical Errors Per Lane", ",".join(str(int(raw * 1e13 * lane)) for lane in (4, 1, 3, 2))),
        ("Link Down Counter", "0"),
        ("Link Error Recovery Counter", "0"),
        ("Raw Physical BER", _written(raw)),
    )
    lines = [
        f"# {COMMAND} -d {device}",
        "",
        _TITLE,
        "-" * len(_TITLE),
        *(f"{label:<35}: {value if up else 'N/A'}" for label, value in values),
        "",
    ]
    return "\n".join(lines) + "\n"


def _written(rate: float) -> str:
    """A coefficient of one digit and an exponent: `3E-8`."""
    digit, _, exponent = f"{rate:.0e}".partition("e-")
    return f"{digit}E-{int(exponent)}"


# ----------------------------------------------------------------------------------------------------------------------
# A host's answers.

_MANAGEMENT = "eno1"
_FIRST_INDEX = 4
_MTU = 9000
_STORAGE_GBPS = 200.0
LLDP: dict[str, Callable[[Iterable[Heard]], str]] = {
    "lldpctl -f json0": lldpctl.json0,
    "lldpctl -f json": lldpctl.json,
    "lldpctl -f keyvalue": lldpctl.keyvalue,
}


def answers(ether: Ether, host: str) -> dict[str, str]:
    """Command to answer. A host uses one of lldpd's formats; with `World.mixed`, hosts differ in which."""
    world = ether.world
    command = "lldpctl -f json0" if not world.mixed else list(LLDP)[world.fabric.order[host] % len(LLDP)]
    found_interfaces = list(interfaces(ether, host))
    found = {
        "nvidia-smi topo -m": matrix(world, host),
        "rdma link": rdma_answer(world, host),
        command: LLDP[command](ether.neighbors(host)),
        "ip -j -d link": ip_link.link(found_interfaces),
        sysfs_files.SPEEDS: speeds(world, host),
    }
    if any(world.behaviours.hits(name, host) for name in ("networkd", "efa")):
        del found[command]  # no lldpd there
    if world.serials or world.behaviours.hits("dac_serial", host):
        ports = ((nic.netdev, nic.jack) for nic in nics(world, host))
        found[cable_modules.ON_HOST] = cable_modules.memory(world, ports)
    mellanox = [nic for nic in nics(world, host) if nic.rdma.startswith("mlx5")]
    if mellanox and "mlxlink_rates" in world.behaviours:
        found[COMMAND] = "".join(mlxlink(world.behaviours, nic.rdma, host, nic.slot, up=nic.up) for nic in mellanox)
    if world.fabric.shape.subnets:
        found["ip -j addr"] = ip_link.addr(found_interfaces)
    return found


@dataclass(frozen=True, slots=True)
class Nic:
    """One port of a compute NIC as known to its host. `bond` is the bond that it is a member of."""

    slot: int
    jack: Port
    netdev: str
    planned: str
    rdma: str
    pci: str
    up: bool
    off: bool
    gbps: float
    bond: str


def nics(world: World, host: str) -> list[Nic]:
    """The ports of the host's compute NICs, in the order of their names."""
    found = []
    for named, slot, jack in _jacks(world, host):
        name = world.fabric.models[host].names[named]
        netdev, rdma = identities.netdev(world, host, name.netdev), identities.rdma(world, host, name.rdma)
        state = (world.carrier(jack), jack in world.switched_off, world.speed_gbps(jack))
        found.append(Nic(slot, jack, netdev, name.netdev, rdma, name.pci, *state, bond_of(world, host, named)))
    return found


def bond_of(world: World, host: str, named: int) -> str:
    """The bond that the NIC port with these names is a member of; empty if there is none."""
    planes, behaviours = world.fabric.shape.planes, world.behaviours
    flags = ("bond", "bond_hides_member", "bond_lldp_smeared")
    return f"bond{named // planes}" if planes > 1 and any(behaviours.hits(name, host) for name in flags) else ""


def _jacks(world: World, host: str) -> list[tuple[int, int, Port]]:
    """The slot of a port's name, its actual slot, and its jack; in the order of names."""
    return sorted((world.named_slot(host, slot), slot, jack) for slot, jack in enumerate(world.jacks(host)))


def matrix(world: World, host: str) -> str:
    """The answer to `nvidia-smi topo -m`."""
    model, behaviours = world.fabric.models[host], world.behaviours
    kinds = [name for name in TOPO_KINDS if behaviours.hits(name, host)]
    if identities.rdma(world, host, "mlx5_2") != "mlx5_2":
        kinds.append("renumbered")
    if bond_of(world, host, 0):
        kinds.append("topo_bond")
    nic_order = world.nic_order.get(host, tuple(range(model.rails)))
    gpu_order = world.gpu_order.get(host, tuple(range(model.gpus)))
    return topo(model, nic_order, gpu_order, tuple(kinds))


def neighbors(ether: Ether, host: str) -> Iterator[Heard]:
    """All neighbours of the host, in the order of its interfaces, storage last."""
    world, model = ether.world, ether.world.fabric.models[host]
    if world.management:
        yield out_of_band(ether, host, _MANAGEMENT)
    for nic in nics(world, host):
        yield from ether.heard(nic.jack, nic.netdev, nic.slot + 1)
    if host not in world.deaf:
        for index, name in enumerate(model.storage_names):
            yield storage(ether, host, name.netdev, index)


def rdma_answer(world: World, host: str) -> str:
    """The answer to `rdma link`."""
    return rdma_states(_rdma_states(world, host), blank_lines=world.behaviours.hits("rdma_text_forms", host))


def _rdma_states(world: World, host: str) -> list[tuple[str, str, str]]:
    """RDMA device, its state as printed, and its netdev; a bond has one device for all its members."""
    behaviours, model = world.behaviours, world.fabric.models[host]
    found: dict[str, tuple[str, str, str]] = {}
    for nic in nics(world, host):
        device, netdev = (f"mlx5_bond_{nic.bond[4:]}", nic.bond) if nic.bond else (nic.rdma, nic.netdev)
        if model.nic == "efa":
            found[device] = device, UP, ""
        elif device not in found or nic.up:  # a bond is ACTIVE while any member has carrier
            found[device] = device, UP if nic.up else _down(world, nic), netdev
    for name in model.storage_names:
        device = identities.rdma(world, host, name.rdma)
        found[device] = device, UP, name.netdev
    if behaviours.hits("vfs", host):
        for number, nic in enumerate(nics(world, host)):
            found[f"mlx5_{100 + number}"] = f"mlx5_{100 + number}", DISABLED, f"{nic.netdev}v0"
    return sorted(found.values(), key=lambda item: ("bond" in item[0], device_number(item[0])))


def _down(world: World, nic: Nic) -> str:
    """The driver's words for a port without carrier: all except ionic print DISABLED for any reason (mlx5/main.c)."""
    is_ionic = world.fabric.shape.nic == "ionic"
    return POLLING if is_ionic and not nic.off else DISABLED


def speeds(world: World, host: str) -> str:
    """The speed of every RDMA device and interface: rails, storage, management."""
    model, found = world.fabric.models[host], nics(world, host)
    devices: dict[str, Link] = {}
    netdevs = [Link(_MANAGEMENT, up=True, gbps=1.0)]
    if model.nic != "efa":
        netdevs += [Link(nic.netdev, nic.up, nic.gbps, off=nic.off) for nic in found]
    for nic in found:
        device = f"mlx5_bond_{nic.bond[4:]}" if nic.bond else nic.rdma
        if device not in devices or nic.up:
            devices[device] = Link(device, nic.up, nic.gbps)
    for bond, members in groupby((nic for nic in found if nic.bond), key=lambda nic: nic.bond):
        rates = [nic.gbps for nic in members if nic.up]
        netdevs.append(Link(bond, bool(rates), sum(rates)))
    for name in model.storage_names:
        device = identities.rdma(world, host, name.rdma)
        devices[device] = Link(device, up=True, gbps=_STORAGE_GBPS)
        netdevs.append(Link(name.netdev, up=True, gbps=_STORAGE_GBPS))
    return sysfs_files.speeds(devices.values(), netdevs, model.nic)


def interfaces(ether: Ether, host: str) -> Iterator[ip_link.Interface]:
    """Every interface of the host: management, rails, storage, and stacked ones."""
    world, model = ether.world, ether.world.fabric.models[host]
    mac, address = world.host_mac(host, -1), f"{world.address(host)}/16"
    yield ip_link.Interface(2, _MANAGEMENT, mac, True, 1500, "0000:03:00.0", address=address)
    found = [] if model.nic == "efa" else nics(world, host)
    rails = [_rail_interface(ether, host, index, nic) for index, nic in enumerate(found, _FIRST_INDEX)]
    yield from rails
    index = _FIRST_INDEX + len(rails)
    for number, name in enumerate(model.storage_names):
        yield ip_link.Interface(index + number, name.netdev, world.host_mac(host, 50 + number), True, _MTU, name.pci)
    yield from _above(world, host, index + len(model.storage_names), found, rails)


def _rail_interface(ether: Ether, host: str, index: int, nic: Nic) -> ip_link.Interface:
    world = ether.world
    own = world.host_mac(host, nic.slot)
    mac = _bond_mac(world, host, nic) if nic.bond else own
    named = [name.netdev for name in world.fabric.models[host].names].index(nic.planned)
    address = _rail_address(world, host, named) if world.fabric.shape.subnets else ""
    names = (nic.planned,) if nic.netdev != nic.planned else ()
    label, bond = ether.label(nic.jack), (nic.bond, own if mac != own else "")
    return ip_link.Interface(index, nic.netdev, mac, nic.up, _MTU, nic.pci, label, address, nic.off, names, *bond)


def _bond_mac(world: World, host: str, nic: Nic) -> str:
    """The MAC of a bond is that of its first member."""
    planes = world.fabric.shape.planes
    return world.host_mac(host, nic.slot // planes * planes)


def _above(
    world: World, host: str, index: int, found: list[Nic], rails: list[ip_link.Interface]
) -> Iterator[ip_link.Interface]:
    """Bonds, VLANs and virtual functions."""
    for bond, members in groupby((nic for nic in found if nic.bond), key=lambda nic: nic.bond):
        of_bond = list(members)
        up = any(nic.up for nic in of_bond)
        yield ip_link.Interface(index, bond, _bond_mac(world, host, of_bond[0]), up, _MTU, bond=True)
        index += 1
    for rail in rails:
        if world.behaviours.hits("operstate_words", host):
            state = "UP" if rail.up else "LOWERLAYERDOWN"
            yield ip_link.Interface(index, f"{rail.name}.100", rail.mac, rail.up, _MTU, over=rail.name, operstate=state)
            index += 1
        if world.behaviours.hits("vfs", host):
            pci = f"{rail.pci[:-1]}{int(rail.pci[-1]) + 2}"
            mac = shifted(rail.mac, 0x400000)
            yield ip_link.Interface(index, f"{rail.name}v0", mac, False, _MTU, pci, off=True)
            index += 1


def _rail_address(world: World, host: str, named: int) -> str:
    """The address of the NIC with these names: configured by name, in the subnet of that name's rail."""
    rail, plane = divmod(named, world.fabric.shape.planes)
    number = world.fabric.order[host] * world.fabric.shape.planes + plane + 1
    return f"10.{rail}.{number >> 8 & 255}.{number & 255}/16"
