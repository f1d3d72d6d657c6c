"""The history store of 1,000 hosts: its size, what it costs the service, and how fast an export is.

    python -m benchmarks.speed.history [--write PAGE] [--hosts 1000]

All ports are busy, with counters every 10 s and light of four lanes at every port; some minutes are recorded, and their
sizes multiplied to a day. Noise is what makes the files large: an idle fabric takes a tenth.
"""

import argparse
import os
import platform
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console

from benchmarks.speed.counters import ROUNDS, Traffic
from benchmarks.speed.journal import START, ends_of, rounds
from truerail.analysis.counters import Window
from truerail.analysis.published import EvaluatedRound, Published
from truerail.analysis.round import Round
from truerail.history.history_tables import COUNTERS_HOURS, COUNTERS_MINUTES, LIGHTS, TABLES
from truerail.history.journal_export import export_journal
from truerail.history.planned_ports import hour_of
from truerail.history.recorder import Recorder, merge_parts
from truerail.history.sample_recorder import hour_rows
from truerail.history.store_folder import StoreFolder, files_of, read_files
from truerail.journal import Journal
from truerail.journal.round_writer import write_round
from truerail.model import Cable, Device, Optic, Plan, Port, Reading, Role, Snapshot
from truerail.model.history import RoundRecord
from truerail.rounds import evaluate
from truerail.simulator import Shape, simulate
from truerail.simulator.simulation import TAKEN_AT

MINUTES = 7
FLUSH_ROUNDS = 30
"""Five minutes, as in the service."""
JOURNAL_DAYS = 30
LANES = 4


@dataclass
class Measured:
    """CPU seconds of the recording thread, sizes in bytes."""

    ports: int = 0
    observed: list[float] = field(default_factory=list)
    flushed: list[float] = field(default_factory=list)
    merged: float = 0.0
    hour: float = 0.0
    a_day: dict[str, float] = field(default_factory=dict)
    rows_a_day: dict[str, float] = field(default_factory=dict)
    read: float = 0.0
    copied: tuple[float, float] = (0.0, 0.0)
    journal: tuple[float, int] = (0.0, 0)
    peak_mb: float = 0.0


def measured(hosts: int, folder: Path) -> Measured:
    """Records some minutes of a fabric, then exports."""
    simulation = simulate(Shape(hosts, rails=8, pods=max(1, round(hosts / 128)), spines=16, uplinks=16), 10)
    plan, still = simulation.plan, simulation.snapshot()
    found = Measured(2 * len(plan.cables))
    store = StoreFolder(folder / "store")
    store.create("bench")
    recorder = Recorder(store)
    recorder.resume()
    window = Window(ROUNDS)
    evaluation = evaluate(Round(plan, still))
    light: list[Reading] = []
    for number, readings in enumerate(Traffic(plan).rounds(MINUTES * 6 + 8)):
        at = readings[0].at
        window.put(readings)
        light = light if number % 6 else list(_light(plan, at))
        seen = Snapshot(at, [*still.readings, *readings, *light])
        round_ = Round(plan, seen, window.view())
        publication = Published(number, "bench", EvaluatedRound(round_, replace(evaluation, at=at)))
        _ = publication.wiring  # which an evaluation has computed anyway
        found.observed.append(_cpu(partial(recorder.observe, publication, [_record(number, publication)])))
        if number % FLUSH_ROUNDS == FLUSH_ROUNDS - 1:
            found.flushed.append(_cpu(partial(recorder.flush, at)))
    recorder.flush(TAKEN_AT)
    found.peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    _sizes(found, store)
    _export(found, store, folder)
    return found


def _sizes(found: Measured, store: StoreFolder) -> None:
    found.merged = _cpu(lambda: merge_parts(store, COUNTERS_MINUTES, TAKEN_AT + timedelta(days=2)))
    minutes = read_files(COUNTERS_MINUTES, files_of(store, COUNTERS_MINUTES).readable)
    count = len(set(minutes["bucket"].to_pylist()))
    hours: list[pa.Table] = []
    first = hour_of(minutes["bucket"][0].as_py())
    found.hour = _cpu(lambda: hours.append(hour_rows(store, first)))
    if not store.days(COUNTERS_HOURS):
        store.append(COUNTERS_HOURS, hours[0], TAKEN_AT)
    scale = {
        COUNTERS_MINUTES.name: 1440 / count,
        COUNTERS_HOURS.name: 24.0,
        LIGHTS.name: 24.0 / len(_hours(store)),
        "rounds": 8640 / (6 * count),
    }
    for table in TABLES.values():
        paths = files_of(store, table).readable
        factor = scale.get(table.name, 1.0)
        found.a_day[table.name] = factor * sum(path.stat().st_size for path in paths)
        found.rows_a_day[table.name] = factor * sum(pq.ParquetFile(path).metadata.num_rows for path in paths)
    found.read = _cpu(lambda: read_files(COUNTERS_MINUTES, files_of(store, COUNTERS_MINUTES).readable)) / len(minutes)


def _hours(store: StoreFolder) -> set[datetime]:
    """The hours with light."""
    return set(read_files(LIGHTS, files_of(store, LIGHTS).readable, ["bucket"])["bucket"].to_pylist())


def _export(found: Measured, store: StoreFolder, folder: Path) -> None:
    began = time.perf_counter()
    copy = StoreFolder(folder / "copy")
    copy.create("bench")
    store.copy_to(copy, START)
    found.copied = (copy.size_bytes() / 1e6, time.perf_counter() - began)
    journal, plan = _journal(folder), _plan()
    target = StoreFolder(folder / "journal")
    target.create("bench")
    now = START + timedelta(days=JOURNAL_DAYS)
    seconds = _cpu(lambda: export_journal(journal, plan, target, START, now))
    journal.close()
    rows = sum(len(read_files(table, files_of(target, table).readable)) for table in TABLES.values())
    found.journal = (seconds, rows)


def _journal(folder: Path) -> Journal:
    journal = Journal(f"sqlite:///{folder}/journal.db", None, timedelta(days=400), timedelta(days=400))
    journal.prepare()
    with journal.writing() as connection:
        for number, changes in enumerate(rounds(8000, JOURNAL_DAYS), 1):
            record = RoundRecord(number, changes.at, 1.0, 0, 0, 0, 0, 0, 0, 0, {}, 0, "d")
            write_round(connection, record, changes)
    return journal


def _plan() -> Plan:
    devices, cables = {}, []
    for cable in range(8000):
        near, far, rail = ends_of(cable)
        a, b = Port(*near.split("/")), Port(*far.split("/"))
        devices[a.device], devices[b.device] = Device(a.device), Device(b.device, Role.LEAF)
        cables.append(Cable(a, b, rail))
    return Plan(devices, tuple(cables))


def _record(number: int, publication: Published) -> RoundRecord:
    summary = publication.evaluation.summary
    counted = (summary.cables_planned, summary.cables_right, summary.cables_wrong, summary.cables_missing)
    return RoundRecord(number, publication.at, 0.4, 1, 1, *counted, summary.cables_unknown, summary.findings, 1, "d")


def _light(plan: Plan, at: datetime) -> Iterator[Reading]:
    """Light of four lanes at each port, a little different each minute."""
    rng = Random(int(at.timestamp()))  # noqa: S311 - reproducible is what is wanted, not secret
    of: dict[str, list[Optic]] = {}
    for cable in plan.cables:
        for end in (cable.a, cable.b):
            of.setdefault(end.device, []).extend(
                Optic(end.name, lane, round(rng.gauss(-1, 0.5), 2), round(rng.gauss(1, 0.5), 2), None,
                      round(rng.gauss(45, 3), 1), vendor="ACME", part="DR4", serial=f"{end.device}{end.name}")
                for lane in range(LANES)
            )  # fmt: skip
    for device, facts in of.items():
        yield Reading(device, "optics", at, tuple(facts), read_at=at.timestamp())


def _cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def report(found: Measured, hosts: int) -> str:
    """The page."""
    lasting = sum(found.a_day[name] for name in ("cables", "devices", "optics")) / 1e6
    minutes = [seconds for seconds in found.observed if seconds > 2 * sorted(found.observed)[len(found.observed) // 2]]
    every = sum(found.observed) / len(found.observed)
    made = f"{os.cpu_count()} cores with Python {platform.python_version()} and pyarrow {pa.__version__}"
    fabric = f"{hosts:,} hosts with 8 rails, {found.ports:,} planned ports"
    copied = f"{found.copied[0]:.1f} MB in {found.copied[1]:.2f} s"
    of_journal = f"{found.journal[1]:,} rows take {found.journal[0]:.1f} CPU seconds"
    lines = [
        "# The history store, as measured",
        "",
        f"`make bench` writes this page, on {made}.",
        "Absolute figures drift with the machine.",
        "",
        f"{fabric}, all busy: counters every 10 s, light of {LANES} lanes at every",
        f"port once a minute, {MINUTES} minutes, multiplied to a day.",
        "",
        "| table | rows a day | MB a day | bytes a row |",
        "|---|---|---|---|",
        *(
            f"| `{table.name}` | {found.rows_a_day[table.name]:,.0f} | {found.a_day[table.name] / 1e6:,.1f} "
            f"| {found.a_day[table.name] / found.rows_a_day[table.name]:.1f} |"
            for table in (COUNTERS_MINUTES, COUNTERS_HOURS, LIGHTS)
        ),
        "",
        "Tables of episodes grow with changes: the open rows of cables, devices and modules take",
        f"{lasting:.1f} MB once.",
        "",
        "| CPU seconds, in the thread of the store | |",
        "|---|---|",
        f"| each round, on average | {every:.3f} |",
        f"| the round that completes a minute | {sum(minutes) / max(len(minutes), 1):.3f} |",
        f"| writing five minutes of counters | {sum(found.flushed) / len(found.flushed):.2f} |",
        f"| the sums of an hour, from {MINUTES} minutes | {found.hour:.2f} |",
        f"| merging {MINUTES} minutes of parts into one file | {found.merged:.2f} |",
        f"| reading a million rows of `counters_minutes` | {found.read * 1e6:.2f} |",
        "",
        f"Peak memory of the whole process, with the simulated fabric: {found.peak_mb:,.0f} MB.",
        "",
        f"`truerail export history` copies a store as fast as the disk ({copied}). From a journal of {JOURNAL_DAYS}",
        f"days of 8,000 cables, 1 % of them moved or pulled a day, {of_journal}.",
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, help="write the report to this file")
    parser.add_argument("--hosts", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = report(measured(options.hosts, Path(folder)), options.hosts)
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    Console().print(text, markup=False, highlight=False, soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
