"""A poller's process as a service starts it, with a simulated fabric in place of the network: see `poller_fabric`."""

import os
import sys
from pathlib import Path

GONE = "gone"
"""A file with which pollers of its folder end at once, before they import anything: as after an operator's mistake."""

if __name__ == "__main__":
    if Path(os.environ["TRUERAIL_TEST_FOLDER"], GONE).exists():
        sys.exit(3)
    from tests.fake_fleet import FakeFleet
    from tests.poller_fabric import simulation
    from truerail.poller import child

    child.main(FakeFleet(simulation()))
