"""When the service scans its whole heap for garbage in reference cycles (see `garbage_of_the_young_only`)."""

import gc

EVERY_SECONDS = 3600.0
EVALUATION_SECONDS = 300.0
"""The same limit in seconds of evaluation: requests leave reference cycles of some 10 kB each, and those during an
evaluation count as old at once (see `garbage_collection_paused`).
"""


class Garbage:
    """Collects every hour, and sooner after much evaluation. A collection blocks every thread for about a second."""

    def __init__(self) -> None:
        self._evaluating = 0.0

    async def evaluated(self, seconds: float) -> None:
        """Adds the seconds that an evaluation took."""
        self._evaluating += seconds
        if self._evaluating > EVALUATION_SECONDS:
            await self.collect()

    async def collect(self) -> None:
        """Scans everything now."""
        self._evaluating = 0.0
        gc.collect()
