"""Assigns findings to roots: roots claim findings rank by rank, the nearest root first."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from typing import Any

from rules import rules
from truerail.analysis.pfc.reasons import Reason
from truerail.causes.candidate import CauseCandidate
from truerail.causes.telemetry.crossing import Crossing
from truerail.causes.telemetry.found import FabricContext, Found
from truerail.causes.telemetry.precedence import PROBED
from truerail.causes.telemetry.roots import RootCandidate, reached, root_of_finding
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import grouped
from truerail.model.finding import Finding
from truerail.model.names import some

# ----------------------------------------------------------------------------------------------------------------------
# Texts of causes known by counters, and of the traffic related to causes of the cabling.

_BY_REASON: Mapping[str, CauseKind] = {
    Reason.INCAST.value: CauseKind.OVERLOAD,
    Reason.EGRESS_UNREPORTED.value: CauseKind.OVERLOAD,
    Reason.DEGRADED_LINK.value: CauseKind.DEGRADED_LINK,
    Reason.NOT_MONITORED.value: CauseKind.UNKNOWN,
}
NAMED = 3


def kind_of(finding: Finding) -> CauseKind:
    """The kind of cause that an otherwise unexplained finding becomes."""
    if finding.rule == "PFC002":
        return _BY_REASON.get(str(dict(finding.detail).get("sub_cause")), CauseKind.SLOW_HOST)
    if finding.rule == "RAL001" and dict(finding.detail).get("because") == "congestion":
        return CauseKind.OVERLOAD
    if finding.rule in PROBED and _may_be_the_cable(dict(finding.detail)):
        return CauseKind.UNKNOWN
    return rules()[finding.rule].cause or CauseKind.UNKNOWN


def _may_be_the_cable(detail: Mapping[str, Any]) -> bool:
    """Whether a probe's finding may come from a cable in another place: LLDP, or a look, decides that. A cable that is
    right is no cause of it, nor is a NIC that carries what is bound to it.
    """
    elsewhere = detail.get("because", "first hop") in ("first hop", "exchanged")
    return detail.get("cable", "right") != "right" and elsewhere and not detail.get("bound_arrives")


def said_of(finding: Finding) -> str:
    """A finding's summary, with its subject if the summary does not name it."""
    return finding.summary if finding.subject in finding.summary else f"{finding.subject}: {finding.summary}"


def behind(symptoms: Sequence[Finding]) -> str:
    """One sentence on the symptoms that a cause explains."""
    where = grouped((symptom.name.replace("_", " "), symptom.subject) for symptom in symptoms)
    parts = [f"{rule} at {some(names, NAMED)}" for rule, names in where.items()]
    return f"It explains {'; '.join(parts)}"


def impact(ground: FabricContext, crossing: Crossing) -> str:
    """One sentence on a wrong-rail cable's effect on traffic, or that it cannot be measured."""
    spell = ground.wiring.index.spell
    if isnan(crossing.gbps):
        named = some([str(spell(port)) for port in crossing.unreported], NAMED)
        return f"Its effect on traffic is unknown: no counters of {named}"
    if crossing.idle:
        return "It carries no traffic now, so it has no impact yet"
    who = "Its NIC sends" if crossing.nics == 1 else f"Its {crossing.nics} NICs send"
    summary = f"{who} {crossing.gbps:.0f} Gb/s, which have to cross the spines"
    if not crossing.confirmed:
        return f"{summary}; the uplinks do not confirm it"
    if isnan(crossing.share) or crossing.share <= 0:
        return f"{summary}, as the uplinks confirm"
    return f"{summary}: {min(crossing.share, 1):.0%} of what its leaves send upwards beyond their peers"


# ----------------------------------------------------------------------------------------------------------------------
# Roots and what they claim.

BLAMELESS = (
    "the other end of its flows has no link",
    "the host at the other end of its flows is idle",
    "the switch that sends receives as many errors and passes them on",
)
"""`because` in the detail: RAL001's for a NIC whose peer has no link or whose peer's host is idle, LNK004's for a link
that receives what another one broke.
"""

_OF_SWITCHES = (Reason.EGRESS_UNREPORTED.value, Reason.INCAST.value)


@dataclass
class Correlator:
    """`owner[finding]` is the draft that explains it. By the draft's id: `behind` are the findings that it explains in
    addition to its own, `rivals` how many of them each other draft would explain as well.
    """

    found: Found
    owner: dict[int, CauseCandidate] = field(default_factory=dict)
    behind: dict[int, list[int]] = field(default_factory=dict)
    rivals: dict[int, Counter[int]] = field(default_factory=dict)
    drafts: dict[int, CauseCandidate] = field(default_factory=dict)
    joined: set[int] = field(default_factory=set)
    """Ids of drafts that consist of several findings of one rule."""

    @cached_property
    def congestion(self) -> Mapping[int, int]:
        """Findings of pressure that are one congestion, each mapped to the first of them."""
        return _congestions(self.found)

    def rank(self, rule: str) -> None:
        """Turns a rule's unexplained findings into causes; then all its findings claim those of lower ranks."""
        fresh: dict[Hashable, CauseCandidate] = {}
        roots: list[tuple[CauseCandidate, RootCandidate]] = []
        for number in self.found.by_rule.get(rule, ()):
            if number not in self.owner and self.found.details[number].get("because") in BLAMELESS:
                continue  # nothing is wrong there: see the peer, or the other link
            root = root_of_finding(self.found, number)
            draft = self.owner.get(number) or self._begin(number, root, fresh)
            draft.harm = max(draft.harm, len(root.paused))
            roots.append((draft, root))
        self.expand(roots)

    def _begin(self, number: int, root: RootCandidate, fresh: dict[Hashable, CauseCandidate]) -> CauseCandidate:
        """A new cause, or that of another finding of the rule that belongs to the same cause."""
        finding = self.found.findings[number]
        key = self._one_with(number)
        draft = fresh.get(key)
        if draft is None:
            subjects = self.found.subjects_of(number)
            draft = fresh[key] = CauseCandidate(
                kind_of(finding), subjects, said_of(finding), finding.action, confidence=finding.confidence
            )
        elif finding.subject not in draft.subjects:
            draft.subjects = (*draft.subjects, finding.subject)
            self.joined.add(id(draft))
        self.owner[number] = draft
        draft.explains.append(finding.id)
        return draft

    def made(self, number: int) -> bool:
        """Whether a finding is the first of its cause."""
        return self.owner[number].explains[:1] == [self.found.findings[number].id]

    def expand(self, roots: Iterable[tuple[CauseCandidate, RootCandidate]]) -> None:
        """Gives roots of one rank the findings that they explain and no higher rank does."""
        claims: dict[int, dict[int, int]] = {}
        for draft, root in roots:
            self.drafts[id(draft)] = draft
            for number, far, row in reached(self.found, root):
                if number in self.owner or (root.number >= 0 and not self.found.together(root.number, number)):
                    continue
                if row.fits(self.found, root.number, number):
                    mine = claims.setdefault(number, {})
                    mine[id(draft)] = min(far, mine.get(id(draft), far))
        for number, distances in claims.items():
            self._give(number, distances)

    def _give(self, number: int, distances: dict[int, int]) -> None:
        """Gives a finding to its nearest root, of several the first; equally near ones compete."""
        winner = min(distances, key=distances.__getitem__)
        draft = self.owner[number] = self.drafts[winner]
        draft.explains.append(self.found.findings[number].id)
        self.behind.setdefault(winner, []).append(number)
        for other, far in distances.items():
            if other != winner and far == distances[winner]:
                self.rivals.setdefault(winner, Counter())[other] += 1

    def _one_with(self, number: int) -> Hashable:
        """The key shared by findings of a rule that are one cause: a link, a tier's hash, a pause tree."""
        rule, link = self.found.findings[number].rule, int(self.found.link[number])
        detail, device = self.found.details[number], int(self.found.device[number])
        if rule == "PRB004":
            return tuple(detail.get("switches", (number,)))
        if rule == "LBL001" and "siblings" in detail:
            return (rule, int(self.found.ground.tier[device]))  # pods are set up alike
        if rule.startswith("LNK") and link >= 0:
            return ("link", link)
        because = detail.get("because")
        if rule == "PRB002" and because in ("departure", "arrival"):
            return (rule, because)  # hosts that are set up alike
        if rule == "PRB002" and because == "first hop":
            # two NICs of a host, each of which has the other's leaf as its first hop: one pair of cables
            return (rule, device, frozenset((detail.get("planned_leaf"), detail.get("leaf"))))
        if rule == "PRB002" and because == "exchanged":
            return (rule, device)
        return self.congestion.get(number, number) if rule == "PFC002" else number


def _congestions(found: Found) -> Mapping[int, int]:
    """Maps findings of pressure at switches to the first of those that pause the same ports on the same priority:
    back-pressure that starts at several switches at once and reaches the same ports is one congestion, not many. Where
    no port of a switch is known to be the root, it is the devices that count: a tier that is full pauses all below it.
    """
    leader: dict[int, int] = {}

    def first(number: int) -> int:
        while leader[number] != number:
            leader[number] = number = leader[leader[number]]
        return number

    pauser: dict[tuple[object, ...], int] = {}
    for number in found.by_rule.get("PFC002", ()):
        if found.details[number].get("sub_cause") in _OF_SWITCHES:
            leader[number] = number
            priority = found.details[number].get("priority")
            for place in _paused_by(found, number):
                other = pauser.setdefault((*place, priority), number)
                one, two = first(other), first(number)
                leader[max(one, two)] = min(one, two)
    return {number: first(number) for number in leader}


def _paused_by(found: Found, number: int) -> Iterator[tuple[object, ...]]:
    """The ports that a finding's root pauses; of a whole switch their devices as well, if it pauses them itself."""
    for port, hops in found.paused.get(number, ()):
        yield "port", port
        if found.port[number] < 0 and hops == 1:
            yield "device", found.ground.at(port)[1]
