"""One test for many cases: each case is checked, and those that fail are listed with what is wrong with each."""

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet

Check = Callable[..., None]
_LONGEST_LABEL = 100


class HangsError(pytest.fail.Exception):
    """The time of the whole test is over, whichever case it is at."""


def each(
    names: str, cases: Iterable[Any] | Callable[..., Iterable[Any]], ids: Callable[[Any], object] = repr
) -> Callable[[Check], Check]:
    """`pytest.mark.parametrize` as one test. The cases may be a function of some fixtures, or of none, which is called
    when the test runs. All share the test's fixtures: what one of them changes there must not matter to the next.
    """
    fields, needs = names.split(", "), signature(cases).parameters if callable(cases) else ()

    def decorate(check: Check) -> Check:
        @wraps(check)
        def check_all(**fixtures: Any) -> None:
            wrong: list[tuple[str, BaseException]] = []
            given = [
                ParameterSet.extract_from(case, force_tuple=len(fields) == 1)
                for case in (cases(**{name: fixtures[name] for name in needs}) if callable(cases) else cases)
            ]
            assert given, "there is no case"
            for case in given:
                try:
                    check(**dict(zip(fields, case.values, strict=True)), **fixtures)
                except HangsError:
                    raise
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - whatever it is, it is shown
                    label = str(case.id or "-".join(str(ids(value)) for value in case.values))[:_LONGEST_LABEL]
                    wrong.append((label, error))
            if wrong:
                shown = "\n".join(f"{label}: {type(error).__name__}: {error}" for label, error in wrong)
                raise AssertionError(f"{len(wrong)} of {len(given)} cases fail:\n{shown}") from wrong[0][1]

        rest = [value for name, value in signature(check).parameters.items() if name not in fields]
        check_all.__signature__ = signature(check).replace(parameters=rest)  # type: ignore[attr-defined]  # for pytest
        return check_all

    return decorate
