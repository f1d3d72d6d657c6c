"""Long lists in parts, while new evaluations arrive."""

import dataclasses

import pytest

from tests.api_client import Api, problem_of
from tests.fake_tower import fabric, published
from truerail.analysis.published import EvaluatedRound, Published
from truerail.analysis.round import Round
from truerail.rounds import evaluate


def _without(shown: Published, *gone: int) -> Published:
    kept = tuple(one for number, one in enumerate(shown.evaluation.findings) if number not in gone)
    evaluation = dataclasses.replace(shown.evaluation, findings=kept)
    return dataclasses.replace(shown, evaluated=dataclasses.replace(shown.evaluated, evaluation=evaluation))


def test_parts_make_up_the_whole(api: Api) -> None:
    for url in ("devices", "cables", "ports", "findings", "causes", "verdicts"):
        whole = api.json(url, limit=1000)
        assert whole["next"] is None
        assert whole["total"] == len(whole["items"]) > 2
        assert list(api.all(url, limit=max(whole["total"] // 3, 1))) == whole["items"], url


def test_history_in_parts(api: Api) -> None:
    api.tower.remember(links=25, rounds=25)
    assert [row["number"] for row in api.all("rounds", limit=10)] == list(range(25, 0, -1))
    assert [row["seq"] for row in api.all("history", limit=7)] == list(range(25, 0, -1))
    assert [row["seq"] for row in api.all("history", kind="findings", limit=25)] == list(range(25, 0, -1))


def test_history_goes_on_behind_its_row_while_new_ones_come(api: Api) -> None:
    api.tower.remember(rounds=10)
    first = api.json("rounds", limit=4)
    api.tower.history.kept_rounds.append(dataclasses.replace(api.tower.history.kept_rounds[-1], number=11))
    following = api.json("rounds", limit=4, cursor=first["next"])
    assert [row["number"] for row in following["items"]] == [6, 5, 4, 3]


def test_a_list_goes_on_in_a_new_evaluation(api: Api) -> None:
    first = api.json("cables", limit=50)
    simulation, seen = fabric(faults=False)
    round = Round(simulation.plan, seen)
    api.tower.publish(dataclasses.replace(published(), evaluated=EvaluatedRound(round, evaluate(round))))
    second = api.json("cables", limit=1000, cursor=first["next"])
    subjects = [row["subject"] for row in (*first["items"], *second["items"])]
    assert subjects == [row["subject"] for row in api.json("cables", limit=1000)["items"]]
    assert {row["state"] for row in second["items"]} == {"right"}


def test_a_row_that_left_before_the_cursor_moves_nothing(api: Api) -> None:
    ids = [row["id"] for row in api.json("findings", limit=1000)["items"]]
    first = api.json("findings", limit=3)
    api.tower.publish(_without(published(), 0, 2))
    following = api.json("findings", limit=1, cursor=first["next"])
    assert [row["id"] for row in following["items"]] == [ids[3]]


def test_a_list_that_moved_on_says_so(api: Api) -> None:
    first = api.json("findings", limit=2)
    api.tower.publish(_without(published(), 0, 1))
    problem = problem_of(api.get("findings", limit=2, cursor=first["next"]), 410)
    assert problem["type"] == "urn:truerail:problem:list-moved-on"


def test_a_cursor_belongs_to_its_own_question(api: Api) -> None:
    cursor = api.json("cables", limit=2, rail=1)["next"]
    assert api.json("cables", limit=5, rail=1, cursor=cursor)["items"]
    for url, query in (("cables", {}), ("cables", {"rail": 2}), ("devices", {}), ("rounds", {})):
        problem_of(api.get(url, cursor=cursor, **query), 400)


@pytest.mark.parametrize("cursor", ["AAAA", "W10", "bnVsbA", "W1siYSJdXQ", "é", "WyJhIiwiYiIsMWU5OTksIngiXQ", "=" * 9])
def test_a_cursor_that_nobody_gave(api: Api, cursor: str) -> None:
    for url in ("cables", "rounds"):
        problem_of(api.get(url, cursor=cursor), 400)
