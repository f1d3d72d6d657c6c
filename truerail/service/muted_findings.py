"""Muted findings: acknowledged ones, and those under maintenance."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from truerail.analysis.explained import HURT_BY
from truerail.errors import NodeSetError, QueryError
from truerail.files.nodesets import Budget, expand
from truerail.model import Finding, Plan, Port
from truerail.model.finding import Cause
from truerail.model.history import Acknowledgement, MaintenanceWindow
from truerail.model.life import Maintained, Mute, MuteKind
from truerail.model.names import device_key, printable

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
    """Mutes of findings that say which job a cause hurts: as long as all others of the cause are muted."""
    keys = ((finding.id, str(dict(finding.detail).get(HURT_BY))) for finding in findings)
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
