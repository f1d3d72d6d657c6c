"""How long a check takes and what it needs, from 64 hosts to 12,500, and beside other tools.

    python -m benchmarks.speed.measure [--write PAGE] [--hosts 64 1000 4000 12500] [--no-peers]

Fabrics are written to a temporary folder (0.8 GB for the largest) and checked by `truerail check` in a process of its
own. The other tools run from .venv-bench (requirements/bench.txt).
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.speed.clock import best, fastest, run
from benchmarks.speed.report import Checked, report
from benchmarks.speed.work import Texts, fabric, for_peers, texts
from collector import collectors
from truerail.analysis.round import Round
from truerail.model import Device, Plan, Reading, Role, Snapshot
from truerail.rounds import evaluate
from truerail.simulator import Noise, Shape, simulate
from truerail.simulator.simulation import TAKEN_AT

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / ".venv-bench/bin/python"
HOSTS = (64, 1000, 4000, 12500)
CABLING = frozenset(f"CAB{number:03}" for number in range(1, 9))
NOISE = Noise(unreachable=0.05, deaf=0.10)


@contextmanager
def written(hosts: int) -> Iterator[tuple[Path, Path, int, int]]:
    """A fabric of so many hosts on disk: its plan, its capture, and how many switches and cables it has."""
    pods = max(1, round(hosts / 128))
    shape = Shape(hosts=hosts, rails=8, pods=pods, spines=16 if hosts > 128 else 8, uplinks=16)
    simulation = simulate(shape, 6, NOISE, seed=1)
    with tempfile.TemporaryDirectory(prefix="truerail-bench-") as folder:
        capture = simulation.write(Path(folder))
        switches = len(simulation.plan.devices) - hosts
        yield Path(folder) / "plan.csv", capture, switches, len(simulation.plan.cables)


def check(hosts: int) -> Checked:
    """Checks a fabric of so many hosts as a user would."""
    with written(hosts) as (plan, capture, switches, cables):
        program = str(Path(sys.executable).with_name("truerail"))
        report = str(plan.with_name("report.json"))
        command = (program, "check", "--plan", str(plan), "--from", str(capture), "--output", report)
        measured = fastest(3 if hosts < 2000 else 2, *command, allowed=(1,))
        phases = fastest(2, sys.executable, "-m", "benchmarks.speed.phases", str(plan), str(capture))
    return Checked(hosts, switches, cables, measured, json.loads(phases.output)["seconds"])


def parsing(read: Texts) -> dict[str, float]:
    """Seconds to read each text once."""
    host, leaf = Device("gpu-001"), Device("leaf-1", Role.LEAF, platform="nxos")
    asked = {
        "topo": ("gpu_nic_topology", read.topo, host),
        "rdma": ("rdma_link", read.rdma, host),
        "lldp": ("lldp_host", read.lldp, host),
        "nxos": ("lldp_switch", read.nxos, leaf),
    }

    def reading(name: str, text: str, device: Device) -> Callable[[], object]:
        return lambda: collectors()[name].read(text, device)

    return {key: best(reading(*question)) for key, question in asked.items()}


def beside(read: Texts) -> dict[str, Any]:
    """The other tools on the same links and texts, and ours on these links: seconds, per link where they compare."""
    simulation = fabric()
    with tempfile.TemporaryDirectory(prefix="truerail-bench-") as folder:
        work = Path(folder) / "work.json"
        work.write_text(json.dumps(for_peers(simulation, read)))
        reported = json.loads(run(str(PEERS), "-m", "benchmarks.speed.peers", str(work)).output)
    readings = simulation.snapshot().readings
    of_switches = [one for one in readings if simulation.plan.role_of(one.device) is not Role.HOST]
    links = reported["links"]
    return {
        **reported["seconds"],
        "links": links,
        "ours": _evaluating(simulation.plan, readings) / links,
        "ours_same": _evaluating(simulation.plan, of_switches, only=CABLING) / links,
    }


def _evaluating(plan: Plan, readings: Sequence[Reading], only: Collection[str] | None = None) -> float:
    """Seconds to evaluate these readings. What is kept with a plan and a snapshot is worked out again in each run."""
    return best(lambda: evaluate(Round(replace(plan), Snapshot(TAKEN_AT, readings)), only=only), repeats=5)


def main() -> int:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, help="write the report to this file")
    parser.add_argument("--hosts", type=int, nargs="+", default=list(HOSTS), help="sizes of fabrics")
    parser.add_argument("--no-peers", action="store_true", help="leave the other tools out")
    options = parser.parse_args()
    if not options.no_peers and not PEERS.exists():
        parser.error(
            f"{PEERS} is missing: install requirements/bench.txt there, or leave the others out with --no-peers"
        )
    progress = Console(stderr=True)
    checks = []
    for hosts in options.hosts:
        progress.print(f"checking {hosts} hosts")
        checks.append(check(hosts))
    read = texts()
    progress.print("reading and comparing")
    text = report(checks, parsing(read), None if options.no_peers else beside(read))
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    Console().print(text, markup=False, highlight=False, soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
