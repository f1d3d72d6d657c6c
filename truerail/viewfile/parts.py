"""The parts of a publication as the view holds them, and what each part has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, NamedTuple, TypedDict, TypeVar, get_type_hints

import msgspec

from truerail.analysis.published import Published
from truerail.link.codec import facts_of
from truerail.link.messages import KindRows
from truerail.model.columns import Codes, Mask
from truerail.model.facts import Fact, GpuNicPath
from truerail.model.finding import Evaluation, Finding
from truerail.model.plan import Plan, Port
from truerail.model.step_marks import StepMark
from truerail.views.pieces import StepLine

METRICS = "metrics"
"""The kind of the parts of the scrape page."""
ROWS = 256
"""Rows of a table of facts in one part: a look-up decodes one part, in less than a millisecond."""
CABLES = 500
"""Cables of the plan in one part."""
READINGS = 500
"""Readings, lives or steps in one part: decoding one holds the interpreter for about a millisecond."""


class StoredReading(NamedTuple):
    """A reading without its facts."""

    device: str
    collector: str
    at: datetime
    error: str
    took_seconds: float
    source: str
    read_at: float


class StoredEvidence(NamedTuple):
    """The source of each fact of a finding's evidence: device, collector, and when, which is None where it is the time
    of the reading of this publication: a time that changes each round would make every finding a changed one.
    """

    sources: list[tuple[str, str, datetime | None]]
    facts: list[KindRows]

    def restored(self) -> list[tuple[str, str, datetime | None, Fact]]:
        """Each source with its fact. Raises BusMessageError, and ValueError where they are not as many."""
        return [(*source, fact) for source, fact in zip(self.sources, facts_of(self.facts), strict=True)]


@dataclass(frozen=True, slots=True)
class SeenNames:
    """Devices and ports beside those of the plan: names, keys and packed codes as `model.index` has them."""

    devices: Sequence[str]
    keys: Mapping[str, int]
    named: Mapping[str, str]
    called: Mapping[Port, str]
    spellings: Sequence[str]
    packed: Codes


@dataclass(frozen=True, slots=True)
class StoredTopologies:
    """The topology that each host reports: `facts[of[i]]` is that of the host with code `host[i]`."""

    host: Codes
    of: Codes
    facts: list[tuple[GpuNicPath, ...]]


@dataclass(frozen=True, slots=True)
class PageContents:
    """All of the scrape page but the text of the series: the heads of the metrics, and the bytes of each pod in each of
    them.
    """

    pods: tuple[str, ...]
    heads: tuple[str, ...]
    sizes: tuple[tuple[int, ...], ...]
    wide: bytes
    answered: Mapping[str, datetime]


class DerivedStates(TypedDict):
    """What `PortStates.derived` gives."""

    _link_words: tuple[Codes, Codes]
    _trained: Mask
    rdma_active: Codes


S = TypeVar("S", bound=msgspec.Struct)


def _without(kind: type[Any], *left_out: str) -> type[msgspec.Struct]:
    """The type of parts that have all of a value but some fields."""
    hints = get_type_hints(kind)
    names = [one.name for one in fields(kind) if one.init and one.name not in left_out]
    return msgspec.defstruct(f"Stored{kind.__name__}", [(name, hints[name]) for name in names], array_like=True)


def stored(kind: type[S], value: Any) -> S:
    """What a type that `_without` gave has of a value."""
    return kind(*(getattr(value, name) for name in kind.__struct_fields__))


StoredPlan = _without(Plan, "cables")
StoredFinding = _without(Finding, "evidence")
StoredEvaluation = _without(Evaluation, "plan", "findings", "causes", "collection_errors", "cable_states", "lasting")
StoredPublished = _without(Published, "evaluated", "lives", "cause_lives", "pending_resolution", "traffic", "hindsight")


@dataclass(frozen=True, slots=True)
class StoredState:
    """What is small: everything else of a publication. `findings` and `causes` are their ids and keys, in order;
    `errors` are the places in the readings of those that failed.
    """

    published: StoredPublished  # type: ignore[valid-type]  # made from the class
    evaluation: StoredEvaluation  # type: ignore[valid-type]
    findings: tuple[str, ...]
    pending: tuple[str, ...]
    causes: tuple[str, ...]
    errors: tuple[int, ...]
    steps: tuple[StepLine, ...]
    marks: tuple[StepMark, ...]
    links: int
    rdma: int
    """Rows of the tables of facts."""
    figures: Mapping[str, float]
    """The judge's own metrics."""


Columns = Mapping[str, Any]
"""Columns of the wiring by name: arrays, and small sets."""
