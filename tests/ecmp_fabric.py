"""A real three-tier fabric of kernel ECMP: hosts -> leaves -> spines -> superspines -> sink, each a network namespace.

Every switch forwards by the kernel's own hash of the five-tuple (`fib_multipath_hash_policy=1`) and has a real snmpd
that serves its IF-MIB. Hosts send UDP to port 4791 from many source ports, as RoCEv2 does. All of it is removed at the
end; every process is ended by its own id.

Two traps. A connected socket stamps a random hash on its packets that survives veth, and the kernel prefers it to
packet and seed, so that every tier polarizes whatever its seed: sockets here are not connected. Seed 0, the default,
stands for one random key that all namespaces of a machine share.
"""

import ctypes
import os
import random
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from tests.lab.system import ip_batch, namespaces, run
from tests.patience import ENOUGH, soon
from tests.snmpd import COMMUNITY, CONFIGURATION, PORT, read
from truerail.model import Cable, Device, Plan, Port, Role

LEAVES, SPINES, SUPERSPINES = 8, 4, 4
FLOWS = 60
"""Sockets of each host."""
SPEED_GBPS = 0.04
"""What the agents say of every port: a wire whose spine uplinks a shared hash fills to four fifths."""
PAYLOAD_BYTES, MTU = 8192, 9000
PACE_SECONDS = 0.25
"""How often each socket sends a packet."""
ROCE = 4791
SEED_FILE = Path("/proc/sys/net/ipv4/fib_multipath_hash_seed")
"""Linux 6.11 and later."""
_SINK = "10.2.0.1"
_SETTINGS = {
    "ipv6/conf/all/disable_ipv6": 1,
    "ipv6/conf/default/disable_ipv6": 1,
    "ipv4/ip_forward": 1,
    "ipv4/conf/all/rp_filter": 0,
    "ipv4/conf/default/rp_filter": 0,
    "ipv4/fib_multipath_hash_policy": 1,
}
_WRITERS = "writers-of-tests"
_CACHE_TIMEOUT = "1.3.6.1.4.1.8072.1.5.3.1.2.1.3.6.1.2.1.2.2"
"""NET-SNMP-AGENT-MIB nsCacheTimeout of ifTable: snmpd answers from a cache of 3 s, which is longer than our polls."""
_WALK = "snmpbulkwalk -v2c -c {community} -On -Cr50 127.0.0.1:{port} {oid}"
_TABLES = ("1.3.6.1.2.1.31.1.1.1", "1.3.6.1.2.1.2.2.1")
_NO_MIBS = {**os.environ, "MIBS": ""}
_CLONE_NEWNET = 0x40000000
T = TypeVar("T")


@dataclass(frozen=True)
class Fabric:
    """A running fabric. `prefix` and a device's name are its namespace."""

    prefix: str
    plan: Plan

    @property
    def switches(self) -> list[str]:
        """Everything that hashes: it has uplinks, and an agent."""
        return [name for name, device in self.plan.devices.items() if device.role in (Role.LEAF, Role.SPINE)]

    def seed(self, seeds: Mapping[str, int]) -> None:
        """Sets the hash seed of each of these switches; it counts from the next packet on."""
        for name, seed in seeds.items():
            inside(self.prefix + name, partial(SEED_FILE.write_text, str(seed)))

    def walk(self, switch: str) -> str:
        """IF-MIB of a switch as `snmpbulkwalk` prints it."""
        walks = (_WALK.format(community=COMMUNITY, port=PORT, oid=oid) for oid in _TABLES)
        return self.ask(switch, " && ".join(walks))

    def ask(self, switch: str, script: str) -> str:
        """What a shell prints in a switch's namespace. Raises where it fails or takes longer than `ENOUGH`."""
        shell = partial(subprocess.run, ["sh", "-c", script], env=_NO_MIBS, timeout=ENOUGH, check=True)
        return inside(self.prefix + switch, partial(shell, capture_output=True, text=True)).stdout


def plan() -> Plan:
    """The cables. The sink is what lies behind the superspines, and no part of it."""
    devices, cables = {}, []
    for tier, count in ((Role.HOST, LEAVES), (Role.LEAF, LEAVES), (Role.SPINE, SPINES), (Role.SUPERSPINE, SUPERSPINES)):
        devices.update({name: Device(name, tier) for name in (f"{tier}-{n}" for n in range(count))})
    for leaf in range(LEAVES):
        host = Port(f"host-{leaf}", "rail0"), Port(f"leaf-{leaf}", "swp1")
        cables.append(Cable(*host, rail=0, speed_gbps=SPEED_GBPS))
        cables += _uplinks(f"leaf-{leaf}", [f"spine-{n}" for n in range(SPINES)])
    for spine in range(SPINES):
        cables += _uplinks(f"spine-{spine}", [f"superspine-{n}" for n in range(SUPERSPINES)])
    return Plan(devices, tuple(cables))


def _uplinks(switch: str, above: list[str]) -> list[Cable]:
    number = switch.rpartition("-")[2]
    ends = ((Port(switch, f"up{n}"), Port(name, f"down{number}")) for n, name in enumerate(above))
    return [Cable(*pair, speed_gbps=SPEED_GBPS) for pair in ends]


@contextmanager
def running(folder: Path) -> Iterator[Fabric]:
    """The fabric with its agents and its traffic. Raises `LabError` where the machine cannot have it."""
    fabric = Fabric(f"truerail-ecmp-{os.getpid()}-", plan())
    names = [*fabric.plan.devices, "sink"]
    with ExitStack() as stack:
        stack.callback(_remove, fabric.prefix)
        ip_batch(f"netns add {fabric.prefix}{name}" for name in names)
        for name in names:
            inside(fabric.prefix + name, _configure)
        _connect(fabric)
        for switch in fabric.switches:
            stack.enter_context(_agent(fabric, switch, folder / switch))
        for switch in fabric.switches:
            fabric.ask(switch, f"snmpset -v2c -c {_WRITERS} 127.0.0.1:{PORT} {_CACHE_TIMEOUT} i 1")
        stack.enter_context(_traffic(fabric))
        yield fabric


def _remove(prefix: str) -> None:
    for namespace in namespaces(prefix):
        run("ip", "netns", "del", namespace, check=False)


def _configure() -> None:
    for name, value in _SETTINGS.items():
        Path("/proc/sys/net", name).write_text(str(value))


def _connect(fabric: Fabric) -> None:
    """Cables with addresses and neighbours, then a route to the sink over all uplinks of each device."""
    links: list[str] = []
    lines: dict[str, list[str]] = {name: ["link set lo up"] for name in (*fabric.plan.devices, "sink")}
    hops: dict[str, list[str]] = {}
    ends = [(cable.a, cable.b) for cable in fabric.plan.cables]
    ends += [(Port(f"superspine-{n}", "out"), Port("sink", f"in{n}")) for n in range(SUPERSPINES)]
    for number, (a, b) in enumerate(ends):
        macs, addresses = _numbers(number)
        links.append(
            f"link add {a.name} netns {fabric.prefix}{a.device} address {macs[0]} mtu {MTU} type veth "
            f"peer name {b.name} netns {fabric.prefix}{b.device} address {macs[1]} mtu {MTU}"
        )
        for end, own, far in ((a, 0, 1), (b, 1, 0)):
            lines[end.device] += [
                f"addr add {addresses[own]}/31 dev {end.name}",
                f"link set {end.name} up",
                f"neigh replace {addresses[far]} lladdr {macs[far]} dev {end.name} nud permanent",
            ]
        hops.setdefault(a.device, []).append(f"nexthop via {addresses[1]} dev {a.name}")
    for device, over in hops.items():
        lines[device].append(f"route add {_SINK}/32 {' '.join(over)}")
    lines["sink"].append(f"addr add {_SINK}/32 dev lo")
    ip_batch(links)
    for device, of in lines.items():
        ip_batch(of, fabric.prefix + device)


def _numbers(cable: int) -> tuple[tuple[str, str], tuple[str, str]]:
    """The MACs and the addresses of a cable's ends."""
    low = 2 * cable
    macs = (f"02:00:00:00:00:{low:02x}", f"02:00:00:00:00:{low + 1:02x}")
    return macs, (f"10.250.0.{low}", f"10.250.0.{low + 1}")


@contextmanager
def _agent(fabric: Fabric, switch: str, folder: Path) -> Iterator[None]:
    """The snmpd of a switch, which says that its ports have `SPEED_GBPS` (veth has no speed; snmpd says 10 Gb/s)."""
    folder.mkdir(parents=True)
    ports = [end.name for cable in fabric.plan.cables for end in (cable.a, cable.b) if end.device == switch]
    speeds = "".join(f"interface {port} 6 {SPEED_GBPS * 1e9:.0f}\n" for port in ports)
    text = CONFIGURATION.format(port=PORT, community=COMMUNITY, folder=folder)
    (folder / "snmpd.conf").write_text(f"{speeds}rwcommunity {_WRITERS}\n{text}")
    command = f"snmpd -f -C -c {folder}/snmpd.conf -Lf {folder}/log -I -smux"
    inside_it = ["ip", "netns", "exec", fabric.prefix + switch, *command.split()]
    environment = {**_NO_MIBS, "SNMP_PERSISTENT_DIR": str(folder / "persistent")}
    process = subprocess.Popen(inside_it, env=environment, stdin=subprocess.DEVNULL)
    try:
        soon(lambda: "NET-SNMP version" in read(folder / "log"), f"snmpd starts ({folder}/log)")
        yield
    finally:
        process.kill()
        process.wait(timeout=ENOUGH)


@contextmanager
def _traffic(fabric: Fabric) -> Iterator[None]:
    """Every host sends from `FLOWS` source ports, each of them at the same pace, until the end."""
    draw = random.Random(ROCE)
    flows: list[socket.socket] = []
    with ExitStack() as stack:
        inside(fabric.prefix + "sink", lambda: stack.enter_context(_bound(_SINK, ROCE)))  # unread, and no ICMP either
        for number in range(LEAVES):
            own = next(n for n, cable in enumerate(fabric.plan.cables) if cable.a.device == f"host-{number}")
            address, ports = _numbers(own)[1][0], draw.sample(range(49152, 65536), FLOWS)
            inside(fabric.prefix + f"host-{number}", partial(_open, flows, address, ports))
        for flow in flows:
            stack.enter_context(flow)
        done = threading.Event()
        sender = threading.Thread(target=_send, args=(flows, done))
        sender.start()
        stack.callback(sender.join)
        stack.callback(done.set)
        yield


def _open(flows: list[socket.socket], address: str, ports: list[int]) -> None:
    flows.extend(_bound(address, port) for port in ports)


def _bound(address: str, port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind((address, port))
    return made


def _send(flows: list[socket.socket], done: threading.Event) -> None:
    payload = bytes(PAYLOAD_BYTES)
    due = time.monotonic()
    while not done.is_set():
        for flow in flows:
            flow.sendto(payload, (_SINK, ROCE))
        due = max(due + PACE_SECONDS, time.monotonic())
        done.wait(due - time.monotonic())


def inside(namespace: str, action: Callable[[], T]) -> T:
    """Runs something in a network namespace: in a thread, which alone has another one than the process."""
    failed: list[BaseException] = []
    done: list[T] = []

    def enter() -> None:
        try:
            with open(f"/run/netns/{namespace}") as of:
                if ctypes.CDLL(None, use_errno=True).setns(of.fileno(), _CLONE_NEWNET):
                    raise OSError(ctypes.get_errno(), f"setns {namespace}")
            done.append(action())
        except Exception as error:  # noqa: BLE001 - whatever it is, it is raised in the caller's thread
            failed.append(error)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return done[0]
