"""The alert of a cause, or of a finding that no cause explains: what fires, since when, and where it is sent.

Prometheus evaluates it from `truerail_cause_info` and `truerail_finding_info`; this is the same from the same open
fault, so that the page of a cause and the alert agree. A scrape and an evaluation of Prometheus come on top.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from truerail.analysis.published import Published
from truerail.model.cause_kinds import CAUSE_KINDS, FINDING_ALERT, minutes_of
from truerail.model.life import Mute
from truerail.model.open_fault import OpenFault


@dataclass(frozen=True, slots=True)
class MutedBy:
    """Why an alert is muted: `kind` is `acknowledged` or `maintenance`."""

    kind: str
    author: str
    reason: str
    until: datetime | None


@dataclass(frozen=True, slots=True)
class FaultAlert:
    """One alert. `state` is `pending` until `fires_at`, then `firing`; `muted`, or `none` where nothing is sent."""

    name: str
    """`TruerailCableSwap`; empty where nothing is sent."""
    title: str
    severity: str
    state: str
    why_none: str
    """Why nothing is sent."""
    wait_minutes: int | None
    """How long the fault must last."""
    since: datetime | None
    fires_at: datetime | None
    """When it has lasted that long; None if it is not known when it began."""
    in_use_only: bool
    """Whether a critical one is a warning in a pod that is still being cabled."""
    muted: tuple[MutedBy, ...]
    notification: Mapping[str, str]
    """The labels that alerts of one notification share."""
    runbook: str
    """The code of the runbook: `CAB001`."""
    runbook_url: str
    """Empty without the setting `page.runbooks`."""
    dashboard_url: str
    """Empty without the setting `page.grafana`."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Addresses of what alerts lead to; empty ones are not set."""

    runbooks: str = ""
    grafana: str = ""


def fault_alerts(publication: Published, key: str, elsewhere: Elsewhere) -> tuple[FaultAlert, ...]:
    """The alert of the open cause or finding `key`; nothing where it is not open or a cause has it."""
    return tuple(_alert(publication, fault, elsewhere) for fault in publication.open_faults if fault.key == key)


def _alert(publication: Published, fault: OpenFault, elsewhere: Elsewhere) -> FaultAlert:
    known = CAUSE_KINDS[fault.kind] if fault.kind else None
    minutes = minutes_of(fault.kind, fault.severity)
    fires_at = fault.since + timedelta(minutes=minutes) if fault.since and minutes is not None else None
    muted = _muted(publication.mutes, fault.findings)
    name = "" if minutes is None else known.alert if known else FINDING_ALERT
    runbook = known.runbook if known else fault.rule
    return FaultAlert(
        name=name,
        title=known.title if known else "A finding that no cause explains",
        severity=fault.severity.value,
        state=_state(name, muted, fires_at, publication.at),
        why_none="" if name else _why_none(fault),
        wait_minutes=minutes,
        since=fault.since,
        fires_at=fires_at,
        in_use_only=bool(known and known.needs_use),
        muted=muted,
        notification=_notification(publication, fault, name),
        runbook=runbook,
        runbook_url=f"{elsewhere.runbooks}/{runbook}.md" if elsewhere.runbooks and runbook else "",
        dashboard_url=_dashboard(publication, known.dashboard if known else "overview", elsewhere),
    )


def _state(name: str, muted: tuple[MutedBy, ...], fires_at: datetime | None, at: datetime) -> str:
    if not name or muted:
        return "muted" if name else "none"
    return "firing" if fires_at is not None and fires_at <= at else "pending"


def _why_none(fault: OpenFault) -> str:
    if fault.kind and not CAUSE_KINDS[fault.kind].runbook:
        return f"a cause of kind {fault.kind} explains findings and is no fault"
    return f"its severity is {fault.severity}"


def _muted(mutes: Mapping[str, Mute], findings: tuple[str, ...]) -> tuple[MutedBy, ...]:
    """Why all of its findings are muted; nothing if one is not."""
    found = [mutes.get(one) for one in findings]
    if not found or None in found:
        return ()
    each = {(one.kind, one.id): one for one in found if one is not None}
    return tuple(MutedBy(one.kind.value, one.author, one.reason, one.until) for one in each.values())


def _notification(publication: Published, fault: OpenFault, name: str) -> Mapping[str, str]:
    key = {"cause": fault.key} if fault.kind else {"rule": fault.rule}
    labels = {"alertname": name, "fabric": publication.fabric, "pod": fault.pod, **key}
    return {label: value for label, value in labels.items() if value} if name else {}


def _dashboard(publication: Published, board: str, elsewhere: Elsewhere) -> str:
    chosen = urlencode({"var-fabric": publication.fabric})
    return f"{elsewhere.grafana}/d/truerail-{board}?{chosen}" if elsewhere.grafana else ""
