"""Causes of load last while their evidence scatters from round to round, and end when it is gone."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache
from itertools import pairwise
from random import Random

from tests.draws import draws
from tests.each import each
from truerail.analysis.round import Round
from truerail.analysis.rule import Case
from truerail.causes.lasting import LAST_FOUND
from truerail.model import CauseKind, Evaluation, Status
from truerail.model.finding import WINDOW, Lasting
from truerail.rounds import evaluate
from truerail.testing.cases import scene

LEAVES, SPINES, TOPS = 32, 4, 8
PLAN = "\n".join(
    [f"leaf-{n}/up{s} spine-{s}/down{n} speed=400" for n in range(LEAVES) for s in range(SPINES)]
    + [f"spine-{s}/up{t} superspine-{t}/down{s} speed=400" for s in range(SPINES) for t in range(TOPS)]
)
BELOW = {f"leaf-{n}/up{s}": {"tx_bytes": 12e10 / LEAVES} for n in range(LEAVES) for s in range(SPINES)}
EVERY = timedelta(seconds=10)


@cache
def seen(word: str) -> Round:
    """A round: the hash is repeated (`same`), the same with a little traffic on the other uplinks (`blurred`), or one
    spine alone is uneven (`uneven`), or none (`even`).
    """
    rest = {"same": 0.0, "blurred": 0.1, "uneven": 1.0, "even": 1.0}[word]
    load = {
        f"spine-{s}/up{t}": {"tx_bytes": 6e10 if t % SPINES == s and word != "even" else 6e10 * rest}
        for s in range(SPINES)
        for t in range(TOPS)
    }
    return scene(Case(plan=PLAN, rates=BELOW | load))


@cache
def after(words: tuple[str, ...]) -> Evaluation:
    """What is published of the last of rounds that follow each other."""
    round, later = seen(words[-1]), EVERY * (len(words) - 1)
    snapshot = replace(round.snapshot, at=round.snapshot.at + later)
    lasting = after(words[:-1]).lasting if words[:-1] else Lasting()
    return evaluate(replace(round, snapshot=snapshot, lasting=lasting))


def watched(words: Sequence[str]) -> list[Evaluation]:
    """What is published of each of them."""
    return [after(tuple(words[:number])) for number in range(1, len(words) + 1)]


def kinds(evaluation: Evaluation) -> set[CauseKind]:
    return {cause.kind for cause in evaluation.causes}


def test_the_rounds_are_what_they_are_said_to_be() -> None:
    assert kinds(evaluate(seen("same"))) == {CauseKind.ECMP_POLARIZATION}
    assert kinds(evaluate(seen("blurred"))) == {CauseKind.OVERLOAD}
    assert kinds(evaluate(seen("even"))) == set()


@each("seed", range(draws(2, 40)))
def test_a_repeated_hash_stays_the_cause_while_loads_scatter(seed: int) -> None:
    rng = Random(seed)
    words = ["same"] * 5 + rng.choices(["same", "blurred", "even"], [3, 3, 1], k=draws(40, 60))
    for word, evaluation in zip(words, watched(words), strict=True):
        assert kinds(evaluation) == (set() if word == "even" else {CauseKind.ECMP_POLARIZATION}), word
        assert len(evaluation.causes) <= 1


def test_what_is_held_says_so_and_its_rule_does_not_pass() -> None:
    found, held = watched(["same", "blurred"])
    key = {cause.key for cause in found.causes}
    assert {cause.key for cause in held.causes} == key
    marked = [one for one in held.findings if dict(one.detail).get(LAST_FOUND) == found.at.isoformat()]
    assert {one.rule for one in marked} == {"LBL001"}
    assert {one.id for one in marked} <= set(held.causes[0].explains)
    assert {one.status for one in held.verdicts if one.rule == "LBL001"} == {Status.FAIL}


@each("before", [1, 12, 40])
def test_a_cause_gives_way_once_to_the_one_that_the_window_shows(before: int) -> None:
    words = ["same"] * before + ["blurred"] * (WINDOW // EVERY + 1)
    published = [kinds(evaluation) for evaluation in watched(words)]
    turns = [number for number, (one, other) in enumerate(pairwise(published)) if one != other]
    assert len(turns) == 1
    assert published[-1] == {CauseKind.OVERLOAD}


def test_a_rule_that_outranks_the_cause_replaces_it_at_once() -> None:
    published = watched(["blurred"] * 40 + ["same"])
    assert kinds(published[-2]) == {CauseKind.OVERLOAD}
    assert kinds(published[-1]) == {CauseKind.ECMP_POLARIZATION}


def test_a_repaired_fabric_has_no_cause() -> None:
    assert kinds(watched(["same"] * 40 + ["even"])[-1]) == set()
