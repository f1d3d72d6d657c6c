"""The speed at which each link of a host, or of a switch that is Linux, runs.

Question: did every link come up at full speed?
Needs: sysfs (any user).

Formats: `path:value` lines of `grep -H .` over `/sys/class/net/*/speed` (Mb/s) and
`/sys/class/infiniband/*/ports/*/rate` (`400 Gb/sec (4X NDR)`); the same files in a `ttar` archive. Source: the kernel's
`Documentation/ABI/testing/sysfs-class-net` and `Documentation/ABI/stable/sysfs-class-infiniband`.

Traps:

- An interface without link refuses to tell, or says -1; virtual ones say what their driver made up, a veth 10000.
- A port of InfiniBand without link says 10 Gb/sec, the speed of its search for one: its state says that it is down.
- Of a device with two ports, which no current NIC is, only the first is read: its netdevs tell both.
- A netdev comes behind the RDMA device below it, and stands where a plan means both by one name.
"""

import re
from collections.abc import Iterator

from collector._sysfs import files
from truerail.model import EVERYWHERE, Command, Device, LinkSpeed, NotTold, collector, minutes

_NETDEV = re.compile(r"(?:.*/)?net/([^/]+)/speed")
_RDMA = re.compile(r"(?:.*/)?infiniband/([^/]+)/ports/1/rate")
_MBPS = re.compile(r"[1-9]\d{0,7}")
_GBPS = re.compile(r"(\d{1,5}(?:\.\d+)?) Gb/sec(?: .*)?")


@collector(
    on=EVERYWHERE,
    ask=[
        Command(text, ("linux", "cumulus", "sonic"))
        for text in (
            "grep -sH . /sys/class/infiniband/*/ports/*/rate /sys/class/net/*/speed; :",
            "grep -H . /sys/class/net/*/speed",
            "grep . /sys/class/net/*/speed",
            "grep . /sys/class/infiniband/*/ports/*/rate",
        )
    ],
    every=minutes(1),
    yields=[LinkSpeed],
    optional=True,
)
def link_speed(answer: str, device: Device) -> list[LinkSpeed]:
    """One `LinkSpeed` for each port that tells it, RDMA devices first. Raises `Unreadable`, also where none does."""
    told = list(files(answer))
    found = [*_speeds(told, _RDMA, _GBPS, 1.0), *_speeds(told, _NETDEV, _MBPS, 1e-3)]
    if not found:
        raise NotTold("no port's speed in it")
    return found


def _speeds(
    told: list[tuple[str, str]], path: re.Pattern[str], value: re.Pattern[str], scale: float
) -> Iterator[LinkSpeed]:
    for name, content in told:
        port, speed = path.fullmatch(name), value.fullmatch(content)
        if port and speed:
            yield LinkSpeed(port[1], float(speed[speed.lastindex or 0]) * scale)
