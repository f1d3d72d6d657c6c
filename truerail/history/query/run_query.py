"""Runs a query in a process of its own, and ends it when its time is over."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Timer
from typing import IO, Any, cast

import msgspec

from truerail import errors
from truerail.errors import HistoryStoreError, QueryLimitError
from truerail.history.query.query_request import QueryRequest

_MODULE = "truerail.history.query.query_process"
_CHUNK = 1 << 16
_STARTING_SECONDS = 20.0
"""For the process to start on a busy machine. It interrupts a query itself; this ends what does not react."""


@dataclass(frozen=True, slots=True)
class QueryReport:
    """What a result lacks. `more`: rows were left out by the limit; `unreadable`: files that are torn; `begins`: the
    first day that was read of each table, None for a table without any; `ends`: when the store's newest round was
    answered; `coverage`: of how many things the answer knows anything, and how many there are.
    """

    rows: int
    more: bool
    unreadable: tuple[str, ...] = ()
    begins: dict[str, str | None] = field(default_factory=dict)
    coverage: tuple[int, int] | None = None
    ends: datetime | None = None

    def missing(self, request: QueryRequest, coverage_of: str = "") -> Iterator[str]:
        """A sentence if not all things of the kind are known, for each table without rows, or whose rows begin on a
        later day than was asked for, and for a store that ends before the time asked for.
        """
        known, total = self.coverage or (0, 0)
        if known < total:
            yield f"{known:,} of {total:,} {coverage_of}; the others are unknown."
        for name, day in self.begins.items():
            if day is None:
                yield f"{name}: has no rows in this time."
            elif request.since and day > request.since[:10]:
                yield f"{name}: begins on {day}."
        until = datetime.fromisoformat(request.until) if request.until else datetime.now(UTC)
        if self.ends and self.ends < until:
            behind = timedelta(seconds=int((until - self.ends).total_seconds()))
            yield f"The store ends at {self.ends:%Y-%m-%d %H:%M:%S UTC}, {behind} before the time asked for."


def run_query(
    request: QueryRequest, out: IO[bytes], began: Callable[[Callable[[], None]], object] = lambda end: None
) -> QueryReport:
    """Writes the result of a query to `out` as it comes, and returns what it lacks. `began` gets a function that ends
    the query from another thread.

    Raises QueryError (the SQL), NotFoundError (a table), HistoryStoreError (the store), QueryLimitError (time, memory),
    MissingExtraError. What was written until then is incomplete.
    """
    with _process(request) as (process, expired):
        began(process.kill)
        to, result, remarks = (cast("IO[bytes]", pipe) for pipe in (process.stdin, process.stdout, process.stderr))
        with suppress(BrokenPipeError), to:
            to.write(json.dumps(asdict(request)).encode())
        while chunk := result.read(_CHUNK):
            out.write(chunk)
        report = remarks.read().decode("utf-8", "replace")
        process.wait()
    if expired or process.returncode == -signal.SIGXCPU:
        raise QueryLimitError(request.limits.too_long)
    return _report(report.strip().rpartition("\n")[2], process.returncode)


@contextmanager
def _process(request: QueryRequest) -> Iterator[tuple["subprocess.Popen[bytes]", list[bool]]]:
    """The process, and whether it was ended because its time was over. It ends with the body."""
    expired: list[bool] = []
    process = subprocess.Popen(  # noqa: S603 - our own module
        _command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment()
    )

    def end() -> None:
        expired.append(True)
        process.kill()

    timer = Timer(request.limits.seconds + _STARTING_SECONDS, end)
    timer.daemon = True
    timer.start()
    try:
        yield process, expired
    finally:
        timer.cancel()
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()


def _command() -> Sequence[str]:
    """Isolated from the current folder and the user's own packages."""
    return [sys.executable, "-P", "-s", "-m", _MODULE]


def _environment() -> dict[str, str]:
    """No variable of the caller: a service's hold secrets."""
    return {"LANG": "C.UTF-8", "TZ": "UTC", "PYTHONPATH": str(Path(__file__).parents[3])}


def _report(line: str, code: int) -> QueryReport:
    try:
        found: dict[str, Any] = json.loads(line)
    except ValueError:
        raise HistoryStoreError(f"the query ended without a result (status {code}): {line[:300]}") from None
    if "error" in found:
        raise _error(found["error"], found["message"])
    return msgspec.convert(found, QueryReport)


def _error(kind: str, message: str) -> Exception:
    if kind == "MissingExtraError":
        return errors.MissingExtraError("history", "a query of the history")
    known: type[Exception] = getattr(errors, kind)
    return known(message)
