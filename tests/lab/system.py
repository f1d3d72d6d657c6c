"""Commands run as root, and the namespaces they run in."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

PROGRAMS = ("ip", "tc", "unshare", "nsenter", "setpriv", "lldpd", "lldpcli", "snmpd", "sshd", "ssh-keygen")
"""What the lab runs: iproute2, util-linux, lldpd, snmpd, openssh-server and openssh-client of Debian and Ubuntu."""
_NETNS = Path("/run/netns")


class LabError(Exception):
    """Something about the lab that a person can put right. Says the thing and the value."""


def refuse_unless_able() -> None:
    """Raises `LabError` where root or a program is missing."""
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing:
        raise LabError(f"not installed: {', '.join(missing)} (requirements/apt.txt names the packages)")
    if os.geteuid() != 0:
        raise LabError("the lab needs root: it makes network namespaces")


def run(*command: str, stdin: str = "", check: bool = True, timeout_seconds: float = 60.0) -> str:
    """What a command prints. Raises `LabError` with its error output where it fails."""
    done = subprocess.run(
        command, input=stdin, capture_output=True, text=True, errors="replace", timeout=timeout_seconds, check=False
    )
    if check and done.returncode:
        said = done.stderr.strip() or done.stdout[:200]
        raise LabError(f"{' '.join(command)}: exit status {done.returncode}: {said}")
    return done.stdout


def ip_batch(lines: Iterable[str], namespace: str = "") -> None:
    """Many `ip` commands in one process, in a namespace or in the machine's own."""
    within = ("-n", namespace) if namespace else ()
    run("ip", *within, "-batch", "-", stdin="".join(f"{line}\n" for line in lines))


def namespaces(prefix: str) -> list[str]:
    """The named network namespaces that begin with this prefix."""
    return sorted(path.name for path in _NETNS.glob(f"{prefix}*"))


def processes(namespace: str) -> list[int]:
    """The processes that live in a network namespace."""
    return [int(pid) for pid in run("ip", "netns", "pids", namespace, check=False).split()]


def signal_all(pids: Sequence[int], number: signal.Signals) -> None:
    """Sends a signal to each of these processes that is still there."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def remove_namespaces(prefix: str, keep_processes_of: Iterable[str] = ()) -> None:
    """Ends what runs in the namespaces that begin with this prefix, and removes them.

    Processes in `keep_processes_of` were started by people: they only lose their network.
    """
    found = namespaces(prefix)
    ours = [name for name in found if name not in set(keep_processes_of)]

    def all_ended() -> bool:
        left = [pid for name in ours for pid in processes(name)]
        signal_all(left, signal.SIGKILL)
        return not left

    wait_until(all_ended, "processes in the lab's namespaces do not end", seconds=60.0)
    ip_batch(f"netns del {name}" for name in found)


def wait_until(true: Callable[[], bool], otherwise: str, seconds: float) -> None:
    """Waits until something is true. Raises `LabError` with `otherwise` after so many seconds."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            raise LabError(f"{otherwise} (waited {seconds:.0f} s)")
        time.sleep(0.05)
