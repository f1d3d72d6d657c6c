"""Texts of causes known by counters, and of the traffic related to causes of the cabling."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from rules import rules
from truerail.analysis.pfc.reasons import Reason
from truerail.causes.telemetry.crossing import Crossing
from truerail.causes.telemetry.found import FabricContext
from truerail.causes.telemetry.precedence import PROBED
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import grouped
from truerail.model.finding import Finding

_BY_REASON: Mapping[str, CauseKind] = {
    Reason.INCAST.value: CauseKind.OVERLOAD,
    Reason.EGRESS_UNREPORTED.value: CauseKind.OVERLOAD,
    Reason.DEGRADED_LINK.value: CauseKind.DEGRADED_LINK,
    Reason.NOT_MONITORED.value: CauseKind.UNKNOWN,
}
_NAMED = 3


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
    parts = [f"{rule} at {listed(names)}" for rule, names in where.items()]
    return f"It explains {'; '.join(parts)}"


def listed(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def impact(ground: FabricContext, crossing: Crossing) -> str:
    """One sentence on a wrong-rail cable's effect on traffic, or that it cannot be measured."""
    spell = ground.wiring.index.spell
    if isnan(crossing.gbps):
        named = listed([str(spell(port)) for port in crossing.unreported])
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
