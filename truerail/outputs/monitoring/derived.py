"""Other formats of the rules for Prometheus: for its operator, and for Grafana's own alerting.

Grafana's import of Prometheus rules makes the same three steps of each alert: the query, whether it returned a number,
and whether that is above 0. So each series is an alert, and no series is no alert.
"""

import re
from collections.abc import Iterable
from hashlib import blake2s
from typing import Any, Final

import yaml

DATASOURCE: Final = "prometheus"
"""uid of the data source with the recording rules' series."""
_NOTE: Final = "# Written by `truerail monitoring export`. Do not edit.\n"
_EXPRESSION: Final = "__expr__"


class _Dumper(yaml.CSafeDumper):
    """Writes texts of several lines as blocks, without folding or anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        """Repeats equal values."""
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def as_yaml(document: Any, note: str = _NOTE) -> str:
    """The document in readable form, below a note on its origin."""
    return note + yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=10_000, allow_unicode=True)


def prometheus_rule(rules: str) -> str:
    """The rules as a custom resource of the Prometheus operator."""
    about = {"app.kubernetes.io/name": "truerail", "app.kubernetes.io/component": "alerts"}
    resource = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "truerail", "labels": about},
        "spec": {"groups": _groups(rules)},
    }
    return as_yaml(resource)


def records_alone(rules: str) -> str:
    """The recording rules without alerts, for the Prometheus behind a Grafana that alerts itself."""
    kept = [{**group, "rules": [one for one in group["rules"] if "record" in one]} for group in _groups(rules)]
    return as_yaml({"groups": [group for group in kept if group["rules"]]})


def grafana_alerts(rules: str) -> str:
    """The alerts for Grafana's `provisioning/alerting`, from Grafana 12."""
    alerts = {group["name"]: [one for one in group["rules"] if "alert" in one] for group in _groups(rules)}
    groups = [
        {"orgId": 1, "name": name, "folder": "truerail", "interval": "1m", "rules": [_grafana(one) for one in found]}
        for name, found in alerts.items()
        if found
    ]
    return as_yaml({"apiVersion": 1, "groups": groups})


def _groups(rules: str) -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = yaml.load(rules, yaml.CSafeLoader)["groups"]
    return groups


def _grafana(alert: dict[str, Any]) -> dict[str, Any]:
    name, severity = alert["alert"], alert["labels"]["severity"]
    kept = {key: alert[key] for key in ("keep_firing_for",) if key in alert}
    annotations = alert["annotations"]
    return {
        "uid": blake2s(f"{name} {severity}".encode(), digest_size=8).hexdigest(),
        "title": f"{name} ({severity})",
        "condition": "threshold",
        "data": [_query(alert["expr"]), *map(_joined, _metrics(annotations.values())), _IS_NUMBER, _THRESHOLD],
        "noDataState": "OK",
        "execErrState": "Error",
        "for": alert["for"],
        **kept,
        "annotations": {key: _template(text) for key, text in annotations.items()},
        "labels": alert["labels"],
        "isPaused": False,
    }


_ASKS: Final = re.compile(r'\{\{ with printf "truerail_(\w+)\{[^|]*\| query \}\}\{\{ \$one := \. \| first \}\}')
"""Where a template of Prometheus asks for the series of the alert's cause."""


def _metrics(templates: Iterable[str]) -> list[str]:
    """The metrics that templates ask for, each once, without their prefix."""
    return list(dict.fromkeys(name for text in templates for name in _ASKS.findall(text)))


def _joined(metric: str) -> dict[str, Any]:
    """Grafana's templates ask for no series. A further query of the alert gives them, by its name: of each alert the
    one whose labels contain those of the alert.
    """
    return _query(f'truerail_{metric}{{muted="no"}}', metric)


def _template(text: str) -> str:
    """Grafana's `$value` is a sentence; the number is that of the query, and other series are those of its queries."""
    asks = _ASKS.sub(r"{{ if $values.\1.Labels }}{{ $one := $values.\1 }}", text)
    return asks.replace("$value ", "$values.query.Value ")


def _query(expr: str, ref: str = "query") -> dict[str, Any]:
    model = {"refId": ref, "expr": expr, "instant": True, "range": False}
    return {"refId": ref, "relativeTimeRange": {"from": 600, "to": 0}, "datasourceUid": DATASOURCE, "model": model}


def _step(ref: str, **model: Any) -> dict[str, Any]:
    return {
        "refId": ref,
        "relativeTimeRange": {"from": 0, "to": 0},
        "datasourceUid": _EXPRESSION,
        "model": {"refId": ref, **model},
    }


_IS_NUMBER: Final = _step("is_number", type="math", expression="is_number($query) || is_nan($query) || is_inf($query)")
_OVER: Final = [{"evaluator": {"type": "gt", "params": [0]}}]
_THRESHOLD: Final = _step("threshold", type="threshold", expression="is_number", conditions=_OVER)
