"""What messages between pollers and a judge cost: bytes, and processor time on both sides.

python -m benchmarks.speed.messages [--write PAGE] [--hosts 1000]
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from msgspec import structs

from benchmarks.speed.counters import STEP_SECONDS, Traffic
from truerail.link.inbox import Inbox
from truerail.link.poller_outbox import Outbox
from truerail.link.streams import packed
from truerail.model import Reading
from truerail.poller.received import Latest
from truerail.simulator import Shape, simulate
from truerail.simulator.simulation import TAKEN_AT

RUNS = 5
CHANGED = 0.001
"""Share of the devices that a round finds changed: 14 of 12,500 hosts and their switches."""


@dataclass(frozen=True, slots=True)
class Cost:
    """One round of all devices."""

    what: str
    kilobytes: float
    sending_seconds: float
    taking_seconds: float


class Wire:
    """A poller's outbox and a judge's inbox, with nothing between them."""

    def __init__(self, devices: Sequence[str]) -> None:
        self.now = TAKEN_AT.timestamp()
        self.outbox = Outbox("local", "1", now=lambda: self.now)
        self.outbox.keep(devices)
        self.inbox = Inbox(Latest(dict.fromkeys(devices, "")).put, lacking=lambda *_: None, now=lambda: self.now)
        self.inbox.keep(dict.fromkeys(devices, "local"))

    def round(self, what: str, readings: Sequence[Reading]) -> Cost:
        """Sends the answers of a round, and takes them."""
        self.now = max(one.read_at or one.at.timestamp() for one in readings)
        began = time.process_time()
        self.outbox.put(readings)
        self.outbox.round_done({}, 1, 0)
        messages = list(self.outbox.messages())
        sent = time.process_time()
        for message in messages:
            self.inbox.take(message.data, zone="local")
        taken = time.process_time()
        if self.inbox.dropped_total:
            raise RuntimeError(f"{what}: {self.inbox.dropped_total} messages did not count: {self.inbox.problem}")
        size = sum(len(packed(message.data)[0]) for message in messages)
        return Cost(what, size / 1000, sent - began, taken - sent)


def measured(hosts: int) -> list[Cost]:
    """Medians of `RUNS`: a first round, a steady one, one with changes, and one of counters."""
    simulation = simulate(Shape(hosts=hosts, rails=8, pods=max(1, hosts // 250)))
    readings = simulation.snapshot().readings
    devices = list(simulation.plan.devices)
    few = set(devices[:: int(1 / CHANGED)])
    found: dict[str, list[Cost]] = {}
    for _ in range(RUNS):
        wire = Wire(devices)
        again = [structs.replace(one, facts=(*one.facts,)) for one in readings]
        changed = [structs.replace(one, facts=one.facts[1:]) if one.device in few else one for one in again]
        costs = [
            wire.round("cabling, everything (a start)", readings),
            wire.round("cabling, nothing changed", again),
            wire.round("cabling, one device in 1,000 changed", changed),
        ]
        first, *rest = Traffic(simulation.plan).rounds(3)
        wire.round("", first)
        costs.append([wire.round("counters, 12 a port, every 10 s", one) for one in rest][-1])
        for cost in costs:
            found.setdefault(cost.what, []).append(cost)
    return [
        Cost(what, *(median(getattr(one, name) for one in costs) for name in Cost.__slots__[1:]))
        for what, costs in found.items()
    ]


def main() -> None:
    """Prints the table, or writes it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--hosts", type=int, default=1000)
    given = parser.parse_args()
    rows = "\n".join(
        f"| {one.what} | {one.kilobytes:,.0f} | {one.kilobytes / given.hosts:.2f} | {one.sending_seconds:.3f} | "
        f"{one.taking_seconds:.3f} |"
        for one in measured(given.hosts)
    )
    text = (
        "# Messages between pollers and the service, measured\n\n"
        f"{given.hosts:,} simulated hosts of 8 rails and their switches; CPU seconds, medians of {RUNS}; bytes as a\n"
        "bus carries them. Written by `python -m benchmarks.speed.messages`. Parsing the answers is not in it: see\n"
        "[performance](performance.md).\n"
        "\n| round | kB | kB a host | poller, CPU s | service, CPU s |\n| --- | ---: | ---: | ---: | ---: |\n"
        f"{rows}\n\n"
        f"Counters come each {STEP_SECONDS:g} s. Machines that others use too show more CPU seconds than quiet ones.\n"
    )
    if given.write:
        given.write.write_text(text, encoding="utf-8")
    else:
        print(text)  # noqa: T201 - the table is its output


if __name__ == "__main__":
    main()
