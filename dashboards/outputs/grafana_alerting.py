"""The alerts as Grafana-managed rules, to be provisioned from a file. Recording rules stay with Prometheus.

Grafana's own import of Prometheus rules makes the same three steps of each: the query, whether it gave a number, and
whether that is more than nothing. So any series is an alert, and no series is none.
"""

from collections.abc import Iterable
from hashlib import blake2s
from typing import Any, Final

from dashboards.outputs.prometheus import annotations
from dashboards.outputs.texts import as_yaml
from dashboards.rules.declared import Alert, Group

DATASOURCE: Final = "prometheus"
"""uid of the data source that the recording rules write to."""
_EXPRESSION: Final = "__expr__"


def provisioning(groups: Iterable[Group], runbooks: str) -> str:
    """A file for Grafana's `provisioning/alerting`, from Grafana 12."""
    found = [_group(group, runbooks) for group in groups if group.alerts]
    return as_yaml({"apiVersion": 1, "groups": found})


def _group(group: Group, runbooks: str) -> dict[str, Any]:
    rules = [_rule(alert, runbooks) for alert in group.alerts]
    return {"orgId": 1, "name": group.name, "folder": "truerail", "interval": "1m", "rules": rules}


def _rule(alert: Alert, runbooks: str) -> dict[str, Any]:
    keep = {"keep_firing_for": f"{alert.keep}m"} if alert.keep else {}
    told = {key: _template(text) for key, text in annotations(alert, runbooks).items()}
    return {
        "uid": blake2s(f"{alert.name} {alert.severity}".encode(), digest_size=8).hexdigest(),
        "title": f"{alert.name} ({alert.severity.value})",
        "condition": "threshold",
        "data": [_query(alert.expr), _is_number(), _threshold()],
        "noDataState": "OK",
        "execErrState": "Error",
        "for": f"{alert.wait}m",
        **keep,
        "annotations": told,
        "labels": {"severity": alert.severity.value},
        "isPaused": False,
    }


def _template(text: str) -> str:
    """Grafana's `$value` is a sentence; the number is that of the query."""
    return text.replace("$value", "$values.query.Value")


def _query(expr: str) -> dict[str, Any]:
    model = {"refId": "query", "expr": expr, "instant": True, "range": False}
    return {
        "refId": "query",
        "relativeTimeRange": {"from": 600, "to": 0},
        "datasourceUid": DATASOURCE,
        "model": model,
    }


def _step(ref: str, **model: Any) -> dict[str, Any]:
    return {
        "refId": ref,
        "relativeTimeRange": {"from": 0, "to": 0},
        "datasourceUid": _EXPRESSION,
        "model": {"refId": ref, **model},
    }


def _is_number() -> dict[str, Any]:
    return _step("is_number", type="math", expression="is_number($query) || is_nan($query) || is_inf($query)")


def _threshold() -> dict[str, Any]:
    over = [{"evaluator": {"type": "gt", "params": [0]}}]
    return _step("threshold", type="threshold", expression="is_number", conditions=over)
