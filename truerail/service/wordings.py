"""The sentences of open faults, kept while only their numbers change: each other text is another series of metrics."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from truerail.model.names import without_figures
from truerail.model.open_fault import OpenFault

KEPT: Final = timedelta(minutes=15)
"""A share or rate that changes with every round makes at most four series an hour for a fault."""


class Wordings:
    """By the key of each open fault: its sentence, and since when it reads so. One caller at a time."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[str, datetime]] = {}

    def steady(self, faults: Sequence[OpenFault], at: datetime) -> tuple[OpenFault, ...]:
        """The faults with sentences whose numbers are at most a quarter of an hour old."""
        kept = {fault.key: self._sentence(fault, at) for fault in faults}
        self._kept = kept
        return tuple(replace(fault, summary=kept[fault.key][0]) for fault in faults)

    def _sentence(self, fault: OpenFault, at: datetime) -> tuple[str, datetime]:
        known, since = self._kept.get(fault.key, ("", at))
        same = without_figures(known) == without_figures(fault.summary)
        return (known, since) if same and abs(at - since) < KEPT else (fault.summary, at)
