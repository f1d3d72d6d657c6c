"""One device's answer to one collector."""

from datetime import datetime, timedelta

from msgspec import Struct, structs

from truerail.model.facts import Fact, Neighbor


class Reading(Struct, frozen=True):
    """One device's answer to one collector: facts, or the error in their place. A failure is a value.

    A struct of msgspec: a round of a large fabric makes 60,000, and a frozen dataclass costs 20 times as much.
    `msgspec.structs.replace` makes one that differs.
    """

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
    facts_at: datetime | None = None
    """When the answer came that the facts were read from, if it was an earlier one with the same facts but for ages:
    the time base of the facts' ages.
    """
    polled: bool = True
    """False if truerail itself did not poll the device for it: `error` has the reason, which is no fault of the device.
    """

    def moved(self, seconds: float) -> "Reading":
        """The same by a clock that is ahead by so much."""
        by = timedelta(seconds=seconds)
        facts_at = self.facts_at and self.facts_at + by
        read_at = self.read_at and self.read_at + seconds
        return structs.replace(self, at=self.at + by, read_at=read_at, facts_at=facts_at)

    def aged(self, fact: Fact) -> Fact:
        """A fact of this reading with its age at the time of the reading."""
        if self.facts_at is None or not isinstance(fact, Neighbor) or fact.age_seconds is None:
            return fact
        return fact._replace(age_seconds=fact.age_seconds + round((self.at - self.facts_at).total_seconds()))
