"""The event loop is not held while a fabric is evaluated: what takes long runs elsewhere, or in pieces."""

import asyncio
import gc
import sys
import threading
import weakref
from collections.abc import Iterator
from copy import copy
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.test_service_watch import fabric_of, settings_for, until, watched
from truerail.model.pause import garbage_collection_paused
from truerail.service import current, freeing, round_loop
from truerail.service.freeing import Garbage, free


class Part:
    """Something that tells when it is gone."""

    def __init__(self, *holds: object) -> None:
        self.holds = holds


@pytest.fixture
def collecting() -> Iterator[None]:
    """The collector is on, and no other collector's values are young."""
    was = gc.isenabled()
    gc.enable()
    gc.collect()
    yield
    if not was:
        gc.disable()


def test_what_is_made_in_a_pause_is_old_at_its_end(collecting: None) -> None:
    with garbage_collection_paused(old=True):
        made = [Part()]
    assert not any(one is made for one in gc.get_objects(generation=0))
    assert any(one is made for one in gc.get_objects(generation=2))
    assert gc.get_freeze_count() == 0
    assert gc.isenabled()


def test_what_is_made_in_any_other_pause_is_young_at_its_end(collecting: None) -> None:
    with garbage_collection_paused():
        made = [Part()]
    assert any(one is made for young in (0, 1) for one in gc.get_objects(generation=young))


def test_a_large_value_is_freed_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freeing, "PORTION", 10)
    parts: list[Any] = [Part({number: Part() for number in range(95)})]
    kept = [weakref.ref(one) for one in parts[0].holds[0].values()]
    alive: list[int] = []

    def each_line(frame: FrameType, event: str, argument: object) -> Any:
        alive.append(sum(one() is not None for one in kept))
        return each_line

    before = sys.gettrace()
    sys.settrace(lambda frame, event, argument: each_line if frame.f_code is free.__code__ else None)
    try:
        free(parts)
    finally:
        sys.settrace(before)
    alive.append(sum(one() is not None for one in kept))
    assert (alive[0], alive[-1], parts) == (95, 0, [])
    assert max(more - less for more, less in pairwise(alive)) <= 10


def test_what_others_hold_is_left_as_it_is() -> None:
    inner = [1, 2, 3]
    shared, mine = Part(inner), Part()
    gone = weakref.ref(mine)
    parts: list[Any] = [[shared, mine], mine]
    del mine
    free(parts)
    assert shared.holds == (inner,) == ([1, 2, 3],)
    assert gone() is None
    assert parts == []


async def test_garbage_is_collected_sooner_where_much_is_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    monkeypatch.setattr(gc, "collect", lambda: runs.append(1))
    monkeypatch.setattr(freeing, "EVALUATION_SECONDS", 10.0)
    looked = Garbage()
    for seconds, times in ((6.0, 0), (6.0, 1), (6.0, 1), (6.0, 2)):
        await looked.evaluated(seconds)
        assert len(runs) == times
    await looked.evaluated(6.0)
    await looked.collect()
    await looked.evaluated(6.0)
    assert len(runs) == 3


async def test_the_loop_makes_no_news_no_mutes_and_frees_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where: dict[str, set[int]] = {}

    def noting(module: Any, name: str) -> None:
        real = getattr(module, name)

        def noted(*arguments: Any) -> Any:
            where.setdefault(name, set()).add(threading.get_ident())
            return real(*arguments)

        monkeypatch.setattr(module, name, noted)

    for module, name in ((current, "reported"), (round_loop, "mutes"), (round_loop, "free")):
        noting(module, name)
    async with watched(settings_for(tmp_path), fabric_of()) as front:
        await until(lambda: front.publication)
        assert front.publication is not None
        await front.acknowledge(front.publication.evaluation.causes[0].key, "anna", "known", None)
        assert front.publication.mutes
        await until(lambda: "free" in where)
        loop = threading.get_ident()
        assert set(where) == {"reported", "mutes", "free"}
        assert all(loop not in threads for threads in where.values())


async def test_news_that_were_overtaken_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An acknowledgement that comes while an evaluation's news are made: they are reported against what it left."""
    before: list[Any] = []
    real = current.reported
    async with watched(settings_for(tmp_path), fabric_of()) as front:
        await until(lambda: front.publication and front.publication.number > 1)
        what_is_shown = front._watch.shown
        loop, came = asyncio.get_running_loop(), threading.Event()

        def overtake() -> None:
            assert what_is_shown.publication is not None
            assert what_is_shown.map is not None
            what_is_shown.muted(what_is_shown.publication, copy(what_is_shown.map))
            came.set()

        def reported(old: Any, new: Any, publication: Any) -> Any:
            before.append(old)
            if len(before) == 1:
                loop.call_soon_threadsafe(overtake)
                came.wait()
            return real(old, new, publication)

        monkeypatch.setattr(current, "reported", reported)
        await until(lambda: len(before) > 1)
        assert before[1] is not before[0]
        assert before[1] == before[0]
        await until(lambda: not any(what_is_shown.map is one for one in before[:2]))
