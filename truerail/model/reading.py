"""What one device said to one question."""

from dataclasses import dataclass
from datetime import datetime

from truerail.model.facts import Fact


@dataclass(frozen=True, slots=True)
class Reading:
    """One device's answer to one collector: facts, or the error that stood in their place. A failure is a value."""

    device: str
    collector: str
    at: datetime
    facts: tuple[Fact, ...] = ()
    """Facts of one kind stand together."""
    error: str = ""
    took_seconds: float = 0.0
    source: str = ""
    """The command that was answered, or the file that held the answer."""
    read_at: float = 0.0
    """When the answer was made, in Unix seconds: what counters are divided by. 0 stands for `at`."""
