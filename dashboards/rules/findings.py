"""An alert for each rule about a device, port or host, and for each severity that its findings have."""

from collections.abc import Iterator

from dashboards.rules.declared import Alert, Group, Series, Severity, Story, labels
from dashboards.rules.records import FINDINGS
from dashboards.rules.words import ASK, CABLE, SUBJECT
from rules import rules
from truerail.analysis.rule import Alert as Entry
from truerail.analysis.rule import Rule

REPORTED = {
    "nic": ("pod", "host", "nic", "rail", "plane"),
    "rail": ("pod", "host", "rail"),
    "host": ("pod", "host"),
    "switch": ("pod", "switch"),
}
"""The labels of findings on each: the rest of an alert's labels come from the cable."""


def alerts(rule: Rule) -> Iterator[Alert]:
    """The alerts on a rule's findings, as its entry has them."""
    if (entry := rule.alert) is None:
        return
    for severity in (Severity(found.value) for found in entry.severities):
        yield Alert(
            name=f"Truerail{entry.name}",
            severity=severity,
            expr=f'{FINDINGS}{{rule="{rule.code}", severity="{severity.value}"}}',
            wait=entry.minutes,
            summary=f"{SUBJECT} {entry.summary}",
            description=f"{SUBJECT} {entry.summary} ({rule.code}).{CABLE} Next: {entry.action}{ASK}",
            page=rule.code,
            story=_story(rule.code, entry, severity),
        )


def _story(code: str, entry: Entry, severity: Severity) -> Story:
    """One finding comes and goes. Beside it, muted, as information and of another rule, it says nothing."""
    fabric = f"{code}-{severity.value}"
    where = _where(entry.on)
    device = {key: where[key] for key in REPORTED[entry.on]}
    one = {"fabric": fabric, **device, "rule": code, "severity": severity.value}
    return Story(
        series=(_number(fabric), *_links(entry.on, fabric, where), _finding(**one, muted="no")),
        fires=labels(fabric=fabric, **where, rule=code),
        quiet=tuple(_quiet(one)),
    )


def _links(on: str, fabric: str, where: dict[str, str]) -> list[Series]:
    """The cable of the finding; where the finding names its NIC, beside another of the same rail."""
    cable = {"fabric": fabric, **where, "switch_rack": "net"}
    others = {"nic": [{**cable, "nic": "enp9s0", "plane": "0", "switch": "leaf-6"}], "rail": []}.get(on)
    return [] if others is None else [Series("truerail_link_info", labels(**one), 1, 1) for one in (cable, *others)]


def _quiet(one: dict[str, str]) -> Iterator[Series]:
    fabric = one["fabric"] + "-quiet"
    yield _number(fabric)
    for change in ({"muted": "acknowledged"}, {"muted": "maintenance"}, {"severity": "info"}, {"rule": "XXX999"}):
        yield _finding(**{**one, "fabric": fabric, "muted": "no", **change})


def _where(on: str) -> dict[str, str]:
    if on == "switch":
        return {"pod": "p1", "switch": "leaf-7"}
    if on == "host":
        return {"pod": "p1", "host": "gpu-018"}
    plane = {"plane": "1"} if on == "nic" else {}
    leaf = {"switch": "leaf-7", "switch_port": "swp18", "rack": "r05"}
    return {"pod": "p1", "host": "gpu-018", "nic": "enp220s0f0np0", "rail": "7", **plane, **leaf}


def _finding(**values: str) -> Series:
    return Series("truerail_device_findings", labels(**values), None, 1)


def _number(fabric: str) -> Series:
    return Series("truerail_evaluation_number", labels(fabric=fabric), 7, 8)


FINDING_ALERTS = Group("truerail.findings", alerts=tuple(alert for rule in rules().values() for alert in alerts(rule)))
