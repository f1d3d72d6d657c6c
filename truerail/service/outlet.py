"""What leaves the service with each evaluation: the interface of notifications and exports."""

from collections.abc import Mapping
from typing import Protocol

from truerail.analysis.published import Published


class Outlet(Protocol):
    """Takes evaluations, and sends what follows from them in threads of its own."""

    def evaluated(self, publication: Published, *, resumed: bool) -> None:
        """Takes an evaluation, in a thread. `resumed`: the journal has been read, so that lives are whole."""

    def figures(self) -> Mapping[str, float]:
        """The outlet's own metrics, by name."""

    def close(self) -> None:
        """Ends it, before the journal is closed."""
