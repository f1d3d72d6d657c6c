"""One device: a host with its rails from GPU to uplinks, or a switch with its front panel."""

from truerail.analysis.published import Published
from truerail.errors import JournalUnavailableError, NotFoundError, QueryError
from truerail.model.finding import Finding
from truerail.model.history import History, MaintenanceWindow, NoHistory
from truerail.model.life import MuteKind
from truerail.model.names import printable
from truerail.views.commands import command_of
from truerail.views.lines import (
    cable_paths,
    cause_lines,
    end_of_device,
    finding_lines_of,
    state_count,
    uplinks_of,
)
from truerail.views.models import DeviceView, ReadingLine
from truerail.views.panel import panel_of
from truerail.views.view import View, view_of


def device_view(publication: Published, name: str, history: History | None = None) -> DeviceView:
    """Everything about a planned device, by any spelling of its name. Raises `NotFoundError` with the nearest name."""
    view, history = view_of(publication), history or NoHistory()
    code = view.device(name.strip())
    if not view.is_planned(code):
        raise NotFoundError(f"the plan has no device {printable(name, 80)!r}{view.nearest.hint(name.strip())}")
    device, host = view.layout.devices[code], view.index.devices.is_host(code)
    findings = view.findings_of(code)
    cables = view.layout.host_cables_of(code) if host else view.layout.cables_of(code)[:0]
    return DeviceView(
        device=end_of_device(view, code),
        platform=device.platform,
        address=device.address,
        read=bool(view.wiring.read[code]),
        count=state_count(view.sight.counts[code]),
        paths=cable_paths(view, cables, history),
        panel=() if host else panel_of(view, code),
        uplinks=uplinks_of(view, code),
        findings=finding_lines_of(view, findings),
        causes=cause_lines(view, view.causes_of(findings, (device.name,))),
        readings=_asked(view, code),
        maintenance=_maintenance(view, code, findings, history),
    )


def _asked(view: View, code: int) -> tuple[ReadingLine, ...]:
    """The result of each collector on the device, by the collector's name; none as of a time."""
    if view.hindsight is not None:
        return ()
    readings = sorted(view.sight.readings.get(code, ()), key=lambda reading: (reading.collector, reading.at))
    return tuple(
        ReadingLine(
            r.collector, r.at, r.took_seconds, r.source, command_of(r.collector, r.source), printable(r.error, 400)
        )
        for r in readings
    )


def _maintenance(view: View, code: int, findings: list[Finding], history: History) -> str | None:
    """The reason of an open maintenance window on the device: from the history, or from a muted finding on it."""
    mutes = (view.mutes.get(finding.id) for finding in findings)
    reported = next((mute.reason for mute in mutes if mute and mute.kind is MuteKind.MAINTENANCE), None)
    if reported is not None:
        return reported
    try:
        windows = history.windows()
    except JournalUnavailableError:
        return None
    return next((w.reason for w in windows if w.covers(view.at) and _is_on(view, w, code)), None)


def _is_on(view: View, window: MaintenanceWindow, code: int) -> bool:
    """Whether a window covers the whole device. A rail's window covers cables only."""
    if window.scope == "pod":
        return view.layout.devices[code].pod == window.what
    if window.scope not in ("device", "nodes"):
        return False
    try:
        return code in {view.device(name) for name in view.expand(window.what)}
    except QueryError:
        return False
