"""One meaning, one colour, on every board; the same as on truerail's own page.

Unknown is purple and never green. What has no data is unknown, so the lowest step of every scale, which Grafana also
gives to no value at all, is purple: a panel turns green only where a figure says so.
"""

from collections.abc import Iterable
from typing import Final

from grafana_foundation_sdk.builders.dashboard import ThresholdsConfig
from grafana_foundation_sdk.models.dashboard import (
    DashboardSpecialValueMapOptions,
    SpecialValueMap,
    SpecialValueMatch,
    Threshold,
    ThresholdsMode,
    ValueMap,
    ValueMapping,
    ValueMappingResult,
)

RIGHT: Final = "green"
UNKNOWN: Final = "purple"
MISSING: Final = "orange"
WRONG: Final = "red"
NEUTRAL: Final = "blue"
"""A figure that is neither good nor bad."""

STATES: Final = {0: ("right", RIGHT), 1: ("unknown", UNKNOWN), 2: ("missing", MISSING), 3: ("wrong", WRONG)}
"""The values of `truerail_link_state` and its like: word and colour."""
WORDS: Final = {
    "right": RIGHT, "pass": RIGHT, "keeping": RIGHT, "both ends": RIGHT,
    "unknown": UNKNOWN, "none": UNKNOWN, "error": UNKNOWN, "off": UNKNOWN,
    "missing": MISSING, "warning": MISSING, "device only": MISSING, "recovering": MISSING,
    "wrong": WRONG, "broken": WRONG, "critical": WRONG, "fail": WRONG, "failing": WRONG,
    "info": NEUTRAL, "one end": NEUTRAL, "other sources": NEUTRAL, "not applicable": NEUTRAL,
}  # fmt: skip
"""The colour of a word, wherever it is a label's value."""

Steps = tuple[tuple[float, str], ...]
"""Where a scale changes its colour, from 0 up. Below the first step is what is not known."""

PLAIN: Final[Steps] = ((0, NEUTRAL),)


def rising(warning: float, critical: float | None = None) -> Steps:
    """A scale on which high is bad: green below `warning`, orange from there, red from `critical`."""
    bad = ((warning, MISSING),) if critical is None else ((warning, MISSING), (critical, WRONG))
    return ((0, RIGHT), *bad)


def falling(good: float, fair: float) -> Steps:
    """A scale on which low is bad: red below `fair`, orange from there, green from `good`."""
    return (0, WRONG), (fair, MISSING), (good, RIGHT)


def none_is_right(bad: str = WRONG) -> Steps:
    """A scale for counts of what should not be: green at 0, `bad` from 1."""
    return (0, RIGHT), (1, bad)


def thresholds(steps: Steps) -> ThresholdsConfig:
    """A scale as Grafana takes it. Its lowest step is unknown's."""
    lowest = Threshold(value=None, color=UNKNOWN)
    above = [Threshold(value=float(value), color=color) for value, color in steps]
    return ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps([lowest, *above])


def said(words: dict[int, tuple[str, str]]) -> list[ValueMapping]:
    """Values shown as words in colours."""
    results = {str(value): ValueMappingResult(text=word, color=color) for value, (word, color) in words.items()}
    return [ValueMap(options=results), *unknown_values()]


def coloured(words: Iterable[str]) -> list[ValueMapping]:
    """Words shown in their colours. Words that have none are left as they are."""
    return [ValueMap(options={word: ValueMappingResult(color=WORDS[word]) for word in words if word in WORDS})]


def unknown_values() -> list[ValueMapping]:
    """A quotient without a value, shown as what it is. No value at all shows the panel's own words for that."""
    return [_special(SpecialValueMatch.NA_N, "unknown", UNKNOWN)]


def blank() -> list[ValueMapping]:
    """A place in a table that the plan leaves empty."""
    return [_special(SpecialValueMatch.NULL, "", "transparent")]


def _special(match: SpecialValueMatch, text: str, color: str) -> ValueMapping:
    result = ValueMappingResult(text=text, color=color)
    return SpecialValueMap(DashboardSpecialValueMapOptions(match=match, result=result))
