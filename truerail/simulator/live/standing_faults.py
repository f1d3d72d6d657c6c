"""The active faults: each can be planted and repaired at any time, independently of the others."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, TypeVar

from truerail.model import CauseKind
from truerail.simulator.faults.planting import Fault, plant_one
from truerail.simulator.faults.truth import Site, TrueCause
from truerail.simulator.live.living_world import Change, LivingWorld

T = TypeVar("T")
_CLAIMS = ("hosts", "touched", "taken", "spare_used")


class _Ledger(set[T]):
    """A set that records added members, even those it already has."""

    def __init__(self, present: Iterable[T]) -> None:
        super().__init__(present)
        self.added: set[T] = set()

    def add(self, member: T) -> None:
        self.added.add(member)
        super().add(member)

    def update(self, *others: Iterable[T]) -> None:
        for member in (member for other in others for member in other):
            self.add(member)


@dataclass(frozen=True, slots=True)
class Standing:
    """An active fault. `number` is unique; `since` is in seconds of the world's clock."""

    number: int
    cause: TrueCause
    since: float
    change: Change
    claims: Mapping[str, frozenset[Any]]

    @property
    def kind(self) -> CauseKind:
        """What it is."""
        return self.cause.kind

    def concerns(self, subject: str) -> bool:
        """Whether it affects a device or port, named as in the plan: `gpu-012`, `gpu-012/enp26s0f0np0`."""
        ports = {*self.cause.subjects, *map(str, self.cause.cables), *map(str, self.change.after["far"])}
        return subject in ports or any(port.partition("/")[0] == subject for port in self.cause.subjects)


class StandingFaults:
    """Plants faults in untouched places, so that the truth stays unambiguous, and repairs them one by one."""

    def __init__(self, living: LivingWorld, rng: Random) -> None:
        self._living = living
        self._site = Site(living.world, rng)
        self._planted = 0
        self._standing: dict[int, Standing] = {}

    def __iter__(self) -> Iterator[Standing]:
        return iter(tuple(self._standing.values()))

    def __len__(self) -> int:
        return len(self._standing)

    def number(self) -> int:
        """The number of the next fault, whatever its kind. Each is unique."""
        self._planted += 1
        return self._planted

    def plant(self, fault: Fault, since: float | None = None) -> Standing:
        """Plants a fault now, at a place that is drawn, or as if it were there `since` then. Raises `NoRoomError`; the
        world is as it was then.
        """
        ledgers: dict[str, _Ledger[Any]] = {name: _Ledger(self._claimed(name)) for name in _CLAIMS}
        for name, ledger in ledgers.items():
            setattr(self._site, name, ledger)
        cause, change = self._living.alter(lambda _: plant_one(self._site, fault))
        claims = {name: frozenset(ledger.added) for name, ledger in ledgers.items()}
        since = self._living.changed_at if since is None else since
        standing = Standing(self.number(), cause, since, change, claims)
        self._standing[standing.number] = standing
        return standing

    def repair(self, number: int) -> Standing:
        """Repairs the fault of that number. Raises KeyError if it is not active."""
        standing = self._standing.pop(number)
        self._living.revert(standing.change)
        return standing

    def _claimed(self, name: str) -> Iterable[Any]:
        return (member for standing in self._standing.values() for member in standing.claims[name])
