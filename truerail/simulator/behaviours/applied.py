"""Effects of behaviours on the world itself: disabled ports, unplanned links and servers, booting hosts."""

from dataclasses import replace
from random import Random

from truerail.model import Cable, CauseKind, Port
from truerail.simulator.behaviours import identities
from truerail.simulator.behaviours.chosen import Behaviours
from truerail.simulator.fabric.builder import Shape
from truerail.simulator.fabric.world import World
from truerail.simulator.faults.noise import remember
from truerail.simulator.faults.truth import Site, TrueCause

_SPLIT = {"4x200G": (2, 200.0), "8x100G": (1, 100.0)}
"""Lanes of a port by the breakout mode of a cage of eight, and its speed in Gb/s."""
_GUESTS = ("stor-{:02}", "mgmt-{:02}", "login-{:02}")


def shaped(shape: Shape, behaviours: Behaviours) -> Shape:
    """The shape with the NICs that these behaviours need."""
    if mode := behaviours.value("sonic_split"):
        lanes, gbps = _SPLIT[mode]
        shape = replace(shape, sonic_lanes=lanes, speed_gbps=gbps)
    if "stack" in behaviours:
        shape = replace(shape, stacked=True)
    if "azure_an" in behaviours:
        shape = replace(shape, nic="azure")
    nic = behaviours.value("rdma_down")
    if "topo_other_nic" in behaviours:
        nic = nic if nic not in ("", "mlx5") else "bnxt"
    if "ib_renumber" in behaviours:
        return replace(shape, host_ports="netdev")
    if "efa" in behaviours:
        return replace(shape, nic="efa", host_ports="rdma")
    speed = 800.0 if "rate_capped_400" in behaviours else shape.speed_gbps
    return replace(shape, nic=nic or shape.nic, speed_gbps=speed)


def apply(site: Site, rng: Random) -> list[TrueCause]:
    """Changes the world; returns the hosts that become unreadable, as causes."""
    behaviours = site.world.behaviours
    if not behaviours.choices:
        return []
    _switch_off(site)
    _cable_the_spare(site, rng)
    if choice := behaviours.choices.get("stale_ttl"):
        remember(site, set(), round(choice.share * len(list(site.world.fabric.plan.host_cables))), rng)
    if "swap_two_neighbors" in behaviours:
        _remember_before_the_move(site)
    if "mlag" in behaviours:
        _link_peers(site)
    return [_boots(site, host) for host in list(site.world.fabric.models) if _may_boot(site, host)]


def _may_boot(site: Site, host: str) -> bool:
    world = site.world
    return world.behaviours.hits("boot_phase", host) and host not in site.hosts | world.absent


def _boots(site: Site, host: str) -> TrueCause:
    site.world.absent.add(host)
    return TrueCause(CauseKind.UNREACHABLE, (host,), tuple(cable.a for cable in site.cables_of[host]))


def _open_cables(site: Site) -> list[Cable]:
    """Host cables that no fault has touched."""
    world = site.world
    return [
        cable
        for cable in world.fabric.plan.host_cables
        if cable.a.device not in site.hosts
        and cable.b.device not in site.taken
        and world.far.get(cable.a) == cable.b
        and cable.a not in world.dead
    ]


def _switch_off(site: Site) -> None:
    world = site.world
    for cable in _open_cables(site):
        if world.behaviours.hits("keep_link_up", cable.a):
            world.switched_off.add(cable.a)
            world.held_up.add(cable.b)
        elif world.behaviours.hits("admin_down", cable.a):
            world.switched_off.add(cable.a if world.behaviours.draw("which end", cable.a) < 0.5 else cable.b)


def _cable_the_spare(site: Site, rng: Random) -> None:
    """Connects free ports of leaves as the behaviours require."""
    world, behaviours = site.world, site.world.behaviours
    free = [
        port
        for leaf, names in world.fabric.spare.items()
        for name in names
        if (port := Port(leaf, name)) not in site.spare_used and leaf not in site.taken
    ]
    rng.shuffle(free)
    each = max(1, len(free) // 6)
    if "management_servers" in behaviours or "ib_others" in behaviours:
        for number in range(min(each, len(free))):
            world.guests[free.pop()] = _GUESTS[number % len(_GUESTS)].format(number + 1)
    if "unplanned_links" in behaviours:
        for _ in range(each):
            other = next((port for port in free[1:] if port.device != free[0].device), None) if free else None
            if other is not None:
                one = free.pop(0)
                free.remove(other)
                world.plug(one, other)
    if "ports_off" in behaviours:
        world.switched_off.update(free[:each])


def _link_peers(site: Site) -> None:
    """Links the two switches of each MLAG pair, on ports that are free in the plan."""
    world = site.world
    for leaf in world.leaves():
        pair = identities.mlag_pair(world, leaf) if identities.is_mlag(world, leaf) else ()
        if pair[:1] == (leaf,):
            free = [next(filter(lambda port: _is_free(site, port), _spare(world, one)), None) for one in pair]
            if free[0] and free[1]:
                world.plug(free[0], free[1])


def _spare(world: World, leaf: str) -> list[Port]:
    return [Port(leaf, name) for name in world.fabric.spare[leaf]]


def _is_free(site: Site, port: Port) -> bool:
    world = site.world
    return not (port in world.far or port in world.guests or port in world.switched_off or port in site.spare_used)


def _remember_before_the_move(site: Site) -> None:
    """Both ends of each moved cable still list the planned neighbour."""
    world = site.world
    for cable in world.fabric.plan.cables:
        if world.far.get(cable.a) != cable.b:
            world.stale[cable.a] = cable.b
            if cable.b in world.far:
                world.stale[cable.b] = cable.a
