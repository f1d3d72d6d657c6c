"""Ready-made questions of the history: a file of SQL each, with a head that `ReadyQuestion.read` describes."""

from functools import cache
from pathlib import Path

from truerail.errors import NotFoundError
from truerail.files.problems import nearest
from truerail.history.ready.ready_question import ReadyQuestion
from truerail.model.names import printable


@cache
def ready_questions() -> dict[str, ReadyQuestion]:
    """All questions by name, in the order of their names."""
    files = sorted(Path(__file__).parent.glob("*.sql"), key=lambda path: path.stem)
    return {path.stem: ReadyQuestion.read(path.stem, path.read_text(encoding="utf-8")) for path in files}


def ready_question(name: str) -> ReadyQuestion:
    """The question of this name. Raises NotFoundError with the nearest name."""
    known = ready_questions()
    if name not in known:
        raise NotFoundError(f"question {printable(name, 80)!r} is not known{nearest(name, list(known))}")
    return known[name]
