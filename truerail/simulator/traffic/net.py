"""The fabric for traffic: ports and devices by number, the peer of each port, and routes.

A directed link is identified by its sending port. Routes follow the actual cables: a leaf has routes to the NICs
plugged into it, whatever the plan.
"""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

import numpy as np
import numpy.typing as npt

from truerail.model import Port
from truerail.model.columns import Codes, distinct
from truerail.simulator.fabric.world import World
from truerail.simulator.traffic.traffic_jobs import Job

Rates = npt.NDArray[np.float64]
Marks = npt.NDArray[np.bool_]

NOWHERE = -1
_FAR = 99
_BYTES = 1e9 / 8
_USUAL_GBPS = 400.0


@dataclass(frozen=True)
class Net:
    """Every port of the fabric. Arrays over ports have shape (ports,), speeds are in bytes a second.

    `nic[host, slot]` is the port of a NIC, hosts in the plan's order. `far` is -1 without a cable.
    """

    world: World
    ports: tuple[Port, ...]
    code: dict[Port, int]
    devices: tuple[str, ...]
    tier: Codes
    device: Codes
    far: Codes
    live: Marks
    speed: Rates
    nic: Codes

    @property
    def hosts(self) -> int:
        """The number of hosts; they are the first devices."""
        return len(self.nic)

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.devices)}

    def span_of(self, device: str) -> slice:
        """The contiguous ports of one device, in its own order."""
        begin, end = np.searchsorted(self.device, [self._place[device], self._place[device] + 1])
        return slice(int(begin), int(end))

    def ports_of(self, device: str) -> Codes:
        """The numbers of one device's ports."""
        span = self.span_of(device)
        return np.arange(span.start, span.stop)

    def leaf_of(self, port: Codes) -> Codes:
        """The device that each NIC is plugged into; -1 without a live cable."""
        return np.where(self.live[port], self.device[self.far[port]], NOWHERE)


def net_of(world: World) -> Net:
    """The fabric as currently cabled."""
    plan = world.fabric.plan
    devices = tuple(plan.devices)
    hosts = [world.jacks(host) for host in world.fabric.models]
    owned = [*hosts, *([Port(switch, name) for name in names] for switch, names in world.fabric.ports.items())]
    ports = tuple(chain.from_iterable(owned))
    code = {port: number for number, port in enumerate(ports)}
    far = np.array([code.get(world.far[port], NOWHERE) if port in world.far else NOWHERE for port in ports])
    quiet = world.off | world.hung
    live = np.array([world.carrier(port) for port in ports]) & (far >= 0)
    live &= np.array([port.device not in quiet for port in ports])
    live &= live[far]
    nic = np.arange(sum(map(len, hosts))).reshape(len(hosts), len(hosts[0]))
    device = np.repeat(np.arange(len(devices)), [len(own) for own in owned])
    tier = np.array([plan.devices[name].role.tier for name in devices])
    return Net(world, ports, code, devices, tier, device, far, live, _speeds(world, ports), nic)


def _speeds(world: World, ports: tuple[Port, ...]) -> Rates:
    speed = {}
    for cable in world.fabric.plan.cables:
        speed[cable.a] = speed[cable.b] = (cable.speed_gbps or _USUAL_GBPS) * _BYTES
    return np.array([speed.get(port, _USUAL_GBPS * _BYTES) for port in ports])


@dataclass(frozen=True)
class Routes:
    """The next hops of each switch towards a leaf: `group[device, leaf number]`, -1 without a route.

    A group's members are `member[start[group] : start[group] + size[group]]`, in the order of the hash.
    """

    leaf_number: Codes
    group: Codes
    start: Codes
    size: Codes
    member: Codes


def routes_of(net: Net, live: Marks, unused: Codes) -> Routes:
    """Shortest paths up and then down over `live` links. `unused` are ports that no route uses, although up."""
    leaves = np.flatnonzero(net.tier == 1)
    number = np.full(len(net.devices), NOWHERE)
    number[leaves] = np.arange(len(leaves))
    usable = live.copy()
    usable[unused] = False
    links = _Links(net, usable)
    down, least = _distances(net, links, leaves)
    group = np.full((len(net.devices), len(leaves)), NOWHERE)
    members: list[Codes] = []
    for switch in np.flatnonzero(net.tier > 0).tolist():
        _route(group, members, links, switch, down, least)
    size = np.array([len(ports) for ports in members], dtype=np.int64)
    start = np.concatenate([[0], np.cumsum(size)[:-1]]).astype(np.int64)
    return Routes(number, group, start, size, np.concatenate([*members, np.empty(0, dtype=np.int64)]))


class _Links:
    """The usable links between switches, by the switch that sends."""

    def __init__(self, net: Net, usable: Marks) -> None:
        port = np.flatnonzero(usable & (net.tier[net.device] > 0))
        towards = net.device[net.far[port]]
        between = net.tier[towards] > 0
        self.port, self.towards = port[between], towards[between]
        sender = net.device[self.port]
        self.up = net.tier[self.towards] > net.tier[sender]
        self.begin = np.searchsorted(sender, np.arange(len(net.devices) + 1))

    def of(self, switch: int) -> slice:
        """The outgoing links of a switch."""
        return slice(int(self.begin[switch]), int(self.begin[switch + 1]))


def _distances(net: Net, links: _Links, leaves: Codes) -> tuple[Codes, Codes]:
    """Hops from each device to each leaf: downwards only, and any way. Shapes (devices, leaves)."""
    down = np.full((len(net.devices), len(leaves)), _FAR)
    down[leaves, np.arange(len(leaves))] = 0
    for tier in (2, 3):
        for switch in np.flatnonzero(net.tier == tier).tolist():
            below = links.towards[links.of(switch)][~links.up[links.of(switch)]]
            if len(below):
                down[switch] = np.minimum(_FAR, 1 + down[distinct(below)].min(axis=0))
    least = down.copy()
    for tier in (2, 1):
        for switch in np.flatnonzero(net.tier == tier).tolist():
            above = links.towards[links.of(switch)][links.up[links.of(switch)]]
            if len(above):
                least[switch] = np.minimum(down[switch], 1 + least[distinct(above)].min(axis=0))
    return down, np.minimum(least, _FAR)


def _route(group: Codes, members: list[Codes], links: _Links, switch: int, down: Codes, least: Codes) -> None:
    """Fills a switch's row of groups, and adds their members; equal groups of a switch are stored once."""
    own = links.of(switch)
    towards, up = links.towards[own], links.up[own]
    if not len(towards):
        return
    left = np.where(up[:, None], least[towards], down[towards])
    wanted = least[switch] - 1
    fits = (left == wanted) & (wanted >= 0) & (wanted < _FAR - 1)
    known: dict[bytes, int] = {}
    for leaf, column in enumerate(np.packbits(fits, axis=0).T):
        if column.any():
            key = column.tobytes()
            if key not in known:
                known[key] = len(members)
                members.append(links.port[own][fits[:, leaf]])
            group[switch, leaf] = known[key]


# ----------------------------------------------------------------------------------------------------------------------
# The state of ports during a step: all effects of faults on traffic.


@dataclass(frozen=True)
class Conditions:
    """Arrays have shape (ports,).

    `capacity` is the share of its speed at which a port sends, `accept` that at which a NIC receives, `pace` the
    relative speed of a NIC's work. `stuck` ports wait for ever, `storming` NICs pause for ever; `warning` ones report
    it themselves. `lost` is the share of frames that arrive corrupted at a port, `bit_errors` the share of bits that
    FEC corrects there. `down` ports have no link, `downs` is the number of link losses in this step; no route uses
    `unused` ports. NICs marked `pcie` or `application` are slow for that reason.
    """

    capacity: Rates
    accept: Rates
    pace: Rates
    lost: Rates
    bit_errors: Rates
    downs: Rates
    stuck: Marks
    storming: Marks
    down: Marks
    unused: Marks
    pcie: Marks
    application: Marks
    warning: Marks
    jobs: list[Job] = field(default_factory=list)
    shared_seed: list[bool] = field(default_factory=list)


HEALTHY_BIT_ERRORS = 1e-9
"""Pre-FEC bit error ratio of a clean link of PAM4 lanes."""


def healthy(net: Net) -> Conditions:
    """Conditions without faults."""
    count = len(net.ports)
    ones, zeros = np.ones, np.zeros

    def marks() -> Marks:
        return np.zeros(count, dtype=bool)

    return Conditions(
        ones(count), ones(count), ones(count), zeros(count), np.full(count, HEALTHY_BIT_ERRORS), zeros(count),
        marks(), marks(), marks(), marks(), marks(), marks(), marks(),
    )  # fmt: skip
