"""Settings of ports that are not as the plan declares, or not as their other ends or their peers have them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rules._counter_evidence import subject_of
from rules._qos import COMPARED, FIELDS, Settings
from rules._qos_intent import Intent
from rules._qos_words import setting_word
from truerail.analysis.cabling import ONE_END, Wiring
from truerail.model import QosProfile
from truerail.model.columns import Codes

PLANNED, OTHER_END = "the plan", "the other end"


@dataclass(frozen=True, slots=True)
class Odd:
    """One setting of a port that is not as it should be. `support` is how many of how many peers have `want`."""

    field: str
    has: Any
    want: Any
    source: str
    support: tuple[int, int] | None = None

    def summary(self) -> str:
        """Such as `PFC on 4 instead of PFC on 3 (95 of 96 peers)`."""
        return f"{setting_word(self.field, self.has)} instead of {setting_word(self.field, self.want)} ({self.source})"

    @property
    def sure(self) -> float:
        """Confidence in the value of the plan, or of most peers."""
        return ONE_END if self.support is None else min(ONE_END, round(self.support[0] / self.support[1], 2))


def faults_of(
    wiring: Wiring, settings: Settings, intent: Intent, other: Codes, profile: QosProfile | None
) -> dict[int, list[Odd]]:
    """By port, the settings that are not as they should be."""
    faults: dict[int, list[Odd]] = {}
    for field in COMPARED:
        words, value = settings.words[field], settings.value[field]
        for port in np.flatnonzero(intent.wrong[field]).tolist():
            has = words[value[port]]
            if profile and field == "dscp_to_priority":
                has = profile.of_declared(has)
            faults.setdefault(port, []).append(Odd(field, has, intent.want(field, port), PLANNED))
    for field in FIELDS:
        value, usual, words = settings.value[field], settings.usual[field], settings.words[field]
        open_ = ~intent.declared[field]
        odd = settings.odd(field) & open_
        for port in np.flatnonzero(odd).tolist():
            most = int(settings.support[field][port][0]), int(settings.support[field][port][1])
            fault = Odd(field, words[value[port]], words[usual[port]], "{} of {} peers".format(*most), most)
            faults.setdefault(port, []).append(fault)
        link = settings.differ(wiring, other, field) & ~odd & ~odd[other] & (other[other] == np.arange(len(other)))
        link &= open_ & open_[other]
        for port in np.flatnonzero(link & (np.arange(len(other)) < other)).tolist():
            lower = subject_of(wiring.index, port, int(other[port]))
            upper = int(other[lower])
            chosen = upper if usual[port] >= 0 and usual[upper] >= 0 else lower
            fault = Odd(field, words[value[chosen]], words[value[other[chosen]]], OTHER_END)
            faults.setdefault(chosen, []).append(fault)
    return faults
