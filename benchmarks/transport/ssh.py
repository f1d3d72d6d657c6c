"""What rounds over SSH cost the client: truerail, asyncssh alone, a pool of paramiko threads, OpenSSH's ControlMaster.

    python -m benchmarks.transport.ssh

The server is asyncssh on the loopback, a process of its own; each client, too, so that CPU and memory are its own.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

DEVICES = 1000
MANY = 5000
SAMPLE = 20
FLEET = 12_500
GOAL_ROUND_MS, GOAL_LOGIN, GOAL_PARAMIKO, GOAL_FLEET_SECONDS = 0.6, 1.3, 5.0, 10.0
METHOD = """\
Each device is a login of its own to one asyncssh server on the loopback, which answers five commands with 18 KB in all
and runs nothing: what is measured is the client. truerail sends one session a round with framed answers; the others
send five execs, as tools do that know no framing. CPU is the client's own, all threads and children. Logins a second
are what client and server manage together on this machine, 64 at once (paramiko 32). truerail and asyncssh alone are
measured in turn, medians of three. asyncssh alone has its key and the known key in memory, and aes128-gcm first."""
HEAD = "held connections | CPU a device and round | wall a round | CPU a login | logins a second | memory held"


@dataclass(frozen=True, slots=True)
class Cost:
    """One way to ask: as `ssh_clients.py` prints it."""

    devices: int
    login_cpu_ms: float
    logins_per_second: float
    round_cpu_ms: float
    round_wall: float
    held_mb: float


def section() -> str:
    """The chapter on SSH for benchmarks/results/live-performance.md, measured now. It takes about two minutes."""
    with fleet() as folder:
        ours, bare = in_turn(folder, 3)
        paramiko = cost(folder, "paramiko", DEVICES, 2)
        openssh = cost(folder, "openssh", SAMPLE, 2)
        many = cost(folder, "truerail", MANY, 2)
    return text(ours, bare, paramiko, openssh, many)


@contextmanager
def fleet() -> Iterator[Path]:
    """A running server, in whose folder the clients find what they need."""
    with tempfile.TemporaryDirectory(prefix="truerail-bench-") as name:
        folder = Path(name)
        command = [sys.executable, "-m", "benchmarks.transport.ssh_server", name]
        server = subprocess.Popen(_with_descriptors(command))  # noqa: S603 - our own program
        try:
            while not (folder / "port").exists():
                if server.poll() is not None:
                    raise RuntimeError("the server does not start")
                time.sleep(0.05)
            yield folder
        finally:
            server.kill()
            server.wait()


def _with_descriptors(command: list[str]) -> list[str]:
    """A command with as many open files as the system allows it: one connection takes one."""
    return ["sh", "-c", 'ulimit -n "$(ulimit -Hn)"; exec "$@"', "sh", *command]


def cost(folder: Path, way: str, devices: int, rounds: int) -> Cost:
    """One client, measured in a process of its own. Raises RuntimeError where it fails."""
    command = [sys.executable, "-m", "benchmarks.transport.ssh_clients", way, str(folder), str(devices), str(rounds)]
    done = subprocess.run(_with_descriptors(command), capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    if done.returncode:
        raise RuntimeError(f"{way}: {done.stderr[-500:]}")
    return Cost(devices, **json.loads(done.stdout))


def in_turn(folder: Path, times: int) -> tuple[Cost, Cost]:
    """truerail and asyncssh alone, one after the other several times, so that the machine's drift hits both."""
    pairs = [(cost(folder, "truerail", DEVICES, 3), cost(folder, "bare", DEVICES, 1)) for _ in range(times)]
    ours, bare = zip(*pairs, strict=True)
    return _middle(ours), _middle(bare)


def _middle(costs: tuple[Cost, ...]) -> Cost:
    names = ("login_cpu_ms", "logins_per_second", "round_cpu_ms", "round_wall", "held_mb")
    return Cost(costs[0].devices, **{name: median(getattr(one, name) for one in costs) for name in names})


def text(ours: Cost, bare: Cost, paramiko: Cost, openssh: Cost, many: Cost) -> str:
    """The chapter as Markdown."""
    rows = {
        "truerail": ours,
        f"truerail, {MANY:,} devices": many,
        "asyncssh alone, five execs": bare,
        "paramiko, 32 threads, five execs": paramiko,
        f"OpenSSH, ControlMaster, {SAMPLE} devices": openssh,
    }
    lines = [
        "## SSH",
        "",
        METHOD,
        "",
        f"| {DEVICES:,} devices, {HEAD} |",
        "|---|---:|---:|---:|---:|---:|",
        *(_row(name, one) for name, one in rows.items()),
        "",
        "| goal | measured |",
        "|---|---|",
        *_goals(ours, bare, paramiko, many),
        "",
        f"The last line is a projection: the cost of one device among {MANY:,} times {FLEET:,}.",
    ]
    return "\n".join(lines) + "\n"


def _row(name: str, one: Cost) -> str:
    return (
        f"| {name} | {one.round_cpu_ms:.2f} ms | {one.round_wall:.2f} s | {one.login_cpu_ms:.2f} ms "
        f"| {one.logins_per_second:,.0f} | {one.held_mb:.0f} MB |"
    )


def _goals(ours: Cost, bare: Cost, paramiko: Cost, many: Cost) -> Iterator[str]:
    fewer = paramiko.round_cpu_ms / ours.round_cpu_ms
    login = ours.login_cpu_ms / bare.login_cpu_ms
    seconds = many.round_cpu_ms * FLEET / 1000
    yield _goal(
        "CPU a device and round",
        f"at most {GOAL_ROUND_MS} ms",
        ours.round_cpu_ms <= GOAL_ROUND_MS,
        f"{ours.round_cpu_ms:.2f} ms",
    )
    yield _goal(
        "CPU beside the paramiko pool",
        f"{GOAL_PARAMIKO:g} times less",
        fewer >= GOAL_PARAMIKO,
        f"{fewer:.1f} times less",
    )
    yield _goal(
        "cold login beside asyncssh's bare login", f"at most {GOAL_LOGIN}x", login <= GOAL_LOGIN, f"{login:.2f}x"
    )
    yield _goal(
        f"CPU of a round of {FLEET:,} hosts",
        f"at most {GOAL_FLEET_SECONDS:g} s",
        seconds <= GOAL_FLEET_SECONDS,
        f"{seconds:.1f} s",
    )


def _goal(what: str, goal: str, met: bool, measured: str) -> str:
    return f"| {what}: {goal} | {measured}{'' if met else ', **missed**'} |"


if __name__ == "__main__":
    sys.stdout.write(section())
