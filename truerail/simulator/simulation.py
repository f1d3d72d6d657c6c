"""A simulated fabric: its plan, its faults, and its devices' answers, on disk or in memory."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from collector import collectors
from truerail.errors import UnreadableError
from truerail.model import Collector, Device, Fact, Plan, Reading, Snapshot
from truerail.model.index import Devices
from truerail.model.names import answer_file
from truerail.simulator.behaviours import Behaviours, applied
from truerail.simulator.fabric.builder import Shape, build
from truerail.simulator.fabric.ether import Ether
from truerail.simulator.fabric.world import World, as_planned
from truerail.simulator.faults.noise import QUIET, Noise, disturb
from truerail.simulator.faults.planting import Fault, plant
from truerail.simulator.faults.survey import survey
from truerail.simulator.faults.truth import Truth
from truerail.simulator.platforms import _beside_lldp, platforms

TAKEN_AT = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)
_STRANGE = {
    "uptime": " 14:00:00 up 41 days,  3:12,  0 users,  load average: 0.08, 0.03, 0.01\n",
    "dmidecode -t memory": "# dmidecode 3.3\nGetting SMBIOS data from sysfs.\nSMBIOS 3.4.0 present.\n",
}


@dataclass(frozen=True, slots=True)
class Simulation:
    """One fabric. `world` is internal to the simulator; an evaluation gets only the answers."""

    plan: Plan
    truth: Truth
    world: World

    def answers(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Every device that can be read: the name of its folder, and its answers by command."""
        ether, infiniband_fabric = Ether(self.world), self.world.fabric.shape.infiniband
        for machine in self.plan.devices:
            if machine not in self.world.absent and (self.world.is_host(machine) or not infiniband_fabric):
                strange = _STRANGE if self.world.strange_files else {}
                yield self.world.folder(machine), {**self._answers(ether, machine), **strange}

    def _answers(self, ether: Ether, machine: str) -> dict[str, str]:
        if self.world.fabric.shape.infiniband:
            return platforms()["infiniband"].answers(ether, machine)
        return {**self.world.system(machine).answers(ether, machine), **_beside_lldp.answers(self.world, machine)}

    def write(self, path: Path) -> Path:
        """Writes `capture/`, `plan.csv` and `truth.json` under `path`; returns the capture's folder.

        Raises FileExistsError if a device's folder already exists.
        """
        from truerail.plans import dump_csv

        capture = path / "capture"
        for folder, answers in self.answers():
            place = capture / folder
            place.mkdir(parents=True)
            for command, text in answers.items():
                with open(f"{place}/{answer_file(command)}", "w", encoding="utf-8", newline="") as file:
                    file.write(text)
        (path / "plan.csv").write_text(dump_csv(self.plan), encoding="utf-8")
        (path / "truth.json").write_text(json.dumps(self.truth.as_dict(), indent=1) + "\n", encoding="utf-8")
        return capture

    def snapshot(self) -> Snapshot:
        """The snapshot that a replay of the capture would read, without files."""
        known = Devices(self.plan)
        shared: Shared = {}
        readings: list[Reading] = []
        for folder, answers in self.answers():
            device = self.plan.devices[known.names[known.find(folder)]]
            readings += _readings(device, {answer_file(command): text for command, text in answers.items()}, shared)
        return Snapshot(TAKEN_AT, readings)


def simulate(
    shape: Shape,
    faults: Sequence[Fault] | int = 0,
    noise: Noise = QUIET,
    seed: int = 0,
    *,
    folders: str = "hostname",
    compound: bool = False,
    behaviours: Behaviours | Iterable[str] = (),
) -> Simulation:
    """A fabric of this shape with these faults, or with this many drawn ones; the same seed gives the same bytes.

    Faults do not overlap, so that the truth is unambiguous. `compound` lets two overlap on purpose: it swaps two cables
    within a leaf whose label is swapped. `folders` names a device's folder by its announced `hostname` or by its
    `inventory` address, which is its planned name. `behaviours` are those of its devices, as `Behaviours` or in written
    form (`"sonic_alias=etp"`, `"young_link@0.1"`). Raises `NoRoomError` where a fault asked for has no place.
    """
    if folders not in ("hostname", "inventory"):
        raise ValueError(f"folders are named by hostname or inventory, not by {folders!r}")
    chosen = behaviours if isinstance(behaviours, Behaviours) else Behaviours.of(behaviours, seed)
    world = as_planned(build(applied.shaped(shape, chosen)), folders)
    world.behaviours = chosen
    site, causes = plant(world, faults, random_of(seed, "faults"), compound=compound)
    lost = disturb(site, causes, noise, random_of(seed, "noise"))
    lost += applied.apply(site, random_of(seed, "behaviours"))
    return Simulation(world.fabric.plan, survey(world, causes, lost), world)


Shared = dict[tuple[str, str], tuple[Fact, ...]]
"""Facts by collector and answer: an answer that many devices share is parsed once."""


def _readings(device: Device, files: dict[str, str], shared: Shared) -> Iterator[Reading]:
    """A reading for each collector of the device's role that has an answer."""
    for collector in collectors().values():
        file = next((command.file for command in collector.ask if command.file in files), None)
        if device.role in collector.on and file is not None:
            try:
                facts = _facts(collector, device, files[file], shared)
            except UnreadableError as error:
                yield Reading(device.name, collector.name, TAKEN_AT, error=str(error), source=file)
            else:
                yield Reading(device.name, collector.name, TAKEN_AT, facts, source=file)


def _facts(collector: Collector, device: Device, text: str, shared: Shared) -> tuple[Fact, ...]:
    if not collector.shared:
        return collector.read(text, device)
    if (collector.name, text) not in shared:
        shared[collector.name, text] = collector.read(text, device)
    return shared[collector.name, text]


def random_of(seed: int, purpose: str) -> Random:
    """A separate generator for each purpose, so that more noise does not move the faults."""
    return Random(f"{seed}/{purpose}")  # noqa: S311 - reproducible is what is wanted, not secret
