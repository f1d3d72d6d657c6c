"""Names of devices that look like another device's, misspelled."""

import re
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from truerail.files.problems import Problem
from truerail.model.columns import grouped
from truerail.plans.lint_view import View

_ALIKE: Final = 0.75
"""Of the letters of two names, whose numbers are the same: `laef`, `leaf`."""
_TIMES: Final = 3
"""The right name has at least as many times the cables of the misspelled one."""
_DIGITS: Final = re.compile(r"\d+")


def misspelled_device(view: View) -> Iterator[Problem]:
    """A device that differs from one with far more cables in a letter or two of its name, or in upper and lower case;
    and no other device is spelled like it.
    """
    cables = Counter(end.device for cable in view.plan.cables for end in cable[:2])
    shapes = Counter(_DIGITS.sub("0", name) for name in cables)
    alike = grouped((tuple(_DIGITS.findall(name)), name) for name in cables)
    wrong = dict(_pairs(cables, shapes, alike))
    for cable in view.plan.cables:
        for end in cable[:2]:
            if right := wrong.pop(end.device, ""):
                says = f"{end.device} has {cables[end.device]} of the cables, did you mean {right!r}?"
                yield view.problem_of(cable, str(end), says)


def _pairs(
    cables: Counter[str], shapes: Counter[str], alike: dict[tuple[str, ...], list[str]]
) -> Iterator[tuple[str, str]]:
    """The misspelled name, and the right one."""
    for numbers, names in alike.items():
        rare = [name for name in names if shapes[_DIGITS.sub("0", name)] == 1] if numbers and len(names) > 1 else []
        for name in rare:
            others = (one for one in names if one != name and cables[one] >= _TIMES * cables[name])
            if right := next((one for one in others if _near(name, one)), ""):
                yield name, right


def _near(name: str, other: str) -> bool:
    one, two = (_DIGITS.sub("", word.lower()) for word in (name, other))
    return one == two or (abs(len(one) - len(two)) < 2 and SequenceMatcher(None, one, two).ratio() >= _ALIKE)
