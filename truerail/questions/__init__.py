"""On-call questions. A file named in `index.py` declares one as `QUESTION`: parameters, answer, status and text."""

from functools import cache
from importlib import import_module
from typing import Any

from truerail.questions.question import Question
from truerail.questions.question_index import SHORT


def question_named(name: str) -> Question[Any]:
    """The question of this name."""
    question: Question[Any] = import_module(f"{__name__}.{name.replace('-', '_')}").QUESTION
    return question


@cache
def questions() -> tuple[Question[Any], ...]:
    """All questions, in the order of the index."""
    return tuple(map(question_named, SHORT))


def question_of(answer: object) -> Question[Any]:
    """The question that an answer answers: it is defined in the question's file, or beside it in `NAME_answer.py`."""
    return question_named(type(answer).__module__.rpartition(".")[2].removesuffix("_answer"))
