"""A steady round beside the version before: what it costs when nothing changed, and when 14 hosts did.

    python -m benchmarks.speed.steady --before OTHER_TREE [--hosts 12500] [--write PAGE]

OTHER_TREE is a checkout of the version to compare with (`git worktree add /tmp/before b0bd363`). Both run this file in
processes of their own, in turn, on one capture; medians of CPU seconds. A round begins with the answers as bytes in
memory and ends with the publication: reading, joining, rules, causes, indexes, map, steps, metrics.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from benchmarks.speed.clock import best, run

RUNS = 5
CHANGED = 14
GOALS = {
    "steady round": 0.7, "round with 14 hosts changed": 1.3, "check, one process": 6.0, "check, all cores (wall)": 5.0,
    "808 tables of neighbours": 0.85, "12,500 hosts' lldpd JSON": 0.6, "counters of 1,000 hosts": 0.19,
}  # fmt: skip
"""CPU seconds; of the check on all cores those on the clock."""
WHY = """
Where a goal is missed:

- A steady round consists of the answers themselves first: each byte is searched for ages and hashed, and each device's
  files are looked up. These switches list their neighbours as JSON, in answers of 280 kB. Rules, causes, indexes, map
  and metrics are a third of it, and the join no part of it. A service of 2,000 devices and more does the first part in
  its pollers, all cores at once, and its judge the last third alone.
- A change in one host joins the whole fabric again; reading it, and the columns of what did not change, are saved.
- `check` reads each answer once, so nothing is carried over: lldpd's JSON is decoded faster, and there are more rules
  than before. On several cores it reads in processes, and what remains for one is to take their facts, join, evaluate
  and report: on two cores that gains nothing.
- lldpd's JSON: what is left is to make 100,000 neighbors of what the decoder returns.
"""
_AGE = re.compile(rb'"age": ?"\d+ days?')
Files = dict[str, dict[str, bytes]]


def rounds(plan_file: Path, capture: Path) -> dict[str, float]:
    """CPU seconds of a steady round and of one with changed hosts, in this process."""
    from truerail.analysis.published import JournalState
    from truerail.model import Snapshot
    from truerail.model.pause import garbage_of_the_young_only
    from truerail.outputs.metrics.exposition import Exposition
    from truerail.plans import load
    from truerail.service.evaluator import Evaluator
    from truerail.service.settings import Settings
    from truerail.simulator.simulation import TAKEN_AT

    garbage_of_the_young_only()
    plan = load(plan_file)
    answers = {one.name: {file.name: file.read_bytes() for file in one.iterdir()} for one in capture.iterdir()}
    evaluator = Evaluator.begin(Settings(inventory=plan_file))
    evaluator.prepare.append(Exposition().page_of)
    reader = _reader(plan)

    def one(number: int) -> float:
        at = TAKEN_AT + timedelta(seconds=60 * number)
        _grow_older(answers, number)
        began = time.process_time()
        snapshot = Snapshot(at, reader(answers, at))
        evaluator.evaluate(plan, snapshot, [], (), {}, JournalState(), (), (), at)
        return time.process_time() - began

    one(1)
    steady = [one(2), one(3)][-1]
    for name in [name for name, device in plan.devices.items() if device.role.tier == 0][:CHANGED]:
        answers[name] = {file: _elsewhere(content) for file, content in answers[name].items()}
    return {"steady round": steady, "round with 14 hosts changed": one(4)}


def _grow_older(answers: Files, number: int) -> None:
    for files in answers.values():
        for file, content in files.items():
            files[file] = _AGE.sub(b'"age": "%d days' % (10 + number), content)


def _elsewhere(content: bytes) -> bytes:
    """The answer of a host whose first cable is in another port."""
    return re.sub(rb'("port": ?\[?\s*\{\s*"id": ?\[?\s*\{[^}]*"value": ?")[^"]*', rb"\1swp999", content, count=1)


def _reader(plan: Any) -> Callable[[Files, Any], list[Any]]:
    """Reads all answers of a round as a poller does; with the answers of earlier rounds, if this version keeps them."""
    from truerail.transport.answers import Answers
    from truerail.transport.archive import ArchiveFolder
    from truerail.transport.capture_files import Questions
    from truerail.transport.prefetch import Opened
    from truerail.transport.warnings import Notes

    kept: list[Any] = []
    try:
        from truerail.transport.kept_answers import KeptAnswers

        kept = [KeptAnswers()]
    except ImportError:  # the version before
        pass

    def read(answers: Files, at: Any) -> list[Any]:
        reader, readings = Answers(Questions(), at, Notes(), *kept), []
        for name, files in answers.items():
            folder = ArchiveFolder()
            folder.files = files
            readings += reader.of_device(
                name, plan.devices[name], [Opened(name, folder, folder.list(), held={**files})]
            )
        return readings

    return read


def readers() -> dict[str, float]:
    """CPU seconds to read the largest answers."""
    from benchmarks.speed.work import texts
    from collector import collectors
    from truerail.model import Device, Role

    leaf, host = Device("leaf-1", Role.LEAF), Device("gpu-1")
    asked = {
        "808 tables of neighbours": ("lldp_switch", _sonic_table(140), leaf, 808),
        "12,500 hosts' lldpd JSON": ("lldp_host", texts().lldp, host, 12500),
        "counters of 1,000 hosts": ("nic_counters", _counters(), host, 1000),
    }
    return {
        name: times * best(partial(collectors()[collector].read, answer, device), 50)
        for name, (collector, answer, device, times) in asked.items()
    }


def _sonic_table(rows: int) -> str:
    """`show lldp table` of a switch with so many neighbours, laid out as tabulate does."""
    cells = [
        (f"Ethernet{4 * n}", f"gpu-{n:04}", f"b8:3f:d2:00:{n // 256:02x}:{n % 256:02x}", "O", "enp26s0f0np0")
        for n in range(rows)
    ]
    head = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
    widths = [max(len(row[at]) for row in (head, *cells)) for at in range(5)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *cells)]
    body = "\n".join([lines[0].rstrip(), "  ".join("-" * width for width in widths), *lines[1:]])
    return (
        f"Capability codes: (R) Router, (B) Bridge, (O) Other\n{body}\n{'-' * 50}\nTotal entries displayed:  {rows}\n"
    )


def _counters() -> str:
    """`ethtool -S` of eight NICs with 63 counters each."""
    names = [f"rx_prio{prio}_{word}" for prio in range(8) for word in ("bytes", "packets", "pause", "discards")]
    names += [name.replace("rx_", "tx_") for name in names[:31]]
    nic = "".join(f"     {name}: {number**5 % 10**13}\n" for number, name in enumerate(names, 1000))
    return "".join(f"# ethtool -S eth{n}\nNIC statistics:\n{nic}carrier_down_count: {n}\n" for n in range(8))


def in_tree(tree: Path, *arguments: str) -> dict[str, float]:
    """What this file measures with the product of a tree."""
    program = ("env", f"PYTHONPATH={tree}:{Path(__file__).parents[2]}", sys.executable, str(Path(__file__).resolve()))
    found: dict[str, float] = json.loads(run(*program, *arguments).output)
    return found


def check(tree: Path, plan: Path, capture: Path) -> dict[str, float]:
    """CPU seconds of `truerail check` on one core, which makes it one process, and its time on all cores."""
    start = "import sys; from truerail.cli import main; sys.exit(main())"
    report = ("--output", str(plan.with_name("report.json")))
    words = ("check", "--plan", str(plan), "--from", str(capture), *report)
    program = ("env", f"PYTHONPATH={tree}", sys.executable, "-c", start, *words)
    return {
        "check, one process": run("taskset", "--cpu-list", "0", *program, allowed=(0, 1)).cpu,
        "check, all cores (wall)": run(*program, allowed=(0, 1)).wall,
    }


def report(hosts: int, runs: int, before: dict[str, list[float]], now: dict[str, list[float]]) -> str:
    """The page as Markdown."""
    rows = "".join(_row(name, median(before[name]), median(now[name])) for name in GOALS)
    return f"""# A steady round, as measured

`python -m benchmarks.speed.steady` writes this page, on {os.cpu_count()} cores with Python {sys.version.split()[0]}:
{hosts:,} hosts of 8 rails with one swapped cable, beside the version before (commit b0bd363) on the same capture, in
turn. CPU seconds, medians of {runs}. Absolute figures drift with the machine; ratios hold.

| what | before | now | ratio | goal |
|---|---|---|---|---|
{rows}{WHY}"""


def _row(name: str, before: float, now: float) -> str:
    return f"| {name} | {before:.2f} | **{now:.2f}** | {before / now:.1f} x | {GOALS[name]:g} |\n"


def main() -> int:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="checkout of the version before")
    parser.add_argument("--write", type=Path, help="write the report to this file")
    parser.add_argument("--hosts", type=int, default=12500)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--fabric", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--readers", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rounds or options.readers:
        found = readers() if options.readers else rounds(options.rounds / "plan.csv", options.rounds / "capture")
        sys.stdout.write(json.dumps(found))
        return 0
    with tempfile.TemporaryDirectory(prefix="truerail-bench-") as made:
        text = _measured(
            options.before, options.fabric or _written(options.hosts, Path(made)), options.hosts, options.runs
        )
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    Console().print(text, markup=False, highlight=False, soft_wrap=True)
    return 0


def _written(hosts: int, folder: Path) -> Path:
    from truerail.simulator import Noise, Shape, simulate

    simulate(Shape(hosts, rails=8, pods=max(1, hosts // 128), spines=16, uplinks=16), 1, Noise(), seed=1).write(folder)
    return folder


def _measured(before: Path, fabric: Path, hosts: int, runs: int) -> str:
    trees: Sequence[Path] = (before.resolve(), Path(__file__).resolve().parents[2])
    found: tuple[dict[str, list[float]], ...] = ({}, {})
    for _ in range(runs):
        for tree, figures in zip(trees, found, strict=True):
            one = in_tree(tree, "--rounds", str(fabric)) | in_tree(tree, "--readers")
            for name, seconds in (one | check(tree, fabric / "plan.csv", fabric / "capture")).items():
                figures.setdefault(name, []).append(seconds)
    return report(hosts, runs, *found)


if __name__ == "__main__":
    sys.exit(main())
