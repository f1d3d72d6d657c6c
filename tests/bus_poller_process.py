"""A poller of a bus in a process of its own, with a simulated fabric in place of the network: URL FABRIC ZONE NAME
[CREDS].

With TRUERAIL_TEST_BUSY in the environment its hosts also count what their NICs send: it rises with the time of this
process.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.fake_fleet import FakeFleet
from tests.nats_bus import TIMING
from tests.poller_fabric import SHAPE, simulation, zoned_work
from truerail.link.nats_link import BusAddress
from truerail.link.subjects import Subjects
from truerail.model import Role, Target
from truerail.poller.bus_poller import BusPoller
from truerail.transport.protocol import Answer

BUSY = "TRUERAIL_TEST_BUSY"
SENT_BYTES_PER_SECOND = 4e9
_COUNTERS = "/sys/class/infiniband/mlx5_{rail}/ports/1/counters/port_xmit_data:{words}\n"
_WORD_BYTES = 4


class BusyFleet(FakeFleet):
    """All hosts send at a steady rate on each rail."""

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        words = int(time.monotonic() * SENT_BYTES_PER_SECOND / _WORD_BYTES)
        counted = "".join(_COUNTERS.format(rail=rail, words=words) for rail in range(SHAPE.rails))
        return [
            Answer(one.command, counted) if target.role is Role.HOST and "/counters/" in one.command else one
            for one in await super().ask(target, commands)
        ]


async def poll() -> None:
    url, fabric, zone, name, *creds = sys.argv[1:]
    work, fleet = zoned_work(planned=False), FakeFleet(simulation())
    if os.environ.get(BUSY):
        work = replace(work, every_seconds={**work.every_seconds, "rdma_counters": 0.5})
        fleet = BusyFleet(simulation())
    address = BusAddress(url, *map(Path, creds))
    poller = BusPoller(work, fleet, address, Subjects(fabric), zone, name, TIMING)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await poller.run(stop)


def main() -> None:
    asyncio.run(poll())


if __name__ == "__main__":
    main()
