"""The rules for Prometheus."""

from collections.abc import Iterable
from typing import Any

from dashboards.outputs import NOTE
from dashboards.rules.declared import Alert, Group
from truerail.outputs.monitoring.derived import as_yaml


def rules_file(groups: Iterable[Group], runbooks: str) -> str:
    """All groups, as `rule_files` of Prometheus 2.42 or newer."""
    return as_yaml({"groups": [_group(group, runbooks) for group in groups]}, NOTE)


def runbook_url(alert: Alert, runbooks: str) -> str:
    """The address of an alert's runbook. `runbooks` is where the folder `docs/runbooks` is served."""
    return f"{runbooks.rstrip('/')}/{alert.page}.md"


def annotations(alert: Alert, runbooks: str) -> dict[str, str]:
    """Summary, description, runbook and further links, as templates."""
    url = runbook_url(alert, runbooks)
    return {"summary": alert.summary, "description": alert.description, "runbook_url": url, **dict(alert.links)}


def _group(group: Group, runbooks: str) -> dict[str, Any]:
    records = [{"record": record.name, "expr": record.expr} for record in group.records]
    every = {"interval": f"{group.minutes}m"} if group.minutes else {}
    return {"name": group.name, **every, "rules": [*records, *(_alert(alert, runbooks) for alert in group.alerts)]}


def _alert(alert: Alert, runbooks: str) -> dict[str, Any]:
    keep = {"keep_firing_for": f"{alert.keep}m"} if alert.keep else {}
    return {
        "alert": alert.name,
        "expr": alert.expr,
        "for": f"{alert.wait}m",
        **keep,
        "labels": {"severity": alert.severity.value},
        "annotations": annotations(alert, runbooks),
    }
