"""The speed at which each link of a host or switch runs.

Question: did every link come up at full speed?
Needs: sysfs (any user); on a switch a read-only login.

| system | answers |
|---|---|
| Linux, Cumulus Linux | `path:value` lines of `grep -H .` over sysfs, or the same files in a `ttar` archive |
| | `ethtool` of each port |
| SONiC | `show interfaces status`, else sysfs |
| Arista EOS | `show interfaces status`, `show interfaces`, as JSON and text |
| Cisco NX-OS | `show interface [status\\|brief]`, as JSON and text |
| Junos | `show interfaces [media\\|extensive]` as JSON and text; `terse` shows no speed |
| Cumulus NVUE | `nv show interface`, also `-o json` |
| AOS-CX | `show interface [physical\\|brief]` |
| Cisco IOS-XR | `show interfaces [brief]` |
| Dell OS10 | `show interface [status]` |
| `sonic-cli` | `show interface [status]`; `status` rests on documentation |
| Huawei VRP | `display interface`; state alone in `display interface brief` |
| Comware | `display interface [brief]` |
| Nokia SR Linux | `info from state interface * \\| as json`; rests on documentation |
| OpenConfig | JSON of `openconfig-interfaces`, by gNMI or RESTCONF; rests on documentation |

Read from sysfs: `/sys/class/net/*/speed` (Mb/s), `/sys/class/infiniband/*/ports/*/rate` (`400 Gb/sec (4X NDR)`).
Sources: the kernel's `Documentation/ABI/testing/sysfs-class-net` and `Documentation/ABI/stable/sysfs-class-infiniband`,
sonic-utilities `scripts/intfutil` and its tests, recorded answers of the others. Traps:

- A switch prints a speed even for a port without link: the configured one, or the module's. It is skipped. So is
  `auto`, the configuration of a port that has yet to come up.
- A Linux interface without link returns an error or -1; virtual ones return their driver's invention, a veth 10000.
- An InfiniBand port without link shows 10 Gb/sec, the speed at which it polls: its state shows that it is down.
- Of a device with two ports, which no current NIC is, only the first is read: its netdevs report both.
- A netdev follows its RDMA device, and counts where a plan uses one name for both.
- SONiC's kernel interfaces represent ports of the switch chip and may not know their speed: its table is read first.
"""

import re

from collector.formats import port_statuses
from collector.formats.sysfs import files
from collector.formats.text import blocks
from truerail.errors import NoAnswerError
from truerail.model import EVERYWHERE, Command, Device, LinkSpeed, collector, minutes, saved_as

_LIVE = "grep -sH . /sys/class/infiniband/*/ports/*/rate /sys/class/net/*/speed; :"
_SYSFS = "/sys/class/"
_NETDEV = re.compile(r"(?:.*/)?net/([^/]+)")
_RDMA = re.compile(r"(?:.*/)?infiniband/([^/]+)/ports/1")
_SETTINGS = re.compile(r"Settings for (\S{1,64}):")
_ETHTOOL = re.compile(r"Speed: ([1-9]\d{0,7})Mb/s")
_MBPS = re.compile(r"[1-9]\d{0,7}")
_GBPS = re.compile(r"(\d{1,5}(?:\.\d+)?) Gb/sec(?: .*)?")


ASK = (
    *port_statuses.ASK,
    Command(_LIVE, ("linux", "cumulus", "sonic")),
    *saved_as("grep -H . /sys/class/net/*/speed", "grep . /sys/class/net/*/speed"),
    *saved_as("grep . /sys/class/infiniband/*/ports/*/rate", "nv show interface -o json", "ethtool {port}"),
)


@collector(on=EVERYWHERE, ask=ASK, every=minutes(1), yields=[LinkSpeed], megabytes=16, shared=True, optional=True)
def link_speed(answer: str, device: Device) -> list[LinkSpeed]:
    """One `LinkSpeed` for each port with a speed, RDMA devices first. Raises `UnreadableError`, also for none."""
    reported = None if answer.startswith(_SYSFS) else port_statuses.answer_statuses(answer)
    if reported is None:
        found = _of_sysfs(answer) + _of_ethtool(answer)
    else:
        found = [LinkSpeed(port.port, port.gbps) for port in reported if port.up and port.gbps]
    if not found:
        raise NoAnswerError("no port's speed in it")
    return found


def _of_ethtool(answer: str) -> list[LinkSpeed]:
    """`ethtool PORT`, of several ports one below the other. A port without link has no speed, or its last one."""
    found: dict[str, LinkSpeed] = {}
    for named, below in blocks(map(str.strip, answer.split("\n")[:-1]), _SETTINGS):
        speed = None
        for line in below:
            if value := _ETHTOOL.fullmatch(line):
                speed = int(value[1]) / 1000
            elif speed and line == "Link detected: yes":
                found[named[1]] = LinkSpeed(named[1], speed)
    return list(found.values())


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
