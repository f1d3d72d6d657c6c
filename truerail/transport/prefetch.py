"""Opens devices' folders, a little ahead of the parser in threads where that has to wait for them.

A capture of a large fabric is 50,000 small files. On a cold disk or a network drive nearly all of the time is waiting
for one after the other; several threads wait at once, while the available answers are parsed. From memory no thread
helps: it contends with the parser for the interpreter, three times for each file. So threads begin where the operating
system had to stop this one for a file, and more of them where the parser still has to wait.
"""

import resource
import sys
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice

from truerail.errors import FileRefusedError
from truerail.transport.capture_files import Questions
from truerail.transport.folders import Folder, Listing

THREADS = 8
"""At most: enough to hide a millisecond of latency a file."""
BATCH = 16
"""Devices that a thread opens in one go, so that handing over costs little beside opening."""


@dataclass(frozen=True, slots=True)
class Place:
    """A folder in which a device's answers lie."""

    name: str
    folder: Folder


@dataclass(slots=True)
class Opened:
    """A listed place, with the best answers in it. `refused` is the reason if it could not be listed."""

    name: str
    folder: Folder
    listing: Listing
    refused: str = ""
    held: dict[str, bytes | FileRefusedError] = field(default_factory=dict)

    def read(self, file: str) -> bytes:
        """A file's content. Raises `FileRefusedError`, also for what is no file."""
        content = self.held.get(file)
        if content is None:
            content = self._read(file)
        if isinstance(content, FileRefusedError):
            raise content
        return content

    def hold(self, file: str) -> None:
        """Reads a file now, for later."""
        self.held[file] = self._read(file)

    def _read(self, file: str) -> bytes | FileRefusedError:
        if file in self.listing.folders:
            return FileRefusedError("a folder where a file is expected")
        if file in self.listing.refused:
            return FileRefusedError(self.listing.refused[file])
        try:
            return self.folder.read(file)
        except FileRefusedError as why:
            return why


Batch = list[tuple[str, list[Opened]]]


def opened(
    places: Mapping[str, Collection[Place]], questions: Mapping[str, Questions]
) -> Iterator[tuple[str, list[Opened]]]:
    """Each device with its places, listed and read, in the order given. `questions` returns the questions for each
    device."""
    batches = _batches(places)

    def read(batch: list[str]) -> Batch:
        return [(name, [_open(place, questions[name]) for place in places[name]]) for name in batch]

    for batch in batches if sys.platform == "linux" else ():  # others do not count how often a thread had to wait
        before = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
        found = read(batch)
        waited = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - before
        yield from found
        if waited >= len(batch):
            break
    with ThreadPoolExecutor(THREADS, "truerail-open") as threads:

        def begin(batch: list[str]) -> "Future[Batch]":
            return threads.submit(read, batch)

        most = 1
        ahead = deque(begin(batch) for batch in islice(batches, most))
        while ahead:
            first = ahead.popleft()
            if not first.done():
                most = min(2 * most, 2 * THREADS)
            ahead.extend(begin(batch) for batch in islice(batches, most - len(ahead)))
            yield from first.result()


def newest(places: Mapping[str, Collection[Place]]) -> float:
    """When a device's folder last changed, in seconds since 1970."""
    with ThreadPoolExecutor(THREADS, "truerail-stat") as threads:
        changed = threads.map(
            lambda batch: max(place.folder.modified() for name in batch for place in places[name]), _batches(places)
        )
        return max(changed)


def _batches(places: Mapping[str, Collection[Place]]) -> Iterator[list[str]]:
    names = iter(places)
    while batch := list(islice(names, BATCH)):
        yield batch


def _open(place: Place, questions: Questions) -> Opened:
    """Lists a place and reads, of the files that answer one question, the best."""
    try:
        found = Opened(place.name, place.folder, place.folder.list())
    except FileRefusedError as why:
        return Opened(place.name, place.folder, Listing(), str(why))
    for _, (best, *_others) in questions.by_question(found.listing.names).answers:
        found.hold(best.names[0][0])
    return found
