"""The journal of a front that cannot reach it: the judge reads it."""

from collections.abc import Callable
from typing import NoReturn

from truerail.errors import JournalUnavailableError, NotInViewError


class JudgeHistory:
    """Stands in place of a `History`. Each of its queries raises NotInViewError, so that the judge answers the whole
    question; while the judge is away JournalUnavailableError, so that what needs no journal is answered without it.
    """

    def __init__(self, away: Callable[[], bool]) -> None:
        self._away = away

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        def query(*_: object, **__: object) -> NoReturn:
            if self._away():
                raise JournalUnavailableError("the judge, which reads the journal, is away")
            raise NotInViewError(f"the journal's {name}")

        return query
