"""Real SNMP agents for tests and benchmarks: net-snmp's snmpd, alone on loopback or as a switch with lldpd beside it.

A switch is a network namespace with ports (veth pairs into a host's namespace), an snmpd that serves their IF-MIB, and
an lldpd that is its AgentX sub-agent for LLDP-MIB. `Relay` leads from this process's loopback into it, and can lose,
delay and stop packets on the way. Every process is ended by its own id.
"""

import asyncio
import ctypes
import os
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.patience import ENOUGH, soon
from tests.ports import free_port

PORT = 1161
COMMUNITY = "c0mmunity-of-tests"
AUTH, PRIVACY = "auth-password-of-tests", "privacy-password-of-tests"
USERS = {
    "sha256-aes128": "SHA-256 {auth} AES {privacy}",
    "sha512-aes256": "SHA-512 {auth} AES-256 {privacy}",
    "sha384": "SHA-384 {auth}",
    "md5-des": "MD5 {auth} DES {privacy}",
}
CONFIGURATION = """\
agentaddress udp:127.0.0.1:{port}
rocommunity {community}
master agentx
agentXSocket {folder}/agentx
[snmp] noPersistentLoad yes
"""
START_LLDPD = """\
hostname {name} && mount --bind {run} /run && mkdir -p /run/lldpd && lldpd -d -O {folder}/lldpd.conf {agentx} & wait
"""


@dataclass(frozen=True)
class Snmpd:
    """A running snmpd: the namespace it listens in (empty: this one), its port on that loopback, its process."""

    namespace: str
    port: int
    process: "subprocess.Popen[bytes]"

    def client(self) -> socket.socket:
        """A UDP socket that talks to it, made in its namespace."""
        made: list[socket.socket] = []
        maker = threading.Thread(target=lambda: made.append(self._connected()))  # a thread has a namespace of its own
        maker.start()
        maker.join()
        return made[0]

    def _connected(self) -> socket.socket:
        if self.namespace:
            with open(f"/run/netns/{self.namespace}") as namespace:
                if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), 0x40000000):  # CLONE_NEWNET
                    raise OSError(ctypes.get_errno(), f"setns {self.namespace}")
        talking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        talking.connect(("127.0.0.1", self.port))
        talking.setblocking(False)
        return talking


Fate = Callable[[int], float | None]
"""What becomes of the n-th answer (from 1): it is late by so many seconds, or it is lost (None)."""


class Relay:
    """Passes packets between a port of this loopback and an agent. `requests` counts what was asked."""

    def __init__(self, agent: Snmpd, fate: Fate = lambda _: 0.0) -> None:
        self._back = agent.client()
        self._front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._front.bind(("127.0.0.1", 0))
        self._front.setblocking(False)
        self._fate = fate
        self._asker = ("127.0.0.1", 0)
        self._answers = 0
        self.requests = 0
        self.port: int = self._front.getsockname()[1]

    async def __aenter__(self) -> "Relay":
        loop = asyncio.get_running_loop()
        loop.add_reader(self._front, self._asked)
        loop.add_reader(self._back, self._answered)
        return self

    async def __aexit__(self, *_: object) -> None:
        for end in (self._front, self._back):
            asyncio.get_running_loop().remove_reader(end)
            end.close()

    def lead_to(self, agent: Snmpd) -> None:
        """Passes packets to and from another agent from now on."""
        asyncio.get_running_loop().remove_reader(self._back)
        self._back.close()
        self._back = agent.client()
        asyncio.get_running_loop().add_reader(self._back, self._answered)

    def _asked(self) -> None:
        request, self._asker = self._front.recvfrom(65535)
        self.requests += 1
        self._back.send(request)

    def _answered(self) -> None:
        answer = self._back.recv(65535)
        self._answers += 1
        delay = self._fate(self._answers)
        if delay is not None:
            asyncio.get_running_loop().call_later(delay, self._pass, answer, self._asker)

    def _pass(self, answer: bytes, asker: tuple[str, int]) -> None:
        if self._front.fileno() >= 0:
            self._front.sendto(answer, asker)


@contextmanager
def snmpd(folder: Path, *, namespace: str = "", engine_id: str = "", port: int = 0) -> Iterator[Snmpd]:
    """A running snmpd that knows COMMUNITY and USERS and has all its files in `folder`. It needs no root."""
    port = port or (PORT if namespace else free_port())
    folder.mkdir(parents=True, exist_ok=True)
    text = CONFIGURATION.format(port=port, community=COMMUNITY, folder=folder)
    text += f"engineID {engine_id}\n" if engine_id else ""
    for name, keys in USERS.items():
        level = "priv" if "{privacy}" in keys else "auth"
        text += f"createUser {name} {keys.format(auth=AUTH, privacy=PRIVACY)}\nrouser {name} {level}\n"
    (folder / "snmpd.conf").write_text(text)
    inside = ["ip", "netns", "exec", namespace] if namespace else []
    files = ["-c", str(folder / "snmpd.conf"), "-Lf", str(folder / "log")]
    command = [*inside, "snmpd", "-f", "-C", *files, "-I", "-smux"]
    environment = {**os.environ, "SNMP_PERSISTENT_DIR": str(folder / "persistent"), "MIBS": ""}
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)
    try:
        soon(lambda: "NET-SNMP version" in read(folder / "log"), f"snmpd starts ({folder}/log)")
        yield Snmpd(namespace, port, process)
    finally:
        process.kill()
        process.wait(timeout=ENOUGH)


@contextmanager
def switch(folder: Path, ports: int = 4) -> Iterator[Snmpd]:
    """A leaf whose ports swp1, swp2, ... hear the rails of the host gpu-1. Needs root, lldpd and iproute2."""
    leaf, host = (f"truerail-{os.getpid()}-{name}" for name in ("leaf-0", "gpu-1"))
    daemons: list[subprocess.Popen[bytes]] = []
    try:
        for namespace in (leaf, host):
            ip("netns", "add", namespace)
            ip("-n", namespace, "link", "set", "lo", "up")
        for number in range(1, ports + 1):
            ends = (f"swp{number}", "netns", leaf), (f"rail{number - 1}", "netns", host)
            ip("link", "add", *ends[0], "type", "veth", "peer", "name", *ends[1])
            for name, _, namespace in ends:
                ip("-n", namespace, "link", "set", name, "up")
        with snmpd(folder / "leaf-0", namespace=leaf) as agent:
            daemons.append(lldpd(folder / "leaf-0", leaf, agentx=True))
            daemons.append(lldpd(folder / "gpu-1", host))
            soon(lambda: heard(folder / "leaf-0") >= ports, f"the leaf hears {ports} ports")
            yield agent
    finally:
        for daemon in daemons:
            daemon.kill()  # ends the shell that is process 1 of its namespace, and every daemon in there
            daemon.wait(timeout=ENOUGH)
        for namespace in (leaf, host):
            subprocess.run(["ip", "netns", "del", namespace], capture_output=True, timeout=ENOUGH, check=False)


def lldpd(folder: Path, namespace: str, *, agentx: bool = False) -> "subprocess.Popen[bytes]":
    """An lldpd with a /run and a name of its own, after its folder."""
    (folder / "run").mkdir(parents=True)
    (folder / "lldpd.conf").write_text(
        f"configure lldp tx-interval 1\nconfigure lldp portidsubtype ifname\nconfigure system hostname {folder.name}\n"
    )
    sub_agent = f"-x -X {folder}/agentx" if agentx else ""
    script = START_LLDPD.format(name=folder.name, run=folder / "run", folder=folder, agentx=sub_agent)
    unshare = ["unshare", "--uts", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script]
    with (folder / "lldpd.log").open("wb") as log:
        return subprocess.Popen(
            ["ip", "netns", "exec", namespace, *unshare], stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )


def heard(folder: Path) -> int:
    """How many neighbours an lldpd has heard."""
    command = ["lldpcli", "-u", str(folder / "run" / "lldpd.socket"), "-f", "keyvalue", "show", "neighbors"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=ENOUGH, check=False).stdout
    return said.count(".port.ifname=")


def read(file: Path) -> str:
    return file.read_text() if file.exists() else ""


def ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, timeout=ENOUGH, check=False)
    if done.returncode:
        raise OSError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
