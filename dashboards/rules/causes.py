"""One alert for one cause, by its kind; one for a finding that no cause explains; one for what is folded.

What a cause explains fires nothing of its own: its findings are no series of `truerail_finding_info`. So no alert has
to silence another one, in whatever order they reach Alertmanager.
"""

from collections.abc import Iterator

from dashboards.rules.declared import Alert, Group, Series, Severity, Story, labels
from dashboards.rules.records import CAUSES, FINDINGS, IN_USE, MANY
from dashboards.rules.words import (
    CAUSE_DESCRIPTION,
    CAUSE_SUMMARY,
    FINDING_DESCRIPTION,
    FINDING_SUMMARY,
    dashboard_url,
    page_url,
)
from truerail.model.cause_kinds import ALERTING, FINDING_ALERT, FINDING_MINUTES, CauseKind, KindOfCause
from truerail.model.finding import Severity as Found
from truerail.outputs.monitoring import TRUERAIL

C, W = Severity.CRITICAL, Severity.WARNING
SINCE = 1_790_000_000
"""When the causes of the stories began: 2026-09-21 14:13:20."""


def alerts(one: KindOfCause) -> Iterator[Alert]:
    """The alerts of a kind: critical, and a warning for the same in a pod that is not in use yet."""
    for severity in (C, W):
        yield Alert(
            name=one.alert,
            severity=severity,
            expr=_expr(one, severity),
            wait=one.minutes(Found(severity.value)),
            summary=CAUSE_SUMMARY,
            description=CAUSE_DESCRIPTION,
            page=one.runbook,
            story=_story(one, severity),
            links=(
                ("page_url", page_url("cause_info", "cause", "/causes")),
                ("dashboard_url", dashboard_url(one.dashboard)),
            ),
        )


def _expr(one: KindOfCause, severity: Severity) -> str:
    """Without the cause's own severity, so that one which just changed it is not two of one alert."""
    critical, warning = (f'{CAUSES}{{kind="{one.kind}", severity="{severity}"}}' for severity in (C, W))
    used = f"and on(fabric, pod) ({IN_USE} >= 0.5)"
    if severity is C:
        chosen = f"{critical}\n{used}" if one.needs_use else critical
    else:
        chosen = warning
        if one.needs_use:
            chosen = f"{chosen}\nor\n({critical} unless on(fabric, pod) ({IN_USE} >= 0.5))"
        if one.kind is CauseKind.UNREACHABLE:
            chosen = f"{chosen}\nunless on(fabric) {MANY}"
    return f"max by (fabric, pod, cause, kind) (\n{chosen}\n)"


def _story(one: KindOfCause, severity: Severity) -> Story:
    """A cause comes and goes. Beside it one that is muted, and one that is information, say nothing."""
    fabric = f"{one.kind}-{severity}"
    identity = {"fabric": fabric, "pod": "p1", "cause": "c0ffee", "kind": one.kind.value}
    return Story(
        series=(
            *_of_evaluation(fabric),
            *_cause(**identity, severity=severity.value, muted="no"),
            *(_in_use(fabric) if one.needs_use else ()),
        ),
        fires=labels(**identity),
        quiet=tuple(_quiet(identity, severity)),
        said=_said(),
    )


def _of_evaluation(fabric: str) -> Iterator[Series]:
    yield Series("truerail_evaluation_number", labels(fabric=fabric), 7, 8)


def _in_use(fabric: str) -> Iterator[Series]:
    yield Series("truerail_rail_right_ratio", labels(fabric=fabric, pod="p1", rail="0"), 1, 0.4)


def _cause(**identity: str) -> Iterator[Series]:
    texts = {"subject": "gpu-001/nic0", "summary": "it is wrong", "action": "Put it right.", "findings": "f1 f2"}
    place = {"rack": "r01", "unit": "7", "page_url": f"https://truerail.example.org/causes/{identity['cause']}"}
    yield Series("truerail_cause_info", labels(**identity, **texts, **place), None, 1)
    yield Series("truerail_cause_affected_hosts", labels(**identity), None, 1)
    yield Series("truerail_cause_affected_gpus", labels(**identity), None, 8)
    yield Series("truerail_cause_since_timestamp_seconds", labels(**identity), None, SINCE)


def _quiet(identity: dict[str, str], severity: Severity) -> Iterator[Series]:
    for change in ({"muted": "acknowledged"}, {"muted": "maintenance"}, {"severity": "info"}, {"kind": "maintenance"}):
        other = {**identity, "cause": "other", "severity": severity.value, "muted": "no", **change}
        yield Series("truerail_cause_info", labels(**other), None, 1)


def _said() -> tuple[tuple[str, str], ...]:
    return labels(
        summary="it is wrong",
        description="Where: gpu-001/nic0, rack r01, unit 7, pod p1\nAffected: 1 host, 8 GPUs\nFirst: Put it right.\n"
        "Findings: f1 f2\nSince: 2026-09-21 14:13:20 +0000 UTC",
        page_url="https://truerail.example.org/causes/c0ffee",
    )


def _finding(severity: Severity) -> Alert:
    chosen = f'{FINDINGS}{{severity="{severity}"}}'
    if severity is W:
        chosen = f'{FINDINGS}{{severity="{W}", rule!~"TEL00[1-3]"}}\nor\n'
        chosen += f'({FINDINGS}{{severity="{W}", rule=~"TEL00[1-3]"}} unless on(fabric) {MANY})'
    fabric = f"finding-{severity}"
    identity = {"fabric": fabric, "finding": "f00d", "rule": "TEL003"}
    given = {**identity, "severity": severity.value, "muted": "no"}
    texts = {"subject": "leaf-7", "summary": "leaf-7 has no neighbor", "action": "Check lldpd."}
    return Alert(
        FINDING_ALERT,
        severity,
        f"max by (fabric, pod, finding, rule) (\n{chosen}\n)",
        FINDING_MINUTES[Found(severity.value)],
        FINDING_SUMMARY,
        FINDING_DESCRIPTION,
        "{{ $labels.rule }}",
        Story(
            (*_of_evaluation(fabric), Series("truerail_finding_info", labels(**given, **texts), None, 1)),
            labels(**identity),
            quiet=(
                Series("truerail_finding_info", labels(**{**given, "finding": "o", "muted": "maintenance"}), None, 1),
            ),
            said=labels(
                summary="leaf-7 has no neighbor",
                description="Where: leaf-7\nFirst: Check lldpd.\nFinding: f00d (TEL003), which no cause explains",
                page_url=f"{TRUERAIL}/findings/f00d",
            ),
        ),
        links=(
            ("page_url", page_url("finding_info", "finding", "/findings")),
            ("dashboard_url", dashboard_url("overview")),
        ),
    )


_FOLDED = Alert(
    "TruerailFaultsFolded", W,
    'sum by (fabric) (\ntruerail_causes_folded{muted="no", severity!="info"}\nor\n'
    'truerail_findings_folded{muted="no", severity!="info"}\n) > 0',
    5,
    "{{ $value }} more causes and findings are open in {{ $labels.fabric }}",
    "The 200 worst causes, and the 200 worst findings without one, have alerts of their own; {{ $value }} more in "
    "{{ $labels.fabric }} have none. So many at once mostly have one origin: power, the management network, a plan "
    "that does not fit. Next: `truerail status` names the worst ones.",
    "TruerailFaultsFolded",
    Story(
        (*_of_evaluation("folded"),
         Series("truerail_causes_folded", labels(fabric="folded", kind="link-down", severity="warning", muted="no"),
                None, 3),
         Series("truerail_findings_folded", labels(fabric="folded", rule="CAB004", severity="warning", muted="no"),
                None, 4)),
        labels(fabric="folded"), 7,
        quiet=(Series("truerail_causes_folded",
                      labels(fabric="folded-quiet", kind="link-down", severity="info", muted="no"), None, 3),),
        resolves=8,
    ),
    keep=5,
)  # fmt: skip

CAUSE_GROUP = Group(
    "truerail.causes", alerts=(*(alert for one in ALERTING for alert in alerts(one)), *map(_finding, (C, W)), _FOLDED)
)
