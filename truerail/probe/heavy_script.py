#!/usr/bin/python3 -I
"""truerail-probe-heavy: runs `rping` and `ib_write_bw` between idle hosts on one host, and prints one object.

Runs with Python 3.6 or newer and its standard library alone, without root, and writes nothing to disk. Standard input
is a line of JSON, the tests of this host with their times; its end stops the test that runs. Each test begins with a
second in which the RDMA port must carry nothing: a port with load is left alone. A program that does not end in time is
killed.
"""

import ipaddress
import json
import os
import select
import shutil
import subprocess
import sys
import time
from typing import Any, Dict, List, Optional, Tuple

VERSION = 1
SYSFS = "/sys/class/infiniband"
IDLE_SECONDS, LATE_SECONDS, BUSY_WORDS = 1.0, 1.0, 3125000
RPING_AT, WRITE_AT, CLIENT_AFTER = 1.1, 5.1, 0.8
RPING_SECONDS, WRITE_SECONDS = 4.0, 12.0
MOST_OUTPUT = 8192
SAFE_PATH = "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin"

OFFSET = time.time() - time.monotonic()

Json = Dict[str, Any]


def now() -> float:
    """The time by this host's clock as it was at the start: where it is set during a run, no time of that moves."""
    return OFFSET + time.monotonic()


def read(*path: str) -> str:
    """A file of sysfs; empty where it cannot be read."""
    try:
        with open(os.path.join(SYSFS, *path)) as file:
            return file.read().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def names(*path: str) -> List[str]:
    """What a folder of sysfs holds."""
    try:
        return sorted(os.listdir(os.path.join(SYSFS, *path)))
    except OSError:
        return []


def gid_of(netdev: str, address: str) -> Optional[Tuple[str, int, int]]:
    """Device, port and index of the RoCE v2 GID of a NIC's address; None if the NIC has none."""
    wanted = ipaddress.IPv6Address("::ffff:" + address)
    for device in names():
        for port in names(device, "ports"):
            where = (device, "ports", port)
            for index in names(*where, "gids"):
                attributes = (*where, "gid_attrs")
                if read(*attributes, "ndevs", index) != netdev or "v2" not in read(*attributes, "types", index).lower():
                    continue
                gid = read(*where, "gids", index)
                if gid and ipaddress.IPv6Address(gid) == wanted:
                    return device, int(port), int(index)
    return None


def words(device: str, port: int) -> Optional[int]:
    """Data sent and received by an RDMA port, in words of four octets; None where it does not count."""
    counts = [read(device, "ports", str(port), "counters", name) for name in ("port_xmit_data", "port_rcv_data")]
    return sum(map(int, counts)) if all(count.isdigit() for count in counts) else None


class Tests:
    """The tests of one host."""

    def __init__(self, tasks: Json) -> None:
        self.tasks = tasks
        self.stopped = False

    def wait(self, until: float, process: Any = None) -> None:
        """Until a time, the end of a process, or the end of standard input."""
        while not self.stopped and now() < until and (process is None or process.poll() is None):
            if select.select([0], [], [], min(0.1, max(0.0, until - now())))[0]:
                self.stopped = not os.read(0, 65536)

    def busy(self, device: str, port: int) -> Optional[str]:
        """Why a port may not be used; None if it carries nothing. Load is 100 Mbit/s and more."""
        before = words(device, port)
        self.wait(now() + IDLE_SECONDS)
        after = words(device, port)
        if before is None or after is None:
            return "unknown"
        return "busy" if not 0 <= after - before < BUSY_WORDS * IDLE_SECONDS else None

    def run(self, command: List[str], at: float, seconds: float) -> Json:
        """Runs a program at a time. `status` is None if it did not end in time."""
        program = shutil.which(command[0], path=SAFE_PATH)
        if program is None:
            return {"missing": True}
        self.wait(at)
        if self.stopped:
            return {"status": None, "output": ""}
        environment = dict(os.environ, PATH=SAFE_PATH, LC_ALL="C")
        try:
            process = subprocess.Popen(
                [program, *command[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                env=environment,
            )  # fmt: skip
        except OSError as error:
            return {"status": -1, "output": str(error)}
        self.wait(at + seconds, process)
        ended = process.poll() is not None
        if not ended:
            process.kill()
        output = process.communicate()[0].decode("utf-8", "replace")
        return {"status": process.returncode if ended else None, "output": output[-MOST_OUTPUT:]}

    def test(self, one: Json, at: float) -> Json:
        """One test: whether the NIC has an RDMA port and is idle, then the programs."""
        found = gid_of(one["port"], one["address"])
        if found is None:
            return dict(one, why="no RDMA device")
        device, port, gid = found
        why = self.busy(device, port)
        if why:
            return dict(one, why=why, device=device)
        server, tcp = one["role"] == "server", self.tasks["tcp_port"]
        far = one["address"] if server else one["peer_address"]
        after = 0.0 if server else CLIENT_AFTER
        ping = ["rping", "-s" if server else "-c", "-a", far, "-C", "3", "-p", str(tcp)]
        write = ["ib_write_bw", "-d", device, "-i", str(port), "-x", str(gid), "-p", str(tcp + 1), "-F",
                 "--report_gbits", "-s", "1048576", "-D", str(self.tasks["seconds"])]  # fmt: skip
        return dict(
            one,
            why=None,
            device=device,
            rping=self.run(ping, at + RPING_AT + after, RPING_SECONDS - after),
            ib_write_bw=self.run(write if server else [*write, far], at + WRITE_AT + after, WRITE_SECONDS - after),
        )

    def go(self) -> Json:
        """All tests, each at its time."""
        done = []
        for number, one in enumerate(self.tasks["tests"]):
            at = self.tasks["start_at"] + one["at"]
            self.wait(at)
            if self.stopped or now() > at + LATE_SECONDS:
                done.append(dict(one, why="not in time"))
                continue
            done.append(self.test(one, at))
            say(f"sent {number + 1} of {len(self.tasks['tests'])}")
        return {"truerail_heavy": VERSION, "run": self.tasks["run"], "host": self.tasks["host"], "tests": done}


def say(line: str) -> None:
    """A line of progress."""
    try:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
    except OSError:
        pass


def main() -> int:
    """Reads the tests, runs them, prints. Returns the exit status: 3 where they are not understood."""
    try:
        tasks = json.loads(sys.stdin.buffer.readline().decode())
        say(f"clock {now():.3f}")
        if tasks["version"] != VERSION:
            raise ValueError(f"tests of version {tasks['version']}: this script knows only {VERSION}")
        if not 0 < tasks["seconds"] <= WRITE_SECONDS - 4:
            raise ValueError("a time that no test has")
        for one in tasks["tests"]:
            ipaddress.IPv4Address(one["address"]), ipaddress.IPv4Address(one["peer_address"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        say(f"refused: tests are not understood ({type(error).__name__}: {error})")
        return 3
    sys.stdout.write(json.dumps(Tests(tasks).go(), separators=(",", ":")) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
