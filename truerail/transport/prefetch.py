"""Opens devices' folders a little ahead of the parser, in threads.

A capture of a large fabric is 50,000 small files. On a cold disk or a network drive nearly all of the time is waiting
for one after the other; several threads wait at once, while the available answers are parsed. From memory one thread is
ahead of the parser, and more contend with it for the interpreter: another one begins where the parser has to wait.
"""

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


@dataclass(frozen=True, slots=True)
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
    with ThreadPoolExecutor(THREADS, "truerail-open") as threads:

        def begin(batch: list[str]) -> "Future[Batch]":
            return threads.submit(lambda: [(n, [_open(p, questions[n]) for p in places[n]]) for n in batch])

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
    best: dict[str, tuple[int, str]] = {}
    for file in found.listing.files:
        for claim in questions.claims(file):
            best[claim.collector.name] = min(best.get(claim.collector.name, (claim.rank, file)), (claim.rank, file))
    for _, file in best.values():
        found.hold(file)
    return found
