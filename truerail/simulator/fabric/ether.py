"""All LLDP frames of a fabric: those that each port sends, and its neighbours."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from truerail.model import Port
from truerail.model.columns import grouped
from truerail.simulator.behaviours import identities
from truerail.simulator.fabric.lldp_frames import TTL_SECONDS, Announced, Frame, Heard, Speaker
from truerail.simulator.fabric.world import World, shifted
from truerail.simulator.platforms import platforms

# ----------------------------------------------------------------------------------------------------------------------
# Configured descriptions of ports.

_STYLES = ("{d}:{p}", "to-{d}:{p}", "// Connected to {d}", "{d} {p}", "{d}")
_ALIASES = ("{d}:{p}", "{p}", "{d} {p}")


def configured(world: World) -> dict[Port, str]:
    """The description of every port that has one: its peer in the plan, or in the previous plan."""
    if world.labels:
        return {end: f"to-{other.device}:{other.name}" for end, other in _ends(world)}
    of_switches = _described(world, "descr", ("peer_of_plan", "peer_of_old_plan"), _STYLES, hosts=False)
    return {**of_switches, **_described(world, "host_alias", ("peer", "stale_peer"), _ALIASES, hosts=True)}


def _ends(world: World) -> Iterator[tuple[Port, Port]]:
    """Each end of a planned cable, and the other one."""
    for cable in world.fabric.plan.cables:
        yield cable.a, cable.b
        yield cable.b, cable.a


def _described(
    world: World, behaviour: str, plans: tuple[str, str], styles: Sequence[str], *, hosts: bool
) -> dict[Port, str]:
    """The planned peer of each port; in the second of the `plans` that of the neighbour port."""
    which = world.behaviours.value(behaviour)
    if which not in plans:
        return {}
    ends = grouped((end.device, (end, other)) for end, other in _ends(world) if world.is_host(end.device) is hosts)
    style = styles[int(world.behaviours.draw(f"{behaviour.removeprefix('host_')} style") * len(styles))]
    found: dict[Port, str] = {}
    for device, pairs in ends.items():
        form = "{d}:{p}" if not hosts and world.platform(device) == "sonic" else style  # as in minigraph.py
        for place, (end, _) in enumerate(pairs):
            peer = pairs[(place + plans.index(which)) % len(pairs)][1]
            if world.behaviours.hits(behaviour, end):
                found[end] = form.format(d=peer.device, p=peer.name)
    return found


# ----------------------------------------------------------------------------------------------------------------------
# All LLDP frames of a fabric: those that each port sends, and its neighbours.

TAKEN_AT = 1795183200.0
"""When a capture is taken: 2026-11-20T14:00Z, as seconds since the epoch."""
OUT_OF_BAND = "oob-sw-1"
STORAGE = "stor-sw-1"


@dataclass(slots=True)
class Ether:
    """All LLDP frames of a world. The data of each machine and switch port are computed once and cached.

    `elapsed_seconds` is the time since the world began; `now` is the devices' clock.
    """

    world: World
    ttl_seconds: int = TTL_SECONDS
    elapsed_seconds: int = 0
    now: float = TAKEN_AT
    _speakers: dict[str, Speaker] = field(default_factory=dict)
    _labels: dict[Port, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._labels.update(configured(self.world))

    def number(self, jack: Port) -> int:
        """The number of a switch port in its switch, counted from 1."""
        return self.world.fabric.ports[jack.device][jack.name]

    def speaker(self, machine: str) -> Speaker:
        """A machine's own LLDP data."""
        speaker = self._speakers.get(machine)
        if speaker is None:
            speaker = self._speakers[machine] = self._describe(machine)
        return speaker

    def _describe(self, machine: str) -> Speaker:
        world = self.world
        name, address = world.announced_name(machine), world.address(machine)
        chassis = identities.chassis_of(world, machine)
        is_host, description = world.is_host(machine), world.system(machine).description
        mac = world.host_mac(chassis, -1) if is_host else world.switch_mac(chassis, 0)
        return Speaker(name, mac, description, address, router=not is_host)

    def label(self, jack: Port) -> str:
        """The configured description of a port: its planned peer. Empty if there is none."""
        return self._labels.get(self.world.announced_port(jack), "")

    def summary(self, jack: Port) -> Announced:
        """A port as its first speaker announces it."""
        return self.frames(jack)[0].port

    def frames(self, jack: Port) -> tuple[Frame, ...]:
        """The frames sent by a port, those of the machine itself first."""
        return self.world.system(jack.device).frames(self, jack)

    def heard(self, jack: Port, local: str, number: int) -> Iterator[Heard]:
        """The neighbours on one jack; a stale one is older, a second speaker may be older or younger."""
        current = self.world.far.get(jack)
        for other in self.world.heard(jack):
            age = first_age(self.world, jack, number)
            age = self.elapsed_seconds + (age if other is not current else age // 60)
            frames = self.frames(other)
            if number % 2:
                frames = frames[::-1]
            for place, frame in enumerate(frames):
                ttl = frame.ttl_seconds if frame.ttl_seconds != TTL_SECONDS else self.ttl_seconds
                speaker = identities.shown(self.world, frame.speaker, other.device, jack.device)
                yield Heard(local, number, speaker, frame.port, age + 3 * place, ttl, frame.via)

    def neighbors(self, machine: str) -> list[Heard]:
        """The neighbours that a machine lists, in the order of its ports."""
        return list(self.world.system(machine).neighbors(self, machine))

    def switch_neighbors(self, switch: str) -> Iterator[Heard]:
        """All neighbours of a switch in the order of its ports, that on its management port first."""
        if self.world.management:
            yield out_of_band(self, switch, self.world.system(switch).management)
        for name, number in self.world.fabric.ports[switch].items():
            jack = Port(switch, name)
            if jack in self.world.guests:
                yield guest(self, jack, number)
            yield from self.heard(jack, name, number)


def first_age(world: World, jack: Port, number: int) -> int:
    """Age in seconds of a jack's neighbour when the world begins."""
    return 3600 + 37 * world.fabric.order[jack.device] + 11 * number


def out_of_band(ether: Ether, machine: str, local: str) -> Heard:
    """The management switch, as heard on a machine's management port."""
    number = ether.world.fabric.order[machine] + 1
    speaker = Speaker(OUT_OF_BAND, "44:38:39:00:00:01", platforms()["cumulus"].description, "10.255.0.1", router=True)
    name = ether.world.fabric.shape.port_name("cumulus", number)
    age = 7200 + number + ether.elapsed_seconds
    return Heard(local, 0, speaker, Announced("ifname", name, name), age, ether.ttl_seconds)


def storage(ether: Ether, host: str, local: str, index: int) -> Heard:
    """A storage switch, as heard on a host's storage NIC."""
    number = 4 * ether.world.fabric.order[host] + index + 1
    speaker = Speaker(STORAGE, "44:38:39:00:01:01", platforms()["eos"].description, "10.255.1.1", router=True)
    age = 7200 + number + ether.elapsed_seconds
    port = Announced("ifname", ether.world.fabric.shape.port_name("eos", number), "")
    return Heard(local, 50 + index, speaker, port, age, ether.ttl_seconds)


def guest(ether: Ether, jack: Port, number: int) -> Heard:
    """An unplanned server, as heard by a switch."""
    name = ether.world.guests[jack]
    serial = ether.world.fabric.order[jack.device] * 256 + number
    own = shifted("04:3f:72:00:00:00", 4 * serial)
    address = f"10.254.{serial >> 8 & 255}.{serial & 255}"
    speaker = Speaker(name, own, platforms()["linux"].description, address, router=False)
    port = Announced("mac", shifted(own, 1), "enp129s0f0np0")
    return Heard(jack.name, number, speaker, port, 9000 + number + ether.elapsed_seconds, ether.ttl_seconds)
