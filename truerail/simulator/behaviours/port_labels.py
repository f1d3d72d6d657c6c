"""Configured descriptions of ports."""

from collections import defaultdict
from collections.abc import Iterator

from truerail.model import Cable, Port
from truerail.simulator.fabric.world import World

_STYLES = ("{d}:{p}", "to-{d}:{p}", "// Connected to {d}", "{d} {p}", "{d}")


def configured(world: World) -> dict[Port, str]:
    """The description of every port that has one."""
    cables = world.fabric.plan.cables
    if world.labels:
        ends = ((end, other) for cable in cables for end, other in _both(cable))
        return {end: f"to-{other.device}:{other.name}" for end, other in ends}
    return {**_of_switches(world), **_of_hosts(world)}


def _both(cable: Cable) -> Iterator[tuple[Port, Port]]:
    yield cable.a, cable.b
    yield cable.b, cable.a


def _of_switches(world: World) -> dict[Port, str]:
    """The planned peer of each switch port, or that of the previous plan: the neighbour port's."""
    which = world.behaviours.value("descr")
    if which not in ("peer_of_plan", "peer_of_old_plan"):
        return {}
    ends: dict[str, list[tuple[Port, Port]]] = defaultdict(list)
    for cable in world.fabric.plan.cables:
        for end, other in _both(cable):
            if not world.is_host(end.device):
                ends[end.device].append((end, other))
    style = _STYLES[int(world.behaviours.draw("descr style") * len(_STYLES))]
    found: dict[Port, str] = {}
    for switch, pairs in ends.items():
        shift = which == "peer_of_old_plan"
        form = "{d}:{p}" if world.platform(switch) == "sonic" else style  # as in minigraph.py
        for place, (end, _) in enumerate(pairs):
            peer = pairs[(place + shift) % len(pairs)][1]
            if world.behaviours.hits("descr", end):
                found[end] = form.format(d=peer.device, p=peer.name)
    return found


def _of_hosts(world: World) -> dict[Port, str]:
    """The alias of each NIC: its peer in the plan, or in the previous plan."""
    which = world.behaviours.value("host_alias")
    if which not in ("peer", "stale_peer"):
        return {}
    ends: dict[str, list[Cable]] = defaultdict(list)
    for cable in world.fabric.plan.host_cables:
        ends[cable.a.device].append(cable)
    style = ("{d}:{p}", "{p}", "{d} {p}")[int(world.behaviours.draw("alias style") * 3)]
    found: dict[Port, str] = {}
    for cables in ends.values():
        for place, cable in enumerate(cables):
            peer = cables[(place + (which == "stale_peer")) % len(cables)].b
            if world.behaviours.hits("host_alias", cable.a):
                found[cable.a] = style.format(d=peer.device, p=peer.name)
    return found
