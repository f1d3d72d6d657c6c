"""What a front believes of a judge on another machine, and what it refuses: a real bus, and a judge that is played."""

import asyncio
import pickle
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from nats.aio.msg import Msg

from tests.nats_bus import NatsServer, nats_server
from tests.patience import ENOUGH
from tests.test_viewfile_copies import copied, written
from truerail import __version__
from truerail.errors import JudgeUnavailableError
from truerail.link.codec import pack, squeezed, unpack
from truerail.link.messages import Answer, Ask, Audit, Event, Failed, Fetch, Notice, Part, Reply, Request, Rest, View
from truerail.link.nats_link import Bus
from truerail.link.subjects import Subjects
from truerail.model.tasks import end
from truerail.roles import front_bus
from truerail.roles.front_bus import BusFrontLink, JudgePlace
from truerail.roles.front_link import Takes
from truerail.viewfile.copying import ViewChanges

SUBJECTS = Subjects("played")
ORDER = Ask("POST", "/x", caller={"name": "ann", "role": "writer"}, body=b"{}")


class PlayedJudge:
    """A judge that gives one view, and says of itself what the test says."""

    def __init__(self, server: NatsServer, name: str, epoch: int, changes: ViewChanges) -> None:
        self.name, self.epoch, self.changes = name, epoch, changes
        self.asked: list[Request] = []
        self.answer: Reply = Failed("this judge does not lead")
        self.part_bytes, self.more_bytes = 1 << 20, 0
        """Of each part of its answer, and by how much it says that this is longer than it is."""
        self._bus = Bus(server.address, name, SUBJECTS.inbox())

    async def open(self) -> None:
        await self._bus.open()
        await self._bus.client.subscribe(SUBJECTS.ask(self.name), cb=self._take)

    async def report(self, **other: Any) -> None:
        notice: dict[str, Any] = {"judge": self.name, "run": self.name, "epoch": self.epoch, "release": __version__}
        notice |= {"written": self.changes.written, "event": 7, "current": True}
        notice |= {"figures": {"judge_leader": 1.0, "rounds_total": 3.0}}
        await self._bus.send(SUBJECTS.view, pack(Notice(**notice | other)))

    async def send(self, data: bytes) -> None:
        await self._bus.send(SUBJECTS.view, data)

    async def close(self) -> None:
        await self._bus.close()

    async def _take(self, message: Msg) -> None:
        question: Request = unpack(Request, message.data)  # type: ignore[arg-type]  # a union
        self.asked.append(question)
        if isinstance(question, Fetch):
            whole = pack(View(squeezed(self.changes), [Event(7, "round", b"{}")]))
            await message.respond(pack(Part(whole, len(whole))))
            return
        whole, at = pack(self.answer), question.offset if isinstance(question, Rest) else 0
        part = whole[at : at + self.part_bytes]
        await message.respond(pack(Part(part, len(whole) + self.more_bytes, "a")))


class Played:
    """A front's link, and a judge to play."""

    def __init__(self, server: NatsServer, folder: Path) -> None:
        self.server = server
        self.judge = PlayedJudge(server, "lead", 5, copied(written(folder / "judge")))
        self.events: list[Event] = []
        place = JudgePlace(server.address, SUBJECTS, lambda url: None)
        self.link = BusFrontLink(place, folder / "copy", Takes(self._event, self._stale, self._refresh))

    @property
    def problem(self) -> str:
        return self.link.alive().problem

    async def until(self, words: str, **reported: Any) -> None:
        """Reports until the link's problem is this one; an empty one is none."""
        async with asyncio.timeout(ENOUGH):
            while (words not in self.problem) if words else self.problem:
                await self.judge.report(**reported)
                await asyncio.sleep(0.05)

    async def refused(self, words: str) -> None:
        """Asks until the reason why there is no answer is this one: the server may not have noticed yet."""
        async with asyncio.timeout(ENOUGH):
            while True:
                with pytest.raises(JudgeUnavailableError) as error:
                    await self.link.ask(ORDER)
                if words in str(error.value):
                    return
                await asyncio.sleep(0.05)

    async def _event(self, event: Event) -> None:
        self.events.append(event)

    def _stale(self, since: datetime | None) -> None:
        """Its time does not matter here."""

    async def _refresh(self) -> None:
        """No front reads this copy."""


@asynccontextmanager
async def playing(tmp_path: Path) -> AsyncIterator[Played]:
    """A link that has the view of a judge of epoch 5."""
    with nats_server(tmp_path) as server:
        played = Played(server, tmp_path)
        following = asyncio.create_task(played.link.run())
        await played.judge.open()
        try:
            async with asyncio.timeout(ENOUGH):
                while not played.link.copied:
                    await played.judge.report()
                    await asyncio.sleep(0.05)
            await played.until("")
            yield played
        finally:
            await end([following])
            await played.judge.close()


async def test_a_front_shows_the_view_of_the_judge_that_leads(tmp_path: Path) -> None:
    async with playing(tmp_path) as played:
        alive = played.link.alive()
        assert alive.written
        assert alive.figures == {"rounds_total": 3.0}
        assert [one.id for one in played.events] == [7]
        asked = len(played.judge.asked)
        await played.until("")
        assert len(played.judge.asked) == asked  # nothing has changed: nothing is asked


async def test_an_old_leader_is_ignored_until_the_new_one_is_silent_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with playing(tmp_path) as played:
        old = PlayedJudge(played.server, "old", 4, copied(written(tmp_path / "old", faults=False)))
        await old.open()
        for _ in range(5):
            await old.report(written=99)
        await played.judge.report(current=False)
        await played.until("the judge lead leads, and has not given a view of its own yet", current=False)
        assert not old.asked
        monkeypatch.setattr(front_bus, "FORGET_SECONDS", 0.0)  # the bus has lost its store
        async with asyncio.timeout(ENOUGH):
            while not old.asked:
                await old.report()
                await asyncio.sleep(0.05)
        await old.close()


async def test_what_a_front_cannot_read_is_named_and_its_view_stays(tmp_path: Path) -> None:
    async with playing(tmp_path) as played:
        judge, kept = played.judge, (tmp_path / "copy").stat().st_size
        await played.until("has truerail 9.9, this front ", release="9.9")
        assert "upgrade judges first, then fronts" in played.problem
        assert not played.link.alive().written
        await played.until("")
        async with asyncio.timeout(ENOUGH):
            while "not a message of kind Notice" not in played.problem:
                await judge.send(b"\xc1 no message")
                await asyncio.sleep(0.05)
        await played.until("")
        judge.changes = ViewChanges(2, 2, [("state", "", pickle.dumps(print))], {"state": [""]})
        await played.until("part state  cannot be read")
        assert (tmp_path / "copy").stat().st_size == kept


async def test_why_a_command_was_not_obeyed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front_bus, "DEADLINE_SECONDS", 1.0)
    async with playing(tmp_path) as played:
        link, judge = played.link, played.judge
        await played.refused("this judge does not lead")
        assert judge.asked[-1] == ORDER
        with pytest.raises(JudgeUnavailableError, match="this judge does not lead"):
            await link.ask(Audit("ann", "log in", ""))
        judge.answer = View(b"", [])
        await played.refused("no answer")
        judge.answer, judge.part_bytes = Answer(200, [("a", "b")], b"whole answer"), 4
        assert await link.ask(ORDER) == judge.answer
        judge.more_bytes = 1
        await played.refused("the judge's answer ends early")
        await judge.close()
        await played.refused("no other one leads yet")
        played.server.kill()
        await played.refused("bus nats://")
