"""Agents on hosts, a poller and a judge on a real nats-server with TLS: what is found, at once and after a kill."""

import asyncio
import selectors
import signal
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import nats
import pytest
from nats.errors import Error

from tests.agent_site import AgentSite, Authority, Host, agent_site
from tests.fake_fleet import FakeFleet
from tests.live_site import runner
from tests.nats_bus import TIMING, nats_server
from tests.patience import ENOUGH, soon, until
from tests.poller_fabric import simulation, zoned_work
from truerail.agent import bus_connection
from truerail.link.nats_link import BusClient
from truerail.link.subjects import Subjects
from truerail.model import Reading, Role
from truerail.poller import Poller, agent_answers
from truerail.poller.bus_poller import BusPoller
from truerail.poller.bus_polling import BusPolling

MADE = simulation()
ANSWERS = {name: dict(answers) for name, answers in MADE.answers()}
SUBJECTS = Subjects("fabric")
ONE, OTHER = [name for name, device in MADE.plan.devices.items() if device.role is Role.HOST][:2]
LLDP = next(text for text in ANSWERS[ONE] if text.startswith("lldp"))
HOURLY = 3600.0


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentSite]:
    with agent_site(tmp_path_factory.mktemp("agents")) as made:
        yield made


def host(site: AgentSite, name: str = ONE) -> Host:
    return Host(site, name, ANSWERS[name])


@asynccontextmanager
async def watched(site: AgentSite, seconds: float, *locked: str) -> AsyncIterator[tuple[FakeFleet, BusPolling]]:
    """A poller of the zone with the hosts, and a judge; `locked` hosts refuse the login by SSH."""
    fleet = FakeFleet(MADE, dict.fromkeys(locked, "locked"))
    work = zoned_work(seconds, planned=False)
    poller = BusPoller(work, fleet, site.address("poller-pods"), SUBJECTS, "pods", "p1", TIMING)
    judge = BusPolling(zoned_work(seconds), lambda: None, site.address("judge"), SUBJECTS, TIMING)
    stop, begun = asyncio.Event(), asyncio.Event()
    running = asyncio.create_task(poller.run(stop, begun.set))
    judge.start()
    try:
        await until(lambda: begun.is_set() or running.done())
        yield fleet, judge
    finally:
        stop.set()
        await asyncio.wait_for(running, ENOUGH)
        await judge.stop()


def readings(judge: BusPolling, name: str = ONE) -> dict[str, Reading]:
    snapshot = judge.latest.snapshot()
    return {one.collector: one for one in snapshot.readings if one.device == name} if snapshot else {}


async def test_an_agents_answers_are_read_as_if_they_had_been_asked_for(site: AgentSite) -> None:
    asked = await Poller(zoned_work().targets, FakeFleet(MADE), devices=MADE.plan.devices).round(only={ONE})
    expected = {one.collector: one for one in asked.readings}
    one = host(site)
    with one.agent():
        soon(lambda: "connected to" in one.log)
        async with watched(site, 0.3, ONE) as (fleet, judge):
            await until(lambda: (one := readings(judge).get("rdma_link")) and one.facts)
            found, asks, rounds = readings(judge), fleet.asks[ONE], judge.rounds_total
            assert found["lldp_host"].facts
            for name in ("lldp_host", "net_link", "rdma_link", "gpu_nic_topology"):
                assert (found[name].facts, found[name].error) == (expected[name].facts, expected[name].error)
                assert 0.0 <= time.time() - found[name].read_at < ENOUGH
                assert found[name].at.timestamp() <= found[name].read_at + 0.01
            await until(lambda: judge.rounds_total > rounds + 3)
            assert fleet.asks[ONE] == asks, "only while the agent began"
            assert fleet.asks[OTHER] > 0
            await until(lambda: judge.figures["agents_running"] == 1)
            assert judge.figures["agents_silent"] == 0


async def test_a_change_that_lldpd_reports_is_read_at_once(site: AgentSite) -> None:
    """The schedule asks each hour: what comes before was sent for the change."""
    one = host(site)
    with one.agent():
        async with watched(site, HOURLY, ONE) as (_, judge):
            await until(lambda: (known := readings(judge).get("lldp_host")) and known.facts)
            before = readings(judge)["lldp_host"]
            one.change(LLDP, ANSWERS[OTHER][LLDP])
            began = time.monotonic()
            await until(lambda: readings(judge)["lldp_host"].facts != before.facts)
            assert time.monotonic() - began < ENOUGH / 2


async def test_while_an_agent_has_not_asked_all_once_its_host_is_asked_by_ssh(site: AgentSite) -> None:
    """What has no answer yet would else count as refused, for an hour."""
    one = host(site)
    (one.folder / "hangs").touch()
    with one.agent():
        soon(lambda: "connected to" in one.log)
        async with watched(site, 0.3) as (fleet, judge):
            await until(lambda: readings(judge).get("lldp_host"))
            assert readings(judge)["lldp_host"].facts
            assert fleet.asks[ONE] > 0
    (one.folder / "hangs").unlink()


async def test_a_host_whose_agent_was_killed_is_asked_by_ssh_and_the_reason_is_named(
    site: AgentSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_answers, "SILENT_SECONDS", 3.0)
    one, two = host(site), host(site, OTHER)
    with one.agent() as agent, two.agent() as other:
        async with watched(site, 0.3, ONE) as (fleet, judge):
            await until(lambda: judge.figures["agents_running"] == 2 and readings(judge).get("lldp_host"))
            asks = fleet.asks[OTHER]
            agent.send_signal(signal.SIGKILL)
            other.send_signal(signal.SIGKILL)
            await until(lambda: judge.figures["agents_silent"] == 2)
            await until(lambda: "agent silent since" in readings(judge)["lldp_host"].error)
            assert "permission denied" in readings(judge)["lldp_host"].error
            await until(lambda: fleet.asks[OTHER] > asks)
            await until(lambda: readings(judge, OTHER)["lldp_host"].facts)
            assert fleet.asks[ONE] > 0
            with one.agent() as again:
                await until(lambda: readings(judge)["lldp_host"].facts)
                again.terminate()
                assert again.wait(ENOUGH) == 0
                await until(lambda: (judge.figures["agents_running"], judge.figures["agents_silent"]) == (0, 1))


async def test_an_agent_may_send_for_its_own_host_alone_and_read_nothing(site: AgentSite) -> None:
    one = host(site)
    with one.agent(name=OTHER):
        soon(lambda: "Permissions Violation" in one.log and f"raw.pods.{OTHER}" in one.log)
    refused: list[str] = []
    context = ssl.create_default_context(cafile=site.authority.file)
    context.load_cert_chain(*site.authority.certificate(ONE))

    async def error(problem: Exception) -> None:
        refused.append(str(problem).lower())

    client = await nats.connect(site.url, tls=context, error_cb=error)
    for subject in (SUBJECTS.obs("pods", ONE), SUBJECTS.cmd("pods", "p1"), SUBJECTS.raw("core", ONE)):
        await client.publish(subject, b"")
    for subject in (f"{SUBJECTS.prefix}.>", "_INBOX.>", SUBJECTS.raw("pods"), f"_INBOX.agent.pods.{OTHER}.>"):
        await client.subscribe(subject)
    await client.publish(SUBJECTS.raw("pods", ONE), b"")
    await client.subscribe(f"_INBOX.agent.pods.{ONE}.>")
    await client.flush()
    await until(lambda: len(refused) >= 7)
    await client.close()
    assert len([one for one in refused if "permissions violation" in one]) == 7
    assert not [one for one in refused if f"raw.pods.{ONE}" in one or f"agent.pods.{ONE}." in one]


def test_a_certificate_of_another_authority_or_none_is_refused(site: AgentSite, tmp_path: Path) -> None:
    one = host(site)
    with one.agent(authority=Authority(tmp_path, "stranger")):
        soon(lambda: "bus tls://" in one.log)
        assert "connected to" not in one.log

    async def body(*certificate: Path) -> None:
        context = ssl.create_default_context(cafile=site.authority.file)
        if certificate:
            context.load_cert_chain(*certificate)
        client = BusClient()
        with pytest.raises((Error, OSError, asyncio.TimeoutError)):
            await client.connect(site.url, tls=context, allow_reconnect=False, error_cb=_nothing, user=ONE, password="")
        client.abandon()
        await asyncio.sleep(0)

    asyncio.run(body())
    asyncio.run(body(*site.authority.certificate("no-such-host")))


def test_a_silent_server_is_asked_for_a_word_and_left_when_it_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bus_connection, "PING_SECONDS", 0.2)
    monkeypatch.setattr(bus_connection, "SILENT_SECONDS", 3.0)
    said: list[str] = []
    with nats_server(tmp_path) as server, selectors.DefaultSelector() as selector:
        one = bus_connection.Connection(
            bus_connection.Address(server.url),
            "agent",
            "_INBOX.agent.>",
            selector,
            time.monotonic,
            opened=lambda: said.append("opened"),
            heard=lambda data: None,
            report=said.append,
        )

        def steps(true: Callable[[], bool]) -> bool:
            one.step()
            for key, _ in selector.select(0.05):
                key.data()
            return true()

        soon(lambda: steps(lambda: one.ready))
        begun = time.monotonic()
        soon(lambda: steps(lambda: time.monotonic() - begun > 4.0))
        assert one.ready
        assert said.count("opened") == 1, "it answers: the connection stays"
        server.hold(True)
        try:
            soon(lambda: steps(lambda: not one.ready))
        finally:
            server.hold(False)
        assert "no word for 3 s" in "".join(said)
        soon(lambda: steps(lambda: one.ready))
        one.close()


async def _nothing(_: Exception) -> None:
    """What is refused is seen by the connection that does not come."""


def test_the_rights_of_the_roles_are_as_before(
    site: AgentSite, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = runner(monkeypatch, capsys)
    for role in (("judge.nk",), ("poller-pods.nk", "--zone", "pods")):
        code, out, err = run("bus", "check", *site.at, "--creds", site.folder / "out" / role[0], *role[1:])
        assert (code, err) == (0, ""), out
    assert "receive answers of agents" in out


def test_agents_are_not_let_in_by_a_server_that_asks_for_no_certificate(
    site: AgentSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their users have no key: without certificates everybody could be one."""
    run = runner(monkeypatch, capsys)
    words = ("--out", tmp_path / "out", "--agents", site.inventory)
    code, _, err = run("bus", "init", "--zones", "pods,core", *words)
    assert code == 2
    assert "verify_and_map: true" in err
    assert not (tmp_path / "out" / "users.conf").exists()
    code, _, err = run("bus", "init", "--zones", "core", *words)
    assert code == 2
    assert "--zones lacks pods" in err
