"""What a front's machine believes of judges, and what it refuses: a real bus, and a judge played by the test."""

import asyncio
import pickle
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from nats.aio.msg import Msg

from tests.nats_bus import NatsServer, nats_server
from tests.patience import ENOUGH
from tests.test_viewfile_admission import copied, written
from truerail.bus.codec import pack
from truerail.bus.front_messages import ASK, VIEW, Answer, Event, Notice, Question, View, squeezed, unpack
from truerail.bus.nats_link import Bus
from truerail.bus.subjects import Subjects
from truerail.processes import front_relay
from truerail.processes.front_relay import FrontRelay
from truerail.processes.messages import Message
from truerail.viewfile.admission import view_format
from truerail.viewfile.copying import ViewChanges

SUBJECTS = Subjects("played")


class PlayedJudge:
    """A judge that gives one view, and says of itself what the test says."""

    def __init__(self, server: NatsServer, name: str, epoch: int, changes: ViewChanges) -> None:
        self.name, self.epoch, self.changes = name, epoch, changes
        self.asked: list[Question] = []
        self.answer = Answer(refused="this judge does not lead")
        self._bus = Bus(server.address, name, SUBJECTS.inbox(), lambda _: None)

    async def open(self) -> None:
        await self._bus.open()
        await self._bus.client.subscribe(SUBJECTS.ask(self.name), cb=self._take)

    async def report(self, **other: Any) -> None:
        notice: dict[str, Any] = {"judge": self.name, "run": self.name, "epoch": self.epoch, "release": "9.9"}
        notice |= {"format": view_format(), "written": self.changes.written, "event": 7, "current": True}
        notice |= {"figures": {"judge_leader": 1.0, "rounds_total": 3.0}}
        await self._bus.send(SUBJECTS.view, pack(Notice(**notice | other)))

    async def send(self, data: bytes) -> None:
        await self._bus.send(SUBJECTS.view, data)

    async def close(self) -> None:
        await self._bus.close()

    async def _take(self, message: Msg) -> None:
        question = unpack(Question, message.data)
        self.asked.append(question)
        body = pack(View(squeezed(self.changes), [Event(7, "round", b"{}")]))
        view = Answer(body=body, size=len(body))
        await message.respond(pack(view if question.kind == VIEW else self.answer))


class Played:
    """A relay, and a judge to play."""

    def __init__(self, relay: FrontRelay, judge: PlayedJudge, server: NatsServer) -> None:
        self.relay, self.judge, self.server = relay, judge, server

    @property
    def problem(self) -> str:
        return str(self.relay.alive().fields["problem"])

    async def until(self, words: str, **reported: Any) -> None:
        """Reports until the relay's problem is this one; an empty one is none."""
        async with asyncio.timeout(ENOUGH):
            while (words not in self.problem) if words else self.problem:
                await self.judge.report(**reported)
                await asyncio.sleep(0.05)


@asynccontextmanager
async def playing(tmp_path: Path) -> AsyncIterator[Played]:
    """A relay that has the view of a judge of epoch 5."""
    with nats_server(tmp_path) as server:
        judge = PlayedJudge(server, "lead", 5, copied(written(tmp_path / "judge")))
        relay = FrontRelay(server.address, SUBJECTS, tmp_path / "copy")
        following = asyncio.create_task(relay.follow())
        await judge.open()
        try:
            played = Played(relay, judge, server)
            async with asyncio.timeout(ENOUGH):
                while not relay.copied:
                    await judge.report()
                    await asyncio.sleep(0.05)
            await played.until("")
            yield played
        finally:
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following
            await judge.close()


def test_a_front_shows_the_view_of_the_judge_that_leads(tmp_path: Path) -> None:
    async def body() -> None:
        async with playing(tmp_path) as played:
            alive = played.relay.alive()
            assert alive.fields["written"]
            assert alive.fields["figures"] == {"rounds_total": 3.0}
            assert played.relay.events.last == 7
            asked = len(played.judge.asked)
            await played.until("")
            assert len(played.judge.asked) == asked  # nothing has changed: nothing is asked

    asyncio.run(body())


def test_an_old_leader_is_ignored_until_the_new_one_is_silent_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def body() -> None:
        async with playing(tmp_path) as played:
            old = PlayedJudge(played.server, "old", 4, copied(written(tmp_path / "old", faults=False)))
            await old.open()
            for _ in range(5):
                await old.report(written=99)
            await played.judge.report(current=False)
            await played.until("the judge lead leads, and has not given a view of its own yet", current=False)
            assert not old.asked
            monkeypatch.setattr(front_relay, "FORGET_SECONDS", 0.0)  # the bus has lost its store
            async with asyncio.timeout(ENOUGH):
                while not old.asked:
                    await old.report()
                    await asyncio.sleep(0.05)
            await old.close()

    asyncio.run(body())


def test_what_a_front_cannot_read_is_named_and_its_view_stays(tmp_path: Path) -> None:
    async def body() -> None:
        async with playing(tmp_path) as played:
            judge, kept = played.judge, (tmp_path / "copy").stat().st_size
            await played.until("has truerail 9.9, this front ", format="0123456789abcdef")
            assert "upgrade judges first, then fronts" in played.problem
            assert not played.relay.alive().fields["written"]
            await played.until("")
            async with asyncio.timeout(ENOUGH):
                while "not a message of kind Notice" not in played.problem:
                    await judge.send(b"\xc1 no message")
                    await asyncio.sleep(0.05)
            await played.until("")
            bad = pickle.dumps(print)
            judge.changes = ViewChanges(2, 2, [("state", "", bad)], {"state": [""]})
            await played.until("it names builtins.print, of which no view is made")
            assert (tmp_path / "copy").stat().st_size == kept

    asyncio.run(body())


def test_why_a_command_was_not_obeyed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front_relay, "_ASK_SECONDS", 1.0)

    async def body() -> None:
        async with playing(tmp_path) as played:
            relay, judge = played.relay, played.judge
            order = Message("ask", {"id": 1, "method": "POST", "path": "/x", "caller": {"name": "ann"}}, b"{}")
            found = await relay.answer(order)
            assert (found.kind, found.fields["error"]) == ("away", "this judge does not lead")
            assert judge.asked[-1].kind == ASK
            assert judge.asked[-1].fields["caller"] == {"name": "ann"}
            assert (await relay.answer(Message("audit", {"id": 2, "who": "ann"}))).kind == "failed"
            judge.answer = Answer(fields={"status": 200, "headers": []}, body=b"part", size=9, answer="a")
            await asyncio.sleep(0)
            judge_parts = await relay.answer(order)
            assert judge_parts.body.startswith(b"partpart")
            judge.answer = Answer(fields={"status": 200, "headers": []}, size=9)
            assert (await relay.answer(order)).fields["error"] == "the judge's answer ends early"
            await judge.close()
            async with asyncio.timeout(ENOUGH):
                while "no other one leads yet" not in (await relay.answer(order)).fields["error"]:
                    await asyncio.sleep(0.05)  # the server may not have noticed yet
            played.server.kill()
            async with asyncio.timeout(ENOUGH):
                while "bus nats://" not in (await relay.answer(order)).fields["error"]:
                    await asyncio.sleep(0.05)

    asyncio.run(body())
