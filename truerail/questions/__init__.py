"""On-call questions. Each file but `question.py` declares one as `QUESTION`: its arguments, answer, status and text."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from truerail.questions.question import Question


@cache
def questions() -> tuple[Question[Any], ...]:
    """All questions, in the order that `truerail --help` and the API show them."""
    names = [module.name for module in iter_modules(__path__) if not module.ispkg and module.name != "question"]
    found: list[Question[Any]] = [import_module(f"{__name__}.{name}").QUESTION for name in names]
    return tuple(sorted(found, key=lambda question: question.place))


def question_of(answer: object) -> Question[Any]:
    """The question that an answer answers."""
    return next(question for question in questions() if question.answer is type(answer))
