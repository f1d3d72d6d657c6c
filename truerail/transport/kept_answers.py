"""What devices answered in earlier rounds, so that an unchanged answer is not parsed again.

Nearly all answers about cabling are those of the round before, but for ages (`Collector.volatile`). Such an answer has
the same facts, as the same object: what follows from them need not be computed again either. The digest is SHA-256, so
that no device can make up an answer that hides a change. As a check each answer is parsed once an hour all the same,
spread over the rounds: a difference is counted and reported, and the newer facts are used.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from zlib import crc32

from truerail.errors import UnreadableError
from truerail.model import Collector, Device, Fact, Neighbor, PortCounters

Facts = tuple[Fact, ...]
FULL_PARSE_SECONDS = 3600.0
"""Each answer is parsed at least once in this time."""
MOST_APART_SECONDS = 300.0
"""Beyond this time an age that is left out of the digest may have begun again: half of what counts as old there."""


@dataclass(slots=True)
class _Kept:
    """One answer as it was parsed: `facts_at` is when that answer was read, `read_at` when an equal one was read last,
    `checked` the last full parse, these two in Unix seconds.
    """

    digest: bytes
    device: Device
    found: Facts | UnreadableError
    facts_at: datetime
    read_at: float
    checked: float


class KeptAnswers:
    """The answers of one fleet, for as long as its plan, inventory and settings stay as they are. One thread a device.

    `differs` is called with device and collector where a full parse finds other facts than those kept.
    """

    def __init__(self, differs: Callable[[str, str], None] = lambda device, collector: None) -> None:
        self._kept: dict[tuple[str, str, str], _Kept] = {}
        self._differs = differs
        self._time: tuple[datetime, float] = (datetime.min, 0.0)
        """The time of the round, and the same in Unix seconds: computed once a round."""
        self.unchanged_total = 0
        """Answers that were not parsed."""

    def facts(
        self,
        collector: Collector,
        device: Device,
        source: str,
        answer: bytes,
        at: datetime,
        parse: Callable[[bytes], Facts],
    ) -> tuple[Facts, datetime]:
        """The facts in an answer from a source, read at a time, and when the answer that was parsed had been read.

        Raises the `UnreadableError` of `parse`.
        """
        if collector.yields == (PortCounters,):  # they change with each answer
            return parse(answer), at
        self._time = time = self._time if at is self._time[0] else (at, at.timestamp())
        now, key = time[1], (device.name, collector.name, source)
        digest, kept = collector.digest(answer), self._kept.get(key)
        same = kept is not None and kept.digest == digest and (kept.device is device or kept.device == device)
        if kept is None or not same or (collector.volatile and abs(now - kept.read_at) > MOST_APART_SECONDS):
            kept = _Kept(digest, device, _parsed(parse, answer), at, now, _spread(key, now))
            self._kept[key] = kept
        elif now - kept.checked >= FULL_PARSE_SECONDS:
            self._check(key, kept, _parsed(parse, answer), at)
        else:
            self.unchanged_total += 1
        kept.read_at = now
        if isinstance(kept.found, UnreadableError):
            raise kept.found.to_keep()  # each raise would add its frames to those of the others
        return kept.found, kept.facts_at

    def _check(self, key: tuple[str, str, str], kept: _Kept, found: Facts | UnreadableError, at: datetime) -> None:
        kept.checked = at.timestamp()
        if not _equal(kept.found, found):
            self._differs(*key[:2])
            kept.found, kept.facts_at = found, at


def _parsed(parse: Callable[[bytes], Facts], answer: bytes) -> Facts | UnreadableError:
    try:
        return parse(answer)
    except UnreadableError as error:
        return error.to_keep()


def _spread(key: tuple[str, str, str], now: float) -> float:
    """When a new answer counts as checked: full parses of answers that came in one round come in different ones."""
    share = crc32("/".join(key).encode()) / 2**32
    return now - share * FULL_PARSE_SECONDS


def _equal(kept: Facts | UnreadableError, found: Facts | UnreadableError) -> bool:
    """Whether these are the same facts but for ages, or the same error."""
    if isinstance(kept, UnreadableError) or isinstance(found, UnreadableError):
        return type(kept) is type(found) and str(kept) == str(found)
    return kept == found or _ageless(kept) == _ageless(found)


def _ageless(facts: Sequence[Fact]) -> list[Fact]:
    return [fact._replace(age_seconds=None) if isinstance(fact, Neighbor) else fact for fact in facts]
