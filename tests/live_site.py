"""A simulated site for tests: files on disk, devices in memory, the command line in this process."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fake_fleet import FakeFleet
from truerail.cli import live
from truerail.cli.run import main
from truerail.plans import dump_csv
from truerail.simulator import Simulation

Run = Callable[..., tuple[int, str, str]]


def runner(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line in this process: exit code, stdout, stderr."""

    def running(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["truerail", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return running


class Site:
    """A simulated fabric, its inventory and plan as files, and the fleet that the command line asks."""

    def __init__(
        self, folder: Path, simulation: Simulation, monkeypatch: pytest.MonkeyPatch, fleet: FakeFleet | None = None
    ) -> None:
        self.simulation = simulation
        self.fleet = fleet or FakeFleet(simulation)
        self.inventory, self.plan = folder / "inventory.yaml", folder / "plan.csv"
        rows = [
            f"  - {{name: {d.name}, role: {d.role}, platform: {d.platform or 'linux'}, address: 192.0.2.{n}}}"
            for n, d in enumerate(simulation.plan.devices.values(), 1)
        ]
        self.inventory.write_text("devices:\n" + "\n".join(rows) + "\n")
        self.plan.write_text(dump_csv(simulation.plan))
        monkeypatch.setattr(live, "open_transport", lambda: self.fleet)
