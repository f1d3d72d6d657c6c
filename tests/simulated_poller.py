"""A poller's process as a service starts it, with a simulated fabric in place of the network: see `poller_fabric`."""

import sys

from tests.fake_fleet import FakeFleet
from tests.poller_fabric import GONE, simulation
from truerail.poller import child

if __name__ == "__main__":
    if GONE.is_set():
        sys.exit(3)
    child.main(FakeFleet(simulation()))
