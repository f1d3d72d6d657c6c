"""The speed at which each link of a host or switch runs.

Question: did every link come up at full speed?
Needs: sysfs (any user); on a switch a login that may look.

| system | answers |
|---|---|
| Linux, Cumulus Linux | `path:value` lines of `grep -H .` over sysfs, or the same files in a `ttar` archive |
| SONiC | `show interfaces status`, else sysfs |
| Arista EOS | `show interfaces status`, `show interfaces`, as JSON and text |
| Cisco NX-OS | `show interface status`, `show interface`, as JSON and text |
| Junos | `show interfaces [media\\|extensive]` as JSON and text; `terse` tells no speed |
| Cumulus NVUE | `nv show interface -o json` |
| AOS-CX | `show interface` |

Of sysfs `/sys/class/net/*/speed` (Mb/s) and `/sys/class/infiniband/*/ports/*/rate` (`400 Gb/sec (4X NDR)`) are read.
Sources: the kernel's `Documentation/ABI/testing/sysfs-class-net` and `Documentation/ABI/stable/sysfs-class-infiniband`,
sonic-utilities `scripts/intfutil` and its tests, recorded answers of the others. Traps:

- A switch prints a speed for a port without link too: the configured one, or the module's. It is left out. So is
  `auto`, which is the configuration of a port that has yet to come up.
- An interface of Linux without link refuses to tell, or says -1; virtual ones say what their driver made up, a veth
  10000.
- A port of InfiniBand without link says 10 Gb/sec, the speed of its search for one: its state says that it is down.
- Of a device with two ports, which no current NIC is, only the first is read: its netdevs tell both.
- A netdev comes behind the RDMA device below it, and stands where a plan means both by one name.
- SONiC's kernel interfaces stand for ports of the switch chip and need not know their speed: its table is asked first.
"""

import re

from collector._speed_answers import ASK, statuses
from collector._speed_status import PortStatus
from collector._sysfs import files
from truerail.errors import NoAnswerError
from truerail.model import EVERYWHERE, Command, Device, LinkSpeed, collector, minutes

_SYSFS = "/sys/class/"
_NETDEV = re.compile(r"(?:.*/)?net/([^/]+)")
_RDMA = re.compile(r"(?:.*/)?infiniband/([^/]+)/ports/1")
_MBPS = re.compile(r"[1-9]\d{0,7}")
_GBPS = re.compile(r"(\d{1,5}(?:\.\d+)?) Gb/sec(?: .*)?")


@collector(
    on=EVERYWHERE,
    ask=[
        *ASK,
        *(
            Command(text, ("linux", "cumulus", "sonic"))
            for text in (
                "grep -sH . /sys/class/infiniband/*/ports/*/rate /sys/class/net/*/speed; :",
                "grep -H . /sys/class/net/*/speed",
                "grep . /sys/class/net/*/speed",
                "grep . /sys/class/infiniband/*/ports/*/rate",
            )
        ),
        Command("nv show interface -o json", ("cumulus",)),
    ],
    every=minutes(1),
    yields=[LinkSpeed],
    shared=True,
    optional=True,
)
def link_speed(answer: str, device: Device) -> list[LinkSpeed]:
    """One `LinkSpeed` for each port that tells it, RDMA devices first. Raises `Unreadable`, also where none does."""
    reported = None if answer.startswith(_SYSFS) else statuses(answer)
    found = _of_sysfs(answer) if reported is None else _of_ports(reported)
    if not found:
        raise NoAnswerError("no port's speed in it")
    return found


def _of_ports(reported: list[PortStatus]) -> list[LinkSpeed]:
    running = ((port.port, port.running_gbps) for port in reported)
    return [LinkSpeed(port, speed) for port, speed in running if speed]


def _of_sysfs(answer: str) -> list[LinkSpeed]:
    rdma: list[LinkSpeed] = []
    netdevs: list[LinkSpeed] = []
    for path, content in files(answer):
        above, _, file = path.rpartition("/")
        if file == "speed":
            port, value = _NETDEV.fullmatch(above), _MBPS.fullmatch(content)
            netdevs += [LinkSpeed(port[1], int(value[0]) / 1000)] if port and value else []
        elif file == "rate":
            port, value = _RDMA.fullmatch(above), _GBPS.fullmatch(content)
            rdma += [LinkSpeed(port[1], float(value[1]))] if port and value else []
    return rdma + netdevs
