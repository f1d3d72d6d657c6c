"""A living fabric with traffic, faults and a technician, watched for half an hour that passes in seconds, and a real
Prometheus that has all of it: the half hour as its own blocks, now by scraping the real application.
"""

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.error import URLError

import yaml

from dashboards.check.executed import Refused
from dashboards.check.prometheus import Prometheus
from dashboards.generate import GENERATED, ROOT
from tests.exporters import exporters
from tests.fake_tower import settings
from tests.living_site import Site as Living
from tests.loopback import prometheus
from tests.page_site import Site
from tests.patience import ENOUGH
from tests.probed_fabric import with_probes
from tests.real import require
from truerail.analysis.published import CollectorRun, JournalHealth, JournalState, Published
from truerail.model import CauseKind, PortCounters, Reading, Role, SchedulerJob, Snapshot
from truerail.outputs.metrics import Exposition, sd
from truerail.service.evaluator import Evaluator
from truerail.simulator import Fault, Shape
from truerail.simulator.traffic import FlowFault, FlowFaultKind

PLATFORMS = ("sonic", "cumulus")
"""What the switches run: each tells other counters."""
SHAPE = Shape(hosts=32, rails=4, pods=2, spines=4, uplinks=8, gpus=4, platforms=PLATFORMS)
FAULTS = (
    Fault(CauseKind.CABLE_SWAP, "one-host"),
    Fault(CauseKind.CABLE_MOVE, "other-leaf"),
    Fault(CauseKind.LINK_DOWN, "host"),
    Fault(CauseKind.LINK_DOWN, "uplink"),
    Fault(CauseKind.GPU_NIC_ORDER, "names"),
    Fault(CauseKind.UNREACHABLE, "off"),
)
TROUBLES = (
    FlowFault(FlowFaultKind.STORM),
    FlowFault(FlowFaultKind.STRAGGLER),
    FlowFault(FlowFaultKind.INCAST),
    FlowFault(FlowFaultKind.DIRTY_OPTIC, variant="host"),
)
MINUTES = 30
SLOW_SECONDS, QUICK_SECONDS = 300.0, 10.0
"""Time between rounds, and at the end of the half hour: counters are evaluated over minutes."""
END_SECONDS = 130.0
SCRAPES = 3
"""A rate needs two."""
SAMPLE = re.compile(rb"^(\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)


class Watched:
    """The fabric and its evaluator. `publication` is the newest; `service` are the service's own figures."""

    def __init__(self) -> None:
        began = datetime.now(UTC) - timedelta(minutes=MINUTES)
        self.living = Living(FAULTS, shape=SHAPE, began=began - timedelta(seconds=1000))
        self.ends = self.living.seconds + 60.0 * MINUTES
        self.evaluator = Evaluator.begin(settings(fabric="lab"))
        self.runs: dict[str, CollectorRun] = {}
        for trouble in TROUBLES:
            self.living.director.disturb(trouble)

    @property
    def now(self) -> datetime:
        """The fabric's clock."""
        return self.living.now

    @property
    def service(self) -> dict[str, float]:
        """What the service counts of itself."""
        rounds = float(self.evaluator.number)
        return {
            "rounds_total": rounds, "evaluations_total": rounds, "evaluations_failed_total": 0.0,
            "event_streams": 1.0, "devices_in_flight": 0.0, "full_parse_differences_total": 0.0,
        }  # fmt: skip

    def rounds(self) -> Iterator[Published]:
        """An evaluation now and then, at last one every ten seconds; half way, the technician repairs a cable."""
        while self.living.seconds < self.ends:
            left = self.ends - self.living.seconds
            self.living.wait(min(left, SLOW_SECONDS if left > END_SECONDS else QUICK_SECONDS))
            if self.evaluator.number == MINUTES // 10:
                self.living.director.fix(1)
            yield self.round()

    def round(self) -> Published:
        """Asks everything and evaluates it."""
        gathered = self.living.round()
        self._count(gathered.readings)
        counted = [one for one in gathered.readings if one.facts and type(one.facts[0]) is PortCounters]
        journal = JournalState(JournalHealth.KEEPING, since=self.now, written_total=self.evaluator.number)
        plan = self.living.fabric.plan
        runs, snapshot = dict(self.runs), with_probes(plan, gathered.snapshot(), lists=("A",))
        hosts = tuple(name for name, device in plan.devices.items() if device.role is Role.HOST)
        job = SchedulerJob("7", 7, "train", "ann", "RUNNING", hosts, 8 * len(hosts))
        snapshot = Snapshot(snapshot.at, [*snapshot.readings, Reading("slurm", "slurm_jobs", snapshot.at, (job,))])
        return self.evaluator.evaluate(plan, snapshot, counted, (), runs, journal, (), (), self.now).publication

    def _count(self, readings: list[Reading]) -> None:
        by_collector: dict[str, list[Reading]] = {}
        for reading in readings:
            by_collector.setdefault(reading.collector, []).append(reading)
        for name, found in by_collector.items():
            run = self.runs.get(name) or CollectorRun(name, 60.0)
            failed = sum(bool(one.error) for one in found)
            self.runs[name] = CollectorRun(
                name, 60.0, self.now, 0.5, len(found), len(found) - failed,
                run.rounds_total + 1, run.failures_total + failed,
            )  # fmt: skip


@contextmanager
def scraped(folder: Path) -> Iterator[Prometheus]:
    """A real Prometheus that knows the half hour and has scraped everything. Gives it as it was then."""
    require("prometheus", "promtool", "prometheus-node-exporter")
    watched = Watched()
    with Site(None) as site, exporters(folder) as others:
        own = site.url
        history = folder / "history.txt"
        with open(history, "wb") as file:
            for publication in watched.rounds():
                file.writelines(_stamped(publication, watched, own))
            file.write(b"# EOF\n")
        publication = watched.round()
        site.publish(publication)
        site.tower.counters = watched.service
        site.tower.moment = watched.now
        _backfill(history, folder / "data")
        targets = others(publication)
        with _prometheus(folder, own, targets) as address:
            several = f"count(sum_over_time(up[1m]) >= {SCRAPES}) == {3 + len(targets)}"
            yield once(address, f"{several} and count(up == 1) == {3 + len(targets)} and count(ALERTS)")


def _stamped(publication: Published, watched: Watched, own: str) -> Iterator[bytes]:
    """Each line of each target's page with the target's labels and the time, as Prometheus would have kept it."""
    exposition = Exposition()
    stamp = f"{watched.now.timestamp():.3f}".encode()
    for target in sd(publication, own):
        labels = target["labels"]
        page = exposition.render(publication, labels["__param_pod"], watched.service, watched.now)
        mine = f'job="truerail",instance="{labels["instance"]}"'.encode()
        for name, reported, value in SAMPLE.findall(page):
            yield b"%s{%s} %s %s\n" % (name, b",".join(filter(None, (reported, mine))), value, stamp)


def _backfill(history: Path, data: Path) -> None:
    command = ["promtool", "tsdb", "create-blocks-from", "openmetrics", str(history), str(data)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


@contextmanager
def _prometheus(folder: Path, own: str, targets: list[dict[str, Any]]) -> Iterator[str]:
    every = {"scrape_interval": "2s", "scrape_timeout": "2s", "evaluation_interval": "1s"}
    jobs = [
        {"job_name": "truerail", "honor_labels": True, "http_sd_configs": [{"url": f"{own}/sd"}]},
        {"job_name": "others", "static_configs": targets},
    ]
    try:
        with prometheus(folder, jobs, every, _rules(folder)) as (address, _):
            yield address
    finally:
        shutil.rmtree(folder / "data")


def _rules(folder: Path) -> Path:
    """The generated rules, evaluated every second and firing at once: no one waits here for minutes."""
    rules = yaml.safe_load((ROOT / GENERATED / "prometheus/truerail.rules.yaml").read_text(encoding="utf-8"))
    for group in rules["groups"]:
        group.pop("interval", None)
        for rule in group["rules"]:
            rule.pop("for", None)
    file = folder / "rules.yaml"
    file.write_text(yaml.safe_dump(rules))
    return file


def once(address: str, expr: str) -> Prometheus:
    """The Prometheus as it was when an expression first had a series: a scrape that is too slow later on, and takes its
    series away for a while, changes nothing of that.
    """
    deadline, last = time.monotonic() + 2 * ENOUGH, ""
    while time.monotonic() < deadline:
        now = time.time()
        server = Prometheus(address, ENOUGH, partial(float, now))
        try:
            if server.series(expr, at_once=True):
                return server
        except (URLError, Refused, OSError) as error:
            last = str(error)
        time.sleep(0.2)
    raise AssertionError(f"after {2 * ENOUGH:.0f} s there is no {expr}: {last}")
