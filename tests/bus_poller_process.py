"""A poller of a bus in a process of its own, with a simulated fabric in place of the network: URL FABRIC ZONE NAME
[CREDS].
"""

import asyncio
import signal
import sys
from pathlib import Path

from tests.fake_fleet import FakeFleet
from tests.nats_bus import TIMING
from tests.poller_fabric import simulation, zoned_work
from truerail.bus.nats_link import BusAddress
from truerail.bus.subjects import Subjects
from truerail.poller.bus_poller import BusPoller


async def main() -> None:
    url, fabric, zone, name, *creds = sys.argv[1:]
    poller = BusPoller(
        zoned_work(planned=False), FakeFleet(simulation()), BusAddress(url, *map(Path, creds)), Subjects(fabric),
        zone, name, TIMING,
    )  # fmt: skip
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await poller.run(stop)


if __name__ == "__main__":
    asyncio.run(main())
