"""A round owns what is derived from it: computed once, for itself, and freed with it."""

import gc
import weakref
from contextlib import suppress
from functools import cached_property
from typing import Any

import pytest

from rules import rules
from truerail.analysis.round import Round
from truerail.analysis.rule import InsufficientDataError
from truerail.causes import explain
from truerail.rounds import evaluate
from truerail.testing.cases import scene

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


def test_what_rules_derive_alike_is_computed_once() -> None:
    asked: list[Round] = []

    def half(of: Round) -> None:
        asked.append(of)

    round = scene(rules()["CAB001"].fires[0])
    assert round.once(half) is round.once(half) is None
    assert asked == [round]


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
