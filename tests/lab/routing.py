"""Addresses and routes of a lab: each NIC in a network of its own with its leaf, and the kernel's ECMP above it.

Hosts have a rule and a table for each NIC's address. Switches hash the addresses and ports of packets, each with a seed
of its own, and answer every packet whose TTL ends at them.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from truerail.model import Cable, Port, Role

from .layout import Layout
from .system import LabError, ip_batch, run

SEED = "ipv4/fib_multipath_hash_seed"
"""Since Linux 6.11; before, and where it is 0, all network namespaces hash alike."""
_ALIKE = 1
_ALL = ("ipv4/conf/all/rp_filter=0", "ipv4/conf/default/rp_filter=0")
_SWITCH = (
    "ipv4/ip_forward=1",
    "ipv4/icmp_ratelimit=0",
    "ipv4/icmp_msgs_per_sec=100000",
    "ipv4/fib_multipath_hash_policy=1",
)


def configure(layout: Layout) -> None:
    """What interfaces inherit, so it comes before them; and each switch's own seed, where the kernel has seeds."""
    for device in layout.devices:
        _write(layout, device, *_ALL, *(_SWITCH if device in layout.switches else ()))
    if has_seeds():
        seed(layout)


def has_seeds() -> bool:
    """Whether switches can hash otherwise than each other."""
    return Path("/proc/sys/net", SEED).exists()


def seed(layout: Layout, *, alike: bool = False) -> None:
    """Gives every switch a seed of its own, or all of them one. Raises `LabError` where the kernel has none."""
    if not has_seeds():
        raise LabError("all switches hash alike here: a seed for each takes Linux 6.11 or newer")
    for number, switch in enumerate(layout.switches, 2):
        _write(layout, switch, f"{SEED}={_ALIKE if alike else 7919 * number}")


def hash_alike(layout: Layout) -> list[str]:
    """The switches that were given one seed."""
    if not has_seeds():
        return []
    show = ("cat", f"/proc/sys/net/{SEED}")
    return [s for s in layout.switches if int(run("ip", "netns", "exec", layout.namespace(s), *show)) == _ALIKE]


def route(layout: Layout) -> None:
    """Gives all cabled ports addresses, and all devices routes. What is cabled later than planned has the old ones."""
    far: dict[Port, str] = {}
    lines: dict[str, list[str]] = defaultdict(list)
    for number, cable in enumerate(layout.fabric.plan.cables):
        for port, own, other, length in _ends(layout, cable, number):
            lines[port.device].append(f"addr add {own}/{length} dev {port.name}")
            far[port] = other
    for device in layout.devices:
        host = device not in layout.switches
        lines[device] += _of_host(layout, device, far) if host else _of_switch(layout, device, far)
        ip_batch(lines[device], layout.namespace(device))


def nic_address(layout: Layout, cable: Cable) -> str:
    """The address of a NIC, by its cable."""
    return f"10.{cable.rail}.{layout.fabric.order[cable.a.device] + 1}.2"


def _ends(layout: Layout, cable: Cable, number: int) -> Iterable[tuple[Port, str, str, int]]:
    """Each port of a cable with its address, that of the other end, and the length of their network."""
    if cable.rail is not None:
        nic, length = nic_address(layout, cable), 30
        ends = nic, f"{nic.rpartition('.')[0]}.1"
    else:
        net, place = divmod(2 * number, 256)
        ends, length = (f"172.16.{net}.{place}", f"172.16.{net}.{place + 1}"), 31
    return ((cable.a, *ends, length), (cable.b, *reversed(ends), length))


def _of_host(layout: Layout, host: str, far: dict[Port, str]) -> list[str]:
    cables = [cable for cable in layout.fabric.plan.cables if cable.a.device == host]
    lines = [f"route add default via {far[cables[0].a]} dev {cables[0].a.name}"]
    for table, cable in enumerate(cables, 100):
        lines.append(f"rule add from {nic_address(layout, cable)} table {table}")
        lines.append(f"route add default via {far[cable.a]} dev {cable.a.name} table {table}")
    return lines


def _of_switch(layout: Layout, switch: str, far: dict[Port, str]) -> list[str]:
    """A route to each NIC that is below, over all switches of the next tier that lead there; up for all others."""
    up = [cable.a for cable in layout.fabric.plan.cables if cable.a.device == switch]
    below: dict[str, list[Port]] = defaultdict(list)
    for cable in layout.fabric.plan.cables:
        if cable.b.device == switch and cable.rail is None:
            for leaf in _leaves_below(layout, cable.a.device):
                below[leaf].append(cable.b)
    lines = [f"route add default {_ways(up, far)}"] if up else []
    for cable in layout.fabric.plan.cables:
        if cable.rail is not None and cable.b.device in below:
            network = f"{nic_address(layout, cable).rpartition('.')[0]}.0/30"
            lines.append(f"route add {network} {_ways(below[cable.b.device], far)}")
    return lines


def _leaves_below(layout: Layout, switch: str) -> list[str]:
    """A leaf itself, or those that are cabled to a spine."""
    if layout.fabric.plan.devices[switch].role is Role.LEAF:
        return [switch]
    return [cable.a.device for cable in layout.fabric.plan.cables if cable.b.device == switch]


def _ways(ports: Sequence[Port], far: dict[Port, str]) -> str:
    return " ".join(f"nexthop via {far[port]}" for port in ports)


def _write(layout: Layout, device: str, *settings: str) -> None:
    """Writes settings of a device's network below /proc/sys/net."""
    lines = [f"echo {value} > /proc/sys/net/{name}" for name, _, value in (one.partition("=") for one in settings)]
    run("ip", "netns", "exec", layout.namespace(device), "sh", "-c", " && ".join(lines))
