"""Devices that hang before devices that do not: how many of the others answer in the first round, and when.

    PYTHONPATH=tests .venv/bin/python -m benchmarks.transport.hung [healthy [hung ...]]

Every stage at which a device can hang, with so many hung devices before 40 healthy ones that they are a fifth, half and
nine tenths of all, with the product's own limits. The healthy ones are logins to one real sshd: its key exchanges cost
this machine more than the round, so their number stays the same. Prints a table.
"""

import asyncio
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.hung_peers import STAGES, Crowd, crowd, first_round, lost
from tests.patience import ENOUGH
from tests.snmpd import COMMUNITY, snmpd
from truerail.model import Role, Secret, SnmpAccess, Target
from truerail.model.own_process import raise_open_files
from truerail.poller import Limits
from truerail.transport.protocol import Transport
from truerail.transport.snmp_transport import SnmpTransport
from truerail.transport.ssh_transports import SshHosts, SwitchCli

HEALTHY = 40
SHARES = (0.2, 0.5, 0.9)
ENGINES = ("gufo", "pysnmp")
_COMMUNITY = "TRUERAIL_BENCH_COMMUNITY"
SECONDS = 10.0
"""What an inventory gives a device where it does not say."""
KINDS: dict[str, tuple[Callable[[], Transport], str]] = {
    "hosts": (SshHosts, "rdma_link"),
    "switches": (SwitchCli, "lldp_switch"),
}


def main(healthy: int, hung: Sequence[int]) -> None:
    """Prints a row for each kind, stage and number of hung devices."""
    raise_open_files()
    _say(f"{'kind':9} {'stage':19} {'hung':>5} {'others':>6} {'lost':>5} {'last of them after':>20}")
    counts = list(hung) or [round(healthy * share / (1 - share)) for share in SHARES]
    for kind, (make, asked) in KINDS.items():
        for stage, hangs in product(STAGES, counts):
            with (
                TemporaryDirectory(prefix="truerail-hung-") as folder,
                crowd(Path(folder), stage, hangs, healthy, switches=kind == "switches", seconds=SECONDS) as fleet,
            ):
                _row(kind, make, asked, stage, fleet)
    for engine, hangs in product(ENGINES, counts):
        with (
            TemporaryDirectory(prefix="truerail-hung-") as folder,
            agents(Path(folder), engine, hangs, healthy) as fleet,
        ):
            _row("SNMP", SnmpTransport, "if_snmp", f"silent, {engine}", fleet)


@contextmanager
def agents(folder: Path, engine: str, silent: int, healthy: int) -> Iterator[Crowd]:
    """SNMP agents that say nothing before others, all of which are one real snmpd under many names."""
    os.environ[_COMMUNITY] = COMMUNITY
    with ExitStack() as stack:
        good = stack.enter_context(snmpd(folder)).port
        mute = [stack.enter_context(socket.socket(type=socket.SOCK_DGRAM)) for _ in range(silent)]
        for one in mute:
            one.bind(("127.0.0.1", 0))
        ports = [one.getsockname()[1] for one in mute] + [good] * healthy
        targets = tuple(_agent(number, port, engine, bad=number < silent) for number, port in enumerate(ports))
        yield Crowd(targets, frozenset(target.name for target in targets[silent:]))


def _agent(number: int, port: int, engine: str, *, bad: bool) -> Target:
    access = SnmpAccess(community=Secret("env", _COMMUNITY), port=port, engine=engine)
    name = f"{'a-hung' if bad else 'b-good'}-{number:04d}"
    seconds = SECONDS if bad else ENOUGH
    return Target(name, "127.0.0.1", Role.LEAF, "snmp", snmp=access, timeout_seconds=seconds)


def _row(kind: str, make: Callable[[], Transport], asked: str, stage: str, fleet: Crowd) -> None:
    began = time.monotonic()
    seen = asyncio.run(first_round(fleet, make, [asked], Limits()))
    took = time.monotonic() - began
    missed, others = lost(fleet, seen), len(fleet.good)
    hangs = len(fleet.targets) - others
    _say(f"{kind:9} {stage:19} {hangs:5} {others:6} {len(missed):5} {took:18.1f} s")
    for name, why in list(missed.items())[:3]:
        _say(f"    {name}: {why}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    main(numbers[0] if numbers else HEALTHY, numbers[1:])
