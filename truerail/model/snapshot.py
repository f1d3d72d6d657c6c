"""One round: readings, and the same facts as columns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import chain, zip_longest
from operator import itemgetter
from typing import Any, Generic, TypeVar, cast

import numpy as np
from msgspec import structs

from truerail.model.columns import PIECE, Codes, Numbering, Objects, factorize, mapped, renumbered
from truerail.model.facts import BitErrorRate, Fact, Optic, PortCounters
from truerail.model.job_facts import PodOfJob, SchedulerJob, SchedulerNode, TopologyUnit
from truerail.model.nccl_facts import NCCL_FACTS
from truerail.model.reading import Reading

F = TypeVar("F", bound=Fact)
MEASURED = frozenset(
    {PortCounters, Optic, BitErrorRate, SchedulerJob, SchedulerNode, TopologyUnit, PodOfJob, *NCCL_FACTS}
)
"""Kinds of facts that change in each round, and that no cabling follows from; but for the numbers of cables, which
`Optic` has.
"""

_FEW = 8
"""Tables are spliced where less than one reading in this many has changed."""


class Table(Generic[F]):
    """The facts of one kind from all devices, as columns of equal length.

    `rows[i]` is the fact, `device[i]` indexes `devices`, `reading[i]` indexes the snapshot's readings, and
    `column(name)` is one field of all rows as an object array.
    """

    def __init__(self, kind: type[F], rows: list[F], devices: list[str], device: Codes, reading: Codes) -> None:
        self.kind = kind
        self.rows = rows
        self.devices = devices
        self.device = device
        self.reading = reading
        self._columns: dict[str, Objects] = {}
        self._codes: dict[tuple[str, ...], tuple[Codes, list[Any]]] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> Objects:
        """One field of every row, shape (rows,), dtype object. Raises KeyError for an unknown field."""
        if name not in self.kind._fields:
            raise KeyError(f"{self.kind.__name__} has no field {name!r}")
        if not self._columns:
            self._columns = self._cells()
        return self._columns[name]

    def _cells(self) -> dict[str, Objects]:
        """All fields: one walk over the rows costs a tenth of one for each field, because each waits for the memory."""
        fields = self.kind._fields
        cells = np.empty((len(fields), len(self.rows)), dtype=object)
        step = PIECE // len(fields)
        for start in range(0, len(self.rows), step):  # in pieces, so that other threads can run
            part = self.rows[start : start + step]
            values = np.fromiter(chain.from_iterable(part), dtype=object, count=len(part) * len(fields))
            cells[:, start : start + len(part)] = values.reshape(-1, len(fields)).T
        return dict(zip(fields, cells, strict=True))

    def codes(self, *names: str) -> tuple[Codes, list[Any]]:
        """One field of every row, or several as a tuple, as `factorize` numbers it. Computed once."""
        if names not in self._codes:
            columns = [self.column(name) for name in names]
            self._codes[names] = factorize(columns[0] if len(names) == 1 else zip(*columns, strict=True))
        return self._codes[names]

    def with_readings(self, changed: Mapping[int, list[F]]) -> "Table[F] | None":
        """The same table where some readings, by their number, have other facts: all others are copied, also in the
        columns. None where one of them had no fact of this kind, or has none now: a device may come or go with it.
        """
        numbers = sorted(changed)
        starts, stops = (np.searchsorted(self.reading, numbers, side).tolist() for side in ("left", "right"))
        news = [changed[number] for number in numbers]
        if any((start == stop) is bool(new) for start, stop, new in zip(starts, stops, news, strict=True)):
            return None
        keep = [slice(low, high) for low, high in zip([0, *stops], [*starts, len(self.rows)], strict=True)]
        rows = list(chain.from_iterable(chain(self.rows[old], new) for old, new in zip(keep, [*news, []], strict=True)))
        begins = zip(starts, stops, news, strict=True)
        devices = [self.device[start:stop][:1].repeat(len(new)) for start, stop, new in begins]
        readings = [np.full(len(new), number) for number, new in zip(numbers, news, strict=True)]
        columns = _spliced(self.device, keep, devices), _spliced(self.reading, keep, readings)
        table = Table(self.kind, rows, self.devices, *columns)
        for name, column in self._columns.items():
            field_of = itemgetter(self.kind._fields.index(name))
            values = [np.fromiter(map(field_of, new), dtype=object, count=len(new)) for new in news]
            table._columns[name] = _spliced(column, keep, values)
        for names, (codes, distinct) in self._codes.items():
            picked = itemgetter(*(self.kind._fields.index(name) for name in names))
            number = Numbering(distinct)
            added = [mapped(number.__getitem__, map(picked, new)) for new in news]
            table._codes[names] = renumbered(_spliced(codes, keep, added), number.distinct)
        return table


@dataclass(frozen=True)
class Snapshot:
    """The data of one round: `readings` in the order of collection, `previous` the previous round, if any.

    `inventory` names the devices to poll; None if unknown, as in a manual capture.
    """

    at: datetime
    readings: Sequence[Reading]
    previous: "Snapshot | None" = None
    inventory: frozenset[str] | None = None
    _tables: dict[type[Any], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def continues(self, earlier: "Snapshot") -> bool:
        """Whether all facts are those of an earlier snapshot, but for measured ones: the same objects, of the same
        devices, in the same order, and the same devices answered. Then it takes over the tables of these facts.
        """
        if len(self.readings) != len(earlier.readings) or self.inventory != earlier.inventory:
            return False
        changed: list[Reading] = []
        for now, was in zip(self.readings, earlier.readings, strict=True):
            if now.facts is not was.facts or now.error != was.error:
                changed += now, was
            if now.device != was.device or now.collector != was.collector or not _same_cables(now, was):
                return False
        if not all(map(_measured, changed)) or not _answered_alike(self, earlier, changed):
            return False
        self.take_tables(earlier)
        return True

    def follow(self, earlier: "Snapshot") -> None:
        """Makes the tables of an earlier snapshot its own where the same readings came in the same order, and a few of
        them with other facts.
        """
        if len(self.readings) != len(earlier.readings):
            return
        changed: list[int] = []
        for number, (now, was) in enumerate(zip(self.readings, earlier.readings, strict=True)):
            if now.device != was.device or now.collector != was.collector:
                return
            if now.facts is not was.facts:
                changed.append(number)
        for kind, table in earlier._tables.items():
            if kind in MEASURED:
                continue
            both = ((n, _of_kind(self.readings[n], kind), _of_kind(earlier.readings[n], kind)) for n in changed)
            facts = {number: now for number, now, was in both if now or was}
            if len(facts) * _FEW < len(self.readings) and (spliced := table.with_readings(facts)) is not None:
                self._tables[kind] = spliced

    def take_tables(self, other: "Snapshot") -> None:
        """Takes over the tables of a snapshot with the same facts but for measured ones."""
        self._tables.update((kind, table) for kind, table in other._tables.items() if kind not in MEASURED)

    def unmeasured(self) -> "Snapshot":
        """The same without measured facts: what holds it for long holds no counters."""
        if not any(map(_has_measured, self.readings)):
            return self
        readings = [structs.replace(one, facts=()) if _has_measured(one) else one for one in self.readings]
        return Snapshot(self.at, readings, self.previous, self.inventory)

    def table(self, kind: type[F]) -> Table[F]:
        """The facts of one kind as columns. Computed once and cached."""
        if kind not in self._tables:
            self._tables[kind] = self._tabulate(kind)
        return cast("Table[F]", self._tables[kind])

    @cached_property
    def _numbers(self) -> Mapping[type[Any], Sequence[int]]:
        """The readings that have facts of a kind, by their numbers."""
        found: dict[type[Any], list[int]] = {}
        for number, reading in enumerate(self.readings):
            if facts := reading.facts:
                first = type(facts[0])
                for kind in (first,) if first is type(facts[-1]) else set(map(type, facts)):
                    found.setdefault(kind, []).append(number)
        return found

    def _tabulate(self, kind: type[F]) -> Table[F]:
        rows: list[F] = []
        devices: dict[str, int] = {}
        counts: list[tuple[int, int, int]] = []
        for number in self._numbers.get(kind, ()):
            reading = self.readings[number]
            wanted = _of_kind(reading, kind)
            counts.append((devices.setdefault(reading.device, len(devices)), number, len(wanted)))
            rows.extend(wanted)
        spread = np.array(counts, dtype=np.int64).reshape(-1, 3)
        device, read_in = (np.repeat(spread[:, at], spread[:, 2]) for at in (0, 1))
        return Table(kind, rows, list(devices), device, read_in)

    def answered(self, kinds: Iterable[type[Fact]], yields: Any) -> set[str]:
        """The devices that answered, without error, a collector that can yield one of `kinds`.

        `yields` maps a collector's name to the kinds it yields. An answer without any fact still counts: a switch
        without neighbours has answered.
        """
        wanted = set(kinds)
        return {r.device for r in self.readings if not r.error and wanted & set(yields.get(r.collector, ()))}


def _of_kind(reading: Reading, kind: type[F]) -> Sequence[F]:
    """Its facts of one kind. Facts are grouped by kind."""
    facts: Sequence[Any] = reading.facts
    if not facts:
        return ()
    first = type(facts[0])
    if first is not type(facts[-1]):
        return [fact for fact in facts if type(fact) is kind]
    return facts if first is kind else ()


def _spliced(old: Any, keep: Sequence[slice], new: Sequence[Any]) -> Any:
    """The slices of an array that are kept, and between them what takes the place of the others."""
    parts = chain.from_iterable(zip_longest((old[piece] for piece in keep), new, fillvalue=old[:0]))
    return np.concatenate(list(parts))


def _measured(reading: Reading) -> bool:
    """Whether a reading has measured facts alone, or is a failure, or empty, of a collector other than of neighbours.

    Facts are grouped by kind.
    """
    return _has_measured(reading) if reading.facts else not reading.collector.startswith("lldp")


def _has_measured(reading: Reading) -> bool:
    return bool(reading.facts) and type(reading.facts[0]) in MEASURED and type(reading.facts[-1]) in MEASURED


def _same_cables(now: Reading, was: Reading) -> bool:
    """Whether two readings of modules show the same ends of cables, in the same rows."""
    if now.facts is was.facts or not any(one.facts and type(one.facts[0]) is Optic for one in (now, was)):
        return True
    ends = _cable_ends(now)
    return ends == _cable_ends(was) and (not ends or len(now.facts) == len(was.facts))


def _cable_ends(reading: Reading) -> list[tuple[object, ...]]:
    return [
        (row, fact.port, fact.lane, fact.serial, fact.vendor, fact.part)
        for row, fact in enumerate(reading.facts)
        if type(fact) is Optic and fact.medium == "cable"
    ]


def _answered_alike(now: Snapshot, was: Snapshot, changed: Iterable[Reading]) -> bool:
    """Whether the devices of the changed readings answered anything in both snapshots, or in neither."""
    devices = {reading.device for reading in changed}
    readings = ([one for one in of.readings if one.device in devices and not one.error] for of in (now, was))
    return len({frozenset(one.device for one in of) for of in readings}) == 1
