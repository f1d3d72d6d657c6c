"""Moves that wait for another repair say so, with the cause to repair first, in every output."""

import json
from importlib.resources import files
from types import SimpleNamespace

import pytest
from jsonschema import Draft202012Validator

from tests.metrics_pages import all_samples, page, published
from tests.small_fabric import World, make_plan
from truerail.analysis.published import Published
from truerail.journal.bodies import cause_body, cause_of
from truerail.model import Evaluation, Port
from truerail.outputs.punch import punch_list
from truerail.outputs.report_html import render_html
from truerail.outputs.report_json import document
from truerail.outputs.worklist import Worklist, line_of
from truerail.questions.job import job
from truerail.questions.where import where
from truerail.views.lines import cause_lines
from truerail.views.lists import step_lines
from truerail.views.view import view_of

WORDS = "the names of leaf-0 and leaf-1 are swapped back"


@pytest.fixture(scope="module")
def publication() -> Published:
    """Two leaves carry each other's name, and two cables on them are swapped."""
    world = World(make_plan(8, 4))
    world.exchange_names("leaf-0", "leaf-1")
    world.swap(Port("h1", "nica"), Port("h3", "nica"))
    return published(world.plan, world.snapshot())


@pytest.fixture(scope="module")
def evaluation(publication: Published) -> Evaluation:
    return publication.evaluation


def test_the_json_report_names_the_cause_to_repair_first(evaluation: Evaluation) -> None:
    reported = document(evaluation)
    swap, names = reported["causes"]
    assert [move["after"] for move in swap["moves"]] == [[names["id"]]] * 2
    schema = json.loads((files("truerail.outputs") / "check.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(reported)


def test_the_journal_keeps_what_comes_first(evaluation: Evaluation) -> None:
    cause = evaluation.causes[0]
    assert cause.moves[0].after_causes == (evaluation.causes[1].key,)
    columns = {"kind": cause.kind.value, "summary": cause.summary, "action": cause.action}
    row = SimpleNamespace(subjects=json.dumps(cause.subjects), **columns)
    assert cause_of(row, cause_body(cause)) == cause


def test_the_api_gives_ids_and_words(publication: Published) -> None:
    lines = {line.kind: line for line in cause_lines(view_of(publication))}
    for move in lines["cable-swap"].moves:
        assert (move.after, move.not_before) == ((lines["leaf-swap"].id,), WORDS)


def test_what_waits_comes_last_in_the_punch_list(publication: Published) -> None:
    steps = punch_list(publication.evaluation)
    assert [step.after for step in steps] == ["", "", WORDS, WORDS]
    work = Worklist()
    changes = work.update(publication.evaluation)
    assert [f"not before {WORDS}" in line_of(change, publication.plan) for change in changes] == [False] * 2 + [
        True
    ] * 2
    assert [step.after for step in step_lines(work, publication)] == ["", "", WORDS, WORDS]


def test_the_html_report_says_it_beside_the_moves_and_the_steps(evaluation: Evaluation) -> None:
    assert render_html(evaluation).count(f"<small>not before {WORDS}</small>") == 4


def test_the_alert_orders_no_move_before_that(publication: Published) -> None:
    actions = [
        dict(labels)["action"] for name, labels, _ in all_samples(page(publication)) if name.endswith("actual_info")
    ]
    assert sorted(actions) == ["decide"] * 2 + ["none"] * (len(actions) - 2)
    assert len(actions) == 16


def test_cables_in_their_leaf_behind_a_wrong_name_affect_nobody(publication: Published) -> None:
    """Both ends are on the same leaf, whatever it is called: no rail is lost."""
    assert {line.kind: line.impact for line in cause_lines(view_of(publication))} == {"cable-swap": 0, "leaf-swap": 0}
    answer = job(publication, "h[1-8]")
    assert all(rail.connected == 8 for rail in answer.rails)
    assert answer.pairs.rerouted == answer.pairs.cut == 0


def test_where_says_that_a_name_alone_is_wrong(publication: Published) -> None:
    assert where(publication, "h1/nicb").summary.endswith("; only names are wrong, no cable to move")
    assert "only names" not in where(publication, "h1/nica").summary
    assert "only names" not in where(publication, "h4/nicc").summary
