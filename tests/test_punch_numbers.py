"""The punch list in every report: the steps that wait come last, and a step has one number on page, in csv and xlsx."""

import csv
import io
from functools import cache

import openpyxl
import report_fabric as fabric

from tests.small_fabric import World, make_plan
from tests.test_report_html import Page
from truerail.analysis.round import Round
from truerail.model import Evaluation, Port
from truerail.outputs.punch import punch_list
from truerail.outputs.report import render
from truerail.rounds import evaluate


@cache
def waiting() -> Evaluation:
    """Two leaves carry each other's name, and two cables on them are swapped: their moves wait for the names."""
    world = World(make_plan(8, 4))
    world.exchange_names("leaf-0", "leaf-1")
    world.swap(Port("h1", "nica"), Port("h3", "nica"))
    return evaluate(Round(world.plan, world.snapshot()))


def sheet(evaluation: Evaluation, name: str) -> list[dict[str, object]]:
    report = render(evaluation, "xlsx")
    assert isinstance(report, bytes)
    first, *lines = openpyxl.load_workbook(io.BytesIO(report))[name].values
    return [dict(zip(map(str, first), line, strict=True)) for line in lines]


def in_csv(evaluation: Evaluation) -> dict[str, list[int]]:
    """The numbers of the steps by the ids of findings."""
    report = render(evaluation, "csv")
    assert isinstance(report, str)
    lines = csv.DictReader(io.StringIO(report, newline=""))
    return {line["id"]: [int(number) for number in line["steps"].split()] for line in lines}


def on_page(evaluation: Evaluation) -> list[tuple[int, str]]:
    """Number and place of each step of the page to print, from top to bottom."""
    page = Page(evaluation)
    boxes = page.of("input", type="checkbox")
    numbers = [element.text for element in page.of("td", class_="step-number")]
    assert len(numbers) == len(boxes)
    places = [box.attributes["aria-label"].removeprefix("Done: ") for box in boxes]
    return [(int(number), place) for number, place in zip(numbers, places, strict=True)]


def test_steps_that_wait_come_last_in_the_workbook_and_say_for_what() -> None:
    evaluation = waiting()
    steps = sheet(evaluation, "Punch list")
    waits = [step["not before"] for step in steps]
    assert any(waits)
    assert [bool(wait) for wait in waits] == sorted(bool(wait) for wait in waits)
    moves = [row for row in sheet(evaluation, "Causes") if row["move"]]
    assert [row["not before"] for row in moves] == [m.after or None for c in evaluation.causes for m in c.moves]
    assert {row["move the plug to"] for row in steps if row["not before"]} == {row["plug into"] for row in moves}


def test_every_report_numbers_the_steps_alike() -> None:
    for evaluation in (waiting(), fabric.every_cause()):
        steps = punch_list(evaluation)
        in_book = [(row["step"], row["at"]) for row in sheet(evaluation, "Punch list")]
        assert in_book == [(number, str(step.at)) for number, step in enumerate(steps, 1)]
        assert on_page(evaluation) == in_book
        numbers = in_csv(evaluation)
        explained = evaluation.cause_of
        assert {finding for finding, of in numbers.items() if of} == set(explained)
        for finding, of in numbers.items():
            assert {steps[number - 1].cause for number in of} <= {explained.get(finding)}


def test_a_finding_names_the_step_of_its_own_cable() -> None:
    evaluation = waiting()
    steps, numbers = punch_list(evaluation), in_csv(evaluation)
    moved = {str(move.cable) for cause in evaluation.causes for move in cause.moves}
    own = [finding for finding in evaluation.findings if finding.subject in moved and numbers[finding.id]]
    assert own
    for finding in own:
        if any(str(steps[n - 1].far) == finding.subject for n in numbers[finding.id]):
            assert len(numbers[finding.id]) == 1


def test_text_and_json_move_the_same_cables() -> None:
    evaluation = waiting()
    text, report = render(evaluation, "text"), render(evaluation, "json")
    assert isinstance(text, str)
    assert isinstance(report, str)
    for step in punch_list(evaluation):
        if step.to is not None:
            assert str(step.to) in text
            assert f'"to": "{step.to}"' in report
            assert not step.after or step.after in " ".join(text.split())
