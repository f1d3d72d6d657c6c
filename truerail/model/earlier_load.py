"""What earlier rounds showed of causes of load: a value, each round makes the next one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import log
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from truerail.model.finding import Cause, Finding

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
    published: "Mapping[str, tuple[Finding, ...]]" = field(default_factory=dict)

    def later(self, at: datetime, found: "Iterable[Cause]") -> "Lasting":
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
