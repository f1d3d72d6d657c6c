"""From swapped cables to the line in `truerail watch`: the lab's real daemons, and where the time goes.

Needs root. LLDP's own time is read from the lab's lldpds: from the plug to the moment when both ends hear each other.
"""

import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from queue import Empty, Queue

from tests.lab import cables, fabric, hearing
from tests.lab.layout import Layout

INTERVAL_SECONDS = 5.0
REPEATS = 6
PORTS = ("gpu-002/enp26s0f0np0", "gpu-002/enp60s0f0np0")


def section() -> str:
    """The markdown section. Takes about two minutes."""
    with tempfile.TemporaryDirectory(prefix="truerail-recable-") as folder:
        layout = Layout("recable", 4, 4, 2, Path(folder) / "user")
        with fabric.running(layout):
            taken = _measure(layout)
    rows = "\n".join(f"| {what} | {statistics.median(times):.1f} | {max(times):.1f} |" for what, times in taken.items())
    return (
        "\n## From the cable to the line in `watch`\n\n"
        "The lab: 4 hosts x 4 rails, real lldpd with tx-interval 1 s, and "
        f"`watch --interval {INTERVAL_SECONDS:g}`. Two cables\nare swapped and put right again, {REPEATS} times. "
        f"A cable is out for {cables.BLINK_SECONDS:g} s; time counts from plugging in.\n\n"
        "| | median s | worst s |\n|---|---|---|\n"
        f"{rows}\n\n"
        "The rest is the wait for the next round, an interval at worst, and the round itself. At lldpd's default\n"
        "tx-interval of 30 s a re-plug with more than a second without carrier is heard as fast, because lldpd then\n"
        "sends at once; a silent swap behind an optical panel takes up to 30 s to be heard, and up to 120 s until the\n"
        "old neighbour is gone.\n"
    )


def _measure(layout: Layout) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {
        "lldpd hears the new neighbour at both ends": [],
        "`watch` names the cable-swap": [],
        "`watch` has ticked all off after the repair": [],
    }
    lines, process = _watch(layout)
    one, other = (layout.jack(port) for port in PORTS)
    try:
        _until(lines, "left 0,", timeout=30)
        for turn in range(REPEATS):
            for shown, word in (
                ("`watch` names the cable-swap", "cable-swap"),
                ("`watch` has ticked all off after the repair", "left 0,"),
            ):
                time.sleep(INTERVAL_SECONDS * turn / REPEATS)  # so that cables move at all times of a round
                cables.swap(layout, one, other)
                plugged = time.monotonic()
                hearing.settle(layout)
                taken["lldpd hears the new neighbour at both ends"].append(time.monotonic() - plugged)
                taken[shown].append(_until(lines, word, timeout=30) - plugged)
    finally:
        process.terminate()
        process.wait()
    return taken


def _watch(layout: Layout) -> tuple["Queue[tuple[float, str]]", "subprocess.Popen[str]"]:
    site = ("--plan", f"{layout.folder}/plan.csv", "--inventory", f"{layout.folder}/inventory.yaml")
    command = ["ip", "netns", "exec", layout.management, sys.executable, "-u", "-m", "truerail", "watch", *site]
    process = subprocess.Popen(  # noqa: S603 - our own command line
        [*command, "--interval", str(INTERVAL_SECONDS)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    lines: Queue[tuple[float, str]] = Queue()

    def read() -> None:
        for line in process.stdout or ():
            lines.put((time.monotonic(), line))

    threading.Thread(target=read, daemon=True).start()
    return lines, process


def _until(lines: "Queue[tuple[float, str]]", word: str, timeout: float) -> float:
    """When the next line with this word in it came; what follows it at once belongs to the same round."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            at, line = lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except Empty:
            raise TimeoutError(f"`watch` printed no line with {word!r} within {timeout:g} s") from None
        if word in line:
            time.sleep(0.3)
            while not lines.empty():
                lines.get()
            return at


if __name__ == "__main__":
    sys.stdout.write(section())
