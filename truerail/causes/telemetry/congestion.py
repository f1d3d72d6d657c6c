"""Back-pressure that starts at several switches at once and reaches the same ports is one congestion, not many."""

from collections.abc import Mapping

from truerail.analysis.pfc.reasons import Reason
from truerail.causes.telemetry.found import Found

_OF_SWITCHES = (Reason.EGRESS_UNREPORTED.value, Reason.INCAST.value)


def congestions(found: Found) -> Mapping[int, int]:
    """Maps findings of pressure at switches to the first of those that pause the same ports on the same priority."""
    leader: dict[int, int] = {}

    def first(number: int) -> int:
        while leader[number] != number:
            leader[number] = number = leader[leader[number]]
        return number

    pauser: dict[tuple[int, object], int] = {}
    for number in found.by_rule.get("PFC002", ()):
        if found.details[number].get("sub_cause") in _OF_SWITCHES:
            leader[number] = number
            for port, _ in found.paused.get(number, ()):
                other = pauser.setdefault((port, found.details[number].get("priority")), number)
                one, two = first(other), first(number)
                leader[max(one, two)] = min(one, two)
    return {number: first(number) for number in leader}
