"""Devices that hang before devices that do not: how many of the others answer in the first round, and when.

    PYTHONPATH=.:tests .venv/bin/python benchmarks/hung.py [devices]

Every stage at which a device can hang, each for a fifth, half and nine tenths of the devices, with the product's own
limits. The others are logins to one real sshd. Prints a table.
"""

import asyncio
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.hung_peers import STAGES, crowd, first_round, lost
from truerail.gather import Limits
from truerail.transport.protocol import Transport
from truerail.transport.routes import raise_open_files
from truerail.transport.ssh_hosts import SshHosts
from truerail.transport.switch_cli import SwitchCli

SHARES = (0.2, 0.5, 0.9)
SECONDS = 10.0
"""What an inventory gives a device where it does not say."""
KINDS: dict[str, tuple[Callable[[], Transport], str]] = {
    "hosts": (SshHosts, "rdma_link"),
    "switches": (SwitchCli, "lldp_switch"),
}


def main(devices: int) -> None:
    """Prints a row for each kind, stage and share."""
    raise_open_files()
    _say(f"{'kind':9} {'stage':19} {'hung':>5} {'others':>6} {'lost':>5} {'last of them after':>20}")
    for kind, (make, asked) in KINDS.items():
        for stage in STAGES:
            for share in SHARES:
                hangs = round(devices * share)
                with TemporaryDirectory(prefix="truerail-hung-") as folder:
                    _row(Path(folder), kind, make, asked, stage, hangs, devices - hangs)


def _row(
    folder: Path, kind: str, make: Callable[[], Transport], asked: str, stage: str, hangs: int, others: int
) -> None:
    with crowd(folder, stage, hangs, others, switches=kind == "switches", seconds=SECONDS) as fleet:
        began = time.monotonic()
        seen = asyncio.run(first_round(fleet, make, [asked], Limits()))
        took = time.monotonic() - began
    missed = lost(fleet, seen)
    _say(f"{kind:9} {stage:19} {hangs:5} {others:6} {len(missed):5} {took:18.1f} s")
    for name, why in list(missed.items())[:3]:
        _say(f"    {name}: {why}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
