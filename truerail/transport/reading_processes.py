"""Reads a large capture in several processes, one a core: parsing is most of what a `check` costs, and one interpreter
uses one core.

Each process reads batches of devices, and sends their facts back as columns, one list for each field of each kind.
Tuples that are pickled one by one cost the process that takes them all 2.4 s for 12,500 hosts; columns cost it less.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import chain, groupby, islice
from multiprocessing import get_context
from typing import Any, NamedTuple

from msgspec import structs

from collector import collectors
from truerail.model import Fact, Reading
from truerail.transport.warnings import Notes

LEAST_DEVICES = 1_000
"""Below it, starting processes takes as long as they save."""
MOST_PROCESSES = 8
"""More wait for the one process that takes what they have read."""
BATCH = 128
"""Devices that a process reads in one go."""
Read = Callable[[Sequence[str]], tuple[list[Reading], Notes]]
"""Reads the devices of these names."""
_Runs = list[tuple[type[Any], int]]
"""The facts of a reading: kinds and numbers of rows, one after the other."""


class _Sent(NamedTuple):
    """A batch, as it comes from another process."""

    columns: dict[type[Any], list[list[Any]]]
    facts: list[_Runs]
    readings: list[tuple[Any, ...]]
    """The values of a `Reading`, with the place of its facts in `facts` for these."""
    notes: Notes


_read: Read


def processes(devices: int) -> int:
    """How many processes are worth it for so many devices."""
    if devices < LEAST_DEVICES or sys.platform != "linux":  # elsewhere a fork is not safe, and a start is slow
        return 1
    return min(MOST_PROCESSES, len(os.sched_getaffinity(0)))


def read_by_processes(names: Sequence[str], read: Read, number: int) -> Iterator[tuple[int, list[Reading], Notes]]:
    """Number of devices, readings and notes of one batch after the other, in the order of `names`, as `read` returns
    them in another process. What a process that was killed leaves undone is read in this one.
    """
    batches = [names[start : start + BATCH] for start in range(0, len(names), BATCH)]
    shared: dict[tuple[str, tuple[Fact, ...]], tuple[Fact, ...]] = {}
    pool = ProcessPoolExecutor(number, get_context("fork"), _begin, (read,))
    try:
        pending: list[Future[_Sent]] = [pool.submit(_batch, batch) for batch in batches]
        for batch, one in zip(batches, pending, strict=True):
            try:
                sent = one.result()
            except BrokenProcessPool:
                yield len(batch), *read(batch)
            else:
                yield len(batch), *_taken(sent, shared)
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(read: Read) -> None:
    """In a new process."""
    global _read
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the one that waits for it
    _read = read


def _batch(names: Sequence[str]) -> _Sent:
    """In a process that reads."""
    readings, notes = _read(names)
    places: dict[int, int] = {}
    rows: dict[type[Any], list[Fact]] = {}
    facts: list[_Runs] = []
    for reading in readings:
        if id(reading.facts) not in places:
            places[id(reading.facts)] = len(facts)
            runs = [(kind, list(found)) for kind, found in groupby(reading.facts, type)]
            facts.append([(kind, len(found)) for kind, found in runs])
            for kind, found in runs:
                rows.setdefault(kind, []).extend(found)
    once: dict[Any, Any] = {}
    columns = {kind: [_column(values, once) for values in zip(*found, strict=True)] for kind, found in rows.items()}
    return _Sent(
        columns,
        facts,
        [structs.astuple(structs.replace(reading, facts=places[id(reading.facts)])) for reading in readings],
        notes,
    )


def _column(values: tuple[Any, ...], once: dict[Any, Any]) -> list[Any]:
    """A field's values; strings that are equal are one, which is sent once."""
    if {*map(type, values)} <= {str, type(None)}:
        return list(map(once.setdefault, values, values))
    return list(values)


def _taken(sent: _Sent, shared: dict[tuple[str, tuple[Fact, ...]], tuple[Fact, ...]]) -> tuple[list[Reading], Notes]:
    """The readings; equal facts of a shared question are one, as where one process reads them."""
    rows = {kind: map(partial(tuple.__new__, kind), zip(*cells, strict=True)) for kind, cells in sent.columns.items()}
    facts = [tuple(chain.from_iterable(islice(rows[kind], n) for kind, n in runs)) for runs in sent.facts]
    known = collectors()
    readings = []
    for device, collector, at, place, *rest in sent.readings:
        found = facts[place]
        if known[collector].shared:
            found = shared.setdefault((collector, found), found)
        readings.append(Reading(device, collector, at, found, *rest))
    return readings, sent.notes
