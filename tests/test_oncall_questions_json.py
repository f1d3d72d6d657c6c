"""Answers to JSON and back, as the command line gets them from the service; and answers as text."""

import json
import types
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from random import Random
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.draws import draws
from tests.oncall_fabrics import PLANES, SPINES, published
from truerail.analysis.published import Published
from truerail.errors import AnswerError
from truerail.model import CauseKind
from truerail.model.history import NoHistory
from truerail.outputs.options import Options
from truerail.outputs.report_words import Tone
from truerail.questions import questions
from truerail.questions.answer_text import answer_text, tone_of
from truerail.questions.blast import blast
from truerail.questions.blast_answer import Blast
from truerail.questions.diff import diff_plan
from truerail.questions.diff_answer import Diff
from truerail.questions.job import job
from truerail.questions.path import path
from truerail.questions.where import where
from truerail.questions.why import why
from truerail.questions.why_answer import Why
from truerail.simulator import Fault
from truerail.views.device import DeviceView
from truerail.views.fabric import FabricView
from truerail.views.plain import answer_from_json, as_json

KINDS = tuple(question.answer for question in questions() if question.text)


@cache
def swapped() -> Published:
    return published(SPINES, Fault(CauseKind.CABLE_SWAP, "one-host"), Fault(CauseKind.UNREACHABLE, "hung"))


def made(kind: Any, random: Random) -> Any:
    """Any value of a field's type, small."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return random.choice((1, "x", None, [1.5]))
    if origin in (Union, types.UnionType):
        chosen = random.choice(inner)
        return None if chosen is types.NoneType else made(chosen, random)
    if origin is tuple:
        return tuple(made(inner[0], random) for _ in range(random.randint(0, 2)))
    if origin is not None:
        return {random.choice("abc"): made(inner[1], random) for _ in range(random.randint(0, 2))}
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{field.name: made(hints[field.name], random) for field in fields(kind)})
    plain: dict[Any, Any] = {
        str: random.choice(("", "gpu-001/a", "ü\x1b[2J\u202e", "right", "critical", "a, b\nc")),
        bool: random.random() < 0.5,
        int: random.randint(-(2**40), 2**40),
        float: random.uniform(-1, 2),
        datetime: datetime(2026, 11, 20, 14, tzinfo=UTC) + timedelta(seconds=random.randint(0, 9999)),
    }
    return plain[kind]


@settings(max_examples=25, deadline=None)
@given(kind=st.sampled_from([*KINDS, FabricView, DeviceView]), random=st.randoms(use_true_random=True))
def test_an_answer_comes_back_from_its_json(kind: type[Any], random: Random) -> None:
    answer = made(kind, random)
    assert answer_from_json(kind, json.loads(json.dumps(as_json(answer)))) == answer


def test_a_newer_service_may_say_more_and_a_broken_one_is_named() -> None:
    value = as_json(blast(swapped(), "leaf-1"))
    assert answer_from_json(Blast, {**value, "later": 1}) == blast(swapped(), "leaf-1")
    for broken, words in (
        ({**value, "hosts": {}}, r"Blast: Expected `array`, got `object` - at `\$.hosts`"),
        ({**value, "share_lost": "1"}, r"Expected `float`, got `str` - at `\$.share_lost`"),
        ({**value, "hosts_affected": True}, r"Expected `int`, got `bool` - at `\$.hosts_affected`"),
        ({**value, "hosts": [{"host": "x"}]}, r"missing required field `gpus` - at `\$.hosts\[0\]`"),
        ([], "Blast: Expected `object`, got `array`"),
    ):
        with pytest.raises(AnswerError, match=words):
            answer_from_json(Blast, broken)
    with pytest.raises(AnswerError, match=r"Invalid RFC3339 encoded datetime - at `\$\.start`"):
        answer_from_json(Diff, {**as_json(diff_plan(swapped())), "start": "soon"})


def some_answers() -> list[Any]:
    ids = [finding.id for finding in swapped().evaluation.findings]
    return [
        where(swapped(), swapped().evaluation.findings[0].subject),
        where(swapped(), "leaf-0"),
        job(swapped(), "gpu-[001-008]"),
        blast(swapped(), "leaf-0"),
        path(swapped(), "gpu-001", "gpu-002"),
        diff_plan(swapped()),
        *(why(swapped(), NoHistory(), one) for one in ids),
    ]


@pytest.mark.parametrize("details", [False, True])
def test_text_begins_with_the_answer_and_fits(details: bool) -> None:
    for answer in some_answers():
        for width in (60, 100):
            text = answer_text(answer, Options(width=width, details=details))
            assert max(map(len, text.splitlines())) <= width
            first = text.replace("\n", " ").strip()
            head = answer.finding.severity if isinstance(answer, Why) else answer.summary.split()[0].capitalize()
            assert head.lower() in first[:30].lower()


@settings(max_examples=draws(15, 160), deadline=None)
@given(kind=st.sampled_from(KINDS), random=st.randoms(use_true_random=True))
def test_hostile_names_are_made_safe(kind: type[Any], random: Random) -> None:
    text = answer_text(made(kind, random), Options(width=200, details=True))
    assert not {"\x1b", "\x07", "\u202e"} & set(text)


def test_tones() -> None:
    assert [tone_of(one) for one in some_answers()[:4]] == [Tone.BAD] * 4  # a leaf never goes without harm
    fine = published(PLANES)
    good = [where(fine, "gpu-001"), job(fine, "gpu-[001-008]"), path(fine, "gpu-001", "gpu-002"), diff_plan(fine)]
    assert {tone_of(one) for one in good} == {Tone.GOOD}
    hung = published(SPINES, Fault(CauseKind.UNREACHABLE, "hung"))
    host = hung.evaluation.causes[0].subjects[0]
    assert [tone_of(one) for one in (where(hung, host), blast(hung, host))] == [Tone.DOUBT, Tone.DOUBT]
