"""Measuring processes and pieces of work. Standard library only: `peers.py` uses it in an environment of its own."""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Run:
    """One process, finished."""

    wall: float
    cpu: float
    peak_mb: float
    output: str


def run(*command: str, allowed: tuple[int, ...] = (0,)) -> Run:
    """Runs a command and measures it. Raises RuntimeError where it ends otherwise than allowed."""
    started = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)  # noqa: S603 - our own commands
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode()
    if process.returncode not in allowed:
        raise RuntimeError(f"{' '.join(command)}: exit code {process.returncode}")
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text)


def fastest(runs: int, *command: str, allowed: tuple[int, ...] = (0,)) -> Run:
    """The fastest of several runs."""
    return min((run(*command, allowed=allowed) for _ in range(runs)), key=lambda one: one.wall)


def best(work: Callable[[], object], repeats: int = 200) -> float:
    """The shortest of several runs, in seconds."""
    shortest = float("inf")
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        shortest = min(shortest, time.perf_counter() - started)
    return shortest
