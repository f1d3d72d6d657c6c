"""A fleet in memory: simulated devices behind the transport protocol, some of them in every kind of trouble."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from truerail.errors import ConnectError, TransportError
from truerail.model import Target
from truerail.model.platforms import OS_RELEASE, SHOW_VERSION
from truerail.poller import Ambient
from truerail.simulator import Simulation
from truerail.transport.protocol import Answer

NOW = datetime(2026, 11, 20, 14, 0, 0, 123456, tzinfo=UTC)
_OS = {
    "linux": {OS_RELEASE: "NAME=Debian\nID=debian\n"},
    "cumulus": {OS_RELEASE: 'NAME="Cumulus Linux"\nID=cumulus-linux\n'},
}
_OS["eos"] = {SHOW_VERSION: "Arista DCS-7060X6\nSoftware image version: 4.32\n"}
_OS["nxos"] = {SHOW_VERSION: "Cisco Nexus Operating System (NX-OS) Software\n"}
_OS["junos"] = {SHOW_VERSION: "Hostname: leaf-0\nModel: qfx5240\nJunos: 23.4\n"}
_OS["sonic"] = {SHOW_VERSION: "SONiC Software Version: SONiC.202411\n", OS_RELEASE: "ID=debian\n"}

_NO_ADDRESS = {"ip -j addr": '[{"ifname": "lo", "addr_info": []}]'}
Answers = list[Answer]


class FakeFleet:
    """A `Transport`. `troubles` maps a device to the name of a method that stands for its trouble."""

    def __init__(self, simulation: Simulation, troubles: dict[str, str] | None = None) -> None:
        self.answers = dict(simulation.answers())
        self.troubles = troubles or {}
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self.asks: Counter[str] = Counter()
        self.open = 0
        self.most_open = 0
        self.closed = False
        for name, device in simulation.plan.devices.items():
            if name in self.answers:
                self.answers[name] = {**_NO_ADDRESS, **self.answers[name], **_OS.get(device.platform or "linux", {})}

    async def ask(self, target: Target, commands: Sequence[str]) -> Answers:
        self.asked.append((target.name, tuple(commands)))
        self.asks[target.name] += 1
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            await asyncio.sleep(0)
            return await getattr(self, f"_{self.troubles.get(target.name, 'well')}")(target, commands)
        finally:
            self.open -= 1

    async def close(self) -> None:
        self.closed = True

    async def _well(self, target: Target, commands: Sequence[str]) -> Answers:
        there = self.answers[target.name]
        return [
            Answer(c, there[c], took_seconds=0.01)
            if c in there
            else Answer(c, "", f"exit status 127: {c.split()[0]}: not found", refused=True)
            for c in commands
        ]

    async def _hangs(self, target: Target, commands: Sequence[str]) -> Answers:
        await asyncio.sleep(3600)
        raise AssertionError("nobody waits that long")

    async def _stubborn(self, target: Target, commands: Sequence[str]) -> Answers:
        """Does not let itself be cancelled at once."""
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            await asyncio.sleep(0.3)
        return []

    async def _resets(self, target: Target, commands: Sequence[str]) -> Answers:
        raise ConnectError("connection reset by peer")

    async def _shy(self, target: Target, commands: Sequence[str]) -> Answers:
        """Resets twice, then answers."""
        if self.asks[target.name] <= 2:
            raise ConnectError("connection reset by peer")
        return await self._well(target, commands)

    async def _locked(self, target: Target, commands: Sequence[str]) -> Answers:
        raise TransportError("permission denied for user truerail")

    async def _buggy(self, target: Target, commands: Sequence[str]) -> Answers:
        raise IndexError("pop from an empty deque")

    async def _endless(self, target: Target, commands: Sequence[str]) -> Answers:
        return [Answer(c, "x" * 1000, "more than 64 MiB of output") for c in commands]

    async def _slow(self, target: Target, commands: Sequence[str]) -> Answers:
        await asyncio.sleep(0.05)
        return await self._well(target, commands)

    async def _half(self, target: Target, commands: Sequence[str]) -> Answers:
        """Answers, but each answer breaks off in the middle."""
        return [Answer(a.command, a.text[: len(a.text) // 2], a.error) for a in await self._well(target, commands)]

    async def _cut(self, target: Target, commands: Sequence[str]) -> Answers:
        """The first answers, then the session dies."""
        good = await self._well(target, commands)
        return [good[0], *(Answer(a.command, "", "the session ended") for a in good[1:])]

    async def _dies(self, target: Target, commands: Sequence[str]) -> Answers:
        """Dies between the first ask and the further one."""
        if self.asks[target.name] > 1:
            raise ConnectError("connection reset by peer")
        return await self._half(target, commands)


def targets(simulation: Simulation, *, roles: bool = True) -> list[Target]:
    """The inventory of a simulated fabric, with or without roles and platforms."""
    return [
        Target(d.name, d.address or "192.0.2.1", d.role, d.platform or "linux", d.pod, d.rack, d.unit)
        if roles
        else Target(d.name, "192.0.2.1")
        for d in simulation.plan.devices.values()
    ]


def ambient() -> Ambient:
    """Time stands still, waiting costs nothing."""

    async def no_wait(seconds: float) -> None:
        await asyncio.sleep(0)

    return Ambient(now=lambda: NOW, sleep=no_wait, random=lambda: 0.5)
