"""When the service looks through its whole heap for garbage that circles hold (see `garbage_of_the_young_only`)."""

import gc

EVERY_SECONDS = 3600.0
EVALUATION_SECONDS = 300.0
"""The same, in seconds of evaluating: requests leave circles, some 10 kB each, and those that come while something is
evaluated count as old at once (see `garbage_collection_paused`).
"""


class Garbage:
    """Collects by the hour, and sooner where much is evaluated. A collection holds every thread for about a second."""

    def __init__(self) -> None:
        self._evaluating = 0.0

    async def evaluated(self, seconds: float) -> None:
        """Something was evaluated for so long, in seconds."""
        self._evaluating += seconds
        if self._evaluating > EVALUATION_SECONDS:
            await self.collect()

    async def collect(self) -> None:
        """Looks through everything, now."""
        self._evaluating = 0.0
        gc.collect()
