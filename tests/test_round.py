"""Owners of derived values: computed once, for each owner, and freed with it."""

import gc
import weakref
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

import pytest

from rules import rules
from truerail.analysis.round import Round
from truerail.analysis.rule import InsufficientDataError
from truerail.causes import explain
from truerail.outputs.worklist import Worklist
from truerail.questions.find import find, names_of
from truerail.questions.rail_status import rail_status_of
from truerail.questions.where import where
from truerail.rounds import evaluate, publication_of
from truerail.testing.cases import scene
from truerail.views.fabric_map import fabric_map
from truerail.views.layout import Layout
from truerail.views.lines import cause_lines
from truerail.views.lists import step_lines
from truerail.views.view import warm

DERIVED = [name for name, value in vars(Round).items() if isinstance(value, cached_property)]
CASES = ("CAB001", "PFC001", "LBL001", "RAL002")


def derived(round: Round) -> dict[str, Any]:
    for name in DERIVED:
        with suppress(InsufficientDataError):
            getattr(round, name)
    return {name: vars(round)[name] for name in DERIVED if name in vars(round)}


@pytest.mark.parametrize("code", CASES)
def test_what_is_derived_is_computed_once(code: str) -> None:
    round = scene(rules()[code].fires[0])
    first = derived(round)
    assert {"cabling", "telemetry", "balance"} <= first.keys()
    assert all(getattr(round, name) is value for name, value in first.items())


@pytest.mark.parametrize("code", CASES)
def test_a_round_is_freed_without_the_garbage_collector(code: str) -> None:
    gc.disable()
    try:
        round = scene(rules()[code].fires[0])
        findings = evaluate(round).findings
        explain(round, findings)
        kept = [weakref.ref(round), weakref.ref(round.snapshot)]
        kept += [weakref.ref(value) for value in derived(round).values() if hasattr(value, "__weakref__")]
        assert len(kept) > 4
        del round
        assert [one() for one in kept] == [None] * len(kept)
    finally:
        gc.enable()


def test_rounds_of_one_plan_share_nothing_derived() -> None:
    round = scene(rules()["CAB001"].fires[0])
    assert Round(round.plan, round.snapshot).cabling is not round.cabling


def test_what_others_derive_is_computed_once_for_each_owner() -> None:
    asked: list[Round] = []

    def half(of: Round) -> None:
        asked.append(of)

    round = scene(rules()["CAB001"].fires[0])
    again = replace(round)
    assert round.once(half) is round.once(half) is again.once(half) is None
    assert asked == [round, again]


def test_what_raises_is_computed_again() -> None:
    asked: list[Round] = []

    def undecided(of: Round) -> None:
        asked.append(of)
        raise InsufficientDataError("too few")

    round = scene(rules()["CAB001"].fires[0])
    for _ in range(2):
        with pytest.raises(InsufficientDataError):
            round.once(undecided)
    assert asked == [round, round]


def test_two_who_derive_at_once_get_the_same_value() -> None:
    round = scene(rules()["CAB001"].fires[0])
    made: list[list[object]] = []

    def slow(of: Round) -> list[object]:
        mine: list[object] = [len(made)]
        made.append(mine)
        if mine == [0]:
            of.once(slow)  # the other is faster
        return mine

    assert round.once(slow) is round.once(slow) is made[1]


def test_an_owner_stays_what_it_was() -> None:
    plan = scene(rules()["CAB001"].fires[0]).plan
    same, words = replace(plan), repr(plan)
    plan.once(Layout)
    assert plan == same
    assert repr(plan) == words


def test_a_publication_is_freed_without_the_garbage_collector() -> None:
    """With all that its readers derived from it, and with its plan: nothing refers back to its owner."""
    gc.disable()
    try:
        publication = publication_of(scene(rules()["CAB001"].fires[0]))
        plan, view = publication.plan, warm(publication)
        derived = [view, view.sight, view.findings, view.layout, view.nics, rail_status_of(publication.evaluated)]
        derived += [names_of(publication.evaluated), plan.once(Layout)]
        for line in cause_lines(view):
            assert where(publication, line.subjects[0]).paths
        assert find(publication, "gpu")
        assert step_lines(Worklist(), publication) == ()
        assert fabric_map(publication) is fabric_map(publication)
        kept = [weakref.ref(one) for one in (publication, publication.evaluated, publication.round, plan, *derived)]
        del publication, plan, view, derived, line
        assert [one() for one in kept] == [None] * len(kept)
    finally:
        gc.enable()
