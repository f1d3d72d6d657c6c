"""The truth of a world: which planned cables look wrong, which are wrong, and which are undecidable."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from truerail.model import CauseKind, Port
from truerail.model.columns import tally
from truerail.simulator.fabric.ether import Ether
from truerail.simulator.fabric.lldp_frames import Frame, Tells
from truerail.simulator.fabric.world import World
from truerail.simulator.faults.truth import Explanation, TrueCause, Truth

_NAMELESS = frozenset(("ib_unmanaged", "ib_director"))
"""Behaviours under which switches have no names of their own: swapped whole switches look as planned."""

_WITHOUT_HOST = ("default", "localhost")
"""What adapters call themselves that do not say which host they are in."""
_OF_DEVICES = (CauseKind.LEAF_SWAP, CauseKind.LINK_DOWN, CauseKind.UNREACHABLE)
"""Causes that show by evidence other than the places of cables."""


def survey(world: World, causes: Sequence[TrueCause], noise: Sequence[TrueCause]) -> Truth:
    """Compares every cable with the plan, by the names that machines announce and by the machines themselves."""
    found: dict[str, set[Port]] = {"wrong": set(), "missing": set(), "unknown": set(), "moved": set(), "astray": set()}
    plan, ether = world.fabric.plan, Ether(world)
    if _nameless(world):
        causes = [cause for cause in causes if not _is_of_names(world, cause)]
    causes = [one for one in causes if one.moves or not any(_unnamed(world, host) for host in one.subjects)]
    usual = _usual_switches(world)
    causes = [one for one in causes if _shows_elsewhere(world, one) or not _is_within_boxes(world, one, usual)]
    for cable in plan.cables:
        subject = _called(world, cable.a)
        far = world.far[cable.a]
        if far != cable.b:
            found["moved"].add(subject)
        if {cable.a, far} & world.switched_off:
            found["unknown"].add(subject)
        elif cable.a in world.dead and not _is_box(world, cable.a.device):
            found["missing"].add(subject)
        elif _unheard(ether, cable.a, far):
            found["unknown"].add(subject)
            if _is_astray(world, subject, far):
                found["astray"].add(subject)
        elif plan.peer_of(subject) != _called(world, far):
            found["wrong"].add(subject)
    return Truth(
        causes=tuple(_weighed(ether, cause, found) for cause in causes),
        noise=tuple(noise),
        wiring=dict(world.cables()),
        hostnames=dict(world.hostname),
        **{state: frozenset(ports) for state, ports in found.items()},
    )


def _nameless(world: World) -> bool:
    return not _NAMELESS.isdisjoint(world.behaviours.choices)


def _is_astray(world: World, subject: Port, far: Port) -> bool:
    """Whether this cable, as its end is announced, is on another device than planned, by the name announced there."""
    planned = world.fabric.plan.peer_of(subject)
    return planned is not None and planned.device != _called(world, far).device


def _is_of_names(world: World, cause: TrueCause) -> bool:
    """Whether the cause is a swap of names on a fabric whose switches have none: no answer shows it. Swapped bundles
    count too if no uplink distinguishes the switches: each is then the switch in whose place its hosts are.
    """
    bundles = cause.kind is CauseKind.BUNDLE_SWAP and not any(_has_uplinks(world, leaf) for leaf in cause.subjects)
    return cause.kind is CauseKind.LEAF_SWAP or bundles


def _shows_elsewhere(world: World, cause: TrueCause) -> bool:
    """Whether other answers than those about the places of cables show this cause: topologies show an order of NICs."""
    return cause.kind in _OF_DEVICES or _shows_order(world, cause)


def _usual_switches(world: World) -> dict[str, str]:
    """The switch with most cables of each planned switch: another one if switches or bundles are swapped."""
    where = tally((cable.b.device, world.far[cable.a].device) for cable in world.fabric.plan.cables)
    return {planned: found.most_common(1)[0][0] for planned, found in where.items()}


def _is_within_boxes(world: World, cause: TrueCause, usual: Mapping[str, str]) -> bool:
    """Whether every cable is on its planned box, or, because of another cause, on the one with most cables of that box,
    and the chips do not identify their ports of the box: no answer then shows that this cause moved anything.
    """
    if cause.kind is CauseKind.BUNDLE_SWAP or _nameless(world):  # a nameless chip is found by the ports of its hosts
        usual = {}
    ends = [(world.fabric.plan.peer_of(_called(world, port)), world.far[port]) for port in cause.cables]
    return bool(ends) and all(
        planned is not None and usual.get(planned.device, planned.device) == far.device and _is_box(world, far.device)
        for planned, far in ends
    )


def _is_box(world: World, machine: str) -> bool:
    return not world.is_host(machine) and world.chips_of(machine) > 1


def _called(world: World, port: Port) -> Port:
    """A port as its machine announces it; unchanged for machines without names."""
    nameless = _unnamed(world, port.device) if world.is_host(port.device) else _nameless(world)
    return port if nameless else world.announced_port(port)


def _unnamed(world: World, host: str) -> bool:
    """Whether a host has another's name that no answer contains: its firmware sends LLDP with MACs alone, or the
    descriptions of its adapters name no host, and it is polled by its address in the inventory. Then nothing looks
    wrong.
    """
    if not world.is_host(host) or host not in world.hostname or world.folders != "inventory":
        return False
    if world.fabric.shape.infiniband:
        return world.behaviours.value_for("ib_desc", host) in _WITHOUT_HOST
    return world.behaviours.value_for("fw_lldp", host) == "only" and not world.behaviours.hits("dpu", host)


def _unheard(ether: Ether, a: Port, b: Port) -> bool:
    """Whether neither end identifies the other for certain: it hears no neighbour, or also a former one."""
    world = ether.world
    if world.fabric.shape.infiniband:
        return not world.carrier(a) or _is_nameless_adapter(world, a) or _is_box(world, b.device)
    if world.behaviours.choices:
        return not (any(_decides(ether, port) for port in (a, b)) or _agree(ether, a, b))
    ends = [list(world.heard(port)) for port in (a, b) if port.device not in world.absent]
    return all(len(heard) != 1 for heard in ends)


def _is_nameless_adapter(world: World, port: Port) -> bool:
    """Whether an adapter's description does not name its host, or names an unplanned interface, and the host's own
    answers do not decide it.
    """
    open_names = world.behaviours.value_for("ib_desc", port.device) in (*_WITHOUT_HOST, "netdev")
    return open_names and port.device in world.absent


def _decides(ether: Ether, port: Port) -> bool:
    """Whether this end identifies one port at the other: it hears a single neighbour, and not by its device alone."""
    if port.device in ether.world.absent:
        return False
    found = list(ether.world.heard(port))
    frames = ether.frames(found[0]) if len(found) == 1 else ()
    return any(_names_port(ether.world, port, found[0], frame) for frame in frames if not frame.is_second)


def _names_port(world: World, port: Port, sender: Port, frame: Frame) -> bool:
    """Whether a frame, as this port shows it, names its sending port."""
    by_description = world.behaviours.hits("junos_no_portid", port.device) and world.platform(port.device) == "junos"
    return frame.tells is Tells.PORT and (not by_description or _describes(world, sender, frame))


def _agree(ether: Ether, a: Port, b: Port) -> bool:
    """Whether both ends name each other, and no other neighbour listed at one of them does so: others are former
    neighbours, which are heard elsewhere by now or nowhere.
    """
    if not (_names(ether, a, b) and _names(ether, b, a)):
        return False
    others = ((port, other) for port, end in ((a, b), (b, a)) for other in ether.world.heard(port) if other != end)
    return not any(_names(ether, other, port) for port, other in others)


def _names(ether: Ether, port: Port, far: Port) -> bool:
    """Whether this port lists the other one, by its port."""
    if port.device in ether.world.absent or far not in ether.world.heard(port):
        return False
    return any(_names_port(ether.world, port, far, frame) for frame in ether.frames(far) if not frame.is_second)


def _describes(world: World, sender: Port, frame: Frame) -> bool:
    """Whether the description alone names the sending port: the default text does, a configured one does not."""
    if world.is_host(sender.device):
        return frame.port.id_type == "mac" and bool(frame.port.description)
    return frame.port.description == sender.name


def _weighed(ether: Ether, cause: TrueCause, found: dict[str, set[Port]]) -> TrueCause:
    """The cause with the alternatives that fit the answers, depending on its visible part:

    - A cable of a cycle that is not heard leaves a path: no answer then shows that it is closed, and by which cable. In
      a cycle over boxes that do not identify their ports, only cables on another box are visible: they are a smaller
      cycle. The same holds for crossed bundles of which less than half is heard for certain: nothing shows that the
      others, which may be as planned, belong to them.
    - Cables heard as planned, and by their devices alone, may be right: also those of NICs with swapped names, unless
      the topologies of a minority of hosts show it (`_shows_order`).
    """
    more = tuple(_alternatives(ether.world, cause, found))
    shown = any(_contradicts(ether, port) for port in cause.cables) or _shows_order(ether.world, cause)
    if cause.kind in _OF_CABLES and cause.cables and not shown:
        more += (Explanation(CauseKind.UNKNOWN, 0),)
    seen = tuple(port for port in cause.cables if port in found["wrong"])
    if cause.kind is CauseKind.BUNDLE_SWAP and 0 < 2 * len(seen) < len(cause.cables):
        more += (Explanation(CauseKind.CABLE_MOVE, len(seen), seen), Explanation(CauseKind.CABLE_SWAP, len(seen), seen))
    if cause.kind is CauseKind.CABLE_ROTATION:
        more += tuple(_smaller_circles(ether.world, cause, found["astray"]))
    seen = seen or tuple(port for port in cause.cables if _is_named(ether, port))
    if cause.kind in (CauseKind.CABLE_SWAP, CauseKind.CABLE_ROTATION) and 0 < len(seen) < len(cause.cables):
        more += (Explanation(CauseKind.CABLE_MOVE, len(seen), seen),)
    return replace(cause, alternatives=more)


def _smaller_circles(world: World, cause: TrueCause, astray: set[Port]) -> Iterable[Explanation]:
    """The cycle without the cables that stay on their own box, whose port there is in no answer."""
    rest = tuple(str(port) for port in cause.cables if port in astray)
    if all(_is_box(world, world.far[port].device) for port in cause.cables) and 1 < len(rest) < len(cause.cables):
        kind = CauseKind.CABLE_SWAP if len(rest) == 2 else CauseKind.CABLE_ROTATION
        yield Explanation(kind, len(rest), subjects=rest)


def _is_named(ether: Ether, jack: Port) -> bool:
    """Whether either end of this jack's cable names at least the device at the other."""
    world = ether.world
    if world.fabric.shape.infiniband:
        return world.carrier(jack) and not _is_nameless_adapter(world, jack)
    return any(
        frame.tells is not Tells.NOTHING
        for end in (jack, world.far[jack])
        if end.device not in world.absent
        for sender in world.heard(end)
        for frame in ether.frames(sender)
    )


_OF_CABLES = (CauseKind.CABLE_SWAP, CauseKind.CABLE_ROTATION, CauseKind.BUNDLE_SWAP, CauseKind.GPU_NIC_ORDER)
"""Faults of cables that may be confined to one host."""


def _contradicts(ether: Ether, lower: Port) -> bool:
    """Whether an answer contradicts the plan at either planned end of this cable: another port than the planned one is
    at the other end, or, in a frame that names only its device, another device.

    The ARM of a DPU sends `dpu-gpu-001` and `p0` from each of its NICs, and a MAC that no other answer contains. A leaf
    that hears it in a planned place reports the same for any of the host's NICs: with two swapped cables of one host,
    every answer is that of a right fabric. A former neighbour beside the planned one shows nothing.
    """
    world = ether.world
    upper = world.fabric.plan.peer_of(lower)
    if upper is None or not world.behaviours.choices or world.fabric.shape.infiniband:
        return True
    for end, planned in ((lower, upper), (upper, lower)):
        senders = list(world.heard(end)) if end.device not in world.absent else []
        others = [_is_another(ether, end, sender, planned) for sender in senders]
        if others and all(others):
            return True
    return False


def _is_another(ether: Ether, end: Port, sender: Port, planned: Port) -> bool:
    """Whether this end hears something else from a sender than the planned port would send."""
    said = ether.world.announced_port(sender)
    for frame in ether.frames(sender):
        by_port = _names_port(ether.world, end, sender, frame)
        by_device = frame.tells is not Tells.NOTHING and said.device != planned.device
        if by_device or (by_port and said != planned):
            return True
    return False


def _shows_order(world: World, cause: TrueCause) -> bool:
    """Whether topologies of hosts show another order of NIC names, if no cable does: they differ from those of most
    hosts. An order that most hosts have may be the vendor's, which the plan follows.
    """
    telling = [host for host in world.fabric.models if not _hides_places(world, host)]
    renamed = [host for host in telling if host in world.nic_order]
    return cause.kind is CauseKind.GPU_NIC_ORDER and bool(renamed) and 2 * len(renamed) < len(telling)


def _alternatives(world: World, cause: TrueCause, found: dict[str, set[Port]]) -> Iterable[Explanation]:
    """Other explanations that fit the answers.

    Folders named by inventory reveal swapped labels: the MACs in a machine's own answers are heard under another name.
    They never prove swapped cables: a folder named by hostname would look the same.
    """
    kind, tied = cause.kind, world.folders == "inventory"
    if kind is CauseKind.BUNDLE_SWAP and all(_hides_places(world, port.device) for port in cause.cables):
        hosts = dict.fromkeys(port.device for port in cause.cables if port in found["wrong"])
        # nothing is known of a host that is not heard
        yield Explanation(CauseKind.GPU_NIC_ORDER, 0, subjects=tuple(hosts))
    tied &= not (kind is CauseKind.LEAF_SWAP and world.fabric.shape.infiniband)  # its switches have no folders
    if kind is CauseKind.HOST_SWAP and (cause.moves or not tied):
        yield Explanation(kind, 0 if cause.moves else len(cause.cables))
    elif kind is CauseKind.LEAF_SWAP and not tied and not _has_uplinks(world, cause.subjects[0]):
        yield Explanation(CauseKind.BUNDLE_SWAP, len(cause.cables))
    elif kind is CauseKind.BUNDLE_SWAP and not _has_uplinks(world, cause.subjects[0]):
        yield Explanation(CauseKind.LEAF_SWAP, 0)
    elif kind in (CauseKind.CABLE_SWAP, CauseKind.CABLE_ROTATION) and _is_nic_order(world, cause.cables):
        yield Explanation(CauseKind.GPU_NIC_ORDER, 0, subjects=(cause.cables[0].device,))
    elif kind is CauseKind.GPU_NIC_ORDER and cause.cables:
        if all(_hides_places(world, name) for name in cause.subjects):
            yield Explanation(CauseKind.CABLE_SWAP, len(cause.cables))
            yield Explanation(CauseKind.CABLE_ROTATION, len(cause.cables))
    elif kind is CauseKind.GPU_NIC_ORDER:
        if not any(_shows_gpus(world, name) for name in cause.subjects):
            yield Explanation(CauseKind.UNKNOWN, 0)  # it is in the host's own matrix, or nowhere
    elif kind is CauseKind.LINK_DOWN and not _tells_state(world, cause.cables[0]):
        yield Explanation(CauseKind.UNKNOWN, 0)


def _tells_state(world: World, port: Port) -> bool:
    """Whether an end of this cable reports its link state."""
    return any(end.device not in world.absent for end in (port, world.far[port]))


def _has_uplinks(world: World, leaf: str) -> bool:
    """Whether the uplinks of this leaf distinguish it from another: they must show their ports."""
    return bool(world.fabric.plan.uplinks_of(leaf)) and not _is_box(world, leaf)


def _is_nic_order(world: World, cables: Sequence[Port]) -> bool:
    """Whether these cables permute whole NICs of one host that does not report the places of its NICs."""
    hosts = {port.device for port in cables}
    return len(hosts) == 1 and world.fabric.shape.planes == 1 and all(_hides_places(world, host) for host in hosts)


_NO_PLACES = ("topo_gb200", "topo_flat", "topo_no_nic")
"""Matrices without the nearest NIC of any GPU."""


def _hides_places(world: World, host: str) -> bool:
    """Whether no answer shows which NIC is near which GPU: the host was not read, or its matrix does not show it, or
    not for every GPU.
    """
    return _shows_none(world, host) or world.behaviours.hits("topo_sparse", host)


def _shows_none(world: World, host: str) -> bool:
    """Whether no GPU of this host is shown with its nearest NIC. A legend of bonds names no NIC of a host without a
    bond: no answer shows which is meant.
    """
    hidden = any(world.behaviours.hits(name, host) for name in _NO_PLACES)
    hidden |= world.behaviours.hits("topo_bond", host) and not world.behaviours.hits("bond", host)
    return host in world.absent or hidden


def _shows_gpus(world: World, host: str) -> bool:
    """Whether the host's matrix shows one of the swapped GPUs with its nearest NIC."""
    sparse = world.behaviours.hits("topo_sparse", host)
    moved = [place for gpu, place in enumerate(world.gpu_order.get(host, ())) if place != gpu]
    return not _shows_none(world, host) and any(not sparse or place % 2 == 0 for place in moved)
