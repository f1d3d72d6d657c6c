"""Ready-made questions of the history. Each file but `ready_question.py` declares one as `QUESTION`."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from truerail.errors import NotFoundError
from truerail.files.problems import nearest
from truerail.history.ready.ready_question import ReadyQuestion
from truerail.model.names import printable


@cache
def ready_questions() -> dict[str, ReadyQuestion]:
    """All questions by name, in the order of their names."""
    names = [module.name for module in iter_modules(__path__) if module.name != "ready_question"]
    found: list[ReadyQuestion] = [import_module(f"{__name__}.{name}").QUESTION for name in sorted(names)]
    return {question.name: question for question in found}


def ready_question(name: str) -> ReadyQuestion:
    """The question of this name. Raises NotFoundError with the nearest name."""
    known = ready_questions()
    if name not in known:
        raise NotFoundError(f"question {printable(name, 80)!r} is not known{nearest(name, list(known))}")
    return known[name]
