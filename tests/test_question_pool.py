"""No question keeps others from their answers: a share for each caller, and a deadline that ends the work."""

import asyncio
import sys
import threading
from collections.abc import Callable
from itertools import count

import pytest
from starlette.requests import Request

from tests.api_client import Api, problem_of
from tests.patience import ENOUGH
from truerail.errors import QueryLimitError, TooManyQueriesError
from truerail.web import question_pool
from truerail.web.access.caller import Caller
from truerail.web.question_pool import MOST_ASKED, QuestionPool


def of(name: str) -> Request:
    return Request({"type": "http", "headers": [], "state": {"caller": Caller(name, "reader")}})


class Endless:
    """Work that goes on until it is ended, and knows whether it has begun and ended."""

    def __init__(self) -> None:
        self.begun, self.over = threading.Event(), threading.Event()

    def __call__(self) -> None:
        try:
            for _ in count():
                self.begun.set()
        except Exception as error:  # a rule's fault is caught like this: the end is none
            raise AssertionError from error
        finally:
            self.over.set()


async def test_at_the_deadline_the_work_ends_and_its_thread_answers_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_pool, "DEADLINE_SECONDS", 0.05)
    endless, pool = Endless(), QuestionPool(1, 1, "of a test")
    with pytest.raises(QueryLimitError, match="no answer within"):
        await pool.run(of("anna"), endless)
    await asyncio.to_thread(endless.over.wait, ENOUGH)
    monkeypatch.setattr(question_pool, "DEADLINE_SECONDS", ENOUGH)
    found = [await pool.run(of("anna"), threading.get_ident) for _ in range(2)]
    pool.close()
    assert len(set(found)) == 1
    assert endless.over.is_set()


async def test_who_waits_for_a_thread_until_the_deadline_is_not_computed_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_pool, "DEADLINE_SECONDS", 0.05)
    go, computed = threading.Event(), threading.Event()
    pool = QuestionPool(1, 2, "of a test")
    works: list[Callable[[], object]] = [lambda: go.wait(ENOUGH), computed.set]
    found = await asyncio.gather(*(pool.run(of("anna"), work) for work in works), return_exceptions=True)
    assert [type(one) for one in found] == [QueryLimitError] * 2
    go.set()
    monkeypatch.setattr(question_pool, "DEADLINE_SECONDS", ENOUGH)
    assert await pool.run(of("anna"), lambda: 5) == 5
    pool.close()
    assert not computed.is_set()


async def test_one_caller_takes_its_share_and_no_more() -> None:
    works = [Endless() for _ in range(3)]
    pool = QuestionPool(3, 2, "of a test")
    running = [asyncio.create_task(pool.run(of("greedy"), work)) for work in works]
    for work in works[:2]:
        assert await asyncio.to_thread(work.begun.wait, ENOUGH)
    assert await pool.run(of("anna"), lambda: 5) == 5
    assert not works[2].begun.is_set()
    more = [asyncio.create_task(pool.run(of("greedy"), Endless())) for _ in range(MOST_ASKED - len(works))]
    await asyncio.sleep(0)
    with pytest.raises(TooManyQueriesError, match=f"{MOST_ASKED} questions of greedy are running or waiting"):
        await pool.run(of("greedy"), lambda: 5)
    for task in (*running, *more):
        task.cancel()
    await asyncio.gather(*running, *more, return_exceptions=True)
    assert await pool.run(of("greedy"), lambda: 5) == 5
    pool.close()
    assert [work.over.wait(ENOUGH) for work in works[:2]] == [True, True]
    assert not works[2].begun.is_set()


def test_a_topology_as_large_as_a_body_is_answered() -> None:
    """What is not near-linear in the switches does not come to its end."""
    chain = "".join(f"SwitchName=s{number} Switches=s{number + 1}\n" for number in range(30_000))
    with Api() as api:
        answer = api.post("lint-topology", {"text": f"{chain}SwitchName=s30000 Nodes=gpu-001\n"}).json()
        assert (answer["switches"], answer["nodes"]) == (30_001, 1)
        deep = "- topology: " + "[" * 200_000  # the composer of libyaml ends the process on this
        assert "nested more than 16 deep" in problem_of(api.post("lint-topology", {"text": deep}), 400)["detail"]


def test_what_was_answered_leaves_python_as_it_was() -> None:
    """Taking an exception back leaves a mark that is never taken away: a tracer then waits for it for ever."""

    async def ask() -> int:
        pool = QuestionPool(1, 1, "of a test")
        found = await pool.run(of("anna"), lambda: 1)
        pool.close()
        return found

    before = sys.gettrace()
    assert asyncio.run(ask()) == 1
    seen: list[str] = []
    sys.settrace(lambda frame, event, _: seen.append(event))
    of("anna")
    sys.settrace(before)
    assert "call" in seen
