"""What devices are still to be asked beside the rounds: what came due while they were being polled, what a host reports
to have changed, and what somebody wants to have read now.
"""

from collections.abc import Collection
from collections.abc import Set as AbstractSet


class Owed:
    """Collectors by device."""

    def __init__(self) -> None:
        self._due: dict[str, set[str]] = {}
        self._wanted: dict[str, set[str]] = {}

    def __contains__(self, device: str) -> bool:
        return device in self._due or device in self._wanted

    def due(self, device: str, collectors: Collection[str]) -> None:
        """Runs collectors that came due too when the device is next asked."""
        self._due.setdefault(device, set()).update(collectors)

    def want(self, device: str, collectors: Collection[str]) -> None:
        """Runs collectors on the device, also if it does not answer before."""
        self._wanted.setdefault(device, set()).update(collectors)

    def take(self, device: str) -> set[str]:
        """The collectors of a device, which is asked now."""
        return self._due.pop(device, set()) | self._wanted.pop(device, set())

    def silent(self, device: str) -> None:
        """A device did not answer: what came due is left to the next round."""
        self._due.pop(device, None)

    def take_idle(self, busy: AbstractSet[str]) -> dict[frozenset[str], set[str]]:
        """The devices that are not being polled, by their collectors."""
        alike: dict[frozenset[str], set[str]] = {}
        for name in [name for name in {**self._due, **self._wanted} if name not in busy]:
            alike.setdefault(frozenset(self.take(name)), set()).add(name)
        return alike
