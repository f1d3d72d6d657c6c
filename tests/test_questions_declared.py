"""A question is one file and a row: command line and API take arguments, answer, exit status and text from there."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from fastapi import FastAPI
from typer.testing import CliRunner

import truerail.questions
from tests.api_client import Api
from tests.oncall_fabrics import SPINES, published
from truerail.cli import oncall, oncall_local
from truerail.questions import question_of, questions
from truerail.questions.question import all_good
from truerail.questions.question_index import SHORT
from truerail.web.api import oncall_routes as endpoints

NEW = '''"""`cables OF`: how many cables a device has."""

from collections.abc import Iterator
from dataclasses import dataclass

from truerail.questions.question import Asked, Given, Kind, Parameter, Question


@dataclass(frozen=True, slots=True)
class Cables:
    """`cables OF`."""

    query: str
    count: int
    summary: str


def _find(asked: Asked, given: Given) -> Cables:
    ends = [end.device for cable in asked.publication.plan.cables for end in cable[:2]]
    found = ends.count(given["of"])
    return Cables(given["of"], found, f"{given['of']} has {found} cables, {given['least']} are wanted")


def _text(answer: Cables, options: object) -> Iterator[str]:
    yield f"count: {answer.count}"


QUESTION = Question(
    "cables",
    Cables,
    (
        Parameter("of", help="A device."),
        Parameter("least", help="So many are wanted.", kind=Kind.NUMBER, needed=False, option=True, default=1, least=0),
    ),
    _find,
    "How many cables a device has.",
    good=lambda answer: answer.count > 0,
    text=_text,
)
'''


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A file that declares a question, and its row in the index."""
    (tmp_path / "cables.py").write_text(NEW)
    monkeypatch.setattr(truerail.questions, "__path__", [*truerail.questions.__path__, str(tmp_path)])
    monkeypatch.setitem(SHORT, "cables", "How many cables.")
    monkeypatch.setattr(oncall_local, "publication", lambda source: (published(SPINES), None))
    questions.cache_clear()
    yield
    questions.cache_clear()
    sys.modules.pop("truerail.questions.cables", None)


def test_the_questions_are_in_order_and_each_is_found_by_its_answer() -> None:
    names = [question.name for question in questions()]
    known = ["status", "where", "job", "blast", "path", "diff", "why", "storm", "rails", "counters", "rates"]
    of_jobs = ["jobs", "gate", "scheduler-topology", "lint-topology"]
    assert names == [*known, "timeline", "drain", "plan-repair", "repair-diff", *of_jobs]
    for question in questions():
        assert question.answer.__module__.startswith("truerail.")
        assert bool(question.text) == bool(question.short)


@pytest.mark.usefixtures("added")
def test_a_file_and_its_row_make_a_command() -> None:
    app = typer.Typer(rich_markup_mode=None)
    oncall.add_commands(app)
    run = CliRunner()
    asked = ["cables", "leaf-0", "--from", "here"]
    shown = run.invoke(app, [*asked, "--least", "4"])
    assert shown.exit_code == 0, shown.output
    assert "cables, 4 are wanted" in shown.stdout
    assert "count: " in shown.stdout
    assert '"query": "leaf-0"' in run.invoke(app, [*asked, "--format", "json"]).stdout
    assert run.invoke(app, ["cables", "nothing", "--from", "here"]).exit_code == 1
    assert run.invoke(app, [*asked, "--least", "-1"]).exit_code == 2
    assert "So many are wanted." in run.invoke(app, ["cables", "--help"]).stdout
    assert question_of(questions()[-1].answer("a", 1, "")).name == "cables"


@pytest.mark.usefixtures("added")
def test_a_file_and_its_row_make_an_endpoint() -> None:
    app = FastAPI()
    app.include_router(endpoints.router_of(questions()))
    document = app.openapi()
    asked = document["paths"]["/cables"]["get"]
    assert [(one["name"], one["required"]) for one in asked["parameters"]] == [("of", True), ("least", False)]
    assert asked["parameters"][1]["schema"]["minimum"] == 0
    assert asked["description"] == "How many cables a device has."
    assert set(document["components"]["schemas"]["Cables"]["properties"]) == {"query", "count", "summary"}


@pytest.mark.usefixtures("added")
def test_a_file_and_its_row_make_a_form_on_the_page() -> None:
    with Api(fabric="own") as api:  # an application of its own, made with the question
        html = api.ask("GET", "//ask").text
    forms = dict(re.findall(r'<form class="ask" data-question="([\w-]+)">(.*?)</form>', html, re.DOTALL))
    known = ["where", "job", "blast", "path", "rails", "counters", "drain", "plan-repair", "repair-diff"]
    known += ["jobs", "gate", "lint-topology"]
    assert list(forms) == [*known, "cables"]
    assert "<h2>How many cables</h2>" in forms["cables"]
    assert re.findall(r'<input name="(\w+)"', forms["cables"]) == ["of", "least"]
    assert forms["cables"].count(" required") == 1
    elsewhere = {question.form.page for question in questions() if question.form.page}
    assert elsewhere <= set(re.findall(r'href="([^"]*)"', html))


@pytest.mark.parametrize(
    ("parts", "whole"), [([], None), ([True], True), ([True, None], None), ([None, False, True], False)]
)
def test_a_whole_is_good_if_all_parts_are_known_to_be(parts: list[bool | None], whole: bool | None) -> None:
    assert all_good(parts) is whole
