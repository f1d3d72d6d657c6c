"""A siege: a service under attack for as long as is wanted, with readers, and a writer that counts what was promised.

    .venv/bin/python -m benchmarks.attacks.siege [--minutes 60] [--hosts 200] [--write PAGE]

As root, in a mount namespace of its own: its disk is a small tmpfs. A hostile device of each kind is among good ones;
in a drawn order come kills of its processes, steps of its clock, a full disk, silent connections and long topologies.
"""

import argparse
import json
import os
import random
import resource
import signal
import socket
import sqlite3
import statistics
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter, defaultdict
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from benchmarks.attacks.besieged import INTERVAL_SECONDS, KINDS
from benchmarks.sections import Section

MEGABYTES, REST_SECONDS, LONG_SECONDS, IDLE = 64, 10.0, 60.0, 1_500
ASKED = (
    *("status", "blast?of=gpu-001", "find?text=gpu-00", "job?nodes=gpu-[001-004]", "where?port=gpu-001", "fabric"),
    *("map", "devices?limit=100", "findings?limit=100", "causes"),
)
STEPS = {"an hour back": -3600.0, "an hour ahead": 3600.0, "1970": -1.79e9, "2038": 3.5e8}
CHAIN = "".join(f"SwitchName=s{i} Switches=s{i + 1}\n" for i in range(3000)) + "SwitchName=s3000 Nodes=gpu-[001-064]\n"


class Siege:
    """One service, as its attackers, its readers and its writer see it."""

    def __init__(self, process: "subprocess.Popen[bytes]", disk: Path, state: Path, seconds: float) -> None:
        self._process, self._disk, self._state = process, disk, state
        self._url = f"{state.with_suffix('.url').read_text()}api/v1/"
        self._ends, self._drawn = time.monotonic() + seconds, random.Random(1)  # noqa: S311 - no secret
        self.took = defaultdict[str, list[float]](list)
        self.codes, self.attacks = Counter[str](), Counter[str]()
        self.takeovers, self.load, self.promised = list[float](), list[float](), list[str]()

    def run(self) -> None:
        """Until its time is over."""
        threads = [threading.Thread(target=self._read, args=(asked,)) for asked in (ASKED, ASKED[::-1])]
        threads.append(threading.Thread(target=self._write))
        for one in threads:
            one.start()
        while time.monotonic() < self._ends:
            attacks = [*[self._kill] * 6, *[self._step] * 3, self._fill, self._idle, self._chains]
            for attack in self._drawn.sample(attacks, len(attacks)):
                if time.monotonic() < self._ends:
                    self.attacks[attack.__name__.strip("_")] += 1
                    attack()
                    self.load.append(os.getloadavg()[0])
                    time.sleep(REST_SECONDS)
        for one in threads:
            one.join()

    # --- attacks ------------------------------------------------------------------------------------------------------

    def _children(self) -> list[int]:
        """Judge and front, or what is there of them."""
        pid = self._process.pid
        return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))

    def _kill(self) -> None:
        """One of them, or both; the time until a new evaluation is shown, if the judge was one."""
        number, began = self._number(), time.monotonic()
        killed = self._drawn.sample(self._children(), self._drawn.randint(1, 2))
        judge = any(not self._listens(pid) for pid in killed)
        for pid in killed:
            os.kill(pid, self._drawn.choice((signal.SIGKILL, signal.SIGTERM)))
        while self._number() <= number and time.monotonic() - began < LONG_SECONDS:
            time.sleep(0.1)
        if judge:
            self.takeovers.append(time.monotonic() - began)

    def _listens(self, pid: int) -> bool:
        """Whether this is the front: a judge serves no HTTP."""
        rows = map(str.split, Path("/proc/net/tcp").read_text().splitlines())
        port = f":{urlsplit(self._url).port:04X}"
        at = {f"socket:[{row[9]}]" for row in rows if row[1].endswith(port) and row[3] == "0A"}
        return any(str(file.readlink()) in at for file in Path(f"/proc/{pid}/fd").iterdir() if file.is_symlink())

    def _number(self) -> int:
        status, body = self._ask("fabric")
        return int(json.loads(body)["number"]) if status == "200" else 0

    def _step(self) -> None:
        for step in (self._drawn.choice(list(STEPS.values())), 0.0):
            with self._state.open("r+b") as file:
                file.write(struct.pack("d", step))
            time.sleep(LONG_SECONDS / 4)

    def _fill(self) -> None:
        ballast = self._disk / "ballast"
        ends = time.monotonic() + LONG_SECONDS
        with ballast.open("wb", buffering=0) as file:
            while time.monotonic() < ends:  # what is freed meanwhile is taken as well
                with suppress(OSError):
                    file.write(bytes(4096))
                    continue
                time.sleep(0.1)
        ballast.unlink()

    def _idle(self) -> None:
        place = urlsplit(self._url)
        with ExitStack() as stack:
            for _ in range(IDLE):
                stack.enter_context(socket.create_connection((place.hostname or "", place.port or 0)))
            time.sleep(LONG_SECONDS)

    def _chains(self) -> None:
        threads = [threading.Thread(target=self._ask, args=("lint-topology", {"text": CHAIN})) for _ in range(13)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()

    # --- readers and a writer -----------------------------------------------------------------------------------------

    def _ask(self, path: str, body: object = None) -> tuple[str, bytes]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data, {"Content-Type": "application/json"})  # noqa: S310 - its own service
        try:
            with urllib.request.urlopen(request, timeout=LONG_SECONDS) as answer:  # noqa: S310 - its own service
                return str(answer.status), answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return str(error.code), error.read()
        except OSError as error:
            return type(error).__name__, b""

    def _read(self, questions: tuple[str, ...]) -> None:
        while time.monotonic() < self._ends:
            for path in questions:
                began = time.monotonic()
                status, _ = self._ask(path)
                self.took[path].append(time.monotonic() - began)
                self.codes[status] += 1
                time.sleep(0.1)

    def _write(self) -> None:
        while time.monotonic() < self._ends:
            status, body = self._ask("findings?limit=1")
            target = json.loads(body)["items"][0]["id"] if status == "200" else ""
            reason = f"written {len(self.took['a write'])}"
            began = time.monotonic()
            status, _ = self._ask("acknowledgements", {"target": target, "reason": reason})
            self.took["a write"].append(time.monotonic() - began)
            if status == "201":
                self.promised.append(reason)
            time.sleep(0.5)


def main(minutes: float, hosts: int, page: Path | None) -> None:
    """Prints what was found, and writes it into a page. In a mount namespace of its own."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
    with TemporaryDirectory(prefix="truerail-siege-") as name:
        disk, state = Path(name, "disk"), Path(name, "state")
        disk.mkdir()
        _run("mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "tmpfs", str(disk))
        command = [sys.executable, "-m", "benchmarks.attacks.besieged", str(disk), str(state), str(hosts)]
        with subprocess.Popen(command) as process:  # noqa: S603 - its own
            while not state.with_suffix(".url").exists() and process.poll() is None:
                time.sleep(0.1)
            time.sleep(3 * INTERVAL_SECONDS)
            siege = Siege(process, disk, state, 60 * minutes)
            siege.run()
            process.send_signal(signal.SIGTERM)
            code = process.wait()
        with closing(sqlite3.connect(disk / "journal.db")) as journal:
            kept = {reason for (reason,) in journal.execute("SELECT reason FROM acknowledgements")}
        found = memoryview(state.read_bytes()).cast("d")[1:].tolist()
        good = len(list(filter(None, found[: len(found) // 2])))
        figures = {
            "devices": f"{good} good ones, and hostile: {', '.join(KINDS)}",
            f"attacks in {minutes:g} minutes": ", ".join(f"{count} {name}" for name, count in siege.attacks.items()),
            "load of the machine of 2 processors": f"{min(siege.load):.0f} to {max(siege.load):.0f}",
            "from the kill of a judge to a new evaluation": _spread(siege.takeovers),
            f"longest time that a good device was not read, at an interval of {INTERVAL_SECONDS} s":
                f"{max(found[len(found) // 2 :]):.0f} s",
            "writes that were acknowledged, and lost": f"{len(siege.promised)}, {len(set(siege.promised) - kept)}",
            "answers to readers": ", ".join(f"{count} × {code}" for code, count in siege.codes.most_common()),
            "end of the service": f"exit code {code}",
        } | {f"`{asked}`": _spread(took) for asked, took in siege.took.items()}  # fmt: skip
        text = "\n".join(("| siege | |", "|---|---|", *(f"| {what} | {value} |" for what, value in figures.items())))
        _run("umount", "-l", str(disk))
    sys.stdout.write(text + "\n")
    if page:
        section = Section("siege")
        page.write_text(section.placed(page.read_text(), section.marked(text)))


def _run(*words: str) -> None:
    subprocess.run(words, check=True)  # noqa: S603 - its own


def _spread(seconds: list[float]) -> str:
    seconds = seconds * 2 if len(seconds) == 1 else seconds or [0.0, 0.0]
    of = statistics.quantiles(seconds, n=100, method="inclusive")
    return f"median {of[49]:.2f} s, p99 {of[98]:.2f} s, at most {max(seconds):.2f} s of {len(seconds)}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    if "TRUERAIL_SIEGE" not in os.environ:
        os.environ["TRUERAIL_SIEGE"] = "inside"
        os.execvp("unshare", ["unshare", "-m", sys.executable, "-m", "benchmarks.attacks.siege", *sys.argv[1:]])  # noqa: S606, S607 - this program again
    main(given.minutes, given.hosts, given.write)
