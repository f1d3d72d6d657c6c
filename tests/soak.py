"""`make soak`: the whole suite five times, with other orders and more examples, alone and on a busy machine.

Prints a line for each run: how long it took, what it asked of processors and what pytest says; ends with 1 where a run
failed. The output of each is in build/soak/.
"""

import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/soak"
BUSY = 4
"""Processes beside a run that do nothing but take processor time."""


class _Run(NamedTuple):
    name: str
    sets: str = "TRUERAIL_SOAK="
    background: bool = False
    busy: int = 0


RUNS = (
    _Run("as the CI", "CI=1"),
    _Run("beside busy processes", busy=BUSY),
    _Run("in the background", background=True),
    _Run("with many examples", "TRUERAIL_SOAK=1"),
    _Run("in the background, beside busy processes", background=True, busy=BUSY),
)
"""What each sets in the environment; what is in the background was started there, where Ctrl-C is ignored."""


@contextmanager
def _beside(processes: int) -> Iterator[None]:
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """All runs, one after the other."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    failed = 0
    for number, run in enumerate(RUNS, 1):
        log = FOLDER / f"{number}.log"
        test = f"{run.sets} make --no-print-directory test >{log} 2>&1"
        command = f"nohup env {test} </dev/null & wait $!" if run.background else f"env {test}"
        with _beside(run.busy):
            before, began = _processor_seconds(), time.monotonic()
            done = subprocess.run(["sh", "-c", f"unset CI; {command}"], cwd=ROOT, check=False)
            minutes, used = (time.monotonic() - began) / 60, _processor_seconds() - before
        failed += done.returncode != 0
        last = log.read_text(encoding="utf-8", errors="replace").splitlines()[-1:]
        print(f"{number}. {run.name}: {minutes:.1f} min, {used:.0f} processor seconds; {''.join(last)}", flush=True)
    return min(failed, 1)


if __name__ == "__main__":
    raise SystemExit(main())
