"""What devices are still to be asked beside the rounds: what came due while they were being polled, what a host reports
to have changed, and what somebody wants to have read now.
"""

from collections.abc import Collection
from collections.abc import Set as AbstractSet


class Owed:
    """Collectors by device."""

    def __init__(self) -> None:
        self._of: dict[str, set[str]] = {}

    def __contains__(self, device: str) -> bool:
        return device in self._of

    def add(self, device: str, collectors: Collection[str]) -> None:
        """Runs these collectors too when the device is next asked."""
        self._of.setdefault(device, set()).update(collectors)

    def take(self, device: str) -> set[str]:
        """The collectors of a device, which is asked now, or does not answer."""
        return self._of.pop(device, set())

    def take_idle(self, busy: AbstractSet[str]) -> dict[frozenset[str], set[str]]:
        """The devices that are not being polled, by their collectors."""
        alike: dict[frozenset[str], set[str]] = {}
        for name in [name for name in self._of if name not in busy]:
            alike.setdefault(frozenset(self.take(name)), set()).add(name)
        return alike
