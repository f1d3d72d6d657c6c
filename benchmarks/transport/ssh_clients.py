"""One way to ask a fleet by SSH, measured in a process of its own.

    python -m benchmarks.transport.ssh_clients truerail|bare|paramiko|openssh FOLDER DEVICES ROUNDS

FOLDER is that of `ssh_server.py`. Prints JSON: seconds of CPU and of wall time to log in to all devices and for each
round of five commands over the held connections, and how many MB the connections take.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

from truerail.model import SshAccess, Target

COMMANDS = ("nvidia-smi topo -m", "rdma link", "lldpctl -f json0", "ip -j -d link", "ip -j addr")
THREADS = 32
AT_ONCE = 64
Measured = dict[str, float]


def target(folder: Path, number: int) -> Target:
    """A device of the fleet."""
    port = int((folder / "port").read_text())
    access = SshAccess(f"u{number}", str(folder / "key"), known_hosts=str(folder / "known"), port=port, agent=False)
    return Target(f"gpu-{number:05}", "127.0.0.1", platform="linux", timeout_seconds=60, ssh=access)


class Clock:
    """CPU seconds of this process and its children that have ended, and wall seconds, since it was made."""

    def __init__(self) -> None:
        self._cpu, self._wall = self._now()

    @staticmethod
    def _now() -> tuple[float, float]:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + children.ru_utime + children.ru_stime, time.perf_counter()

    def read(self) -> tuple[float, float]:
        """CPU and wall seconds."""
        cpu, wall = self._now()
        return cpu - self._cpu, wall - self._wall


def resident_mb() -> float:
    """The memory of this process now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def figures(devices: int, login: tuple[float, float], rounds: list[tuple[float, float]], held_mb: float) -> Measured:
    """What is printed: milliseconds of CPU a device, seconds of wall time for all, memory of all connections."""
    return {
        "login_cpu_ms": login[0] / devices * 1e3,
        "logins_per_second": devices / login[1],
        "round_cpu_ms": median(cpu for cpu, _ in rounds) / devices * 1e3 if rounds else 0.0,
        "round_wall": median(wall for _, wall in rounds) if rounds else 0.0,
        "held_mb": held_mb,
    }


async def measured(
    devices: int, rounds: int, log_in: Callable[[int], Awaitable[object]], ask: Callable[[int], Awaitable[object]]
) -> Measured:
    """Logs in to all devices, at most 64 at once, and asks all of them in each round."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        async with slots:
            await log_in(number)

    before, clock = resident_mb(), Clock()
    await asyncio.gather(*map(one, range(devices)))
    login, held = clock.read(), resident_mb() - before
    taken = []
    for _ in range(rounds):
        clock = Clock()
        await asyncio.gather(*map(ask, range(devices)))
        taken.append(clock.read())
    return figures(devices, login, taken, held)


async def truerail(folder: Path, devices: int, rounds: int) -> Measured:
    """truerail's own transport; logging in is what its first round does before it asks."""
    from truerail.transport.hops import device_hop
    from truerail.transport.ssh_transports import SshHosts

    hosts = SshHosts(handshakes=AT_ONCE)
    targets = [target(folder, number) for number in range(devices)]

    async def ask(number: int) -> None:
        answers = await hosts.ask(targets[number], COMMANDS)
        if sum(len(answer.text) for answer in answers) < 18_000 or any(answer.error for answer in answers):
            raise RuntimeError(f"not answered: {answers[0].error}")

    try:
        return await measured(devices, rounds, lambda number: hosts._connections.to(device_hop(targets[number])), ask)
    finally:
        await hosts.close()


async def bare(folder: Path, devices: int, rounds: int) -> Measured:
    """asyncssh alone: the key and the known key are loaded once, aes128-gcm first; a round is one exec for all."""
    import asyncssh

    key = asyncssh.read_private_key(folder / "key")
    known = asyncssh.import_public_key((folder / "known").read_text().split(" ", 1)[1])
    port = int((folder / "port").read_text())
    connections: dict[int, asyncssh.SSHClientConnection] = {}

    async def log_in(number: int) -> None:
        connections[number] = await asyncssh.connect(
            "127.0.0.1",
            port,
            username=f"u{number}",
            client_keys=[key],
            agent_path=None,
            config=None,
            known_hosts=([known], [], []),
            encryption_algs=["aes128-gcm@openssh.com"],
        )

    async def ask(number: int) -> None:
        await asyncio.gather(*(connections[number].run(command, encoding=None) for command in COMMANDS))

    try:
        return await measured(devices, rounds, log_in, ask)
    finally:
        for connection in connections.values():
            connection.abort()


def paramiko_pool(folder: Path, devices: int, rounds: int) -> Measured:
    """paramiko as it is mostly used: 32 threads, a client for each device, five execs a round."""
    import paramiko

    key = paramiko.Ed25519Key.from_private_key_file(str(folder / "key"))
    port = int((folder / "port").read_text())
    clients: dict[int, Any] = {}

    def log_in(number: int) -> None:
        client = paramiko.SSHClient()
        client.load_host_keys(str(folder / "known"))
        client.connect(
            "127.0.0.1", port, f"u{number}", pkey=key, allow_agent=False, look_for_keys=False, banner_timeout=60
        )
        clients[number] = client

    def ask(number: int) -> None:
        for command in COMMANDS:
            clients[number].exec_command(command)[1].read()

    with ThreadPoolExecutor(THREADS) as pool:
        before, clock = resident_mb(), Clock()
        list(pool.map(log_in, range(devices)))
        login, held = clock.read(), resident_mb() - before
        taken = []
        for _ in range(rounds):
            clock = Clock()
            list(pool.map(ask, range(devices)))
            taken.append(clock.read())
    result = figures(devices, login, taken, held)
    for client in clients.values():
        client.close()
    return result


def openssh(folder: Path, devices: int, rounds: int) -> Measured:
    """OpenSSH with ControlMaster: a held master for each device, one ssh process for each command."""
    port = (folder / "port").read_text()
    shared = ["ssh", "-F", "none", "-o", "BatchMode=yes", "-o", f"UserKnownHostsFile={folder}/known", "-p", port]

    def command(number: int, *more: str) -> list[str]:
        return [*shared, "-i", str(folder / "key"), "-S", f"{folder}/m{number}", *more, f"u{number}@127.0.0.1"]

    clock = Clock()
    masters = [
        subprocess.Popen(command(number, "-M", "-N"), stdout=subprocess.DEVNULL)  # noqa: S603 - our own command
        for number in range(devices)
    ]
    try:
        while not all((folder / f"m{number}").exists() for number in range(devices)):
            if any(master.poll() is not None for master in masters):
                raise RuntimeError("a master could not log in")
            time.sleep(0.005)
        wall = clock.read()[1]
        login = sum(map(_cpu_of, masters)), wall
        held = sum(map(_memory_of, masters))
        taken = []
        for _ in range(rounds):
            clock, before = Clock(), sum(map(_cpu_of, masters))
            for number in range(devices):
                for asked in COMMANDS:
                    subprocess.run([*command(number), asked], check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own command
            cpu, wall = clock.read()
            taken.append((cpu + sum(map(_cpu_of, masters)) - before, wall))
    finally:
        for master in masters:
            master.terminate()
            master.wait()
    return figures(devices, login, taken, held)


def _cpu_of(process: "subprocess.Popen[bytes]") -> float:
    """CPU seconds that another process of one thread has used (the kernel's sched-stats: nanoseconds come first)."""
    return int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[0]) / 1e9


def _memory_of(process: "subprocess.Popen[bytes]") -> float:
    return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    """Measures one way."""
    way, folder, devices, rounds = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
    if way in ("truerail", "bare"):
        result = asyncio.run((truerail if way == "truerail" else bare)(folder, devices, rounds))
    else:
        result = (paramiko_pool if way == "paramiko" else openssh)(folder, devices, rounds)
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    main()
