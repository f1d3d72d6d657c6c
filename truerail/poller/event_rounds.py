"""Rounds between rounds: what a host reports to have changed, and what a device that is being polled still lacks, is
read as soon as the device is idle, and not at its interval.
"""

import asyncio
from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from truerail.poller.poll_scheduler import PollScheduler

TOGETHER_SECONDS, AGAIN_SECONDS = 0.05, 0.2
"""How long a round waits for other hosts; before a device that is being asked is looked at again."""


class EventRounds:
    """Collectors of devices that are to be read now."""

    def __init__(self) -> None:
        self._due: dict[str, set[str]] = {}
        self._task: asyncio.Task[None] | None = None

    def add(self, device: str, collectors: Collection[str], asking: "PollScheduler") -> None:
        """Reads these collectors of a device soon."""
        self._due.setdefault(device, set()).update(collectors)
        if self._task is None or self._task.done():
            self._task = asking.spawn(self._run(asking))

    async def _run(self, asking: "PollScheduler") -> None:
        await asyncio.sleep(TOGETHER_SECONDS)
        while self._due:
            ready = asking.idle(self._due)
            if not ready:
                await asyncio.sleep(AGAIN_SECONDS)
            else:
                alike: dict[frozenset[str], set[str]] = {}
                for name in ready:
                    alike.setdefault(frozenset(self._due.pop(name)), set()).add(name)
                await asyncio.gather(*(asking.round(asked, devices) for asked, devices in alike.items()))
            polled = frozenset(asking.devices)
            self._due = {name: of for name, of in self._due.items() if name in polled}
