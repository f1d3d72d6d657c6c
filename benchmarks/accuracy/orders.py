"""Orders of moves on random fabrics of every kind, replayed on what is really wired, and beside the exact optimum.

    python -m benchmarks.accuracy.orders FROM TO [--state FILE]     the fabrics of these seeds
    python -m benchmarks.accuracy.orders 0 5040 --permutations 7    all permutations of so many cables on one leaf
    python -m benchmarks.accuracy.orders --seed 17                  one fabric and its orders

With `--state` the tally is written to a file every few fabrics, and a run that was interrupted goes on from there.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice, permutations
from pathlib import Path
from random import Random

from rich.console import Console

from benchmarks.accuracy.exact_orders import Link, fewest_moves
from rules._examples import hears
from truerail.analysis.round import Round
from truerail.analysis.rule import Case
from truerail.model import Cable, Cause, Device, Evaluation, Neighbor, Plan, Port, Role, Snapshot
from truerail.model.names import natural_key
from truerail.rounds import evaluate
from truerail.simulator import Noise, Shape, simulate
from truerail.simulator.fabric.world import World
from truerail.testing.cases import scene
from truerail.verify import Links, Proof, both_ways

SHAPES = (
    Shape(hosts=5, rails=1, spines=0),
    Shape(hosts=5, rails=2, spines=2, uplinks=4),
    Shape(hosts=8, rails=4, spines=2, uplinks=4),
    Shape(hosts=12, rails=2, spines=0),
    Shape(hosts=8, rails=4, rails_per_leaf=2, spines=2, uplinks=4),
    Shape(hosts=8, rails=4, rails_per_leaf=2, stride=True, spines=2, uplinks=4),
    Shape(hosts=6, rails=2, planes=2, spines=2, uplinks=4),
    Shape(hosts=8, rails=2, pods=2, spines=2, uplinks=4, superspines=2),
    Shape(hosts=9, rails=2, pods=3, spines=2, uplinks=4),
    Shape(hosts=6, rails=2, gpus=4, spines=2, uplinks=2),
    Shape(hosts=6, rails=2, spines=2, uplinks=2, storage=True, models=("xe9680", "dgx-h100")),
    Shape(hosts=6, rails=4, spines=2, uplinks=2, host_ports="rdma", platforms=("sonic", "eos")),
    Shape(hosts=6, rails=2, spines=2, uplinks=4, host_ports="rdma", platforms=("infiniband",)),
)
MOST_EXACT = 24
"""Most wrong cables for which the optimum is computed: what is judged takes a few milliseconds more."""
_SAVED_EVERY = 100


@dataclass(frozen=True, slots=True)
class Hall:
    """A fabric with wrong cables: its plan, what its devices report, and its links by the names that devices have."""

    plan: Plan
    snapshot: Snapshot
    links: Links
    kind: str


def ring(hosts: int) -> Plan:
    """The first port of each host to the second one of the next."""
    cables = tuple(Cable(Port(f"h{i}", "p1"), Port(f"h{(i + 1) % hosts}", "p0")) for i in range(hosts))
    return Plan({f"h{i}": Device(f"h{i}", Role.HOST) for i in range(hosts)}, cables)


def mesh(hosts: int) -> Plan:
    """Each host to each other one."""
    pairs = combinations(range(hosts), 2)
    cables = tuple(Cable(Port(f"h{i}", f"p{j - i}"), Port(f"h{j}", f"p{hosts + i - j}")) for i, j in pairs)
    return Plan({f"h{i}": Device(f"h{i}", Role.HOST) for i in range(hosts)}, cables)


def rails_apart(hosts: int, rails: int) -> Plan:
    """Two leaves and a spine for each rail, and no way from one rail to another."""
    devices = {f"h{i}": Device(f"h{i}", Role.HOST, gpus=rails) for i in range(hosts)}
    cables: list[Cable] = []
    for rail in range(rails):
        devices[f"s{rail}"] = Device(f"s{rail}", Role.SPINE)
        for half in range(2):
            leaf = f"l{rail}-{half}"
            devices[leaf] = Device(leaf, Role.LEAF)
            cables += [Cable(Port(leaf, f"swp{50 + up}"), Port(f"s{rail}", f"swp{2 * half + up}")) for up in range(2)]
            mine = range(half, hosts, 2)
            cables += [Cable(Port(f"h{i}", f"n{rail}"), Port(leaf, f"swp{i // 2 + 1}"), rail=rail) for i in mine]
    return Plan(devices, tuple(cables))


def draw(seed: int) -> Hall:
    """The fabric of this seed, with one to four faults on top of each other."""
    rng = Random(f"orders {seed}")  # noqa: S311 - reproducible is what is wanted, not secret
    if seed % 4 == 3:
        plan = rng.choice((ring, mesh))(rng.randint(3, 6)) if rng.random() < 0.7 else rails_apart(6, rng.randint(1, 3))
        far = both_ways({cable.a: cable.b for cable in plan.cables})
        kinds = [_fault(plan, far, [], rng) for _ in range(rng.randint(1, 3))]
        return heard(plan, far, " ".join(kinds))
    shape = rng.choice(SHAPES)
    simulation = simulate(shape, 0, Noise(), seed, folders=rng.choice(("hostname", "inventory")))
    world, plan = simulation.world, simulation.plan
    spare = [Port(switch, name) for switch, names in world.fabric.spare.items() for name in names]
    kinds = [_fault(plan, world.far, spare, rng) for _ in range(rng.randint(1, 4))]
    if rng.random() < 0.2:
        kinds.append(_names(plan, world, rng))
    links = {world.announced_port(here): world.announced_port(there) for here, there in world.far.items()}
    return Hall(plan, simulation.snapshot(), links, " ".join(kinds))


def heard(plan: Plan, far: Links, kind: str) -> Hall:
    """A fabric whose devices hear by LLDP what is in their ports, and report nothing else."""
    facts: dict[str, list[Neighbor]] = {name: [] for name in plan.devices}
    for port, there in sorted(far.items()):
        facts[port.device].append(hears(port.name, str(there)))
    return Hall(plan, scene(Case(facts)).snapshot, far, kind)


def _names(plan: Plan, world: World, rng: Random) -> str:
    role = rng.choice((Role.HOST, Role.LEAF))
    alike = rng.choice([device for device in plan.devices.values() if device.role is role])
    names = [one.name for one in plan.devices.values() if (one.role, one.platform) == (role, alike.platform)]
    if len(names) > 1 and not world.fabric.shape.infiniband:
        one, other = rng.sample(names, 2)
        world.hostname |= {one: other, other: one}
    return f"{role}-names"


def _fault(plan: Plan, far: Links, spare: list[Port], rng: Random) -> str:
    """Exchanges plugs of a part of the fabric. Each kind draws the ports whose plugs go to the next of them."""
    cables = [cable for cable in plan.cables if rng.random() < 0.9 or cable.rail is not None] or list(plan.cables)
    device = rng.choice(cables).b.device
    on = sorted((c.b for c in cables if c.b.device == device), key=lambda port: natural_key(port.name))
    ends = sorted({end for cable in cables for end in (cable.b, cable.a)})
    kind = rng.choice(("shift", "swap", "rotate", "hosts", "cross", "free", "lost"))
    match kind:
        case "shift":
            first, count = rng.randrange(len(on)), rng.randint(3, 8)
            block = [*on[first : first + count], *rng.sample(spare, bool(spare) and rng.random() < 0.3)]
            _turn(far, block if rng.random() < 0.5 else block[::-1])
        case "swap" | "rotate":
            among = rng.choice((on, [cable.b for cable in cables]))
            _turn(far, rng.sample(among, min(len(among), 2 if kind == "swap" else rng.randint(3, 5))))
        case "hosts":
            host = rng.choice(cables).a.device
            own = [end for end in ends if end.device == host]
            _turn(far, rng.sample(own, min(len(own), 2)))
        case "cross":
            one, other = rng.choices(sorted({cable.b.device for cable in cables}), k=2)
            for port in [end for end in ends if end.device == one != other]:
                _turn(far, [port, Port(other, port.name)] if Port(other, port.name) in ends else [])
        case "free":
            _turn(far, [rng.choice(on), *rng.sample(spare, min(len(spare), 1))])
        case _:
            port = rng.choice(on)
            far.pop(far.pop(port, port), None)
    return kind


def _turn(far: Links, ports: list[Port]) -> None:
    """The plug of each port goes to the next one. A cable never ends at both ports of itself."""
    peers = [far.get(port) for port in ports]
    if len(ports) < 2 or {*ports} & {*peers}:
        return
    for port in ports:
        far.pop(far.pop(port, port), None)
    for port, peer in zip([*ports[1:], ports[0]], peers, strict=True):
        if peer is not None:
            far[port], far[peer] = peer, port


def permuted(count: int) -> Iterator[Hall]:
    """All permutations of the cables of so many hosts on one leaf."""
    devices = {f"h{i}": Device(f"h{i}", Role.HOST, gpus=1) for i in range(count)}
    cables = tuple(Cable(Port(f"h{i}", "n0"), Port("leaf-0", f"swp{i + 1}"), rail=0) for i in range(count))
    plan = Plan(devices | {"leaf-0": Device("leaf-0", Role.LEAF)}, cables)
    for order in permutations(cables):
        yield heard(plan, both_ways({one.a: other.b for one, other in zip(cables, order, strict=True)}), "permutation")


def judged(hall: Hall) -> tuple[Counter[str], list[str]]:
    """What the orders of a fabric are, and what is wrong with them, or with those that `evaluate` refused."""
    evaluation = evaluate(Round(hall.plan, hall.snapshot))
    causes = evaluation.causes
    proof = Proof(causes, hall.links, hall.plan)
    problems = [f"{one.id} {one.kind}: {proof.broken[one.key]}" for one in causes if one.key in proof.broken]
    refused = [f"{one.id}: {one.summary}" for one in causes if one.unproven]
    problems += [
        f"{times} causes have the key {key}" for key, times in Counter(c.key for c in causes).items() if times > 1
    ]
    moves = [move for cause in causes for move in cause.moves]
    tally = Counter(fabrics=1, orders=sum(bool(one.moves) for one in causes), moves=len(moves))
    tally["invalid"], tally["refused"] = bool(problems), bool(refused)
    if not problems:
        tally += _beside_optimum(hall, proof, len(moves), problems)
        tally["left"] = _left(hall, proof, evaluation)
    return tally, problems + refused


def _beside_optimum(hall: Hall, proof: Proof, moves: int, problems: list[str]) -> Counter[str]:
    planned = _links({cable.a: cable.b for cable in hall.plan.cables})
    names = Proof([one for one in proof.causes if not one.moves], hall.links, hall.plan).ends()
    before, after = _links(names), _links(proof.ends())
    wanted, wrong = (after & planned) - before, before - planned
    if len(wanted) > MOST_EXACT:
        return Counter(not_computed=1)
    best = fewest_moves(wrong, wanted)
    if moves != best:
        problems.append(f"{moves} moves, {best} are enough")
    return Counter(optimal=moves == best, not_optimal=moves != best)


def _left(hall: Hall, proof: Proof, evaluation: Evaluation) -> bool:
    """Whether a cable that could be moved is neither moved nor part of an open question."""
    asked = any(one.alternatives or one.to_confirm for one in evaluation.causes)
    ends = proof.ends()
    loose = [c for c in hall.plan.cables if ends.get(c.a) != c.b and (c.a in hall.links or c.b in hall.links)]
    free = [c for c in loose if ends.get(c.a) is not None or ends.get(c.b) is not None]
    return bool(free) and not asked


def _links(far: Links) -> set[Link]:
    return {frozenset(pair) for pair in far.items()}


def show(seed: int, console: Console) -> None:
    """Prints one fabric's orders."""
    hall = draw(seed)
    console.print(hall.kind, markup=False)
    for cause in evaluate(Round(hall.plan, hall.snapshot)).causes:
        console.print(_shown(cause), markup=False)
    console.print(judged(hall), markup=False)


def _shown(cause: Cause) -> str:
    moves = "".join(f"\n    {m.cable}: {m.source} -> {m.target} {m.after}" for m in cause.moves)
    return f"{cause.id} {cause.kind} {cause.confidence}: {cause.summary}{moves}"


def run(
    halls: Callable[[int, int], Iterator[Hall]], first: int, last: int, state: Path | None, console: Console
) -> Counter[str]:
    """Judges the fabrics from `first` to before `last`, from where the state is."""
    tally: Counter[str] = Counter()
    if state and state.exists():
        kept = json.loads(state.read_text(encoding="utf-8"))
        first, tally = max(first, kept["next"]), Counter(kept["tally"])
    for number, hall in enumerate(halls(first, last), first):
        found, problems = judged(hall)
        tally += found
        for problem in problems or ["a wrong cable is left"] * found["left"]:
            console.print(f"{number} ({hall.kind}): {problem}", markup=False, soft_wrap=True)
        if state and (number % _SAVED_EVERY == 0 or number == last - 1):
            state.write_text(json.dumps({"next": number + 1, "tally": tally}), encoding="utf-8")
    return tally


def main() -> int:
    """Judges, and prints the tally; exit code 1 for an invalid order or one that is not optimal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int, nargs="?", default=0, help="the first seed")
    parser.add_argument("last", type=int, nargs="?", default=1000, help="the seed after the last one")
    parser.add_argument("--state", type=Path, help="file that keeps the tally, to go on from")
    parser.add_argument("--permutations", type=int, metavar="N", help="all permutations of N cables instead")
    parser.add_argument("--seed", type=int, help="show the fabric of one seed instead")
    options = parser.parse_args()
    console = Console()
    if options.seed is not None:
        show(options.seed, console)
        return 0

    def halls(first: int, last: int) -> Iterator[Hall]:
        if options.permutations:
            return islice(permuted(options.permutations), first, last)
        return map(draw, range(first, last))

    tally = run(halls, options.first, options.last, options.state, console)
    console.print(json.dumps(tally), markup=False, soft_wrap=True)
    return int(tally["invalid"] + tally["not_optimal"] > 0)


if __name__ == "__main__":
    sys.exit(main())
