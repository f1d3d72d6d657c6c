"""Rules for Prometheus, and the same as a PrometheusRule for its operator."""

from collections.abc import Iterable
from typing import Any

from dashboards.outputs.texts import as_yaml
from dashboards.rules.declared import Alert, Group


def rules_file(groups: Iterable[Group], runbooks: str) -> str:
    """All groups, as `rule_files` of Prometheus 2.42 or newer."""
    return as_yaml({"groups": [_group(group, runbooks) for group in groups]})


def prometheus_rule(groups: Iterable[Group], runbooks: str) -> str:
    """The same groups as a custom resource of the Prometheus operator."""
    about = {"app.kubernetes.io/name": "truerail", "app.kubernetes.io/component": "alerts"}
    resource = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "truerail", "labels": about},
        "spec": {"groups": [_group(group, runbooks) for group in groups]},
    }
    return as_yaml(resource)


def runbook_url(alert: Alert, runbooks: str) -> str:
    """The address of an alert's runbook. `runbooks` is where the folder `docs/runbooks` is served."""
    return f"{runbooks.rstrip('/')}/{alert.page}.md"


def annotations(alert: Alert, runbooks: str) -> dict[str, str]:
    """Summary, description and runbook, as templates."""
    url = runbook_url(alert, runbooks)
    return {"summary": alert.summary, "description": alert.description, "runbook_url": url}


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
