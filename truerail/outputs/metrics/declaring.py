"""The declaration of a metric, and the catalogue of all of them."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

PREFIX: Final = "truerail_"


class Kind(StrEnum):
    """The types of the text format in use."""

    GAUGE = "gauge"
    COUNTER = "counter"


@dataclass(frozen=True, slots=True)
class Declared:
    """One metric. `labels` are all that its series may have, `query` an example in PromQL."""

    name: str
    kind: Kind
    unit: str
    labels: tuple[str, ...]
    summary: str
    query: str


Wanted = Callable[[Declared], bool]
"""Whether a metric is wanted."""


CATALOGUE: Final[dict[str, Declared]] = {}
"""Every metric by name, in the order of the reference."""


def _declare(kind: Kind, name: str, unit: str, labels: str, summary: str, query: str) -> Declared:
    declared = Declared(PREFIX + name, kind, unit, tuple(labels.split()), summary, query)
    if CATALOGUE.setdefault(declared.name, declared) is not declared:
        raise ValueError(f"{declared.name} is declared twice")
    return declared


def gauge(name: str, unit: str, labels: str, summary: str, query: str) -> Declared:
    """Declares a gauge; `labels` are separated by blanks."""
    return _declare(Kind.GAUGE, name, unit, labels, summary, query)


def counter(name: str, unit: str, labels: str, summary: str, query: str) -> Declared:
    """Declares a counter."""
    return _declare(Kind.COUNTER, name, unit, labels, summary, query)


LINK: Final = "fabric pod host rail plane nic"
UPLINK: Final = "fabric pod switch switch_port"
"""Labels that identify a cable of a host, and one between switches by its lower end."""
