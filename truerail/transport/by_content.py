"""Files whose names are no command's: which question one answers is what can read it.

A collector refuses what is the answer to another question, so that nearly all files have one reading, and one that
answers two questions has both.
"""

from collections import Counter
from collections.abc import Sequence

from truerail.errors import UnreadableError
from truerail.model import Collector, Device
from truerail.transport.capture_files import Questions, without_ending

LARGEST_BYTES = 4 * 1024 * 1024
"""A larger file is tried with no collector: forty would read it."""
_IN_VAIN = 8
"""So many files of one name that nothing reads, and no further one of this name is tried."""


class ByContent:
    """Remembers what a name turned out to be: in a capture, `topo.txt` is the same on all hosts."""

    def __init__(self) -> None:
        self._before: dict[str, Sequence[Collector]] = {}
        self._in_vain: Counter[str] = Counter()

    def readers(self, file: str, answer: str, questions: Questions, device: Device) -> Sequence[Collector]:
        """The collectors that find facts in this answer; none if nothing can be said."""
        name = without_ending(file)
        if "\0" in answer[:1024] or self._in_vain[name] >= _IN_VAIN:
            return ()
        before = [collector for collector in self._before.get(name, ()) if _reads(collector, answer, device)]
        if before:
            return before
        found = [collector for collector in questions.collectors if _reads(collector, answer, device)]
        if found:
            self._before[name] = found
        else:
            self._in_vain[name] += 1
        return found


def _reads(collector: Collector, answer: str, device: Device) -> bool:
    try:
        return bool(collector.read(answer, device))
    except UnreadableError:
        return False
