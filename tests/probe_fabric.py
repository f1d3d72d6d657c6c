"""A small fabric of network namespaces for probes: hosts with two rails, routed leaves, a spine; faults in it.

Each host has a rule and a table for each address, as a multi-rail host should. The uplink of leaf-00 leads through a
namespace of its own, where a kernel bridge passes frames on, or a process that rewrites them. Hosts run the shipped
script as `nobody`, without new privileges. All of it is removed at the end; every process is ended by its own id.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from collector import collectors
from tests.lab.system import ip_batch, namespaces, run
from tests.patience import ENOUGH
from truerail.analysis.round import Round
from truerail.analysis.sweep.swept import swept
from truerail.model import Cable, Device, Evaluation, Plan, Port, Reading, Role, Snapshot
from truerail.model.probe_facts import STARTED_LATE
from truerail.probe import host_script
from truerail.probe.follow_ups import follow_up
from truerail.probe.host_tasks import ProbePlan, Settings, plan_run
from truerail.probe.path_sweep import sweep_of
from truerail.probe.pinglists import USUAL, nics_of, pairs_of
from truerail.rounds import evaluate

RAILS, HOSTS = (0, 1), (1, 2, 3, 4)
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs")
PYTHON = ("/usr/bin/python3", "-I")
LEAD_SECONDS = 3.0
_MTU = 9000
_SETTINGS = (
    "ipv4/ping_group_range=0 2147483647",
    "ipv4/ip_forward={forward}",
    "ipv4/conf/all/rp_filter=0",
    "ipv4/conf/default/rp_filter=0",
    "ipv4/icmp_ratelimit=0",
    "ipv6/conf/all/disable_ipv6=1",
)
_REWRITER = """
import select, socket, struct
ends = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) for _ in range(2)]
for end, name in zip(ends, ("m0", "m1")):
    end.bind((name, 0))
print("ready", flush=True)
while True:
    for end in select.select(ends, [], [])[0]:
        frame, address = end.recvfrom(65535)
        if address[2] == socket.PACKET_OUTGOING:
            continue
        frame = bytearray(frame)
        if frame[12:14] == b"\\x08\\0":
            frame[15] = 0
            frame[24:26] = b"\\0\\0"
            total = sum(struct.unpack("!10H", frame[14:34]))
            total = (total & 0xFFFF) + (total >> 16)
            struct.pack_into("!H", frame, 24, ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF)
            if frame[23] == 17:
                frame[40:42] = b"\\0\\0"
        ends[1 - ends.index(end)].send(frame)
"""
"""Passes frames on between two interfaces, without class; UDP's checksum, which veth has not computed, as absent."""


class ProbeFabric:
    """A running fabric: `plan`, and what its hosts answer. `folder` is one that `nobody` may read."""

    def __init__(self, prefix: str, plan: Plan, folder: Path, version: int = 4) -> None:
        self.prefix, self.plan, self.folder, self.version = prefix, plan, folder, version
        folder.chmod(0o755)
        self.script = folder / "truerail-probe"
        shutil.copy(host_script.__file__, self.script)
        self.script.chmod(0o755)

    @property
    def hosts(self) -> list[str]:
        """The names of the hosts."""
        return [device.name for device in self.plan.of_role(Role.HOST)]

    def ip(self, device: str, *lines: str) -> None:
        """Runs `ip` commands in a device."""
        ip_batch(lines, self.prefix + device)

    def polled(self) -> list[Reading]:
        """The addresses and links of all devices, as collectors read them."""
        at, found = datetime.now(UTC), []
        for name, device in self.plan.devices.items():
            for collector, command in (("net_address", "addr"), ("net_link", "link")):
                answer = run("ip", "-n", self.prefix + name, "-j", command)
                facts = collectors()[collector].read(answer, device)
                found.append(Reading(name, collector, at, facts))
        return found

    def probe(self, lists: Sequence[str] = USUAL, **settings: object) -> tuple[Evaluation, Round]:
        """Probes, and evaluates what the hosts say; again where a host began late, as on a busy machine."""
        deadline = time.monotonic() + ENOUGH
        while True:
            recordings = self.recordings(lists, **settings)
            if not any(STARTED_LATE in text for text in recordings.values()) or time.monotonic() > deadline:
                break
        return self.evaluated(recordings)

    def evaluated(self, recordings: Mapping[str, str]) -> tuple[Evaluation, Round]:
        """What recordings show."""
        round = self._round(recordings, self.polled())
        return evaluate(round), round

    def _round(self, recordings: Mapping[str, str], polled: Sequence[Reading]) -> Round:
        """What devices report of themselves, and what recordings show."""
        collector = collectors()["probe_results"]
        readings = [*polled]
        for host, text in recordings.items():
            facts = collector.read(text, self.plan.devices[host])
            readings.append(Reading(host, collector.name, datetime.now(UTC), facts))
        return Round(self.plan, Snapshot(datetime.now(UTC), readings))

    def recordings(self, lists: Sequence[str], **settings: object) -> dict[str, str]:
        """What the hosts have counted in all rounds."""
        polled = self.polled()
        round = self._round({}, polled)
        asked = Settings(packets_per_second=1000, version=self.version, **settings)  # type: ignore[arg-type]  # a test names its fields
        nics = nics_of(round, self.version).nics
        sweep = sweep_of(self.plan, nics, (), asked.budget, across_rails="E" in lists) if asked.sweeps else None
        planned = plan_run(pairs_of(self.plan, nics, lists), asked, datetime.now(UTC), {}, sweep)

        async def again(plan: ProbePlan) -> dict[str, str]:
            return self._sent(plan)

        return asyncio.run(
            follow_up(planned, self._sent(planned), again, lambda found: swept(self._round(found, polled)))
        )

    def _sent(self, planned: ProbePlan) -> dict[str, str]:
        """What each host prints."""
        running, start_at = {}, time.time() + LEAD_SECONDS
        for host in planned.hosts:
            given = {**planned.tasks(host, start_at), "limits": planned.limits(host)}
            command = ["ip", "netns", "exec", self.prefix + host, *NOBODY, *PYTHON, str(self.script)]
            process = subprocess.Popen(command, stdin=-1, stdout=-1, stderr=subprocess.DEVNULL)
            assert process.stdin
            process.stdin.write(json.dumps(given).encode() + b"\n")
            process.stdin.flush()
            running[host] = process
        found = {}
        for host, process in running.items():
            assert process.stdout
            found[host] = process.stdout.read().decode()
            assert process.stdin
            process.stdin.close()
            process.stdout.close()
            assert process.wait(timeout=ENOUGH) == 0
        return found

    @contextmanager
    def faulty(self, device: str, *rules: str) -> Iterator[None]:
        """A device with rules of nftables for what arrives."""
        lines = [
            "table inet fault {",
            "chain arriving {",
            "type filter hook prerouting priority raw;",
            *rules,
            "}",
            "}",
        ]
        nft = ("ip", "netns", "exec", self.prefix + device, "nft")
        run(*nft, "-f", "-", stdin="\n".join([*lines, ""]))
        try:
            yield
        finally:
            run(*nft, "delete", "table", "inet", "fault")

    def dropping_every(self, count: int) -> AbstractContextManager[None]:
        """Every so many packets of UDP that the spine receives from leaf-00 is lost."""
        return self.faulty("spine-1", f'iifname "d0" meta l4proto udp numgen inc mod {count} == 0 drop')

    def rules(self, evaluation: Evaluation) -> list[tuple[str, str]]:
        """The rule and subject of every finding of probes."""
        return sorted((f.rule, f.subject) for f in evaluation.findings if f.rule.startswith("PRB"))


@contextmanager
def routed(version: int = 4) -> Iterator[ProbeFabric]:
    """Four hosts, two rails, two leaves a rail, one spine. Raises `LabError` where the machine cannot have it."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="truerail-probe-")))
        fabric = ProbeFabric(f"truerail-probe-{os.getpid()}-", _plan(), folder, version)
        stack.callback(remove, fabric.prefix)
        ip_batch(f"netns add {fabric.prefix}{name}" for name in (*fabric.plan.devices, "mid"))
        for name, device in fabric.plan.devices.items():
            _configure(fabric, name, forward=device.role is not Role.HOST)
            fabric.ip(name, "link set lo up")
        for host in HOSTS:
            for rail in RAILS:
                leaf = f"leaf-{rail}{(host - 1) // 2}"
                ip_batch([(f"link add eth{rail} netns {fabric.prefix}h{host} mtu {_MTU} type veth "
                          f"peer name p{host} netns {fabric.prefix}{leaf} mtu {_MTU}")])  # fmt: skip
                fabric.ip(f"h{host}", *host_lines(host, rail))
                fabric.ip(leaf, *port_lines(host, rail))
            fabric.ip(f"h{host}", f"route add default via 10.1.{host}.1 dev eth1")
        _spine(fabric)
        yield fabric


def host_lines(host: int, rail: int) -> list[str]:
    """Address, rule and table of one NIC."""
    address = f"10.{rail}.{host}"
    return [
        f"addr add {address}.2/30 dev eth{rail}",
        f"link set eth{rail} up",
        f"rule add from {address}.2 table {100 + rail}",
        f"route add default via {address}.1 dev eth{rail} table {100 + rail}",
    ]


def port_lines(host: int, rail: int) -> list[str]:
    """The leaf's port to one NIC."""
    return [f"addr add 10.{rail}.{host}.1/30 dev p{host}", f"link set p{host} up"]


def _spine(fabric: ProbeFabric) -> None:
    """The uplinks, that of leaf-00 through `mid`, and the routes."""
    fabric.ip("mid", "link add br0 type bridge mcast_snooping 0", f"link set br0 up mtu {_MTU}")
    for number, leaf in enumerate(("leaf-00", "leaf-01", "leaf-10", "leaf-11")):
        low, high = f"10.9.{number}.0", f"10.9.{number}.1"
        near, far = (fabric.prefix + leaf, "up0"), (fabric.prefix + "spine-1", f"d{number}")
        mid = fabric.prefix + "mid"
        pairs = [(near, (mid, "m0")), ((mid, "m1"), far)] if number == 0 else [(near, far)]
        ip_batch(
            f"link add {a[1]} netns {a[0]} mtu {_MTU} type veth peer name {b[1]} netns {b[0]} mtu {_MTU}"
            for a, b in pairs
        )
        fabric.ip(leaf, f"addr add {low}/31 dev up0", "link set up0 up", f"route add default via {high}")
        hosts = (1, 2) if leaf.endswith("0") else (3, 4)
        fabric.ip("spine-1", f"addr add {high}/31 dev d{number}", f"link set d{number} up")
        fabric.ip("spine-1", *(f"route add 10.{leaf[5]}.{host}.0/30 via {low}" for host in hosts))
    fabric.ip("mid", *(f"link set {name} master br0 up" for name in ("m0", "m1")))


@contextmanager
def flat() -> Iterator[ProbeFabric]:
    """Three hosts with two NICs each in one subnet and one broadcast domain, with the kernel's own ARP settings."""
    cables = [
        Cable(Port(f"h{host}", f"eth{rail}"), Port(f"leaf-{rail}", f"p{host}"), rail=rail)
        for host in (1, 2, 3)
        for rail in RAILS
    ]
    devices = {f"h{host}": Device(f"h{host}") for host in (1, 2, 3)}
    devices |= {name: Device(name, Role.LEAF) for name in ("leaf-0", "leaf-1")}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="truerail-probe-")))
        fabric = ProbeFabric(f"truerail-flat-{os.getpid()}-", Plan(devices, tuple(cables)), folder)
        stack.callback(remove, fabric.prefix)
        ip_batch(f"netns add {fabric.prefix}{name}" for name in fabric.plan.devices)
        fabric.ip("leaf-0", "link add br0 type bridge mcast_snooping 0", f"link set br0 up mtu {_MTU}")
        for cable in cables:
            host, rail = int(cable.a.device[1:]), cable.rail
            port = f"p{host}{rail}"
            ip_batch([(f"link add eth{rail} netns {fabric.prefix}h{host} mtu {_MTU} type veth "
                      f"peer name {port} netns {fabric.prefix}leaf-0 mtu {_MTU}")])  # fmt: skip
            number = 2 * host + (rail or 0)
            addresses = (f"10.7.0.{number}/24", f"fd00:7::{number}/64 nodad")
            fabric.ip(f"h{host}", f"link set eth{rail} up", *(f"addr add {one} dev eth{rail}" for one in addresses))
            fabric.ip("leaf-0", f"link set {port} master br0 up")
        yield fabric


@contextmanager
def swapped(fabric: ProbeFabric, host: int) -> Iterator[None]:
    """The two cables of a host, each in the other's leaf port."""
    _exchange(fabric, host)
    try:
        yield
    finally:
        _exchange(fabric, host)


def _exchange(fabric: ProbeFabric, host: int) -> None:
    leaves = [f"leaf-{rail}{(host - 1) // 2}" for rail in RAILS]
    for leaf, name in zip(leaves, ("x0", "x1"), strict=True):
        fabric.ip(leaf, f"link set p{host} down", f"link set p{host} name {name}")
    for rail in RAILS:
        fabric.ip(leaves[rail], f"link set x{rail} netns {fabric.prefix}{leaves[1 - rail]}")
    for rail in RAILS:
        fabric.ip(leaves[1 - rail], f"link set x{rail} name p{host}", *port_lines(host, 1 - rail))
    for node in (f"h{host}", *leaves):  # what an earlier test left in these tables is not of this cabling
        fabric.ip(node, "neigh flush all")


@contextmanager
def rewriting(fabric: ProbeFabric) -> Iterator[None]:
    """The uplink of leaf-00 loses the class of every packet, both ways."""
    fabric.ip("mid", *(f"link set {name} nomaster" for name in ("m0", "m1")))
    command = ["ip", "netns", "exec", f"{fabric.prefix}mid", sys.executable, "-I", "-c", _REWRITER]
    try:
        with subprocess.Popen(command, stdout=-1) as process:
            assert process.stdout
            assert process.stdout.readline() == b"ready\n"
            try:
                yield
            finally:
                process.kill()
    finally:
        fabric.ip("mid", *(f"link set {name} master br0" for name in ("m0", "m1")))


def _plan() -> Plan:
    devices = {f"h{host}": Device(f"h{host}") for host in HOSTS}
    leaves = [f"leaf-{rail}{half}" for rail in RAILS for half in (0, 1)]
    devices |= {name: Device(name, Role.LEAF) for name in leaves} | {"spine-1": Device("spine-1", Role.SPINE)}
    cables = [
        Cable(Port(f"h{host}", f"eth{rail}"), Port(f"leaf-{rail}{(host - 1) // 2}", f"p{host}"), rail=rail)
        for host in HOSTS
        for rail in RAILS
    ]
    cables += [Cable(Port(leaf, "up0"), Port("spine-1", f"d{number}")) for number, leaf in enumerate(leaves)]
    return Plan(devices, tuple(cables))


def _configure(fabric: ProbeFabric, name: str, *, forward: bool) -> None:
    settings = [line.format(forward=int(forward)) for line in _SETTINGS]
    script = "; ".join(
        f"echo {value} > /proc/sys/net/{path}" for path, _, value in (s.partition("=") for s in settings)
    )
    run("ip", "netns", "exec", fabric.prefix + name, "sh", "-c", script)


def remove(prefix: str) -> None:
    for namespace in namespaces(prefix):
        run("ip", "netns", "del", namespace, check=False)
