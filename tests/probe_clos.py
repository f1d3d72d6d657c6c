"""A fabric of three tiers in network namespaces, with the kernel's own ECMP, for path sweeps; faults on its links.

Two pods; in each two hosts, a leaf for each of two rails, two spines; two cores above each spine. Switches hash the
addresses and ports of packets, each with a seed of its own (Linux 6.11 or newer). Faults are rules of nftables at the
port of arrival, before the TTL is looked at, as on a bad cable.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.lab.system import ip_batch, run
from tests.probe_fabric import ProbeFabric, remove
from truerail.model import Cable, Device, Plan, Port, Role

PODS, RAILS, HOSTS, SPINES, CORES = range(2), range(2), range(2), range(2), range(2)
MTU = 9000
_LINK = {4: "10.9.{}.{}/31", 6: "fd00:9:{}::{}/127"}
_HOST = {4: "10.{}.{}.{}", 6: "fd00:{}:{}::{}"}
_LENGTH = {4: 30, 6: 126}


def number_of(pod: int, host: int) -> int:
    """The number of a host, from 1 on."""
    return 2 * pod + host + 1


def plan() -> Plan:
    """Its plan."""
    devices = {name: Device(name, role, pod=pod) for name, role, pod in _devices()}
    return Plan(devices, tuple(_cables()))


def _devices() -> Iterator[tuple[str, Role, str]]:
    for pod in PODS:
        yield from ((f"h{number_of(pod, host)}", Role.HOST, str(pod)) for host in HOSTS)
        yield from ((f"leaf-{pod}{rail}", Role.LEAF, str(pod)) for rail in RAILS)
        yield from ((f"spine-{pod}{spine}", Role.SPINE, str(pod)) for spine in SPINES)
    yield from ((f"core-{spine}{core}", Role.SUPERSPINE, "") for spine, core in product(SPINES, CORES))


def _cables() -> Iterator[Cable]:
    for pod, rail in product(PODS, RAILS):
        leaf = f"leaf-{pod}{rail}"
        for host in HOSTS:
            yield Cable(Port(f"h{number_of(pod, host)}", f"eth{rail}"), Port(leaf, f"p{host}"), rail=rail)
        yield from (Cable(Port(leaf, f"up{spine}"), Port(f"spine-{pod}{spine}", f"d{rail}")) for spine in SPINES)
    for pod, spine, core in product(PODS, SPINES, CORES):
        yield Cable(Port(f"spine-{pod}{spine}", f"up{core}"), Port(f"core-{spine}{core}", f"d{pod}"))


class Clos(ProbeFabric):
    """The running fabric. `far` are the addresses of the other ends of links, by device and port."""

    far: dict[tuple[str, str], str]

    def seeds(self, *, alike: bool = False) -> None:
        """Gives every switch a seed of its own, or all the same one."""
        for number, device in enumerate(self.plan.devices.values(), 1):
            if device.role is not Role.HOST:
                self.write(device.name, f"ipv4/fib_multipath_hash_seed={1 if alike else 7919 * number}")

    def write(self, device: str, *settings: str) -> None:
        """Writes settings of a device's network below /proc/sys/net."""
        lines = [f"echo {one.partition('=')[2]} > /proc/sys/net/{one.partition('=')[0]}" for one in settings]
        run("ip", "netns", "exec", self.prefix + device, "sh", "-c", "; ".join(lines))


@contextmanager
def clos(version: int = 4) -> Iterator[Clos]:
    """The fabric, with one IP version. Raises `LabError` where the machine cannot have it."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="truerail-probe-")))
        fabric = Clos(f"truerail-clos{version}-{os.getpid()}-", plan(), folder, version)
        stack.callback(remove, fabric.prefix)
        ip_batch(f"netns add {fabric.prefix}{name}" for name in fabric.plan.devices)
        for name, device in fabric.plan.devices.items():
            forward = int(device.role is not Role.HOST)
            own = (
                f"ipv6/conf/all/forwarding={forward}",
                "ipv6/icmp/ratelimit=0",
                "ipv6/fib_multipath_hash_policy=1",
                "ipv6/auto_flowlabels=0",  # the hash of a label stays with a packet over veth, and all tiers take it
                "ipv6/conf/all/accept_dad=0",
                "ipv6/conf/default/accept_dad=0",
            )
            other = (
                f"ipv4/ip_forward={forward}",
                "ipv4/conf/all/rp_filter=0",
                "ipv4/conf/default/rp_filter=0",
                "ipv4/icmp_ratelimit=0",
                "ipv4/icmp_msgs_per_sec=100000",
                "ipv4/fib_multipath_hash_policy=1",
            )
            fabric.write(name, *own, *other)
            fabric.ip(name, "link set lo up")
        _cable(fabric, version)
        _route(fabric, version)
        fabric.seeds()
        yield fabric


def _cable(fabric: Clos, version: int) -> None:
    ip_batch(
        f"link add {a.name} netns {fabric.prefix}{a.device} mtu {MTU} type veth "
        f"peer name {b.name} netns {fabric.prefix}{b.device} mtu {MTU}"
        for a, b, *_ in fabric.plan.cables
    )
    lines: dict[str, list[str]] = {name: [] for name in fabric.plan.devices}
    fabric.far = {}
    for number, cable in enumerate(fabric.plan.cables):
        if cable.rail is not None:
            net = _HOST[version].format(cable.rail, cable.a.device[1:], "{}")
            ends = [f"{net.format(2)}/{_LENGTH[version]}", f"{net.format(1)}/{_LENGTH[version]}"]
        else:
            ends = [_LINK[version].format(number, place) for place in (0, 1)]
        for own, other, address in ((cable.a, ends[1], ends[0]), (cable.b, ends[0], ends[1])):
            lines[own.device] += [f"addr add {address} dev {own.name}", f"link set {own.name} up"]
            fabric.far[own] = other.partition("/")[0]
    for name, of in lines.items():
        fabric.ip(name, *of)


def _route(fabric: Clos, version: int) -> None:
    family = "-6 " if version == 6 else ""

    def ways(device: str, ports: list[str]) -> str:
        return " ".join(f"nexthop via {fabric.far[device, port]}" for port in ports)

    def net(rail: int, host: int) -> str:
        return f"{_HOST[version].format(rail, host, 0)}/{_LENGTH[version]}"

    for pod, host in product(PODS, HOSTS):
        name, own = f"h{number_of(pod, host)}", []
        for rail in RAILS:
            address = _HOST[version].format(rail, number_of(pod, host), 2)
            way = f"default via {fabric.far[name, f'eth{rail}']} dev eth{rail}"
            own += [f"{family}rule add from {address} table {100 + rail}"]
            own += [f"{family}route add {way} table {100 + rail}"]
        _batch(fabric, name, [*own, f"{family}route add {way}"])
    for pod, rail in product(PODS, RAILS):
        leaf = f"leaf-{pod}{rail}"
        _batch(fabric, leaf, [f"{family}route add default {ways(leaf, [f'up{spine}' for spine in SPINES])}"])
    for pod, spine in product(PODS, SPINES):
        name = f"spine-{pod}{spine}"
        down = [
            f"{family}route add {net(rail, number_of(pod, host))} via {fabric.far[name, f'd{rail}']}"
            for rail, host in product(RAILS, HOSTS)
        ]
        _batch(fabric, name, [*down, f"{family}route add default {ways(name, [f'up{core}' for core in CORES])}"])
    for spine, core in product(SPINES, CORES):
        name = f"core-{spine}{core}"
        _batch(fabric, name, [
            f"{family}route add {net(rail, number_of(pod, host))} via {fabric.far[name, f'd{pod}']}"
            for pod, rail, host in product(PODS, RAILS, HOSTS)
        ])  # fmt: skip


def _batch(fabric: Clos, device: str, lines: list[str]) -> None:
    """Lines of `ip`, those that begin with -6 apart: a batch has one family."""
    six = [line.removeprefix("-6 ") for line in lines if line.startswith("-6 ")]
    if six:
        run("ip", "-6", "-n", fabric.prefix + device, "-batch", "-", stdin="".join(f"{line}\n" for line in six))
    fabric.ip(device, *(line for line in lines if not line.startswith("-6 ")))
