"""One device's answer to one collector."""

from dataclasses import dataclass
from datetime import datetime

from truerail.model.facts import Fact


@dataclass(frozen=True, slots=True)
class Reading:
    """One device's answer to one collector: facts, or the error in their place. A failure is a value."""

    device: str
    collector: str
    at: datetime
    facts: tuple[Fact, ...] = ()
    """Facts are grouped by kind."""
    error: str = ""
    took_seconds: float = 0.0
    source: str = ""
    """The command, or the file with the answer."""
    read_at: float = 0.0
    """When the answer was created, in Unix seconds: the time base of counter rates. 0 means `at`."""
