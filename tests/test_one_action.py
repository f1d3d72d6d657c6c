"""One fault has one first action, wherever it is read: command line, API and page, reports."""

import csv
import html
import io
import json
import re
from functools import cache
from xml.etree import ElementTree as ET

import openpyxl
import pytest

from truerail.analysis.published import Published
from truerail.analysis.round import Round
from truerail.model import CauseKind
from truerail.model.finding import Cause
from truerail.model.history import NoHistory
from truerail.outputs import Format
from truerail.outputs.options import Options
from truerail.outputs.report import render
from truerail.outputs.report_words import instruction
from truerail.questions.answer_text import answer_text
from truerail.questions.status import status
from truerail.questions.why import why
from truerail.rounds import publication_of
from truerail.simulator import KINDS, Fault, demo_simulation
from truerail.views.lines import cause_lines, finding_lines_of
from truerail.views.view import view_of

WIDE = Options(500, details=True)
PANELS = (CauseKind.TRUNK_SWAP, CauseKind.PANEL_SHIFT)


@cache
def shown(at_panels: bool = False) -> Published:
    """The fabric of the demo with a fault of each kind: in a hall with patch panels a shifted block is a row of one."""
    simulation = demo_simulation(32, 8, [Fault(kind) for kind in KINDS if (kind in PANELS) == at_panels], 1)
    return publication_of(Round(simulation.plan, simulation.snapshot()))


@cache
def report(form: Format, at_panels: bool) -> str | bytes:
    return render(shown(at_panels).evaluation, form, WIDE)


def text(form: Format, at_panels: bool) -> str:
    made = report(form, at_panels)
    return made if isinstance(made, str) else made.decode()


@cache
def words(form: Format, at_panels: bool) -> str:
    """A report to read, without tags and breaks."""
    made = text(form, at_panels)
    return plain(html.unescape(re.sub(r"<[^>]+>", "", made)) if form is Format.HTML else made)


@cache
def cells(at_panels: bool) -> frozenset[object]:
    """All values of the workbook."""
    made = report(Format.XLSX, at_panels)
    assert isinstance(made, bytes)
    book = openpyxl.load_workbook(io.BytesIO(made), read_only=True)
    return frozenset(cell for sheet in book for row in sheet.values for cell in row)


def one(kind: CauseKind) -> Cause:
    """A cause of this kind."""
    return next(cause for cause in shown(kind in PANELS).evaluation.causes if cause.kind is kind and cause.action)


def plain(words: str) -> str:
    """A text without its breaks."""
    return re.sub(r"\s+", " ", words)


@pytest.mark.parametrize("kind", KINDS)
def test_an_action_is_the_same_wherever_it_is_read(kind: CauseKind) -> None:
    at_panels = kind in PANELS
    cause, evaluation = one(kind), shown(at_panels).evaluation
    explained = [finding for finding in evaluation.findings if finding.id in cause.explains]
    assert {finding.action for finding in explained} == {cause.action}

    view = view_of(shown(at_panels))
    assert next(line.action for line in cause_lines(view) if line.key == cause.key) == cause.action
    assert {line.action for line in finding_lines_of(view, explained)} == {cause.action}
    answer = why(shown(at_panels), NoHistory(), explained[0].id)
    assert answer.cause is not None
    assert answer.cause.action == cause.action
    assert cause.action in plain(answer_text(answer, WIDE))

    written = json.loads(text(Format.JSON, at_panels))
    assert {one["action"] for one in written["causes"] if one["id"] == cause.id} == {cause.action}
    ids = {finding.id for finding in explained}
    assert {one["action"] for one in written["findings"] if one["id"] in ids} == {cause.action}

    rows = csv.DictReader(io.StringIO(text(Format.CSV, at_panels).lstrip("\ufeff")))
    assert {row["action"] for row in rows if row["id"] in ids} == {cause.action}
    failures = [
        plain("".join(failure.itertext())) for failure in ET.fromstring(text(Format.JUNIT, at_panels)).iter("failure")
    ]
    assert any(plain(cause.action) in failure for failure in failures)
    assert cause.action in cells(at_panels)

    first = plain(instruction(cause))
    assert first.partition(":")[0].rstrip(".") in cause.action
    assert first in words(Format.TEXT, at_panels)
    assert first in words(Format.HTML, at_panels)


def test_the_status_begins_with_the_action_of_its_worst_cause() -> None:
    answer = status(shown(), shown().at)
    assert answer.action == answer.causes[0].action
    assert answer.action in plain(answer_text(answer, WIDE))
