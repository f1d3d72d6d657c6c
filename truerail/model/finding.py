"""Deviations (`Finding`), their causes (`Cause`), what could not be evaluated (`Verdict`), and all of it together
(`Evaluation`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import blake2s
from math import log
from typing import Any, NamedTuple

from truerail.model.cause_kinds import CAUSE_KINDS, CauseKind
from truerail.model.fact_kinds import KINDS
from truerail.model.facts import Fact
from truerail.model.plan import Plan, Port
from truerail.model.reading import Reading


class Severity(StrEnum):
    """How severe a finding is. `rank` grows with severity."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 info, 1 warning, 2 critical."""
        return ("info", "warning", "critical").index(self.value)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One fact on which a finding is based, and the device that reported it."""

    device: str
    collector: str
    at: datetime
    fact: Fact

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "device": self.device,
            "collector": self.collector,
            "at": self.at.isoformat(),
            "kind": type(self.fact).__name__,
            "fact": {key: value for key, value in self.fact._asdict().items() if value not in (None, ())},
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """One deviation of the fabric from its plan or its intended state. `subject` is a port or a device, named as in the
    plan.
    """

    rule: str
    name: str
    severity: Severity
    subject: str
    summary: str
    action: str
    expected: str | None = None
    observed: str | None = None
    rail: int | None = None
    confidence: float = 1.0
    evidence: tuple[Evidence, ...] = ()
    detail: tuple[tuple[str, Any], ...] = ()
    """Further fields specific to the rule, such as ("reason", "link down"); shown in JSON beside the others."""

    @property
    def id(self) -> str:
        """Stable over rounds and restarts: depends only on the rule and the subject."""
        return blake2s(f"{self.rule}\0{self.subject}".encode(), digest_size=6).hexdigest()

    @property
    def device(self) -> str:
        """The device part of the subject."""
        return self.subject.partition("/")[0]


UNPROVEN = "its order of moves cannot be followed"
"""Part of the summary of a cause whose order was refused."""


@dataclass(frozen=True, slots=True)
class Move:
    """Unplug the cable of `cable` (the end that stays, with its present name) from `source` and plug it into `target`.

    `after` describes the repairs that must come first; both ports then have their names after these repairs.
    `after_causes` are the keys of the causes to repair first.
    """

    cable: Port
    source: Port
    target: Port
    after: str = ""
    after_causes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rename:
    """What is found under the name `actual` is `planned` in the plan: a device, or `device/port` for a NIC of a host
    under its planned name.
    """

    actual: str
    planned: str


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another explanation of the same findings that the evidence does not rule out."""

    kind: CauseKind
    summary: str
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True)
class Cause:
    """One fault, the findings it explains, and the fewest moves that fix it."""

    id: str
    kind: CauseKind
    subjects: tuple[str, ...]
    summary: str
    action: str
    explains: tuple[str, ...] = ()
    """Ids of findings."""
    moves: tuple[Move, ...] = ()
    confidence: float = 1.0
    alternatives: tuple[Alternative, ...] = ()
    to_confirm: str = ""
    """What to check if the evidence cannot decide between this and the alternatives."""
    names_only: bool = False
    """Only names are wrong: every cable carries its planned traffic to the planned place, so there is no impact."""
    renames: tuple[Rename, ...] = ()
    """The names to change; as sure as the cause is."""

    @property
    def undecided(self) -> bool:
        """Whether swapped cables explain it as well as swapped names, so that nothing is moved: its impact is then that
        of the cables that may be wrong.
        """
        return CAUSE_KINDS[self.kind].exchange and bool(self.alternatives) and not (self.moves or self.names_only)

    @property
    def unproven(self) -> bool:
        """Whether it had an order of moves that the replay refused (`truerail.verify`)."""
        return UNPROVEN in self.summary

    @property
    def key(self) -> str:
        """Stable over rounds and restarts, unlike `id`: depends only on the kind and the subjects."""
        return cause_key(self.kind, self.subjects)


def cause_key(kind: CauseKind, subjects: Iterable[str]) -> str:
    """The key of a cause of this kind about these subjects."""
    return blake2s("\0".join((kind, *sorted(subjects))).encode(), digest_size=6).hexdigest()


def causes_before(move: Move, causes: Iterable[Cause]) -> tuple[str, ...]:
    """The ids of the causes that must be repaired before a move."""
    return tuple(cause.id for cause in causes if move.after_causes and cause.key in move.after_causes)


NOTHING_YET = "Nothing yet"
"""The first words of an action that is to look again later."""


def is_down(kind: str, subjects: Sequence[str], summary: str) -> bool:
    """Whether a cause is a device that is down, and not only one that does not answer."""
    return kind == CauseKind.UNREACHABLE and any(summary.startswith(f"{name} is down:") for name in subjects)


def waits(action: str) -> bool:
    """Whether an action is to look again later, and no work now."""
    return action.startswith(NOTHING_YET)


def action_of(finding: Finding, cause: Cause | None) -> str:
    """What to do about a finding: its cause's action, if it has one.

    A rule sees one cable and suggests a move; the cause shows that it is one of a hundred due to a swapped name.
    """
    return cause.action if cause is not None and cause.action else finding.action


def with_actions(findings: Iterable[Finding], causes: Iterable[Cause]) -> tuple[Finding, ...]:
    """The findings with the actions of their causes, so that no output can contradict a cause."""
    cause_of = {explained: cause for cause in causes for explained in cause.explains}
    actions = ((finding, action_of(finding, cause_of.get(finding.id))) for finding in findings)
    return tuple(one if action == one.action else replace(one, action=action) for one, action in actions)


class Status(StrEnum):
    """A rule's verdict on the whole fabric."""

    PASS = "pass"  # noqa: S105 - a verdict, not a secret
    FAIL = "fail"
    UNKNOWN = "unknown"
    NOT_APPLICABLE = "not applicable"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class NotEvaluated:
    """A part of the fabric that a rule could not evaluate: `why` is a sentence without its full stop, `count` of `of`
    things of the kind `what` ("cable", "link", "host", "switch", ...) are the part; both are 0 if it has no number.
    """

    why: str
    what: str = ""
    count: int = 0
    of: int = 0
    subjects: tuple[str, ...] = ()
    """Devices or `device/port`, named as in the plan: examples of the part, or all of it."""
    rest_evaluated: bool = False
    """Whether the rule evaluated everything else: a finding that is neither on a cable of unknown state nor about one
    of the `subjects` would have been found again.
    """

    @property
    def examples(self) -> tuple[str, ...]:
        """The first few subjects."""
        return self.subjects[:MOST_EXAMPLES]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"what": self.what, "count": self.count, "of": self.of, "why": self.why, "examples": list(self.examples)}


MOST_EXAMPLES = 8


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rule's verdict: `missing` names the kinds of facts that no device reported, `why` any other reason that
    prevents the evaluation, `error` an internal failure.

    `not_evaluated` are the parts of the fabric that it could not evaluate, even beside findings: the status is then
    `fail`, and `why` names what it does not cover. Without findings the status is `unknown`.
    """

    rule: str
    status: Status
    missing: tuple[str, ...] = ()
    why: str = ""
    error: str = ""
    not_evaluated: tuple[NotEvaluated, ...] = ()
    ready_at: datetime | None = None
    """When there will be counters for long enough, if that may be all that is missing."""

    @property
    def incomplete(self) -> bool:
        """Whether a part of the fabric, or all of it, could not be evaluated."""
        return self.status is Status.UNKNOWN or bool(self.not_evaluated)

    @property
    def reason(self) -> str:
        """Why it is unknown, as a sentence without its full stop."""
        return self.why or f"no answer has {' or '.join(map(_in_words, self.missing)) or 'what it needs'}"

    @property
    def missing_words(self) -> str:
        """What no answer has, for an operator: `PCIe links`; empty if nothing is missing."""
        return " or ".join(_words(kind) or kind for kind in self.missing)


def _in_words(kind: str) -> str:
    """A kind of facts in words, followed by its name in the catalogue."""
    words = _words(kind)
    return f"{words} ({kind})" if words else kind


def _words(kind: str) -> str:
    return next((known.words for found, known in KINDS.items() if found.__name__ == kind), "")


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts over planned cables and hosts. Right, wrong, missing and unknown add up to planned."""

    cables_planned: int
    cables_right: int
    cables_wrong: int
    cables_missing: int
    cables_unknown: int
    hosts: int
    hosts_read: int
    findings: Mapping[str, int]


# ----------------------------------------------------------------------------------------------------------------------
# What earlier rounds showed of causes of load: a value, each round makes the next one.

WINDOW = timedelta(minutes=5)
"""Evidence counts for as long as the counters' window is: 30 samples, 10 s apart."""
SUREST = 0.999
"""Confidence above this counts as this: no round alone decides for all others."""


class Sighting(NamedTuple):
    """A round that found a cause, and what it weighs: -ln(1 - confidence), the weight of evidence of I. J. Good."""

    at: datetime
    weight: float


@dataclass(frozen=True, slots=True)
class Lasting:
    """Causes of load over a window, by their keys. `found` is when each was found, whether or not it was published;
    `published` are the last round's, with the findings on which each rests, as they were last found.
    """

    found: Mapping[str, tuple[Sighting, ...]] = field(default_factory=dict)
    published: Mapping[str, tuple[Finding, ...]] = field(default_factory=dict)

    def later(self, at: datetime, found: Iterable[Cause]) -> "Lasting":
        """With the causes that one more round found, without what the window has left."""
        kept = {key: tuple(one for one in of if at - WINDOW < one.at < at) for key, of in self.found.items()}
        for cause in found:
            sighting = Sighting(at, -log(1 - min(cause.confidence, SUREST)))
            kept[cause.key] = (*kept.get(cause.key, ()), sighting)
        return Lasting({key: of for key, of in kept.items() if of}, self.published)

    def last(self, key: str) -> datetime:
        """When a cause was last found."""
        return self.found[key][-1].at

    def outweighs(self, held: str, others: Iterable[str]) -> bool:
        """Whether the window has as much evidence of a cause as of each of the others since it was last found."""
        last, weight = self.last(held), sum(one.weight for one in self.found[held])
        return all(weight >= sum(one.weight for one in self.found.get(other, ()) if one.at > last) for other in others)


# ----------------------------------------------------------------------------------------------------------------------
# The result of a round.


@dataclass(frozen=True)
class Evaluation:
    """The whole result of a round. `cause_of` maps a finding's id to its cause's id."""

    at: datetime
    plan: Plan
    findings: tuple[Finding, ...]
    causes: tuple[Cause, ...]
    verdicts: tuple[Verdict, ...]
    collection_errors: tuple[Reading, ...]
    summary: Summary
    cable_states: Mapping[Port, "CableState"]
    notes: tuple[str, ...] = ()
    """Remarks in addition to findings: an inferred plan and its support, unknown files, clocks, ..."""
    serials: Mapping[str, str] = field(default_factory=dict)
    """Serial numbers of modules and cables on the devices of causes, as they report them, by port."""
    lasting: Lasting = field(default_factory=Lasting)
    """What the next round needs to know of causes of load."""

    @property
    def cause_of(self) -> dict[str, str]:
        """Finding id to cause id."""
        return {finding: cause.id for cause in self.causes for finding in cause.explains}

    def at_or_above(self, severity: Severity) -> tuple[Finding, ...]:
        """The findings of at least this severity."""
        return tuple(f for f in self.findings if f.severity.rank >= severity.rank)


class CableState(StrEnum):
    """The state of a planned cable. `UNKNOWN` is never shown as right; `PENDING`: its host is down."""

    RIGHT = "right"
    WRONG = "wrong"
    MISSING = "missing"
    UNKNOWN = "unknown"
