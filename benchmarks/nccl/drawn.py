"""Jobs drawn over a simulated fabric: their NCCL logs, and the truth of every connection.

Written from NCCL's sources and apart from what reads logs: rings for any fabric and version, both sides or one, glued,
wrapped, behind launchers, with PXN, fused NICs and `NCCL_CROSS_NIC`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from truerail.model import CauseKind, Plan, Port
from truerail.simulator import Fault, Shape, Simulation, simulate
from truerail.simulator.fabric.servers import device_number

SHAPES = {
    "one rail a leaf": Shape(hosts=8, rails=8, spines=2, uplinks=4),
    "four rails": Shape(hosts=6, rails=4, spines=2, uplinks=4, style="eth"),
    "rail-only": Shape(hosts=6, rails=8, spines=0),
    "two planes": Shape(hosts=6, rails=4, planes=2, spines=2, uplinks=4),
    "planned by RDMA device": Shape(hosts=6, rails=8, spines=2, uplinks=4, host_ports="rdma"),
}
FAULTS: dict[CauseKind, tuple[str, ...]] = {
    CauseKind.CABLE_SWAP: ("one-host", "one-leaf", "across"),
    CauseKind.CABLE_ROTATION: ("hosts", "one-host"),
    CauseKind.CABLE_MOVE: ("one-leaf", "other-leaf"),
    CauseKind.LINK_DOWN: ("host", "uplink"),
    CauseKind.DEGRADED_LINK: ("host", "uplink"),
    CauseKind.UNREACHABLE: ("off", "hung"),
}
_OF_SPINES = frozenset(("uplink", "uplinks"))
FORMS = ("2.4", "2.8", "2.12", "2.20", "2.27", "rccl 2.20")
PREFIXES = ("", "[1,{rank}]<stdout>:", "(Worker pid={rank}, ip=10.0.0.1) ", "[2026-11-20 14:00:00] ", "{rank}: ")

Key = tuple[str, int, int, int, int, str]
"""Host, channel, connection, sending rank, receiving rank, direction."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A job. `rails` are those on which each end is plugged in, `crossings` the connections (channel, connection,
    ranks) of which the log has both ends, on different rails; `on_path` whether a cable that it uses has a fault.
    """

    seed: int
    simulation: Simulation
    log: str
    form: str
    rails: dict[Key, frozenset[int]]
    crossings: frozenset[tuple[int, int, int, int]]
    whole: bool
    """Whether the log has both ends of all connections."""
    on_path: bool
    """Whether a cable or a device that it uses has a fault, or does not answer."""
    rings: dict[int, tuple[int, ...]]
    """By channel the order of ranks; empty if the log does not have it."""
    steps: frozenset[tuple[str, int, int, int]]
    """`ring` or `tree`, channel and ranks of each connection of one between hosts."""


@dataclass(frozen=True, slots=True)
class _Nic:
    """A NIC of a host: the planned ports of its planes, their RDMA devices, and its index for NCCL."""

    ports: tuple[Port, ...]
    devices: tuple[str, ...]
    index: int


@dataclass(frozen=True, slots=True)
class _End:
    """One end: the rail that its NIC has in the plan, and the rank that sends in another one's place. `kind` is what it
    is a step of.
    """

    key: Key
    rail: int
    proxy: int | None
    kind: str = ""


def draw(seed: int) -> Drawn:
    """The job of this seed: every third fabric has no fault."""
    rng = Random(f"nccl {seed}")  # noqa: S311 - reproducible is what is wanted, not secret
    shape = rng.choice(list(SHAPES.values()))
    faults = []
    if seed % 3:
        kind = rng.choice(list(FAULTS))
        known = [one for one in FAULTS[kind] if shape.spines or one not in _OF_SPINES]
        faults = [Fault(kind, rng.choice(known))]
    simulation = simulate(shape, faults, seed=seed)
    hosts = rng.sample(sorted(simulation.world.fabric.models), rng.randint(2, min(5, shape.hosts)))
    writer = _Writer(rng, simulation, hosts, rng.choice(FORMS))
    return writer.drawn(seed)


class _Writer:
    def __init__(self, rng: Random, simulation: Simulation, hosts: list[str], form: str) -> None:
        self.rng = rng
        self.simulation = simulation
        self.hosts = hosts
        self.form = form
        self.plan: Plan = simulation.plan
        self.rails = simulation.world.fabric.shape.rails
        self.cross = rng.random() < 0.4
        self.pxn = form not in ("2.4", "2.8")
        self.loss = rng.choice((0.0, 0.0, 0.0, 0.02))
        self.prefix = rng.choice(PREFIXES)
        self.nics = {host: self._nics(host) for host in hosts}
        self.silent = set(rng.sample(hosts, rng.randint(1, len(hosts) - 1))) if rng.random() < 0.3 else set()

    def drawn(self, seed: int) -> Drawn:
        """The log and its truth."""
        ends = [end for end in self._ends() if end.key[0] not in self.silent]
        lost = {end.key for end in ends if self.rng.random() < self.loss}
        lines = [*self._heads(), *(self._line(end) for end in ends if end.key not in lost)]
        rails = {end.key: self._rails(end.key[0], end.rail) for end in ends if end.key not in lost}
        both: dict[tuple[int, int, int, int], list[frozenset[int]]] = {}
        for key, found in rails.items():
            both.setdefault(key[1:5], []).append(found)
        crossings = {key for key, found in both.items() if len(found) == 2 and all(found) and not found[0] & found[1]}
        first = self.hosts[0] not in self.silent
        kinds = {"ring", "tree"} if first else {"tree"}
        there = [end for end in ends if end.kind in kinds and end.key in rails]
        steps = {(end.kind, *(end.key[at] for at in (1, 3, 4))) for end in there}
        return Drawn(
            seed,
            self.simulation,
            self._mangled(lines),
            self.form,
            rails,
            frozenset(crossings),
            not self.silent and not lost,
            self._is_affected(crosses=bool(crossings) or self.cross),
            {channel: self._ring(channel) for channel in range(2 * self.rails)} if first else {},
            frozenset(steps),  # type: ignore[arg-type]  # mypy cannot count the parts of a key
        )

    def _is_affected(self, *, crosses: bool) -> bool:
        """Whether a fault is on a cable or a device of the job. `crosses`: whether it uses uplinks."""
        truth = self.simulation.truth
        ports = {port for host in self.hosts for nic in self.nics[host] for port in nic.ports}
        cables = [cable for cable in self.plan.cables if cable.a in ports]
        leaves = {cable.b.device for cable in cables}
        if crosses:
            cables += [cable for cable in self.plan.cables if cable.a.device in leaves]
        places = {str(end) for cable in cables for end in cable[:2]}
        devices = {end.device for cable in cables for end in cable[:2]}
        affected = {str(port) for port in (*truth.wrong, *truth.missing)}
        for cause in (*truth.causes, *truth.noise):
            affected |= {*cause.subjects, *map(str, cause.cables)}
        return bool(affected & (places | devices))

    def _ring(self, channel: int) -> tuple[int, ...]:
        """The ring of a channel: each host is entered at one rank and left at the next one, the others between."""
        enters, leaves = self._doors(channel)
        inside = [enters, *(gpu for gpu in range(self.rails) if gpu not in (enters, leaves)), leaves]
        return tuple(at * self.rails + gpu for at in range(len(self.hosts)) for gpu in inside)

    def _doors(self, channel: int) -> tuple[int, int]:
        enters = channel % self.rails
        return enters, (enters + 1) % self.rails

    def _nics(self, host: str) -> list[_Nic]:
        """The NICs of a host by rail. NCCL numbers devices in their own order, not by rail."""
        model = self.simulation.world.fabric.models[host]
        by_name = {one: slot for slot in model.names for one in (slot.netdev, slot.rdma, slot.pci)}
        of: dict[int, list[tuple[Port, str]]] = {}
        for cable in self.plan.cables:
            if cable.a.device == host and cable.rail is not None:
                of.setdefault(cable.rail, []).append((cable.a, by_name[cable.a.name].rdma))
        order = sorted(of, key=lambda rail: min(device_number(rdma) for _, rdma in of[rail]))
        return [
            _Nic(tuple(port for port, _ in of[rail]), tuple(rdma for _, rdma in of[rail]), order.index(rail))
            for rail in sorted(of)
        ]

    def _rails(self, host: str, rail: int) -> frozenset[int]:
        """The rails where the cables of a NIC are really plugged in; empty if one is in no railed port."""
        found = []
        for port in self.nics[host][rail].ports:
            place = self.simulation.truth.wiring.get(port, self.plan.peer_of(port))
            found.append(None if place is None else self.plan.rail_of(place))
        return frozenset() if None in found else frozenset(rail for rail in found if rail is not None)

    def _ends(self) -> Iterator[_End]:
        """Every end. A ring that does not cross leaves a host on the rail on which it enters."""
        size, width = len(self.hosts), self.rails
        for channel in range(2 * width):
            enters, leaves = self._doors(channel)
            rail = leaves if self.cross else enters
            for at, host in enumerate(self.hosts):
                after = (at + 1) % size
                pair = (at * width + leaves, after * width + enters)
                proxy = at * width + rail if rail != leaves and self.pxn else None
                yield _End((host, channel, 0, *pair, "send"), rail, proxy, "ring")
                yield _End((self.hosts[after], channel, 0, *pair, "receive"), enters, None, "ring")
                if at:
                    up = (at - 1) // 2
                    ranks = (at * width + enters, up * width + enters)
                    for kind, (source, target) in (("tree", ranks), ("", ranks[::-1])):
                        sender, receiver = self.hosts[source // width], self.hosts[target // width]
                        yield _End((sender, channel, 0, source, target, "send"), enters, None, kind)
                        yield _End((receiver, channel, 0, source, target, "receive"), enters, None, kind)
        for at, host in enumerate(self.hosts) if self.pxn else ():
            after = (at + 1) % size
            gpu, other = self.rng.sample(range(width), 2)
            pair = (at * width + gpu, after * width + other)
            yield _End((host, at, 1, *pair, "send"), other, at * width + other)
            yield _End((self.hosts[after], at, 1, *pair, "receive"), other, None)

    def _head(self, host: str, gpu: int) -> str:
        rank = self.hosts.index(host) * self.rails + gpu
        return f"{self.prefix.format(rank=rank)}{host}:{3000 + gpu}:{4000 + gpu} [{gpu}] NCCL INFO "

    def _heads(self) -> Iterator[str]:
        fused = len(self.nics[self.hosts[0]][0].ports) > 1
        for host in self.hosts:
            if host in self.silent:
                continue
            by_index = sorted(self.nics[host], key=lambda nic: nic.index)
            listed = " ".join(
                f"[{nic.index}]={{{', '.join(f'[{n}] {one}:1/RoCE' for n, one in enumerate(nic.devices))}}}"
                if fused
                else f"[{nic.index}]{nic.devices[0]}:1/RoCE"
                for nic in by_index
            )
            for gpu in range(self.rails):
                head = self._head(host, gpu)
                yield f"{head}NET/IB : Using {listed} [RO]; OOB eth0:10.0.0.{self.hosts.index(host)}<0>"
                yield f"{head}Using network IB"
                yield f"{head}NCCL_CROSS_NIC set by environment to {int(self.cross)}."
                yield from self._shapes(host, gpu)

    def _shapes(self, host: str, gpu: int) -> Iterator[str]:
        """What a rank prints of itself, of rings (the first rank alone), and of its place in the trees."""
        head, width = self._head(host, gpu), self.rails
        at, count = self.hosts.index(host), len(self.hosts) * width
        named = "" if self.form in ("2.4", "2.8", "2.12") else f" nvmlDev {gpu} busId {16 + 8 * gpu:x}000 commId 0x45a3"
        yield f"{head}comm 0x5581a86a1830 rank {at * width + gpu} nranks {count} cudaDev {gpu}{named} - Init COMPLETE"
        trees = []
        for channel in range(2 * width):
            enters = channel % width
            if at == 0 and gpu == 0:
                yield f"{head}Channel {channel:02}/{2 * width:02} : {' '.join(map(str, self._ring(channel)))}"
            below = [one for one in (2 * at + 1, 2 * at + 2) if one < len(self.hosts)] if gpu == enters else []
            after = (gpu + 1) % width
            inside = [at * width + after] if after != enters else []
            up = at * width + (gpu - 1) % width if gpu != enters else (at - 1) // 2 * width + enters if at else -1
            down = [*(one * width + enters for one in below), *inside, -1, -1, -1][:3]
            trees.append(f"[{channel}] {'/'.join(map(str, down))}->{at * width + gpu}->{up}")
        yield f"{head}Trees {' '.join(trees)}"

    def _line(self, end: _End) -> str:
        (host, channel, connection, source, target, direction), rail, proxy = end.key, end.rail, end.proxy
        gpu = (source if direction == "send" else target) % self.rails
        index = self.nics[host][rail].index
        via = f"{index}({proxy})" if proxy is not None else f"{index}"
        from_gpu, to_gpu = (self._gpu(rank % self.rails) for rank in (source, target))
        where = f"{source}{from_gpu} -> {target}{to_gpu} [{direction}] via NET/IB/{via}/GDRDMA"
        head = self._head(host, gpu)
        if self.form == "2.4":
            return f"{head}Ring {channel:02} : {where}"
        if self.form == "2.8":
            return f"{head}Channel {channel:02} : {where}"
        tail = f" comm 0x5581a86a1830 nRanks {len(self.hosts) * self.rails:02}" if self.form.startswith("rccl") else ""
        return f"{head}Channel {channel:02}/{connection} : {where}{'/Shared' if connection else ''}{tail}"

    def _gpu(self, gpu: int) -> str:
        if self.form == "2.4":
            return ""
        return f"[{16 + 8 * gpu:x}000]" if self.form in ("2.8", "2.12") else f"[{gpu}]"

    def _mangled(self, lines: list[str]) -> str:
        """The lines as a terminal, a launcher or a pipe leaves them. Order is kept within a process only by chance."""
        self.rng.shuffle(lines)
        how = self.rng.choice(("plain", "plain", "wrapped", "glued", "crlf"))
        if how == "wrapped":
            width = self.rng.randint(110, 180)
            lines = [line[at : at + width] for line in lines for at in range(0, len(line), width)]
        if how == "glued":
            return "          ".join(lines)
        return ("\r\n" if how == "crlf" else "\n").join(lines) + "\n"
