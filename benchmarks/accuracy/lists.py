"""The cable lists that people write: a plan under other names for ports, NICs and devices than the devices' own.

The fabric stays the same, so the truth about each cable is that of the plan under its own names. The forms and the
layouts are in `list_forms`, those that are drawn, with their fabrics, in `drawn_lists`.

python -m benchmarks.accuracy.lists [--runs 1000] [--write PAGE] [--show] [--form NAME] [--seed N]
"""

import argparse
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing import Pool
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from rich.console import Console

from benchmarks.accuracy.drawn_lists import DRAWN, drawn_shape
from benchmarks.accuracy.fabrics import INFINIBAND, SHAPES
from benchmarks.accuracy.list_forms import FORMS, LAYOUTS, Form, SplitCages, as_file
from benchmarks.sections import Section
from truerail.analysis.round import Round
from truerail.model import CableState, CauseKind, Evaluation, Plan, Port, Role, Snapshot
from truerail.model.cause_kinds import CAUSE_KINDS
from truerail.model.index import Devices
from truerail.plans import load
from truerail.rounds import evaluate
from truerail.simulator import Noise, Shape, Simulation, simulate

SECTION = Section("lists")
RUNS = 1000
SEEN = {"all": tuple(Role), "switches": (Role.LEAF, Role.SPINE, Role.SUPERSPINE)}
"""Whose answers there are."""
_OF_CABLES = ("CAB001", "CAB002", "CAB003", "CAB004", "CAB006", "CAB008")
_LAYOUTS = len(LAYOUTS) + 1
_MIXED = 5
"""One fabric in so many has switches of all platforms."""
PLATFORMS = ("cumulus", "sonic", "eos", "nxos", "junos")


@dataclass(frozen=True, slots=True)
class Written:
    """A plan in somebody's words, the lower end of the planned cable at each of its ports, the lower ends of its rows
    that are wrong, and whether it has words of its own for NICs.
    """

    plan: Plan
    own: Mapping[Port, Port]
    wrong: frozenset[Port] = frozenset()
    nics: bool = False


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
    pairs = [(new, was.a) for one, was in zip(cables, plan.cables, strict=True) for new in one[:2]]
    devices = {device(name): replace(one, name=device(name)) for name, one in plan.devices.items()}
    return Written(replace(plan, devices=devices, cables=tuple(cables)), dict(pairs), nics=form.nic is not None)


def edited(list_: Written, form: Form, rng: Random) -> Written:
    """The list with what is old or wrong in it."""
    if form.edit is None:
        return list_
    plan, wrong = form.edit(rng, list_.plan)
    return replace(list_, plan=plan, wrong=wrong)


def from_file(list_: Written, layout: str) -> Written:
    """The list as it is read from a file in this layout."""
    suffix, content = as_file(layout, list_.plan)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"list{suffix}"
        path.write_bytes(content)
        return replace(list_, plan=load(path))


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


def judged(form: str, seed: int, simulation: Simulation, evaluation: Evaluation, list_: Written) -> Verdict:
    """Compares what is said of each cable with the physical truth. What a wrong row of a list says is not right, and
    is for no order but where the list is an old one. That two devices stand in each other's places in it is said to be
    possible: no device's answer shows it.
    """
    truth, verdict = simulation.truth, Verdict(form, seed)
    by_name = {port for one in truth.causes if one.kind is CauseKind.GPU_NIC_ORDER for port in one.cables}
    for port, state in evaluation.cable_states.items():
        true = list_.own[port]
        if port in list_.wrong:
            verdict.lost += state is CableState.RIGHT and true not in truth.wrong  # else it is where the list has it
            continue
        if list_.nics and true in by_name:
            continue  # a list without the NICs' own names is not wrong about them
        verdict.called_wrong += state is CableState.WRONG and true not in truth.wrong
        verdict.called_missing += (
            state is CableState.MISSING and true not in truth.missing | truth.unknown | truth.wrong
        )
        verdict.lost += state is CableState.RIGHT and true in truth.wrong | truth.missing
        verdict.unknown += state is CableState.UNKNOWN and true not in truth.unknown
    by_words = {str(port): true for port, true in list_.own.items()}
    right = {str(port) for port in list_.own} - set(map(str, list_.wrong))
    right -= {word for word, true in by_words.items() if true in truth.wrong | truth.missing | truth.unknown | by_name}
    verdict.called_wrong += sum(one.rule in _OF_CABLES and one.subject in right for one in evaluation.findings)
    exchanged = _exchanged(list_) if "exchanged" in form else frozenset[str]()
    verdict.called_wrong += sum(
        not exchanged.isdisjoint(cause.subjects) and cause.names_only and not cause.alternatives
        for cause in evaluation.causes
        if CAUSE_KINDS[cause.kind].names == "devices"
    )
    hidden = any(not exchanged.isdisjoint(one.subjects) for one in truth.causes)
    old = form.startswith("old") and (not exchanged or hidden)  # the two together look like crossed cables
    excused = {list_.own[port] for port in list_.wrong} if old else set()
    excused |= truth.moved | truth.missing | {port for one in truth.causes if not one.decidable for port in one.cables}
    excused |= {port._replace(device=truth.hostnames.get(port.device, port.device)) for port in excused}
    for cause in evaluation.causes:
        moved = [list_.own.get(move.cable, move.cable) for move in cause.moves]
        verdict.moved_right += sum(port not in excused for port in moved)
    verdict.asked = any(finding.rule == "CAB011" for finding in evaluation.findings)
    verdict.said = [f"{cause.kind}: {cause.summary}" for cause in evaluation.causes][:6]
    return verdict


def _exchanged(list_: Written) -> frozenset[str]:
    """The devices all of whose rows are wrong."""
    right = {end.device for cable in list_.plan.cables if cable.a not in list_.wrong for end in cable[:2]}
    return frozenset(list_.plan.devices) - right


NAMES = (*FORMS, *DRAWN)
SHAPES_OF_LISTS = tuple(name for name, shape in SHAPES.items() if shape.host_ports == "netdev")


def run(seed: int, form: str = "", shapes: Sequence[str] = SHAPES_OF_LISTS, most_hosts: int = 32) -> Verdict:
    """One fabric, with up to two faults, under one form, read from a file in one of the layouts or as it is."""
    rng, drawing = Random(f"list {seed}"), Random(f"drawn {seed}")  # noqa: S311 - reproducible is wanted, not secret
    name = form or NAMES[seed % len(NAMES)]
    of = DRAWN[name](drawing) if name in DRAWN else FORMS[name]
    shape = rng.choice(shapes)
    noise = rng.choice((Noise(), Noise(unreachable=0.05, deaf=0.10)))
    faults = rng.choice((0, 1, 2))
    platform = rng.choice(PLATFORMS)
    platforms = PLATFORMS if seed % _MIXED == 0 else (platform,)
    seen = rng.choice(("all", "all", "all", "switches"))
    layout = rng.choice(("", *LAYOUTS, "workbook")) if of.edit is None else ""
    storage = rng.choice((False, False, False, True))
    fabric = of.fabric
    if fabric == "infiniband":
        shape, noise, seen = (shape if shape in INFINIBAND else "one rail a leaf"), Noise(), "all"
    plain = INFINIBAND[shape] if fabric == "infiniband" else drawn_shape(drawing) if name in DRAWN else SHAPES[shape]
    plain = replace(plain, hosts=min(plain.hosts, most_hosts))
    simulation = simulate(_shape(plain, fabric, platforms, storage=storage), faults, noise, seed)
    snapshot = _seen(simulation, SEEN[seen]) if fabric != "infiniband" else simulation.snapshot()
    list_ = edited(written(simulation, of), of, rng)
    rows = len(list_.plan.cables)
    if layout:
        list_ = from_file(list_, layout)
    evaluation = evaluate(Round(list_.plan, snapshot))
    verdict = judged(name, seed, simulation, evaluation, list_)
    if verdict.unknown or verdict.mistaken:  # what the devices' own names do not show either is no fault of the list
        own = evaluate(Round(simulation.plan, snapshot))
        itself = {port: cable.a for cable in simulation.plan.cables for port in cable[:2]}
        _without(verdict, judged(name, seed, simulation, own, Written(simulation.plan, itself, nics=list_.nics)))
    verdict.lost += rows - len(list_.plan.cables)
    of_fabric = f"{plain if name in DRAWN else shape}, {' '.join(platforms)}"
    verdict.said.insert(0, f"{of_fabric}, {faults} faults, {seen}, {noise == Noise()}, {layout}")
    return verdict


def _shape(shape: Shape, fabric: str, platforms: tuple[str, ...], *, storage: bool) -> Shape:
    if fabric == "infiniband":
        return shape
    shape = SplitCages.of(shape) if fabric == "breakouts" else shape
    return replace(shape, platforms=platforms, storage=shape.storage or storage)


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

Fabrics with up to two faults, and a list that names ports, NICs or devices as people do, read from a table in one of
{_LAYOUTS} layouts; one fabric in four without any host's answer, half of the others with hosts that do not answer or
do not listen; one in four with NICs for storage, which is in no list; InfiniBand; switches with whole and split cages;
lists that are older than the fabric, or have a wrong row; spellings and shapes that are drawn. Each cable is judged by
its physical ends, beside what the same answers show under the devices' own names. *Moved*, *false* and *lost* are runs
in which a right cable is moved, a right one called wrong or missing, a wrong one called right or a row not read;
*right* those in which every cable has its state, *asked* those in which what is unknown is a question. An exchange of
leaves that meets a fault of these leaves may look like crossed cables, whose moves are not counted. One fabric in five
has switches of all systems. `python -m benchmarks.accuracy.lists` writes this section.

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
