"""Faults of whole devices: swapped labels and bundles, changed enumerations, machines that do not answer."""

from collections.abc import Iterable

from truerail.errors import NoRoomError
from truerail.model import Cable, CauseKind, Port
from truerail.simulator.faults.truth import Site, TrueCause


def host_labels_swapped(site: Site) -> TrueCause:
    """Two hosts of one model have each other's names. No cable is wrong."""
    first, second = _draw_twins(site)
    site.world.hostname.update({first: second, second: first})
    return TrueCause(CauseKind.HOST_SWAP, (first, second), _ports_of(site, first, second))


def host_bundles_swapped(site: Site) -> TrueCause:
    """All cables of two hosts of one model are swapped, NIC by NIC."""
    first, second = _draw_twins(site)
    world = site.world
    for mine, other in zip(site.cables_of[first], site.cables_of[second], strict=True):
        left, right = world.far[mine.a], world.far[other.a]
        world.plug(mine.a, right)
        world.plug(other.a, left)
    ports = _ports_of(site, first, second)
    return TrueCause(CauseKind.HOST_SWAP, (first, second), ports, moves=len(ports))


def leaf_labels_swapped(site: Site) -> TrueCause:
    """Two leaves have each other's names. No cable is wrong; spines see the swap too."""
    first, second = _draw_leaves(site)
    site.world.hostname.update({first: second, second: first})
    ports = tuple(cable.a for leaf in (first, second) for cable in (*site.host_cables(leaf), *site.uplinks(leaf)))
    return TrueCause(CauseKind.LEAF_SWAP, (first, second), ports)


def leaf_bundles_crossed(site: Site) -> TrueCause:
    """All host cables of two leaves are crossed, port by port, as in a patch panel. Uplinks are right."""
    first, second = _draw_leaves(site)
    pairs = list(zip(site.host_cables(first), site.host_cables(second), strict=True))
    for left, right in pairs:
        site.world.plug(left.a, right.b)
        site.world.plug(right.a, left.b)
    ports = tuple(cable.a for pair in pairs for cable in pair)
    return TrueCause(CauseKind.BUNDLE_SWAP, (first, second), ports, moves=len(ports))


def nic_names_permuted(site: Site) -> TrueCause:
    """One host finds its NICs in another order: each cable is right for its GPU and wrong by name."""
    hosts = site.draw_hosts(1)
    return _permute_names(site, hosts, _draw_order(site, hosts))


def nic_names_permuted_on_model(site: Site) -> TrueCause:
    """All hosts of one model find their NICs in the same other order, as after a firmware update."""
    model = site.rng.choice(list(dict.fromkeys(site.world.fabric.models.values())))
    hosts = [host for host, its in site.world.fabric.models.items() if its is model]
    if len(hosts) < 2 or not site.hosts.isdisjoint(hosts):
        raise NoRoomError(f"{model.name} has touched hosts")
    return _permute_names(site, hosts, _draw_order(site, hosts))


def gpus_renumbered(site: Site) -> TrueCause:
    """One host numbers its GPUs in another order: names and cables are right, the nearest NIC is another rail's."""
    (host,) = site.draw_hosts(1)
    order = _draw_order(site, [host])
    site.world.gpu_order[host] = order
    site.claim_cables(_displaced(site, [host], order))
    return TrueCause(CauseKind.GPU_NIC_ORDER, (host,), ())


def powered_off(site: Site) -> TrueCause:
    """One host has no power: it cannot be read, and its switch ports are down."""
    (host,) = site.draw_hosts(1)
    site.world.off.add(host)
    return _lose(site, host)


def hung(site: Site) -> TrueCause:
    """One host hangs: it cannot be read, its links are up and silent."""
    (host,) = site.draw_hosts(1)
    site.world.hung.add(host)
    return _lose(site, host)


def _lose(site: Site, host: str) -> TrueCause:
    site.world.absent.add(host)
    site.hosts.add(host)
    return TrueCause(CauseKind.UNREACHABLE, (host,), _ports_of(site, host))


def _ports_of(site: Site, *hosts: str) -> tuple[Port, ...]:
    return tuple(cable.a for host in hosts for cable in site.cables_of[host])


def _draw_twins(site: Site) -> tuple[str, str]:
    """Two unclaimed hosts of one model; claims them."""
    (first,) = site.draw_hosts(1)
    models = site.world.fabric.models
    others = [host for host in models if models[host] is models[first] and host != first]
    (second,) = site.draw_hosts(1, among=others)
    site.hosts.update((first, second))
    return first, second


def _draw_leaves(site: Site) -> tuple[str, str]:
    """Two untouched leaves of one pod whose ports serve the same host ports and have the same names; claims them."""
    open_leaves = site.untouched_leaves()
    pairs = [
        (first, second)
        for i, first in enumerate(open_leaves)
        for second in open_leaves[i + 1 :]
        if _alike(site, first, second)
    ]
    pair = site.choose(pairs, "no two untouched leaves that are alike")
    site.taken.update(pair)
    return pair


def _alike(site: Site, first: str, second: str) -> bool:
    devices = site.world.fabric.plan.devices
    if (devices[first].pod, devices[first].platform) != (devices[second].pod, devices[second].platform):
        return False
    return _host_ports(site.host_cables(first)) == _host_ports(site.host_cables(second))


def _host_ports(cables: Iterable[Cable]) -> list[tuple[str, str]]:
    return [(cable.a.device, cable.b.name) for cable in cables]


def _draw_order(site: Site, hosts: list[str]) -> tuple[int, ...]:
    """Another order of NICs: two swapped, a few rotated, or swapped halves; none on a leaf that is taken."""
    shape = site.world.fabric.shape
    model = site.world.fabric.models[hosts[0]]
    if model.gpus != shape.rails:
        raise NoRoomError("GPUs share NICs")
    closed = {cable.rail for host in hosts for cable in site.cables_of[host] if cable.b.device in site.taken}
    rails = [rail for rail in range(shape.rails) if rail not in closed]
    if len(rails) < 2:
        raise NoRoomError("fewer than two open rails")
    known = {*site.world.nic_order.values(), *site.world.gpu_order.values()}  # the same on two hosts is one cause
    for _ in range(20):
        order = _permutation(site, shape.rails, rails)
        if order not in known:
            return order
    raise NoRoomError("no order of NICs is left that is not another host's")


def _permutation(site: Site, size: int, rails: list[int]) -> tuple[int, ...]:
    order = list(range(size))
    style = site.rng.choice(("pair", "circle", "halves"))
    if style == "halves" and len(rails) == size and size % 2 == 0:
        return (*range(size // 2, size), *range(size // 2))
    count = 2 if style == "pair" else site.rng.randint(2, min(4, len(rails)))
    chosen = site.rng.sample(rails, count)
    for here, there in zip(chosen, chosen[1:] + chosen[:1], strict=True):
        order[here] = there
    return tuple(order)


def _permute_names(site: Site, hosts: list[str], order: tuple[int, ...]) -> TrueCause:
    cables = _displaced(site, hosts, order)
    site.world.nic_order.update(dict.fromkeys(hosts, order))
    site.claim_cables(cables)
    return TrueCause(CauseKind.GPU_NIC_ORDER, tuple(hosts), tuple(cable.a for cable in cables))


def _displaced(site: Site, hosts: list[str], order: tuple[int, ...]) -> list[Cable]:
    """The cables of the NICs that this order moves."""
    return [
        cable
        for host in hosts
        for cable in site.cables_of[host]
        if cable.rail is not None and order[cable.rail] != cable.rail
    ]
