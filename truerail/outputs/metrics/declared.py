"""Every metric as `metrics.toml` declares it: rendered and documented from there."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from typing import Final

PREFIX: Final = "truerail_"
SERVICE_PREFIX: Final = f"{PREFIX}service_"
"""The service names its own metrics; the known ones are declared, others are shown under their own names."""
SERVICE_SAYS: Final = "A figure of the service itself."


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


def kind_of(name: str) -> Kind:
    """The type of a metric of this name."""
    return Kind.COUNTER if name.endswith("_total") else Kind.GAUGE


def _read(text: str) -> dict[str, Declared]:
    rows = tomllib.loads(text).items()
    made = (
        Declared(PREFIX + name, kind_of(name), **row | {"labels": tuple(row["labels"].split())}) for name, row in rows
    )
    return {one.name: one for one in made}


CATALOGUE: Final = _read((files(__package__) / "metrics.toml").read_text(encoding="utf-8"))
"""Every metric by name, in the order of the reference."""


def declared(name: str) -> Declared:
    """The declaration of a metric, by its name without the prefix."""
    return CATALOGUE[PREFIX + name]
