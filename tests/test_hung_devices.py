"""Devices that hang, at whatever stage, cost themselves: those behind them are asked in the same round.

The hung come first and are many times as many as there are turns, and the limits of the round are such that waiting for
each of them in turn would take longer than it has.
"""

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.hung_peers import STAGES, crowd, first_round, lost
from tests.patience import ENOUGH
from tests.real import require
from tests.snmpd import COMMUNITY, snmpd
from tests.virtual_time import timeless
from truerail.model import Role, Secret, SnmpAccess, Target
from truerail.poller import Limits, Poller
from truerail.transport.protocol import Answer, Transport
from truerail.transport.snmp_transport import SnmpTransport
from truerail.transport.ssh_transports import SshHosts, SwitchCli
from truerail.transport.turns import Turns, clock_stopped, timed_by

HUNG, GOOD, TURNS = 20, 4, 4
ROUND = Limits(device_seconds=ENOUGH, deadline_seconds=2 * ENOUGH, retries=0)
SECONDS = ENOUGH / 2
"""What a hung device may take: 20 of them, four at a time, would take two and a half times `ENOUGH`."""


@pytest.mark.parametrize("kind", ["hosts", "switches"])
@pytest.mark.parametrize("stage", STAGES)
def test_good_devices_behind_hung_ones_are_asked_in_the_same_round(tmp_path: Path, stage: str, kind: str) -> None:
    make: dict[str, Callable[[], Transport]] = {
        "hosts": lambda: SshHosts(handshakes=TURNS),
        "switches": lambda: SwitchCli(threads=TURNS),
    }
    asked = ["lldp_switch"] if kind == "switches" else ["rdma_link"]
    with crowd(tmp_path, stage, HUNG, GOOD, switches=kind == "switches", seconds=SECONDS) as fleet:
        seen = asyncio.run(first_round(fleet, make[kind], asked, ROUND))
    assert lost(fleet, seen) == {}
    assert len([row for row in seen.rows if row.error]) == HUNG


@pytest.mark.parametrize("engine", ["gufo", "pysnmp"])
def test_agents_behind_silent_ones_are_asked_in_the_same_round(
    tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("snmpd")
    monkeypatch.setenv("TRUERAIL_TEST_COMMUNITY", COMMUNITY)
    monkeypatch.setattr("truerail.transport.snmp_transport._LONGEST_PATIENCE", ENOUGH)
    with ExitStack() as stack:
        silent = [stack.enter_context(_udp()) for _ in range(HUNG)]
        agents = [stack.enter_context(snmpd(tmp_path / str(number))).port for number in range(2)]

        async def both() -> list[list[Answer] | BaseException]:
            transport = SnmpTransport(at_once={engine: TURNS})
            asking = [
                asyncio.create_task(transport.ask(_agent(port, engine), ("snmpbulkwalk -On 1.3.6.1.2.1.1",)))
                for port in (*silent, *agents)
            ]
            found = await asyncio.gather(*asking[HUNG:], return_exceptions=True)
            for task in asking:
                task.cancel()
            await asyncio.gather(*asking, return_exceptions=True)
            await transport.close()
            return found

        answers = asyncio.run(asyncio.wait_for(both(), ENOUGH))
    assert [(one[0].error, bool(one[0].text)) for one in answers if isinstance(one, list)] == [("", True)] * 2


@contextmanager
def _udp() -> Iterator[int]:
    with socket.socket(type=socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        yield silent.getsockname()[1]


def _agent(port: int, engine: str) -> Target:
    access = SnmpAccess(community=Secret("env", "TRUERAIL_TEST_COMMUNITY"), port=port, engine=engine)
    return Target(f"leaf-{port}", "127.0.0.1", Role.LEAF, "snmp", snmp=access, timeout_seconds=SECONDS)


class _Slow:
    """A transport with one turn; every device but `good` hangs."""

    def __init__(self, seconds: float) -> None:
        self.turns, self.seconds = Turns(1), seconds

    async def ask(self, target: Target, commands: list[str]) -> list[Answer]:
        async with self.turns.turn():
            await asyncio.sleep(1 if target.name.startswith("b") else self.seconds)
        return [Answer(text, "0: mlx5_0/1: state ACTIVE\n") for text in commands]

    async def close(self) -> None:
        """Nothing is open."""


def _fleet(hangs: int) -> list[Target]:
    return [Target(f"a{n:04d}", "h", Role.HOST, "linux") for n in range(hangs)] + [
        Target("b-good", "h", Role.HOST, "linux")
    ]


def test_a_devices_clock_starts_with_its_turn() -> None:
    async def errors() -> list[str]:
        gatherer = Poller(_fleet(80), _Slow(1000), limits=Limits(device_seconds=10, deadline_seconds=60))
        seen = await gatherer.round(collectors=["rdma_link"])
        return [row.error for row in seen.rows]

    *hung, good = timeless(errors())
    assert good == ""
    assert hung == ["no answer within 10 s"] * 80


def test_more_hung_devices_than_are_asked_at_once_do_not_use_up_the_round() -> None:
    async def good() -> str:
        transport = _Slow(1000)
        transport.turns = Turns(1000)
        limits = Limits(at_once=10, device_seconds=30, deadline_seconds=60)
        seen = await Poller(_fleet(100), transport, limits=limits).round(collectors=["rdma_link"])
        return seen.rows[-1].error

    assert timeless(good()) == ""


def test_work_that_keeps_the_loop_busy_keeps_its_turn() -> None:
    """Ticks that come late because the loop is busy count once: a turn is not lost to a slow machine."""

    async def most() -> int:
        turns, now, highest = Turns(1), 0, 0
        clock = [0.0]
        asyncio.get_running_loop().time = lambda: clock[0]  # type: ignore[method-assign]

        async def work() -> None:
            nonlocal now, highest
            async with turns.turn():
                now += 1
                highest = max(highest, now)
                for _ in range(4):
                    clock[0] += 5.0  # what this machine does takes five seconds
                    await asyncio.sleep(0)
                now -= 1

        await asyncio.gather(*(work() for _ in range(5)))
        return highest

    assert asyncio.run(most()) == 1


def test_a_turn_is_given_back_once_however_it_ends() -> None:
    async def left() -> int:
        turns = Turns(2, in_all=3)
        waiting = [asyncio.create_task(_hold(turns, 1000)) for _ in range(9)]
        await asyncio.sleep(5)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        held = [asyncio.create_task(_hold(turns, 0.1)) for _ in range(9)]
        await asyncio.gather(*held)
        assert turns._in_all
        return turns._at_work._value * 10 + turns._in_all._value

    assert timeless(left()) == 23


async def _hold(turns: Turns, seconds: float) -> None:
    async with turns.turn():
        await asyncio.sleep(seconds)


def test_a_stopped_clock_goes_on_with_what_was_left() -> None:
    async def passed() -> float:
        now = asyncio.get_running_loop().time
        began = now()
        try:
            async with asyncio.timeout(10) as limit:
                with timed_by(limit):
                    await asyncio.sleep(4)
                    with clock_stopped(), clock_stopped():
                        await asyncio.sleep(100)
                    await asyncio.sleep(1000)
        except TimeoutError:
            return now() - began
        return 0.0

    assert timeless(passed()) == pytest.approx(110)
