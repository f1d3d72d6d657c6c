"""The cable lists that people write: a plan under other names for ports, NICs and devices than the devices' own.

Each form names the ends of a plan as somebody does who never logs in to a device. The fabric stays the same, so the
truth about each cable is that of the plan under its own names.

python -m benchmarks.accuracy.lists [--runs 1000] [--write benchmarks/results/accuracy.md] [--show] [--form NAME] [--seed N]
"""

import argparse
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing import Pool
from pathlib import Path
from random import Random

from rich.console import Console

from benchmarks.accuracy.fabrics import SHAPES
from benchmarks.sections import Section
from truerail.analysis.round import Round
from truerail.model import CableState, CauseKind, Evaluation, Plan, Port, Role, Snapshot
from truerail.model.index import Devices
from truerail.rounds import evaluate
from truerail.simulator import Noise, Simulation, simulate

SECTION = Section("lists")
RUNS = 1000
SEEN = {"all": tuple(Role), "switches": (Role.LEAF, Role.SPINE, Role.SUPERSPINE)}
"""Whose answers there are."""
PLATFORMS = ("cumulus", "sonic", "eos", "nxos", "junos")
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Form:
    """How a list names ports of switches, by their number on the front from 1; NICs, by their rail from 0 and plane;
    and devices. None leaves the devices' own names. `clear` forms have one map to the devices' names.
    """

    port: Callable[[int], str] | None = None
    nic: Callable[[int, int], str] | None = None
    device: Callable[[str], str] | None = None
    clear: bool = True


def _unpadded(name: str) -> str:
    return _NUMBER.sub(lambda found: str(int(found[0])), name)


def _padded(name: str) -> str:
    return _NUMBER.sub(lambda found: found[0].zfill(2), name)


FORMS: Mapping[str, Form] = {
    "ports 1/N": Form(lambda n: f"1/{n}"),
    "ports N": Form(str),
    "ports PN": Form(lambda n: f"P{n}"),
    "ports Port N": Form(lambda n: f"Port {n}"),
    "ports port-0N": Form(lambda n: f"port-{n:02}"),
    "ports EthN": Form(lambda n: f"Eth{n}"),
    "ports Eth1/N": Form(lambda n: f"Eth1/{n}"),
    "ports Ethernet1/N": Form(lambda n: f"Ethernet1/{n}"),
    "ports EthernetN/1": Form(lambda n: f"Ethernet{n}/1"),
    "ports EthernetN": Form(lambda n: f"Ethernet{n}"),
    "ports swpN": Form(lambda n: f"swp{n}"),
    "ports swp0N": Form(lambda n: f"swp{n:02}"),
    "ports swpN (400G)": Form(lambda n: f"swp{n} (400G)"),
    "ports swpN - QSFP112": Form(lambda n: f"swp{n} - QSFP112"),
    "ports etpN": Form(lambda n: f"etp{n}"),
    "ports 1/1/N": Form(lambda n: f"1/1/{n}"),
    "ports 0/0/N": Form(lambda n: f"0/0/{n - 1}"),
    "ports N from 0": Form(lambda n: str(n - 1)),
    "ports N in order of cages and halves": Form(lambda n: f"{(n + 1) // 2}/{(n + 1) % 2 + 1}"),
    "ports Na, Nb": Form(lambda n: f"{(n + 1) // 2}{'ab'[(n + 1) % 2]}"),
    "ports swpNs0": Form(lambda n: f"swp{(n + 1) // 2}s{(n + 1) % 2}"),
    "ports N + 100": Form(lambda n: f"P{n + 100}", clear=False),
    "NICs railN": Form(nic=lambda r, p: f"rail{r}" + (f"p{p}" if p else "")),
    "NICs rail-N from 1": Form(nic=lambda r, p: f"rail-{r + 1}" + "ab"[p]),
    "NICs GPUN": Form(nic=lambda r, p: f"GPU{r}" + (f"/{p}" if p else "")),
    "NICs N": Form(nic=lambda r, p: str(1 + r) + ("b" if p else "")),
    "NICs OSFPN": Form(nic=lambda r, p: f"OSFP{r + 1}" + (f"P{p + 1}")),
    "NICs OSFP, two a cage": Form(nic=lambda r, p: f"OSFP{4 - r // 2}P{2 - r % 2}" + (f"/{p}" if p else "")),
    "NICs Slot N Port 1": Form(nic=lambda r, p: f"Slot {r + 1} Port {p + 1}"),
    "NICs Port N": Form(nic=lambda r, p: f"Port {r}" + (f".{p}" if p else "")),
    "NICs NICN": Form(nic=lambda r, p: f"NIC{r + 1}" + (f"-{p}" if p else "")),
    "NICs nicN": Form(nic=lambda r, p: f"nic{r}" + (f"-{p}" if p else "")),
    "NICs mlx5_N": Form(nic=lambda r, p: f"mlx5_{r}" + (f"-{p}" if p else ""), clear=False),
    "NICs ethN": Form(nic=lambda r, p: f"eth{r}" + (f"-{p}" if p else ""), clear=False),
    "devices gpu-1": Form(device=_unpadded),
    "devices leaf-01": Form(device=_padded),
    "devices GPU_001": Form(device=lambda name: name.upper().replace("-", "_")),
    "devices R01-gpu-001": Form(device=lambda name: f"R01-{name}"),
    "devices SU1-R05-GPU01": Form(device=lambda name: f"SU1-R05-{_padded(name.replace('-', '')).upper()}"),
    "devices gpu-001.hall.example": Form(device=lambda name: f"{name}.hall.example"),
    "devices node001, sw-leaf-1": Form(
        device=lambda name: name.replace("gpu-", "node") if name.startswith("gpu") else f"sw-{name}"
    ),
    "ports 1/N, NICs railN": Form(lambda n: f"1/{n}", lambda r, p: f"rail{r}" + (f"p{p}" if p else "")),
    "ports PN, NICs N, devices gpu-1": Form(
        lambda n: f"P{n}", lambda r, p: str(1 + r) + ("b" if p else ""), lambda name: _unpadded(name)
    ),
}


@dataclass(frozen=True, slots=True)
class Written:
    """A plan in somebody's words, and the planned port that each of its ports is."""

    plan: Plan
    own: Mapping[Port, Port]


def written(simulation: Simulation, form: Form) -> Written:
    """The plan of a fabric as a list of this form names it."""
    plan, numbers = simulation.plan, _numbers(simulation)

    def device(name: str) -> str:
        return form.device(name) if form.device else name

    def end(port: Port, rail: int | None, plane: int | None) -> Port:
        if port in numbers and form.port:
            return Port(device(port.device), form.port(numbers[port]))
        if port not in numbers and form.nic and rail is not None:
            return Port(device(port.device), form.nic(rail, plane or 0))
        return Port(device(port.device), port.name)

    cables = [
        cable._replace(a=end(cable.a, cable.rail, cable.plane), b=end(cable.b, cable.rail, cable.plane))
        for cable in plan.cables
    ]
    pairs = [
        (new, old)
        for one, was in zip(cables, plan.cables, strict=True)
        for new, old in zip(one[:2], was[:2], strict=True)
    ]
    devices = {device(name): replace(one, name=device(name)) for name, one in plan.devices.items()}
    return Written(replace(plan, devices=devices, cables=tuple(cables)), dict(pairs))


def _numbers(simulation: Simulation) -> dict[Port, int]:
    """The number on the front of each switch's port."""
    ports = simulation.world.fabric.ports
    return {Port(switch, name): n for switch, names in ports.items() for n, name in enumerate(names, 1)}


@dataclass(slots=True)
class Verdict:
    """What an evaluation did to the cables of one list."""

    form: str
    seed: int
    moved_right: int = 0
    called_wrong: int = 0
    called_missing: int = 0
    lost: int = 0
    unknown: int = 0
    asked: bool = False
    said: list[str] = field(default_factory=list)

    @property
    def mistaken(self) -> bool:
        """Whether a cable has a state that it does not have."""
        return bool(self.moved_right or self.called_wrong or self.called_missing or self.lost)


def judged(form: str, seed: int, simulation: Simulation, evaluation: Evaluation, own: Mapping[Port, Port]) -> Verdict:
    """Compares what is said of each cable with the physical truth."""
    truth, verdict = simulation.truth, Verdict(form, seed)
    by_name = {port for one in truth.causes if one.kind is CauseKind.GPU_NIC_ORDER for port in one.cables}
    for port, state in evaluation.cable_states.items():
        true = own[port]
        if FORMS[form].nic and true in by_name:
            continue  # a list without the NICs' own names is not wrong about them
        verdict.called_wrong += state is CableState.WRONG and true not in truth.wrong
        verdict.called_missing += (
            state is CableState.MISSING and true not in truth.missing | truth.unknown | truth.wrong
        )
        verdict.lost += state is CableState.RIGHT and true in truth.wrong | truth.missing
        verdict.unknown += state is CableState.UNKNOWN and true not in truth.unknown
    for cause in evaluation.causes:
        moved = [own.get(move.cable, move.cable) for move in cause.moves]
        verdict.moved_right += sum(port not in truth.wrong | truth.moved | truth.missing for port in moved)
    verdict.asked = any(finding.rule == "CAB011" for finding in evaluation.findings)
    verdict.said = [f"{cause.kind}: {cause.summary}" for cause in evaluation.causes][:6]
    return verdict


SHAPES_OF_LISTS = tuple(name for name, shape in SHAPES.items() if shape.host_ports == "netdev")


def run(seed: int, form: str = "", shapes: Sequence[str] = SHAPES_OF_LISTS) -> Verdict:
    """One fabric, with up to two faults, under one form."""
    rng = Random(f"list {seed}")  # noqa: S311 - reproducible is what is wanted, not secret
    name = form or list(FORMS)[seed % len(FORMS)]
    shape = rng.choice(shapes)
    noise = rng.choice((Noise(), Noise(unreachable=0.05, deaf=0.10)))
    faults = rng.choice((0, 1, 2))
    of_shape = replace(SHAPES[shape], platforms=(rng.choice(PLATFORMS),))
    simulation = simulate(of_shape, faults, noise, seed)
    seen = rng.choice(("all", "all", "all", "switches"))
    snapshot = _seen(simulation, SEEN[seen])
    list_ = written(simulation, FORMS[name])
    evaluation = evaluate(Round(list_.plan, snapshot))
    verdict = judged(name, seed, simulation, evaluation, list_.own)
    if verdict.unknown or verdict.mistaken:  # what the devices' own names do not show either is no fault of the list
        own = evaluate(Round(simulation.plan, snapshot))
        _without(verdict, judged(name, seed, simulation, own, {port: port for port in list_.own.values()}))
    verdict.said.insert(0, f"{shape}, {of_shape.platforms[0]}, {faults} faults, {seen}, {noise == Noise()}")
    return verdict


def _seen(simulation: Simulation, roles: Collection[Role]) -> Snapshot:
    whole, known = simulation.snapshot(), Devices(simulation.plan)
    readings = [one for one in whole.readings if simulation.plan.role_of(known.names[known.find(one.device)]) in roles]
    return Snapshot(whole.at, readings)


def _without(verdict: Verdict, own: Verdict) -> None:
    for name in ("moved_right", "called_wrong", "called_missing", "lost", "unknown"):
        setattr(verdict, name, max(0, getattr(verdict, name) - getattr(own, name)))


def _counted(one: Verdict) -> dict[str, int]:
    right = not one.mistaken and not one.unknown
    return {
        "runs": 1,
        "moved": int(one.moved_right > 0),
        "false": int(one.called_wrong + one.called_missing > 0),
        "lost": int(one.lost > 0),
        "right": int(right),
        "asked": int(one.asked and not one.mistaken and not right),
    }


def section(found: Iterable[Verdict]) -> str:
    """The section of the page: a row for each form."""
    rows: dict[str, Counter[str]] = {}
    for one in found:
        for name in (one.form, "all"):
            rows.setdefault(name, Counter()).update(_counted(one))
    table = "\n".join(
        f"| {name} | {of['runs']} | {of['moved']} | {of['false']} | {of['lost']} | {of['right']} | {of['asked']} |"
        for name, of in sorted(rows.items(), key=lambda row: (row[0] == "all", row[0]))
    )
    return SECTION.marked(f"""## Lists as people write them

Fabrics with up to two faults, and a list that names ports, NICs or devices as people do; one fabric in four without any
host's answer, half of the others with hosts that do not answer or do not listen. Each cable is judged by its physical
ends, beside what the same answers show under the devices' own names. *Moved*, *false* and *lost* are runs in which a
right cable is moved, a right one called wrong or missing, a wrong one called right; *right* those in which every cable
has its state, *asked* those in which what is unknown is a question. `python -m benchmarks.accuracy.lists`
writes this section.

| list | runs | moved | false | lost | right | asked |
|---|---|---|---|---|---|---|
{table}
""")


def main() -> None:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--write", type=Path, help="write the section to this file")
    parser.add_argument("--show", action="store_true", help="print what was said where it is wrong")
    parser.add_argument("--form", default="", help="this form alone")
    parser.add_argument("--seed", type=int, help="this fabric alone")
    options = parser.parse_args()
    seeds = [options.seed] if options.seed is not None else [*range(options.runs)]
    console = Console()
    with Pool() as pool:
        found = pool.starmap(run, [(seed, options.form) for seed in seeds], chunksize=4)
    for one in found:
        if options.show and (one.mistaken or one.unknown):
            console.print(str(one), markup=False, soft_wrap=True)
    text = section(found)
    console.print(text, markup=False, soft_wrap=True)
    if options.write:
        page = options.write.read_text(encoding="utf-8")
        options.write.write_text(SECTION.placed(page, text), encoding="utf-8")


if __name__ == "__main__":
    main()
