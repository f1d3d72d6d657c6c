"""Maintenance windows as a plan of work reads them: those announced in the journal, and those given with a question."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from truerail.errors import JournalUnavailableError, NotFoundError, QueryError
from truerail.model.columns import Mask
from truerail.model.history import History, MaintenanceWindow
from truerail.model.names import printable
from truerail.questions.answers.jobs_given import parts_of
from truerail.questions.answers.moments import end_of
from truerail.questions.answers.scope import scope_of
from truerail.views.view import View

MOST_WINDOWS = 200
WINDOW = "write FROM/UNTIL or WHAT=FROM/UNTIL, such as 'pod p1=tomorrow 22:00/4h'"


@dataclass(frozen=True, slots=True)
class Window:
    """Time in which no job needs some cables. `scope` is `all`, `device`, `rail`, `pod` or `nodes`; `cables` has shape
    (cables,): as for mutes, a cable counts if either planned end is covered.
    """

    scope: str
    what: str
    starts: datetime
    ends: datetime
    cables: Mask
    announced: bool = False
    reason: str = ""

    @property
    def name(self) -> str:
        """`leaf-3 from 2026-11-20 22:00`."""
        return f"{self.target} from {self.starts:%Y-%m-%d %H:%M}"

    @property
    def target(self) -> str:
        """`leaf-3`, `rail 3`, `pod p1`, `the whole fabric`."""
        if self.scope == "all":
            return "the whole fabric"
        return f"{self.scope} {self.what}" if self.scope in ("rail", "pod") else self.what


def windows_given(view: View, text: str | None, now: datetime) -> tuple[Window, ...]:
    """The windows of `tomorrow 22:00/4h; pod p1=22:00/02:00`, in order of their start. A duration after the slash
    counts from the start. Raises QueryError and NotFoundError with the value.
    """
    parts = parts_of(text)
    if len(parts) > MOST_WINDOWS:
        raise QueryError(f"{len(parts):,} windows: at most {MOST_WINDOWS:,} can be given")
    return tuple(sorted((_given(view, part, now) for part in parts), key=lambda one: one.starts))


def _given(view: View, text: str, now: datetime) -> Window:
    what, _, times = text.rpartition("=")
    start, slash, until = times.partition("/")
    try:
        if not slash:
            raise QueryError(f"it has no end: {WINDOW}")
        starts = now.astimezone(UTC) if start.strip().lower() == "now" else end_of(start, now)
        ends = end_of(until, starts)
        scope, name = scope_of(view, what.strip()) if what.strip() else ("all", "")
    except (QueryError, NotFoundError) as error:
        raise type(error)(f"window {printable(text, 80)!r}: {error.args[0]}") from error
    if ends <= starts:
        raise QueryError(f"window {printable(text, 80)!r} ends before it starts: {WINDOW}")
    return Window(scope, name, starts, ends, covered(view, scope, name))


def windows_announced(view: View, history: History, now: datetime) -> tuple[Window, ...] | None:
    """The windows of the journal that are open at `now` or later, in order of their start; None if the journal cannot
    be read.
    """
    try:
        known = history.windows()
    except JournalUnavailableError:
        return None
    coming = (one for one in known if min(one.ends, one.ended_at or one.ends) > now)
    return tuple(sorted(_announced(view, coming, now), key=lambda one: one.starts))[:MOST_WINDOWS]


def _announced(view: View, windows: Iterable[MaintenanceWindow], now: datetime) -> Iterator[Window]:
    for one in windows:
        cables = covered(view, one.scope, one.what)
        ends = min(one.ends, one.ended_at or one.ends)
        what, reason = printable(one.what, 255), printable(one.reason, 200)
        yield Window(one.scope, what, max(one.starts, now), ends, cables, announced=True, reason=reason)


def covered(view: View, scope: str, what: str) -> Mask:
    """The cables in a scope, shape (cables,). A device that the plan no longer has covers none."""
    index = view.index
    if scope == "all":
        return np.ones(len(index.rail), dtype=bool)
    if scope == "rail":
        return np.asarray(index.from_host & (index.rail == int(what)), dtype=bool)
    known = _devices(view, scope, what)
    return np.asarray(known[index.a_device] | known[index.b_device], dtype=bool)


def _devices(view: View, scope: str, what: str) -> Mask:
    """The devices in a scope. Shape (devices + 1,): the last is for a cable end without a device."""
    found = np.zeros(len(view.index.devices.names) + 1, dtype=bool)
    if scope == "pod":
        found[: len(view.layout.devices)] = [device.pod == what for device in view.layout.devices]
        return found
    try:
        codes = [view.device(name) for name in view.expand(what)]
    except QueryError:
        codes = []
    found[[code for code in codes if view.is_planned(code)]] = True
    return found
