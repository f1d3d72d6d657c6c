"""A cluster of three real nats-servers, with TLS, as `bus init --routes` sets it up: what holds when one or two end."""

import asyncio
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from nats.js.api import StreamInfo

from tests.bus_service import all_seen, findings, found_again, judged, owners, polled, summary
from tests.live_site import Run
from tests.patience import ENOUGH, soon, until
from tests.ports import free_address, free_port
from tests.real import require
from tests.test_access_serve import certificate
from truerail.errors import BusError
from truerail.link.nats_link import Bus, BusAddress
from truerail.link.server_files import cluster_servers, cluster_text
from truerail.link.subjects import Subjects

SUBJECTS = Subjects("clustered")
NAMES = ("bus-1", "bus-2", "bus-3")


@dataclass
class Cluster:
    """The servers by name, and the files of `bus init`."""

    out: Path
    listens: list[str]
    ca: str
    printed: str = ""
    running: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Of all servers."""
        return ",".join(f"tls://{listen}" for listen in self.listens)

    def start(self, name: str) -> None:
        """Starts a server, and waits until it serves clients."""
        log = self.log(name)
        before = log.read_text().count("Server is ready") if log.exists() else 0
        self.running[name] = subprocess.Popen(["nats-server", "-c", self.configuration(name), "-l", log])
        soon(lambda: log.exists() and log.read_text().count("Server is ready") > before, f"{name} is ready")

    def kill(self, name: str) -> None:
        """By signal 9."""
        process = self.running.pop(name)
        process.kill()
        process.wait()

    def configuration(self, name: str) -> Path:
        """The file that the server begins with."""
        return self.out / f"nats-server-{name}.conf"

    def log(self, name: str) -> Path:
        """What the server writes."""
        return self.out / f"log-{name}"

    def of(self, role: str) -> "Role":
        """The bus, with the key of a role."""
        return Role(BusAddress(self.url, self.out / f"{role}.nk", Path(self.ca)))


@dataclass(frozen=True)
class Role:
    """The bus as one role reaches it."""

    address: BusAddress


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three servers that run, with their streams."""
    require("nats-server")
    folder = tmp_path_factory.mktemp("cluster")
    files = certificate(folder)
    made = Cluster(folder / "out", [free_address() for _ in NAMES], files["certificate"])
    routes = ",".join(f"127.0.0.1:{free_port()}" for _ in NAMES)
    words = ["--routes", routes, "--listen", ",".join(made.listens), "--store", folder / "store", "--out", made.out]
    words += ["--tls-cert", files["certificate"], "--tls-key", files["key"], "--tls-ca", files["certificate"]]
    command = [sys.executable, "-m", "truerail", "bus", "init", "--fabric", "clustered", "--zones", "pods,core"]
    done = subprocess.run([*command, *map(str, words)], check=True, capture_output=True, text=True)
    made.printed = done.stdout + done.stderr
    with ExitStack() as ending:
        for name in NAMES:
            file = made.configuration(name)  # one machine has the stores of all
            file.write_text(file.read_text().replace(f"{folder / 'store'}", f"{folder / name}"))
            ending.callback(lambda one=name: made.running.get(one) and made.kill(one))
            made.start(name)
        again = [*command, *map(str, words), "--bus", made.url, "--ca", made.ca]

        def made_streams() -> bool:
            return subprocess.run(again, capture_output=True, check=False).returncode == 0

        soon(made_streams, "the servers have found each other, and have the streams")
        yield made


async def stream(cluster: Cluster) -> StreamInfo:
    """The stream of observations, as soon as it has a leader."""
    bus = Bus(cluster.of("operator").address, "test", "_INBOX.operator", lambda _: None)
    await bus.open()
    try:
        async with asyncio.timeout(ENOUGH):
            while True:
                try:
                    found: StreamInfo = await bus.asked(bus.streams.stream_info(SUBJECTS.obs_stream))
                except BusError:
                    found = StreamInfo(None, None)  # type: ignore[arg-type]  # as a server answers that knows nothing
                if found.cluster and found.cluster.leader:
                    return found
                await asyncio.sleep(0.1)
    finally:
        await bus.close()


def test_the_password_of_the_servers_is_in_one_file_alone(cluster: Cluster) -> None:
    file = cluster.out / "cluster.conf"
    (password,) = set(re.findall(r"[0-9a-f]{48}", file.read_text()))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    others = [*cluster.out.glob("nats-server-*.conf"), cluster.out / "users.conf", *map(cluster.log, NAMES)]
    assert not [path.name for path in others if password in path.read_text()]
    assert password not in cluster.printed
    assert all(f"nats-server-{name}.conf" in cluster.printed for name in NAMES)


def test_streams_are_on_three_servers_and_all_rights_are_as_they_must_be(cluster: Cluster, run: Run) -> None:
    found = asyncio.run(stream(cluster))
    assert found.config.num_replicas == 3
    assert found.cluster
    assert {found.cluster.leader, *(one.name for one in found.cluster.replicas or ())} == set(NAMES)
    at = ("--bus", cluster.url, "--ca", cluster.ca, "--fabric", "clustered")
    for words in (("judge.nk",), ("poller-pods.nk", "--zone", "pods")):
        check = partial(run, "bus", "check", *at, "--creds", cluster.out / words[0], *words[1:])
        soon(lambda: check()[0] == 0, "each server has all copies")  # noqa: B023 - called in this turn
        code, out, err = check()
        assert (code, err) == (0, "")
        assert "All rights are as they must be." in out
        assert [line.split() for line in out.splitlines() if line.startswith("tls://")] == [
            [f"tls://{listen}", "answers"] for listen in cluster.listens
        ]
        assert "MB, on 3 servers" in out


def test_a_server_without_the_password_is_not_let_in(cluster: Cluster, tmp_path: Path) -> None:
    """It has the certificate of the others, and its own idea of the password."""
    routes = re.findall(r"@127\.0\.0\.1:(\d+)", (cluster.out / "cluster.conf").read_text())
    listen, between = free_address(), free_port()
    text = (cluster.out / "nats-server-bus-1.conf").read_text().replace('"bus-1"', '"stranger"')
    text = text.replace('/bus-1"', '/stranger"')
    text = text.replace(f"port: {cluster.listens[0].split(':')[1]}", f"port: {listen.split(':')[1]}")
    text = re.sub(r'listen: "127\.0\.0\.1:\d+"', f'listen: "127.0.0.1:{between}"', text)
    (tmp_path / "nats-server.conf").write_text(text)
    (tmp_path / "cluster.conf").write_text(
        cluster_text(cluster_servers(",".join(f"127.0.0.1:{port}" for port in routes)))
    )
    (tmp_path / "users.conf").write_text((cluster.out / "users.conf").read_text())
    words = ["-c", tmp_path / "nats-server.conf", "-l", tmp_path / "log"]
    with subprocess.Popen(["nats-server", *words]) as stranger:
        try:
            soon(lambda: (tmp_path / "log").exists() and "Authorization Violation" in (tmp_path / "log").read_text())
        finally:
            stranger.kill()


async def test_one_server_that_is_killed_costs_nothing_and_two_make_all_unknown(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("truerail.poller.received.EXPIRY_INTERVALS", 1000)
    async with (
        judged(cluster.of("judge"), SUBJECTS, tmp_path) as (watch, asking),
        polled(cluster.of("poller-pods"), SUBJECTS, "pods", "a") as fleet,
        polled(cluster.of("poller-core"), SUBJECTS, "core", "c"),
    ):
        await until(lambda: watch.evaluations > 2 and set(owners(asking).values()) == {"a", "c"})
        await until(lambda: all_seen(watch))
        known, right = findings(watch), summary(watch)
        assert known
        first = (await stream(cluster)).cluster.leader  # type: ignore[union-attr]
        cluster.kill(str(first))
        assert (await stream(cluster)).cluster.leader != first  # type: ignore[union-attr]
        evaluations, rounds = watch.evaluations, asking.rounds_total
        await until(lambda: watch.evaluations > evaluations + 2 and asking.rounds_total > rounds + 2)
        await until(lambda: found_again(watch, known))
        assert summary(watch) == right
        second = str((await stream(cluster)).cluster.leader)  # type: ignore[union-attr]
        cluster.kill(second)
        await until(lambda: not asking.figures["bus_connected"])
        asked = fleet.asks.total()
        await until(lambda: fleet.asks.total() > asked + 2)
        monkeypatch.setattr("truerail.poller.received.EXPIRY_INTERVALS", 1)
        await until(lambda: not summary(watch)[0])
        assert summary(watch)[1] == 0
        published = watch.shown.publication
        assert published
        reasons = {one.error for one in published.snapshot.readings if "bus" in one.error}
        assert reasons
        assert all(re.search(r"stores nothing since \d\d:\d\d UTC|has not answered since", one) for one in reasons)
        monkeypatch.setattr("truerail.poller.received.EXPIRY_INTERVALS", 1000)
        await asyncio.to_thread(cluster.start, second)
        await until(lambda: asking.figures["bus_connected"] and summary(watch) == right)
        await until(lambda: findings(watch) == known)
        assert asking.figures["bus_store_losses_total"] == 0
        await asyncio.to_thread(cluster.start, str(first))
