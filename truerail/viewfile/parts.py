"""The parts of a publication as the view holds them, and what each part has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, NamedTuple

from truerail.analysis.published import CollectorRun, JournalState
from truerail.model.columns import Codes
from truerail.model.facts import Fact
from truerail.model.finding import Cause, Finding, Summary, Verdict
from truerail.model.life import Mute
from truerail.model.open_fault import OpenFault
from truerail.model.plan import Port
from truerail.model.step_marks import StepMark
from truerail.views.models import StepLine

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
    """A piece of evidence. `at` is None where it is that of the reading of this publication: a time that changes each
    round would make every finding a changed one.
    """

    device: str
    collector: str
    at: datetime | None
    fact: Fact


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
    facts: Sequence[tuple[Fact, ...]]


@dataclass(frozen=True, slots=True)
class StoredState:
    """What is small: everything else of a publication. `findings` and `causes` are their ids and keys, in order;
    `errors` are the places in the readings of those that failed, `answered` as in the exposition.
    """

    number: int
    fabric: str
    at: datetime
    plan_digest: str
    findings: tuple[str, ...]
    pending: tuple[str, ...]
    causes: tuple[str, ...]
    pending_causes: tuple[Cause, ...]
    mutes: Mapping[str, Mute]
    runs: Mapping[str, CollectorRun]
    journal: JournalState
    evaluated_seconds: float
    open_faults: tuple[OpenFault, ...]
    page_url: str
    verdicts: tuple[Verdict, ...]
    errors: tuple[int, ...]
    summary: Summary
    notes: tuple[str, ...]
    serials: Mapping[str, str]
    steps: tuple[StepLine, ...]
    marks: tuple[StepMark, ...]
    links: int
    rdma: int
    """Rows of the tables of facts."""
    figures: Mapping[str, float]
    """The judge's own metrics."""


StoredFinding = tuple[Any, ...]
"""The fields of a finding, `FINDING` in their order: all but its evidence, which is a part of its own."""
FINDING = tuple(field.name for field in fields(Finding) if field.name != "evidence")
Columns = Mapping[str, Any]
"""Columns of the wiring by name: arrays, and small sets."""
