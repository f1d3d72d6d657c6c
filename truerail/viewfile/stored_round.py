"""A round as the view holds it: its cabling, its jobs, who answered, and no counters. What is not there raises
NotInViewError: an answer is complete, or the judge gives it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from typing import Any, NoReturn, TypeVar, cast

import numpy as np
import numpy.typing as npt

from truerail.analysis.cabling import Wiring
from truerail.analysis.cabling.identity import Identity
from truerail.analysis.cabling.links import PortStates
from truerail.analysis.cabling.macs import MacOwners
from truerail.analysis.round import Round
from truerail.analysis.running_jobs import Jobs
from truerail.errors import NotInViewError
from truerail.model.columns import NONE, Codes
from truerail.model.facts import Fact
from truerail.model.finding import Evidence
from truerail.model.index import PlanIndex
from truerail.model.plan import Plan
from truerail.model.reading import Reading
from truerail.model.snapshot import Snapshot, Table
from truerail.viewfile.parts import ROWS, Columns, SeenNames

F = TypeVar("F", bound=Fact)
MOST_DECODED = 64
"""Parts of a table of facts that stay decoded: 16,000 rows."""
_OF_THE_JUDGE = frozenset(
    {one.name for one in fields(Round)}
    | {name for name, value in vars(Round).items() if isinstance(value, property | cached_property)}
) - {"plan", "snapshot", "cabling", "jobs", "_derived"}
"""What follows from counters, or from rounds before."""
_DIGITS = 17
"""Characters of a MAC address in canonical form. The 20 bytes of an InfiniBand interface are not searched for."""


class StoredSnapshot(Snapshot):
    """Who answered, when, and the errors; without facts."""

    def table(self, kind: type[F]) -> Table[F]:
        """Raises NotInViewError."""
        raise NotInViewError(f"the table of {kind.__name__}")


@dataclass(frozen=True, eq=False)
class StoredRound(Round):
    """A round whose cabling is known. Reading what follows from counters raises NotInViewError."""

    known: Wiring = field(kw_only=True)
    running: Jobs = field(kw_only=True)

    @property
    def cabling(self) -> Wiring:
        """The cabling as the judge found it."""
        return self.known

    @property
    def jobs(self) -> Jobs:
        """The jobs as the judge knows them."""
        return self.running

    def __getattribute__(self, name: str) -> Any:
        if name in _OF_THE_JUDGE:
            raise NotInViewError(f"the round's {name}")
        return super().__getattribute__(name)


class Held:
    """These attributes of an object; every other one raises NotInViewError."""

    def __init__(self, what: str, **held: Any) -> None:
        self._what = what
        self.__dict__.update(held)

    def __getattr__(self, name: str) -> NoReturn:
        raise NotInViewError(f"{self._what} {name}")


def _identity(index: PlanIndex, announces: Mapping[int, int], met: Codes | None, macs: MacOwners) -> Identity:
    """Under which device's name a reading is filed, the devices that a discovery met, and who owns which MAC."""

    def filed(name: str) -> int:
        code = index.devices.find(name)
        return announces.get(code, code)

    discovery = None if met is None else Held("the discovery's", devices=met)
    names = Held("the devices'", macs=macs)
    return cast("Identity", Held("the identities'", filed=filed, discovery=discovery, names=names))


class StoredRows(Sequence[F]):
    """The rows of a table of facts, decoded part by part when they are read. In any thread."""

    def __init__(self, size: int, part: Callable[[str], Any]) -> None:
        self._size = size
        self._decoded = lru_cache(MOST_DECODED)(part)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, row: Any) -> Any:
        if not 0 <= row < self._size:
            raise IndexError(row)
        number, place = divmod(row, ROWS)
        return self._decoded(str(number))[place]

    def __iter__(self) -> Iterator[F]:
        raise NotInViewError("all rows of a table of facts")


class StoredEvidences(Sequence[Evidence]):
    """The evidence of a finding, read when it is asked for. In any thread. Raises NotInViewError once the view has that
    of a newer publication.
    """

    def __init__(self, finding: str, part: Callable[[str], Sequence[Any]], readings: Sequence[Reading]) -> None:
        """`readings` are those of the finding's publication."""
        self._finding, self._part, self._readings = finding, part, readings

    def _read(self) -> tuple[Evidence, ...]:
        stored = self._part(self._finding)
        wanted = {(device, collector) for device, collector, at, _ in stored if at is None}
        times = {
            key: reading.at for reading in self._readings if (key := (reading.device, reading.collector)) in wanted
        }
        return tuple(
            Evidence(device, collector, at or times[device, collector], fact) for device, collector, at, fact in stored
        )

    def __len__(self) -> int:
        return len(self._read())

    def __iter__(self) -> Iterator[Evidence]:
        return iter(self._read())

    def __getitem__(self, place: Any) -> Any:
        return self._read()[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._read() == tuple(other)

    def __hash__(self) -> int:
        return hash(self._read())


class StoredStates(Mapping[Any, Any]):
    """States by port name, which no view reads: columns have them."""

    def _refuse(self, *_: object) -> NoReturn:
        raise NotInViewError("the states by port name")

    __getitem__ = __iter__ = __len__ = _refuse


def columns_of(wiring: Wiring) -> dict[str, Any]:
    """The columns of a wiring by name, for `wiring_of`."""
    states, discovery = wiring.states, wiring.identity.discovery
    return {
        **{name: getattr(wiring, name) for name in _WIRING},
        **{name: getattr(states, name) for name in _STATES},
        "derived": states.derived(),
        "met": None if discovery is None else discovery.devices,
        "announces": dict(wiring.identity.announces),
    }


_WIRING = (
    "partner",
    "sure",
    "ambiguous",
    "heard",
    "state",
    "why",
    "place",
    "listened",
    "read",
    "testimony",
    "corroborated",
)
_STATES = ("link_row", "rdma_row", "speed_row", "found", "shared", "infiniband")
"""With those above the columns that a reader needs, beside the few that `columns_of` names itself."""


def wiring_of(
    index: PlanIndex,
    columns: Columns,
    links: Sequence[Any],
    rdma: Sequence[Any],
    macs: MacOwners,
    seen: Snapshot,
    follows: Mapping[Any, Any],
) -> Wiring:
    """The wiring with these columns; its facts are read when they are needed."""
    rows: dict[str, Any] = {"links": links, "rdma": rdma, "speeds": StoredRows(0, lambda key: [])}
    states = PortStates(**rows, **{name: columns[name] for name in _STATES}).with_derived(columns["derived"])
    identity = _identity(index, columns["announces"], columns["met"], macs)
    return Wiring(
        index, identity, states, **{name: columns[name] for name in _WIRING}, seen=seen, _follows=dict(follows)
    )


def seen_names(index: PlanIndex) -> SeenNames:
    """What a snapshot added to the plan's index."""
    return SeenNames(*index.devices.unplanned(), index.named, index.called, *index.ports.columns())


def index_of(plan: Plan, seen: SeenNames) -> PlanIndex:
    """The plan's index with the devices and ports of a snapshot."""
    index = PlanIndex(plan, seen.named, seen.called)
    index.devices.restore(seen.devices, seen.keys)
    index.ports.restore(seen.spellings, seen.packed)
    return index


@dataclass(frozen=True, slots=True)
class StoredMacs:
    """The port that owns each MAC: sorted columns."""

    macs: npt.NDArray[np.bytes_]
    ports: Codes

    @classmethod
    def of(cls, by_mac: Mapping[str, int]) -> "StoredMacs":
        """Those of a mapping."""
        found = {mac: port for mac, port in by_mac.items() if len(mac) == _DIGITS}
        names = np.array(list(found), dtype=f"S{_DIGITS}")
        order = np.argsort(names, kind="stable")
        return cls(names[order], np.fromiter(found.values(), dtype=np.int64, count=len(found))[order])

    @property
    def by_mac(self) -> Mapping[str, int]:
        """Raises NotInViewError."""
        raise NotInViewError("all MAC addresses")

    def port_of(self, mac: str) -> int:
        """The port that owns this MAC; -1 if none does, or several do."""
        wanted = mac.encode("ascii", "replace")
        at = int(np.searchsorted(self.macs, wanted))
        return int(self.ports[at]) if at < len(self.macs) and self.macs[at] == wanted else NONE
