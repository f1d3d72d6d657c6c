"""The judge's lease on a real nats-server: one leads, another takes over, and a holder that was stopped knows it."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from nats.aio.client import Client
from structlog.testing import capture_logs

from tests.nats_bus import NatsServer, nats_server
from tests.patience import ENOUGH, until
from truerail.link.leases import JudgeLease, LeaseTiming
from truerail.link.streams import Timing, ensure
from truerail.link.subjects import Subjects
from truerail.model.tasks import end
from truerail.service.leadership import Leadership

ROOT = Path(__file__).parents[1]
FAST = LeaseTiming(renew_seconds=0.3, stop_seconds=3.0, attempt_seconds=0.1)
"""A holder that a busy machine stops for two seconds still leads."""
TTL_SECONDS = 4.0
HOLDER = """
import asyncio, sys
from nats.aio.client import Client
from tests.test_bus_leases import FAST
from truerail.link.leases import JudgeLease
from truerail.link.subjects import Subjects

async def main():
    client = Client()
    await client.connect(sys.argv[1])
    lease = JudgeLease(client.jetstream(), Subjects(sys.argv[2]), "other", FAST)
    await lease.take()
    print("leads", lease.revision, flush=True)
    await lease.lost.wait()
    print("lost", lease.held, lease.why_lost, flush=True)

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with nats_server(tmp_path_factory.mktemp("nats")) as running:
        yield running


@pytest.fixture
def subjects(request: pytest.FixtureRequest) -> Subjects:
    """A fabric for each test."""
    return Subjects(request.node.name)


@asynccontextmanager
async def judges(server: NatsServer, subjects: Subjects, count: int) -> AsyncIterator[list[JudgeLease]]:
    """Judges with a connection each."""
    clients = [Client() for _ in range(count)]
    for client in clients:
        await client.connect(server.url)
    await ensure(clients[0].jetstream(), subjects, Timing(ttl_seconds=TTL_SECONDS))
    leases = [JudgeLease(client.jetstream(), subjects, f"j{at}", FAST) for at, client in enumerate(clients)]
    try:
        yield leases
    finally:
        for lease in leases:
            await lease.release()
        for client in clients:
            with suppress(OSError, TypeError):  # TypeError: truerail/link/nats_link.py
                await client.close()


async def first(leases: list[JudgeLease]) -> JudgeLease:
    """The one that leads first of those that all try."""
    tasks = {asyncio.create_task(lease.take()): lease for lease in leases}
    done, others = await asyncio.wait(tasks, timeout=ENOUGH, return_when=asyncio.FIRST_COMPLETED)
    await end(others)
    assert len(done) == 1
    return tasks[done.pop()]


async def test_of_those_that_try_at_once_one_leads_and_renews(server: NatsServer, subjects: Subjects) -> None:
    async with judges(server, subjects, 4) as leases:
        leader = await first(leases)
        leader.write_epoch(17)
        others = [lease for lease in leases if lease is not leader]
        trying = asyncio.create_task(others[0].take())
        await until(lambda: others[0].holder is not None and others[0].holder.epoch == 17)
        await asyncio.sleep(TTL_SECONDS)  # a lease that is renewed does not expire
        assert leader.held
        assert not trying.done()
        assert [lease.held for lease in leases].count(True) == 1
        await leader.release()
        assert not leader.held
        await asyncio.wait_for(trying, ENOUGH)
        assert others[0].held
        assert others[0].revision > leader.revision


async def test_the_next_run_of_a_judge_that_was_killed_leads_at_once_and_no_other(
    server: NatsServer, subjects: Subjects
) -> None:
    async with judges(server, subjects, 2) as (killed, other):
        await killed.take()
        assert killed._renewing
        await end([killed._renewing])
        following = JudgeLease(killed._streams, subjects, "j0", FAST)
        assert not await other._attempt()
        assert await following._attempt()
        assert following.held
        assert following.revision > killed.revision
        assert not await other._attempt()


async def test_a_lost_answer_to_a_renewal_loses_no_lease(server: NatsServer, subjects: Subjects) -> None:
    async with judges(server, subjects, 1) as (lease,):
        await lease.take()
        lease._last -= 1  # as if the bus had stored the last write and its answer had not arrived
        before = lease._last
        await until(lambda: lease._last >= before + 3)
        assert lease.held


async def test_a_lease_that_another_has_is_lost_at_once(server: NatsServer, subjects: Subjects) -> None:
    async with judges(server, subjects, 1) as (lease,):
        await lease.take()
        await lease._streams.publish(lease._subject, b'{"judge":"j9","run":"x","since":0}')
        await asyncio.wait_for(lease.lost.wait(), ENOUGH)
        assert lease.why_lost == "another judge has taken the lease, or the bus has lost it"
        assert not lease.held


async def test_what_no_judge_wrote_is_a_lease_too(server: NatsServer, subjects: Subjects) -> None:
    async with judges(server, subjects, 1) as (lease,):
        await lease._streams.publish(lease._subject, b"\xff{")
        taking = asyncio.create_task(lease.take())
        await until(lambda: lease.holder is not None)
        assert lease.holder
        assert lease.holder.judge == ""
        await asyncio.wait_for(taking, ENOUGH)  # it has expired


async def test_a_holder_without_bus_stops_by_itself(tmp_path: Path, subjects: Subjects) -> None:
    with nats_server(tmp_path) as server:
        async with judges(server, subjects, 1) as (lease,):
            await lease.take()
            server.kill()
            await asyncio.wait_for(lease.lost.wait(), ENOUGH)
            assert lease.why_lost == "the bus has not renewed the lease for 3 s"
            assert not lease.held


def holder(server: NatsServer, subjects: Subjects) -> subprocess.Popen[str]:
    """A process that leads."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, server.url, subjects.fabric], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    line_of(process, "leads")
    return process


def line_of(process: subprocess.Popen[str], word: str) -> str:
    """The next line that begins with a word: the log is between them."""
    assert process.stdout
    return next(line for line in process.stdout if line.startswith(word))


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_standby_leads_after_the_leader_is_gone(
    server: NatsServer, subjects: Subjects, blow: signal.Signals
) -> None:
    async with judges(server, subjects, 1) as (standby,):
        process = await asyncio.to_thread(holder, server, subjects)
        try:
            taking = asyncio.create_task(standby.take())
            await until(lambda: standby.holder is not None)
            process.send_signal(blow)
            await asyncio.wait_for(taking, ENOUGH)
            assert standby.held
            if blow == signal.SIGSTOP:
                process.send_signal(signal.SIGCONT)
                line = await asyncio.to_thread(line_of, process, "lost")
                assert line == "lost False the bus has not renewed the lease for 3 s\n"
                assert standby.held
        finally:
            process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()


async def test_a_judge_that_waited_for_its_bus_knows_when_it_has_lost_the_lease(
    tmp_path: Path, subjects: Subjects
) -> None:
    with nats_server(tmp_path) as server:
        server.kill()
        with capture_logs() as logs:
            leadership = Leadership(server.address, subjects, "early", FAST)
            losing = asyncio.create_task(leadership.lost())
            beginning = asyncio.create_task(leadership.begin(None))
            await until(lambda: logs, "its first attempt to connect fails")
        assert logs[0]["event"] == "this judge waits for the bus"
        await asyncio.to_thread(server.start)
        async with judges(server, subjects, 1):  # makes the streams
            await asyncio.wait_for(beginning, ENOUGH)
        assert leadership.held
        server.kill()
        assert "has not renewed the lease" in await asyncio.wait_for(losing, ENOUGH)
        await leadership.end()
