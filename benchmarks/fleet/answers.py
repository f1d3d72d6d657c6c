"""What the devices of a fleet answer, prepared once and read by any number of servers.

Counters rise with the rates of one minute of simulated traffic, for ever: between two renderings of an answer every
number moves in a straight line, and on beyond it. A pause that belongs to one busy minute then never ends, and PFC002
reports it, as it should. Any other answer that changes by itself, as the age of a neighbour does, alternates between
two renderings.
"""

import re
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from collector import collectors
from truerail.model import Plan
from truerail.poller import Ambient
from truerail.simulator.fabric.builder import Shape, build
from truerail.simulator.fabric.world import as_planned
from truerail.simulator.live.living_traffic import LivingTraffic
from truerail.simulator.live.living_world import Daemons, LivingWorld
from truerail.simulator.live.transport import Devices

HOSTS_PER_POD = 250
BEGAN = datetime(2026, 11, 20, 14, tzinfo=UTC)
AT_SECONDS = (120.0, 180.0)
"""When the answers are rendered, after the traffic began."""
_NUMBER = re.compile(rb"\d+")
_TABLE = "create table answers (device text, command text, before blob, after blob, counts integer) strict"
Numbers = npt.NDArray[np.float64]


def shape_of(hosts: int, platforms: tuple[str, ...] = ("cumulus",)) -> Shape:
    """Pods of 250 hosts with eight rails, eight spines in each pod and superspines above."""
    pods = -(-hosts // HOSTS_PER_POD)
    return Shape(hosts=hosts, pods=pods, spines=8, uplinks=32, superspines=16, platforms=platforms)


def prepare(shape: Shape, path: Path) -> Plan:
    """Renders all answers into a new SQLite file; returns the plan of the fabric, in which nothing is wrong."""
    seconds = 0.0
    ambient = Ambient(now=lambda: BEGAN + timedelta(seconds=seconds), clock=lambda: seconds, random=lambda: 0.5)
    world = as_planned(build(shape), "inventory")
    living = LivingWorld(world, ambient, Daemons(tx_seconds=30.0, hold=4))
    living.settle()
    traffic = LivingTraffic(living, seed=1)
    devices, plan = Devices(living, traffic), world.fabric.plan
    store = sqlite3.connect(path)
    store.execute(_TABLE)
    seconds = AT_SECONDS[0]
    rows = _rendered(living, devices)
    store.executemany("insert into answers (before, device, command, counts) values (?, ?, ?, ?)", rows)
    store.execute("create unique index of_device on answers (device, command)")
    seconds = AT_SECONDS[1]
    later = (row[:3] for row in _rendered(living, devices))
    store.executemany("update answers set after = ? where device = ? and command = ?", later)
    store.commit()
    store.close()
    return plan


def _rendered(living: LivingWorld, devices: Devices) -> Iterator[tuple[bytes, str, str, bool]]:
    for machine, device in living.world.fabric.plan.devices.items():
        counting, done = living.world.system(machine).counters, set[str]()
        for command in chain.from_iterable(one.ask for one in collectors().values() if device.role in one.on):
            if command.text not in done and (text := devices.answer(machine, command.text)) is not None:
                done.add(command.text)
                yield zlib.compress(text.encode(), 1), machine, command.text, command.text in counting


@dataclass(frozen=True, slots=True)
class _Counting:
    """An answer with rising numbers: the text between them, their values and how much they rise in a second."""

    between: list[bytes]
    values: Numbers
    per_second: Numbers

    def at(self, seconds: float) -> bytes:
        now = (self.values + self.per_second * seconds).astype(np.uint64).tolist()
        parts = [b""] * (2 * len(now) + 1)
        parts[::2] = self.between
        parts[1::2] = [b"%d" % value for value in now]
        return b"".join(parts)


class Answers:
    """The prepared answers. Read-only: several servers may have the same file."""

    def __init__(self, path: Path) -> None:
        self._store = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self._counting: dict[tuple[str, str], _Counting] = {}
        self._words: dict[bytes, bytes] = {}

    def close(self) -> None:
        """Gives the file back."""
        self._store.close()

    def answer(self, device: str, command: str, seconds: float) -> bytes | None:
        """What a device prints so many seconds after the fleet began; None for a command that it does not have."""
        if counting := self._counting.get((device, command)):
            return counting.at(seconds)
        found = self._store.execute(
            "select before, after, counts from answers where device = ? and command = ?", (device, command)
        ).fetchone()
        if found is None:
            return None
        before, after, counts = found
        if not counts:
            return zlib.decompress(before if before == after or int(seconds) % 2 else after)
        made = self._counting[device, command] = self._made(zlib.decompress(before), zlib.decompress(after))
        return made.at(seconds)

    def _made(self, before: bytes, after: bytes) -> _Counting:
        """Numbers that stay are part of the words, and equal words of all devices are stored once."""
        words = _NUMBER.split(before)
        if _NUMBER.split(after) != words:
            raise ValueError("two renderings of one answer have different words")
        between, first, last = [words[0]], list[int](), list[int]()
        for old, new, behind in zip(_NUMBER.findall(before), _NUMBER.findall(after), words[1:], strict=True):
            if old == new:
                between[-1] += old + behind
            else:
                first.append(int(old))
                last.append(int(new))
                between.append(behind)
        values = np.array(first, dtype=np.float64)
        rates = (np.array(last, dtype=np.float64) - values) / (AT_SECONDS[1] - AT_SECONDS[0])
        return _Counting([self._words.setdefault(one, one) for one in between], values, rates)


def addresses(plan: Plan) -> Mapping[str, str]:
    """An address of the loopback for each device: 127.1.0.1 and up."""
    return {
        name: f"127.{1 + (number >> 16)}.{number >> 8 & 255}.{number & 255}"
        for number, name in enumerate(plan.devices, 1)
    }
