"""Noise in the evidence without faults: silent hosts, old neighbours, names in many forms."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from truerail.model import CauseKind, Port
from truerail.simulator.fabric.world import World, mac
from truerail.simulator.faults.truth import Site, TrueCause

# ----------------------------------------------------------------------------------------------------------------------
# What other witnesses than LLDP report, with their noise: MAC tables of switches, serial numbers in cables' ends.
#
# The shares are those of the project's study of recorded fabrics, where it has them, and else guesses on the
# pessimistic side: a table has an entry on 97 % of the ports with a powered host, 0.5 % of these are old ones; numbers
# are read at both ends of 90 % of the cables, and 3 % of the cables bear the number of another one.

_SPEAKS, _STALE, _READ, _CLONES = 0.97, 0.005, 0.90, 0.03
_VIRTUAL = 0.1
"""The share of ports that also show a virtual machine's MAC, which no host lists among its interfaces."""


def equip(world: World, lldp: float, rng: Random, *, stations: bool, serials: bool) -> None:
    """Takes LLDP from a share of the cables, and gives the fabric MAC tables and serial numbers."""
    cables = list(world.cables())
    if lldp < 1.0:
        for cable in cables:
            if rng.random() >= lldp:
                world.without_lldp.update(cable)
    if stations:
        _tables(world, rng)
    if serials:
        _numbers(world, cables, rng)


def _tables(world: World, rng: Random) -> None:
    """The MACs that each switch port with a host behind it shows."""
    hosts = [(a, b) for a, b in world.cables() if world.is_host(a.device) and world.carrier(b)]
    old = [_of(world, a) for a, _ in hosts]
    for a, b in hosts:
        if rng.random() >= _SPEAKS:
            continue
        shown = [_of(world, a)]
        if rng.random() < _STALE:
            shown = [*shown, rng.choice(old)] if rng.random() < 0.5 else [rng.choice(old)]
        if rng.random() < _VIRTUAL:
            shown.append(mac(0x525400000000 + rng.randrange(1 << 24)))
        world.stations[b] = tuple(dict.fromkeys(shown))


def _of(world: World, jack: Port) -> str:
    return world.host_mac(jack.device, world.slot(jack))


def _numbers(world: World, cables: list[tuple[Port, Port]], rng: Random) -> None:
    """The serial number in both ends of most cables: with suffixes on some."""
    given: list[str] = []
    for a, b in cables:
        number = f"MT{rng.randrange(10**10):010}VS"
        if given and rng.random() < _CLONES:
            number = rng.choice(given)
        given.append(number)
        if rng.random() < _READ:
            ends = ("-A", "-B") if rng.random() < 0.3 else ("", "")
            world.serials[a], world.serials[b] = number + ends[0], number + ends[1]


# ----------------------------------------------------------------------------------------------------------------------
# Noise in the evidence without faults: silent hosts, old neighbours, names in many forms.


@dataclass(frozen=True, slots=True)
class Noise:
    """Shares are of all hosts, `stale` of all host cables; no host gets two kinds of silence.

    `unreachable` hosts have no folder, their switches still hear them. `deaf` hosts hear no neighbour (firmware
    consumes LLDP), `mute` ones are not heard, `silent` ones are both. A `stale` port still lists a former neighbour, on
    one end of the cable or on both. `forms` writes names as FQDN, short or in capitals, `labels` puts the planned peer
    into port descriptions, `management` cables management ports, `mixed` runs different commands on devices of one
    kind, `strange_files` puts files of other commands into folders. `lldp`
    is the share of cables with LLDP at both ends, the others have none; `stations` gives switches MAC tables, `serials`
    the ends of cables their numbers (`beside_lldp`).
    """

    unreachable: float = 0.0
    deaf: float = 0.0
    mute: float = 0.0
    silent: float = 0.0
    stale: float = 0.0
    forms: bool = False
    labels: bool = False
    management: bool = False
    mixed: bool = False
    strange_files: bool = False
    lldp: float = 1.0
    stations: bool = False
    serials: bool = False


QUIET = Noise()


def disturb(site: Site, causes: Sequence[TrueCause], noise: Noise, rng: Random) -> list[TrueCause]:
    """Applies the noise; returns the hosts that it made unreachable, as causes.

    Noise that would hide a fault spares the reporting hosts: a host stays readable if its own answers are the evidence,
    and is not silent both ways if any fault touches it.
    """
    world = site.world
    world.labels, world.management, world.mixed = noise.labels, noise.management, noise.mixed
    world.strange_files = noise.strange_files
    drawn = _draw_silences(site, causes, noise, rng)
    world.absent.update(drawn["unreachable"])
    world.deaf.update(drawn["deaf"], drawn["silent"])
    world.mute.update(drawn["mute"], drawn["silent"])
    quiet = {host for hosts in drawn.values() for host in hosts}
    remember(site, quiet, round(noise.stale * len(list(world.fabric.plan.host_cables))), rng)
    equip(world, noise.lldp, rng, stations=noise.stations, serials=noise.serials)
    if noise.forms:
        world.form.update((machine, rng.choice(("", "fqdn", "upper"))) for machine in world.fabric.plan.devices)
    return [
        TrueCause(CauseKind.UNREACHABLE, (host,), tuple(cable.a for cable in site.cables_of[host]))
        for host in drawn["unreachable"]
    ]


def _draw_silences(site: Site, causes: Sequence[TrueCause], noise: Noise, rng: Random) -> dict[str, list[str]]:
    reported_by_host = (CauseKind.GPU_NIC_ORDER, CauseKind.HOST_SWAP, CauseKind.UNREACHABLE, CauseKind.LINK_DOWN)
    witnesses = {
        subject.partition("/")[0] for cause in causes if cause.kind in reported_by_host for subject in cause.subjects
    }
    hosts = list(site.world.fabric.models)
    left = rng.sample(hosts, len(hosts))
    drawn: dict[str, list[str]] = {}
    for name, share, spared in (
        ("silent", noise.silent, site.hosts),
        ("unreachable", noise.unreachable, witnesses),
        ("mute", noise.mute, witnesses),
        ("deaf", noise.deaf, site.world.absent),
    ):
        fitting = [host for host in left if host not in spared]
        drawn[name] = fitting[: round(share * len(hosts))]
        left = [host for host in left if host not in drawn[name]]
    return drawn


def remember(site: Site, quiet: set[str], count: int, rng: Random) -> None:
    """Gives this many host cables an old neighbour; at both ends only without a fault nearby, else it is
    undecidable.
    """
    world = site.world
    speaking = [
        cable
        for cable in world.fabric.plan.host_cables
        if cable.a.device not in quiet | world.absent | world.off | world.hung and world.carrier(cable.a)
    ]
    untouched = [cable for cable in speaking if cable.a.device not in site.hosts and cable.b.device not in site.taken]
    for _ in range(count):
        cables = untouched if rng.random() < 0.3 else speaking
        if len(cables) < 2:
            continue
        one, other = rng.sample(cables, 2)
        if any(port in world.stale for cable in (one, other) for port in (cable.a, world.far[cable.a])):
            continue
        if cables is untouched:
            _cross(world, one.a, other.a)
            _cross(world, world.far[one.a], world.far[other.a])
        elif rng.random() < 0.5:
            world.stale[one.a] = world.far[other.a]
        else:
            world.stale[world.far[one.a]] = other.a


def _cross(world: World, one: Port, other: Port) -> None:
    world.stale[one] = world.far[other]
    world.stale[other] = world.far[one]
