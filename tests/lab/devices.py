"""Devices as processes: each is one holder whose first child is process 1 of the device's own namespaces.

When the holder ends, however it ends, the kernel ends everything in the device.
"""

import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .layout import Layout
from .system import LabError, processes, run, signal_all, wait_until


def start(layout: Layout, device: str, alive: int, *, tied: bool) -> None:
    """Starts a device, which keeps the lock behind the descriptor `alive`. `tied`: it dies with this very process."""
    holder = ["ip", "netns", "exec", layout.namespace(device), "unshare", "--uts", "--pid", "--mount", "--fork"]
    command = [*holder, "--kill-child", "--mount-proc", "/bin/sh", str(layout.home(device) / "lab/init")]
    with (layout.home(device) / "lab/log").open("wb") as log:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *command] if tied else command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            pass_fds=[alive],
        )
    _pid_file(layout, device).write_text(str(process.pid), encoding="ascii")
    process.returncode = 0  # the device outlives this command: no one here waits for it


def is_running(layout: Layout, device: str) -> bool:
    """Whether the device has its daemons started and its lldpd listens."""
    home = layout.home(device)
    return (home / "lab/started").exists() and (home / "lldpd.socket").exists()


def first_process(layout: Layout, device: str) -> int:
    """Process 1 of the device, by its number outside. Raises `LabError` where the device does not run."""
    holder = int(_pid_file(layout, device).read_text(encoding="ascii"))
    try:
        if not Path(f"/proc/{holder}/ns/net").samefile(f"/run/netns/{layout.namespace(device)}"):
            raise LabError(f"{device} does not run")
        return int(Path(f"/proc/{holder}/task/{holder}/children").read_text(encoding="ascii").split()[0])
    except (OSError, IndexError):
        raise LabError(f"{device} does not run") from None


def inside(layout: Layout, device: str) -> list[str]:
    """The command that runs another command inside a device."""
    return ["nsenter", "-t", str(first_process(layout, device)), "-m", "-u", "-n", "-p", "--"]


def call(layout: Layout, device: str, *command: str) -> str:
    """What a command prints inside a device."""
    return run(*inside(layout, device), *command)


def signal_daemon(layout: Layout, device: str, daemon: str, number: signal.Signals) -> None:
    """Sends a signal to all processes of a daemon in a device."""
    signal_all(_of_program(processes(layout.namespace(device)), daemon), number)


def restart(layout: Layout, device: str, daemon: str) -> None:
    """Ends a daemon in a device, whatever state it is in, and starts it again. Returns when it is started."""
    stop(layout, device, daemon)
    call(layout, device, "sh", "-c", f"/run/lab/daemons/{daemon} </dev/null >>/run/lab/log 2>&1 &")
    wait_until(lambda: bool(_running(layout, device, daemon)), f"{daemon} of {device} does not start", seconds=60.0)


def stop(layout: Layout, device: str, daemon: str) -> None:
    """Ends a daemon in a device without letting it say goodbye, as a crash would.

    A process that ends leaves its namespace first and closes its sockets and locks last.
    """
    pids = _running(layout, device, daemon)
    signal_all(pids, signal.SIGKILL)
    wait_until(lambda: not any(map(_lives, pids)), f"{daemon} of {device} does not end", seconds=60.0)


def _running(layout: Layout, device: str, daemon: str) -> list[int]:
    return _of_program(processes(layout.namespace(device)), daemon)


def _of_program(pids: Sequence[int], name: str) -> list[int]:
    return [pid for pid in pids if _program(pid) == name]


def _lives(pid: int) -> bool:
    """Whether a process is there and still has something to close."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def _program(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _pid_file(layout: Layout, device: str) -> Path:
    return layout.root / f"{device}.pid"
