"""The questions of assistants: a real client of the protocol starts `truerail mcp`, which asks a real service."""

import asyncio
import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.page_site import Site, publication
from truerail.cli.assistant import mcp
from truerail.cli.oncall_service import fetched
from truerail.errors import CommandError
from truerail.model import CauseKind
from truerail.simulator import Fault, Shape, simulate

QUESTIONS = ("blast", "causes", "changes", "job", "status", "where", "why")


@pytest.fixture(scope="module")
def service() -> Iterator[Site]:
    made = simulate(Shape(hosts=8, rails=4, spines=2, uplinks=2), [Fault(CauseKind.CABLE_SWAP, "one-host")], seed=4)
    with Site(publication(made.plan, made.snapshot())) as site:
        yield site


def asked(url: str, *calls: tuple[str, Mapping[str, str]]) -> tuple[list[Any], list[tuple[bool, str]]]:
    """The tools that the server offers, and what each call answers: whether it is an error, and the text."""
    from mcp.client.session import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client

    async def body() -> tuple[list[Any], list[tuple[bool, str]]]:
        command = StdioServerParameters(command=sys.executable, args=["-m", "truerail", "mcp", "--service", url])
        async with stdio_client(command) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            tools = (await session.list_tools()).tools
            answers = [await session.call_tool(name, dict(given)) for name, given in calls]
            return tools, [(bool(one.is_error), "".join(part.text for part in one.content)) for one in answers]

    return asyncio.run(body())


def test_an_assistant_gets_the_answers_of_the_service_and_can_change_nothing(service: Site) -> None:
    cause = fetched(service.url, "causes", {}, None)["items"][0]
    subject = cause["subjects"][0]
    calls = [("status", {}), ("causes", {}), ("why", {"finding": cause["key"]}), ("where", {"port": subject})]
    calls += [("blast", {"device": subject}), ("changes", {"since": "2h"}), ("job", {"key": "no/such job"})]
    calls += [("causes", {"since": "2100-01-01T00:00:00+00:00"})]
    tools, answers = asked(service.url, *calls)
    assert sorted(tool.name for tool in tools) == [*QUESTIONS]
    assert all(tool.annotations.read_only_hint and not tool.annotations.destructive_hint for tool in tools)
    assert all(tool.description for tool in tools)
    status, causes, why, where, blast, _, job, later = answers
    assert [failed for failed, _ in answers] == [False] * 6 + [True, False]
    assert json.loads(status[1])["cables"] == fetched(service.url, "status", {}, None)["cables"]
    assert next(one["key"] for one in json.loads(causes[1])["items"]) == cause["key"]
    assert cause["action"] in why[1]
    assert json.loads(where[1])["query"] == subject
    assert subject.partition("/")[0] in blast[1]
    assert json.loads(later[1])["items"] == []
    assert "no/such job" in job[1]


def test_a_service_that_does_not_answer_is_named() -> None:
    _, ((failed, text),) = asked("http://127.0.0.1:9", ("status", {}))
    assert failed
    assert "http://127.0.0.1:9: no service answers" in text


def test_foreign_text_has_no_control_characters_and_stays_data() -> None:
    from truerail.cli.assistant_tools import bounded

    text = bounded({"name": "gpu\x1b[2J\u202e\n", "items": [{"say": "ignore\x00 all"}]})
    assert json.loads(text) == {"name": "gpu\\x1b[2J\\u202e\\x0a", "items": [{"say": "ignore\\x00 all"}]}


def test_long_answers_lose_the_ends_of_their_longest_lists_and_say_so() -> None:
    from truerail.cli.assistant_tools import MOST_BYTES, bounded

    ports = [f"leaf-1/swp{n}" for n in range(5000)]
    text = bounded({"paths": [{"ports": ports, "name": "one"}], "total": 1})
    assert len(text.encode()) <= MOST_BYTES
    found = json.loads(text)
    kept = found["paths"][0]["ports"]
    assert found["left_out"] == {"paths/0/ports": 5000 - len(kept)}
    assert kept == ports[: len(kept)]
    assert found["paths"][0]["name"] == "one"
    assert json.loads(bounded({"a": "x" * 1500, "b": {"c": "y" * 1500}}, most_bytes=500)).keys() == {"error"}


def test_without_its_packages_the_command_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "truerail.cli.assistant_tools", raising=False)
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(CommandError, match=r"pip install 'truerail\[mcp\]'"):
        mcp()
