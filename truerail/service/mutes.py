"""People's acknowledgements and maintenance windows, and the findings that they mute."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TypeVar

from truerail.analysis.explained import AFFECTED_BY
from truerail.analysis.published import Published
from truerail.errors import JournalUnavailableError, NodeSetError, NotFoundError, QueryError
from truerail.files.nodesets import Budget, expand
from truerail.journal import Journal
from truerail.model import Finding, Plan, Port
from truerail.model.finding import Cause
from truerail.model.history import Acknowledgement, MaintenanceWindow
from truerail.model.life import Maintained, Mute, MuteKind
from truerail.model.names import device_key, printable

# ----------------------------------------------------------------------------------------------------------------------
# Muted findings: acknowledged ones, and those under maintenance.

SCOPES = ("device", "rail", "pod", "nodes")


def mutes(
    plan: Plan,
    findings: Sequence[Finding],
    causes: Iterable[Cause],
    acknowledged: Iterable[Acknowledgement],
    windows: Iterable[MaintenanceWindow],
    now: datetime,
) -> dict[str, Mute]:
    """Mutes by finding id. An acknowledged cause mutes the findings that it explains; a window those in its scope.

    A finding on a cable counts if either planned end is covered: work on a leaf mutes its hosts' cables.
    """
    found: dict[str, Mute] = {}
    for window in windows:
        if window.covers(now):
            mark = Mute(MuteKind.MAINTENANCE, window.id, window.author, window.reason, window.ends)
            covered = _Covered(plan, window)
            found.update({finding.id: mark for finding in findings if covered.has(finding)})
    explained = {cause.key: cause.explains for cause in causes}
    for note in acknowledged:
        if note.ended_at is None and (note.until is None or now < note.until):
            mark = Mute(MuteKind.ACKNOWLEDGED, note.id, note.author, note.reason, note.until)
            found.update(dict.fromkeys(explained.get(note.target, (note.target,)), mark))
    found.update(_joined(findings, explained, found))
    return found


def _joined(
    findings: Iterable[Finding], explained: Mapping[str, Sequence[str]], muted: Mapping[str, Mute]
) -> dict[str, Mute]:
    """Mutes of findings that say which job a cause affects: as long as all others of the cause are muted."""
    keys = ((finding.id, str(dict(finding.detail).get(AFFECTED_BY))) for finding in findings)
    jobs = {one: key for one, key in keys if key in explained}
    marks = {}
    for one, key in jobs.items():
        rest = [other for other in explained[key] if other not in jobs]
        if one not in muted and rest and all(other in muted for other in rest):
            marks[one] = muted[rest[0]]
    return marks


def work_now(plan: Plan, windows: Iterable[MaintenanceWindow], now: datetime) -> tuple[Maintained, ...]:
    """The devices that the open windows cover, in the order of the windows. A rail has no device of its own."""
    known = {device_key(name): name for name in plan.devices}
    covered = ((window, _devices(plan, window)) for window in windows if window.covers(now))
    named = ((window, tuple(known[name] for name in names if name in known)) for window, names in covered)
    return tuple(
        Maintained(
            names,
            printable(window.author, 64),
            printable(window.reason, 200),
            min(window.ends, window.ended_at or window.ends),
        )
        for window, names in named
        if names
    )


class _Covered:
    """A window's scope, looked up once."""

    def __init__(self, plan: Plan, window: MaintenanceWindow) -> None:
        self._plan = plan
        self._rail = int(window.what) if window.scope == "rail" and window.what.isdigit() else None
        self._devices = {name.lower() for name in _devices(plan, window)}

    def has(self, finding: Finding) -> bool:
        if self._rail is not None:
            return finding.rail == self._rail
        if device_key(finding.device) in self._devices:
            return True
        port = finding.subject.partition("/")[2]
        peer = self._plan.peer_of(Port(finding.device, port)) if port else None
        return peer is not None and device_key(peer.device) in self._devices


def _devices(plan: Plan, window: MaintenanceWindow) -> Iterable[str]:
    if window.scope == "pod":
        return [device_key(name) for name, device in plan.devices.items() if device.pod == window.what]
    if window.scope == "rail":
        return ()
    try:
        return [device_key(name) for name in expand(window.what, _budget(plan))]
    except NodeSetError:
        return ()


def _budget(plan: Plan) -> Budget:
    """The largest expansion of a node set of this plan: more is refused before it is expanded."""
    return Budget(2 * len(plan.devices) + 1000)


def checked_scope(plan: Plan, scope: str, what: str) -> str:
    """A window's scope in the plan's spelling. Raises QueryError with the value."""
    if scope not in SCOPES:
        raise QueryError(f"scope {scope!r}: expected one of {', '.join(SCOPES)}")
    if scope == "rail":
        rails = {cable.rail for cable in plan.cables}
        if not what.isdigit() or int(what) not in rails:
            raise QueryError(f"rail {what!r}: the plan has no such rail")
        return str(int(what))
    if scope == "pod":
        if what not in {device.pod for device in plan.devices.values()}:
            raise QueryError(f"pod {what!r}: the plan has no such pod")
        return what
    return _checked_nodes(plan, scope, what)


def _checked_nodes(plan: Plan, scope: str, what: str) -> str:
    known = {device_key(name): name for name in plan.devices}
    try:
        names = expand(what, _budget(plan))
    except NodeSetError as error:
        raise QueryError(f"{what!r}: {error}") from error
    strange = [name for name in names if device_key(name) not in known]
    if strange:
        raise QueryError(f"{what!r}: the plan has no device {strange[0]!r}")
    return known[device_key(names[0])] if scope == "device" and len(names) == 1 else what


# ----------------------------------------------------------------------------------------------------------------------
# People's acknowledgements and maintenance windows. Each is stored before it takes effect.

T = TypeVar("T")
Changed = Callable[[], Awaitable[None]]


class Mutes:
    """Open acknowledgements and windows, in memory as in the journal. Without a journal none can be created."""

    def __init__(self, journal: Journal | None, clock: Callable[[], datetime], changed: Changed) -> None:
        self._journal = journal
        self._clock = clock
        self._changed = changed
        self._loaded = False
        self._acknowledged: dict[int, Acknowledgement] = {}
        self._windows: dict[int, MaintenanceWindow] = {}

    @property
    def acknowledged(self) -> Sequence[Acknowledgement]:
        """The open acknowledgements."""
        return tuple(self._acknowledged.values())

    @property
    def windows(self) -> Sequence[MaintenanceWindow]:
        """The windows that are announced or open."""
        return tuple(self._windows.values())

    async def load(self) -> None:
        """Loads the journal's entries once; while it cannot be read, nothing is muted and the next call retries."""
        if self._loaded or self._journal is None:
            return
        journal = self._journal
        try:
            notes, windows = await asyncio.to_thread(lambda: (journal.acknowledgements(), journal.windows()))
        except JournalUnavailableError:
            return
        self._acknowledged = {note.id: note for note in notes}
        self._windows = {window.id: window for window in windows}
        self._loaded = True
        await self._changed()

    async def acknowledge(
        self, shown: Published, target: str, who: str, reason: str, until: datetime | None
    ) -> Acknowledgement:
        """Acknowledges a finding (id) or a cause (key). Raises NotFoundError, QueryError, JournalUnavailableError."""
        if until is not None and until <= self._clock():
            raise QueryError(f"until {until.isoformat()} is in the past")
        findings = {finding.id for finding in (*shown.evaluation.findings, *shown.pending_resolution)}
        if target not in findings and target not in {cause.key for cause in shown.evaluation.causes}:
            raise NotFoundError(f"no open finding or cause {target!r}")
        note = await self._keep(lambda journal: journal.acknowledge(target, who, reason, self._clock(), until))
        self._acknowledged[note.id] = note
        await self._changed()
        return note

    async def withdraw(self, number: int, who: str) -> None:
        """Ends an acknowledgement. Raises NotFoundError, JournalUnavailableError."""
        if number not in self._acknowledged and number not in self._unreadable("acknowledgements"):
            raise NotFoundError(f"no open acknowledgement {number}")
        await self._keep(lambda journal: journal.withdraw(number, who, self._clock()))
        self._acknowledged.pop(number, None)
        await self._changed()

    async def resolved(self, targets: Collection[str]) -> None:
        """Ends the acknowledgements of resolved findings and causes: if they come back, they alert again."""
        over = [note.id for note in self._acknowledged.values() if note.target in targets]
        with suppress(JournalUnavailableError):  # retried after the next evaluation
            for number in over:
                await self._keep(partial(_end, number, self._clock()))
                del self._acknowledged[number]

    async def open_window(
        self, plan: Plan, scope: str, what: str, starts: datetime, ends: datetime, who: str, reason: str
    ) -> MaintenanceWindow:
        """Announces maintenance. Raises QueryError, JournalUnavailableError."""
        what = checked_scope(plan, scope, what)
        if ends <= starts:
            raise QueryError(f"ends {ends.isoformat()} is not after starts {starts.isoformat()}")
        if ends <= self._clock():
            raise QueryError(f"ends {ends.isoformat()} is in the past")
        window = await self._keep(
            lambda journal: journal.open_window(scope, what, starts, ends, who, reason, self._clock())
        )
        self._windows[window.id] = window
        await self._changed()
        return window

    async def end_window(self, number: int, who: str) -> None:
        """Ends a window early. Raises NotFoundError, JournalUnavailableError."""
        if number not in self._windows and number not in self._unreadable("windows"):
            raise NotFoundError(f"no open maintenance window {number}")
        await self._keep(lambda journal: journal.end_window(number, who, self._clock()))
        self._windows.pop(number, None)
        await self._changed()

    def _unreadable(self, table: str) -> Collection[int]:
        return self._journal.unreadable(table) if self._journal else ()

    async def audit(self, who: str, action: str, detail: str) -> None:
        """Records any other write. Without a journal it does nothing."""
        if self._journal is not None:
            await self._keep(lambda journal: journal.note(who, action, detail, self._clock()))

    def forget_ended(self) -> None:
        """Drops expired entries."""
        now = self._clock()
        self._windows = {n: window for n, window in self._windows.items() if now < window.ends}
        self._acknowledged = {
            n: note for n, note in self._acknowledged.items() if note.until is None or now < note.until
        }

    async def _keep(self, write: Callable[[Journal], T]) -> T:
        if self._journal is None:
            raise JournalUnavailableError("there is no journal: set journal.url to store this")
        return await asyncio.to_thread(write, self._journal)


def _end(number: int, at: datetime, journal: Journal) -> None:
    journal.withdraw(number, "truerail", at)
