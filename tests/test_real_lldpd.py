"""Two real lldpd daemons at the ends of one cable: what they print is read, in each of lldpd's formats.

The cable is a veth pair between two network namespaces. Each daemon has its own name, process and mount namespaces, so
that it finds its files in a /run of its own and ends with the one process that holds it.
"""

import os
import selectors
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from collector import collectors
from tests.patience import soon
from tests.real import give_up, require
from truerail.agent import neighbor_watch
from truerail.model import Device, Neighbor, NetLink, Role
from truerail.model.names import answer_file
from truerail.transport.replay import read_capture

WAIT_SECONDS = 60.0
FORMATS = ("-f json0", "-f json", "-f keyvalue", "")
CONFIGURE = "configure lldp tx-interval 1\nconfigure system hostname {name}\n"
START = """\
hostname {name} && mount --bind {run} /run && mkdir -p /run/lldpd && lldpd -d -O {folder}/lldpd.conf & wait
"""


@dataclass(frozen=True)
class End:
    """A device at one end of the cable: a namespace with a port and a daemon in it."""

    name: str
    port: str
    folder: Path
    extra: str = ""

    @property
    def namespace(self) -> str:
        return f"truerail-{os.getpid()}-{self.name}"

    def start(self) -> "subprocess.Popen[bytes]":
        run = self.folder / "run"
        run.mkdir(parents=True)
        self.folder.joinpath("lldpd.conf").write_text(CONFIGURE.format(name=self.name) + self.extra)
        script = START.format(name=self.name, run=run, folder=self.folder)
        unshare = ["unshare", "--uts", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script]
        with self.folder.joinpath("log").open("wb") as log:
            return subprocess.Popen(
                ["ip", "netns", "exec", self.namespace, *unshare], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def neighbors(self, form: str) -> str:
        """What `lldpcli show neighbors details` prints in one of its formats; empty while the daemon starts."""
        socket = self.folder / "run" / "lldpd.socket"
        command = ["lldpcli", "-u", str(socket), *form.split(), "show", "neighbors", "details"]
        return subprocess.run(command, capture_output=True, text=True, timeout=WAIT_SECONDS, check=False).stdout

    def links(self) -> str:
        """What `ip -j link` prints in this namespace."""
        return ip("-n", self.namespace, "-j", "link")


def ip(*arguments: str) -> str:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, timeout=WAIT_SECONDS, check=False)
    if done.returncode:
        raise OSError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


@pytest.fixture(scope="module")
def cable() -> Iterator[tuple[End, End]]:
    """A host's and a leaf's end of one cable, each hearing the other."""
    require("lldpd", "lldpcli", "ip", "unshare", root=True)
    with TemporaryDirectory(prefix="truerail-lldpd-") as folder:
        Path(folder).chmod(0o755)  # lldpcli gives up root for its own user, who must reach the socket
        yield from connected(Path(folder))


def connected(folder: Path) -> Iterator[tuple[End, End]]:
    host = End("gpu-1", "enp26s0f0np0", folder / "gpu-1")
    leaf = End("leaf-0", "swp7", folder / "leaf-0", "configure lldp portidsubtype ifname\n")
    holders: list[subprocess.Popen[bytes]] = []
    try:
        plug(host, leaf)
        holders += [host.start(), leaf.start()]
        wait_until_heard(host, leaf)
        yield host, leaf
    finally:
        for holder in holders:
            holder.kill()  # ends the shell that is process 1 of the namespace, and with it every daemon in there
            holder.wait(timeout=WAIT_SECONDS)
        for end in (host, leaf):
            subprocess.run(
                ["ip", "netns", "del", end.namespace], capture_output=True, timeout=WAIT_SECONDS, check=False
            )


def plug(a: End, b: End) -> None:
    """Makes both namespaces and the cable; where the kernel forbids it, the test cannot be run."""
    try:
        for end in (a, b):
            ip("netns", "add", end.namespace)
        ip("link", "add", a.port, "netns", a.namespace, "type", "veth", "peer", "name", b.port, "netns", b.namespace)
        for end in (a, b):
            ip("-n", end.namespace, "link", "set", end.port, "up")
    except OSError as error:
        give_up(f"no network namespaces here: {error}")


def wait_until_heard(*ends: End) -> None:
    try:
        soon(lambda: all('"ttl"' in end.neighbors("-f json0") for end in ends), "the daemons hear each other")
    except AssertionError as error:
        logs = "\n".join(end.folder.joinpath("log").read_text() for end in ends)
        pytest.fail(f"{error}:\n{logs}")


def essence(neighbor: Neighbor) -> tuple[str | None, ...]:
    """What every format tells alike."""
    return neighbor.port, neighbor.system_name, neighbor.port_id_type, neighbor.port_id, neighbor.port_description


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("asked", ["lldp_host", "lldp_switch"])
def test_every_format_of_the_real_daemon_is_read(cable: tuple[End, End], asked: str, form: str) -> None:
    host, leaf = cable
    (heard,) = collectors()[asked].read(host.neighbors(form), Device(host.name))
    assert isinstance(heard, Neighbor)
    assert essence(heard) == ("enp26s0f0np0", "leaf-0", "ifname", "swp7", "swp7")
    (echo,) = collectors()[asked].read(leaf.neighbors(form), Device(leaf.name, Role.LEAF))
    assert isinstance(echo, Neighbor)
    assert essence(echo) == ("swp7", "gpu-1", "mac", mac(host), "enp26s0f0np0")


def mac(end: End) -> str | None:
    """The MAC of an end's port, as `net_link` reads it."""
    links = collectors()["net_link"].read(end.links(), Device(end.name))
    return next(link.mac for link in links if isinstance(link, NetLink) and link.netdev == end.port)


def test_a_capture_of_both_ends_is_read_whole(cable: tuple[End, End], tmp_path: Path) -> None:
    for end in cable:
        (tmp_path / end.name).mkdir()
        for command, answer in (("lldpctl -f json0", end.neighbors("-f json0")), ("ip -j link", end.links())):
            (tmp_path / end.name / answer_file(command)).write_text(answer)
    capture = read_capture(tmp_path, devices={"gpu-1": Device("gpu-1"), "leaf-0": Device("leaf-0", Role.LEAF)})
    assert [(r.device, r.collector, r.error) for r in capture.readings] == [
        ("gpu-1", "lldp_host", ""),
        ("gpu-1", "net_link", ""),
        ("leaf-0", "lldp_switch", ""),
        ("leaf-0", "net_link", ""),
    ]
    assert capture.notes == ()
    links = capture.snapshot().table(NetLink).rows
    assert {(link.netdev, link.operstate) for link in links if link.netdev in ("enp26s0f0np0", "swp7")} == {
        ("enp26s0f0np0", "UP"),
        ("swp7", "UP"),
    }


def test_the_agent_hears_of_a_change_as_the_daemon_reports_it(
    cable: tuple[End, End], monkeypatch: pytest.MonkeyPatch
) -> None:
    host, leaf = cable
    sockets = [str(end.folder / "run" / "lldpd.socket") for end in (host, leaf)]
    monkeypatch.setattr(neighbor_watch, "COMMAND", ("lldpcli", "-u", sockets[0], "-f", "json0", "watch"))
    changes: list[float] = []
    with selectors.DefaultSelector() as selector:
        watch = neighbor_watch.NeighborWatch(selector, time.monotonic, lambda: changes.append(time.monotonic()))
        watch.step()
        try:
            deadline = time.monotonic() + WAIT_SECONDS
            for number in count():
                command = ["lldpcli", "-u", sockets[1], "configure", "system", "description", f"changed {number}"]
                subprocess.run(command, capture_output=True, timeout=WAIT_SECONDS, check=True)
                for key, _ in selector.select(2.0):  # the watch may not have begun yet: the next change is heard
                    key.data()
                assert time.monotonic() < deadline
                if changes:
                    break
            assert watch.running
        finally:
            watch.close()
    assert not watch.running
