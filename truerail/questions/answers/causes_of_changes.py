"""To which cause each change of a link or a finding belongs.

A finding belongs to the cause that explained it at the time of its change; where several did while a fault was only
half seen, to the one that explained most. A link belongs to the cause of the finding on its port, else to one that
names its port or its device, and only while that cause lasted. A finding about cabling without a cause (two ends that
contradicted each other for a round) belongs to that of its link.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from truerail.model.history import CauseEvent, EventKind, FindingEvent, LinkChange

K = TypeVar("K", bound=Hashable)
SLACK = timedelta(minutes=10)
"""How long before its cause a change may be seen: the devices of a fault are read one after the other, and a cause
shows only when enough of them were.
"""
_CABLING = "CAB"
"""The rules about cables."""
BEGINS = (EventKind.APPEARED, EventKind.REGRESSED)
_ALWAYS = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Episode:
    """One time that a cause lasted. `explains` are the findings that it explained in any of the episodes known."""

    key: str
    begins: datetime
    ends: datetime
    subjects: tuple[str, ...]
    explains: frozenset[str]

    def covers(self, at: datetime) -> bool:
        """Whether a change of that time may be part of it."""
        return at + SLACK >= self.begins and at <= self.ends


class CausesOfChanges:
    """The causes of changes, by the events of causes of the same time (newest first)."""

    def __init__(
        self, events: Sequence[CauseEvent], findings: Sequence[FindingEvent], links: Sequence[LinkChange]
    ) -> None:
        self._episodes = sorted(_episodes(events), key=lambda one: -len(one.explains))
        self._by_finding = _grouped((finding, one) for one in self._episodes for finding in one.explains)
        self._by_subject = _grouped((subject, one) for one in self._episodes for subject in one.subjects)
        self._of_finding: dict[str, str | None] = {}
        self._on_port: dict[str, list[str]] = {}
        for event in findings:  # newest first: the last change of a finding decides
            if event.finding not in self._of_finding:
                self._of_finding[event.finding] = key = self._explained(event)
                if key is not None:
                    self._on_port.setdefault(event.subject, []).append(key)
        self._link_on = {change.port: change for change in reversed(links)}

    def of_finding(self, event: FindingEvent) -> str | None:
        """The key of the cause of a finding's change."""
        found = self._explained(event)
        if found is None and event.rule.startswith(_CABLING) and event.subject in self._link_on:
            return self.of_link(self._link_on[event.subject])
        return found

    def _explained(self, event: FindingEvent) -> str | None:
        known = self._by_finding.get(event.finding, ())
        lasted = next((one.key for one in known if one.covers(event.at)), None)
        return lasted or (known[0].key if known else event.cause)

    def of_link(self, change: LinkChange) -> str | None:
        """The key of the cause of a link's change."""
        ends = [end for end in (change.port, change.was, change.now) if end is not None]
        if found := self._on_port.get(change.port):
            return found[0]
        names = (*ends, *(end.partition("/")[0] for end in ends))
        named = (one for name in names for one in self._by_subject.get(name, ()))
        return next((one.key for one in named if one.covers(change.at)), None)


def _episodes(events: Sequence[CauseEvent]) -> Iterator[Episode]:
    """Episodes from events, newest first. Without its event, one began before or has not ended."""
    by_key = _grouped((event.cause, event) for event in reversed(events))
    for key, of in by_key.items():
        explains = frozenset(finding for event in of for finding in event.explains)
        begins: datetime | None = _ALWAYS[0] if of[0].kind not in BEGINS else None
        for event in of:
            if event.kind in BEGINS and begins is None:
                begins = event.at
            elif event.kind is EventKind.RESOLVED and begins is not None:
                yield Episode(key, begins, event.at, event.subjects, explains)
                begins = None
        if begins is not None:
            yield Episode(key, begins, _ALWAYS[1], of[-1].subjects, explains)


V = TypeVar("V")


def _grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
