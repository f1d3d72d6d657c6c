"""Which alerts mute which, and the order of evaluation that this asks for.

Prometheus sends each alert to Alertmanager as it is evaluated. Where the cause of an alert ended first, there would be
a moment in which the other stands alone, and might page. So what mutes is evaluated after what it
mutes, in one group: then it ends later too.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Final

from dashboards.rules.declared import Alert, Severity

LEAF: Final = "TruerailLeafDown|TruerailLeafMiscabled"
DARK: Final = "TruerailCableMissing|TruerailPlaneLost"
C, W = Severity.CRITICAL, Severity.WARNING


@dataclass(frozen=True, slots=True)
class Which:
    """Alerts by name (`but` excepts one), severity and a label that they must have. Empty is any."""

    name: str = ""
    severity: Severity | None = None
    has: str = ""
    but: str = ""

    def matchers(self) -> list[str]:
        """The same in Alertmanager's words."""
        plain = re.fullmatch(r"\w+", self.name)
        said = (
            (self.name, f'alertname="{self.name}"' if plain else f'alertname=~"{self.name}"'),
            (self.but, f'alertname!="{self.but}"'),
            (self.severity, f'severity="{self.severity}"'),
            (self.has, f'{self.has}!=""'),
        )
        return [matcher for asked, matcher in said if asked]

    def fits(self, alert: Alert) -> bool:
        """Whether an alert may be one of them, by the labels of its story."""
        return (
            bool(re.fullmatch(self.name or ".*", alert.name))
            and alert.name != self.but
            and self.severity in (None, alert.severity)
            and (not self.has or bool(dict(alert.story.fires).get(self.has)))
        )


@dataclass(frozen=True, slots=True)
class Inhibition:
    """While a `source` fires, no `target` is reported that is equal in some labels. Two alerts without a label are
    equal in it, so what must be equal is also asked to be there.
    """

    source: Which
    target: Which
    equal: tuple[str, ...] = ()


_ONE_LEAF = ("fabric", "switch")
_ONE_NIC = ("fabric", "host", "nic")
INHIBITIONS: Final = (
    # A leaf that is down or swapped mutes what concerns one cable of it, and what the leaf itself no longer says.
    Inhibition(Which(LEAF), Which(has="nic"), _ONE_LEAF),
    Inhibition(Which(LEAF), Which("Truerail(Uplink|Device|Stale|Lldp|Dead|Duplicate).+", has="switch"), _ONE_LEAF),
    # The louder alert on a cable mutes the others on it. A cut rail does not: what is said of its cable says why.
    Inhibition(Which(severity=C, has="nic", but="TruerailRailCut"), Which(severity=W, has="nic"), _ONE_NIC),
    # A host with several rails down is one page; a single rail is reported by its cable, and so is a cable that is
    # plugged in elsewhere: its alert says where.
    Inhibition(Which("TruerailHostRailsDown", C), Which(DARK), ("fabric", "host")),
    Inhibition(Which(DARK, C), Which("TruerailHostRailsDown", W), ("fabric", "host")),
    # A rail is cut by a cable, where one is to blame. This alert waits longer than any on a cable.
    Inhibition(Which(f"TruerailCableWrong|{DARK}"), Which("TruerailRailCut"), _ONE_NIC),
    # A storm or deadlock explains pauses and congestion elsewhere.
    Inhibition(
        Which("TruerailPfcStorm|TruerailPfcDeadlock", C),
        Which(
            "TruerailPausePressure|TruerailEcnCongestion|TruerailIncast|TruerailRailImbalance|TruerailStragglerNic",
        ),
        ("fabric",),
    ),
    # Many silent devices are one fault, not many.
    Inhibition(
        Which("TruerailManyDevicesUnreachable"),
        Which("TruerailDeviceUnreachable|TruerailStaleData|TruerailCoverageFalling"),
        ("fabric",),
    ),
    # Who evaluates nothing has no opinion on how old its evaluation is.
    Inhibition(Which("TruerailEvaluationFailing"), Which("TruerailNoEvaluation")),
)


def in_order(alerts: Sequence[Alert]) -> tuple[Alert, ...]:
    """Alerts in the order given, except that what mutes others comes after them. Raises CycleError where some mute each
    other: then none would page.
    """
    sorter: TopologicalSorter[int] = TopologicalSorter(
        {
            number: [
                other
                for other, target in enumerate(alerts)
                if any(mutes.source.fits(source) and mutes.target.fits(target) for mutes in INHIBITIONS)
            ]
            for number, source in enumerate(alerts)
        }
    )
    sorter.prepare()
    found: list[Alert] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        found += (alerts[number] for number in ready)
        sorter.done(*ready)
    return tuple(found)
