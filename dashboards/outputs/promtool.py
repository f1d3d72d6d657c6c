"""The stories of the alerts as unit tests for promtool.

Each story is a fabric of its own, so all stories of a group run at once. A minute is a sample. All is well until minute
10; then the fault is there, until minute 90. From minute 60 to 62 truerail is restarted: all of its series are gone.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from dashboards.outputs.prometheus import annotations
from dashboards.outputs.template import rendered
from dashboards.rules import GROUPS
from dashboards.rules.declared import Alert, Group, Series, Story
from truerail.outputs.monitoring.derived import as_yaml

BEGINS: Final = 10
RESTARTS: Final = 60
BACK: Final = 63
ENDS: Final = 90
RULES_FILE: Final = "../prometheus/truerail.rules.yaml"


def unit_tests(group: Group, runbooks: str) -> str:
    """The tests of a group's alerts."""
    worlds: dict[str, list[Alert]] = {}
    for alert in group.alerts:
        alone = group.apart or not _has_fabric(alert.story)
        worlds.setdefault(alert.name if alone else group.name, []).append(alert)
    tests = [_test(name, alerts, runbooks) for name, alerts in worlds.items()]
    order = {"evaluation_interval": "1m", "group_eval_order": [group.name for group in GROUPS]}
    return as_yaml({"rule_files": [RULES_FILE], **order, "tests": tests})


def _has_fabric(story: Story) -> bool:
    return any(key == "fabric" for key, _ in story.fires)


def _test(name: str, alerts: list[Alert], runbooks: str) -> dict[str, Any]:
    reported = {(s.metric, s.labels): s for alert in alerts for s in (*alert.story.series, *alert.story.quiet)}
    return {
        "name": name,
        "interval": "1m",
        "input_series": [{"series": _name(series), "values": values(series)} for series in reported.values()],
        "alert_rule_test": list(_checks(alerts, runbooks)),
    }


def _name(series: Series) -> str:
    labels = ",".join(f'{key}="{value}"' for key, value in series.labels if value)
    return f"{series.metric}{{{labels}}}"


def values(series: Series) -> str:
    """The samples of a series in promtool's notation."""
    if series.climbs:
        return _climbing(series)
    before, fault, after = (_samples(value, n) for value, n in _phases(series))
    rest = _samples(series.bad, ENDS - BACK)
    return f"{before} {fault} stale _x{BACK - RESTARTS - 1} {rest} {after}"


def _phases(series: Series) -> tuple[tuple[float | None, int], ...]:
    return (series.good, BEGINS), (series.bad, RESTARTS - BEGINS), (series.good, 60)


def _climbing(series: Series) -> str:
    """A counter; with the restart it begins again."""
    start, each = series.good or 0, series.bad or 0
    rest = each * (ENDS - BACK)
    gap = f"stale _x{BACK - RESTARTS - 1}"
    first = f"{start:g}x{BEGINS - 1} {start + each:g}+{each:g}x{RESTARTS - BEGINS - 1}"
    return f"{first} {gap} 0+{each:g}x{ENDS - BACK - 1} {rest:g}x60"


def _samples(value: float | None, count: int) -> str:
    return f"stale _x{count - 1}" if value is None else f"{value:g}x{count - 1}"


def _checks(alerts: Iterable[Alert], runbooks: str) -> Iterator[dict[str, Any]]:
    """For each alert name: not before the fault, not before it has lasted, firing, in the restart and after, gone."""
    by_name: dict[str, list[Alert]] = {}
    for alert in alerts:
        by_name.setdefault(alert.name, []).append(alert)
    for name, same in by_name.items():
        wait = max(alert.wait for alert in same)
        least = min(alert.wait for alert in same)
        firing = [_expected(alert, runbooks) for alert in same]
        gone = ENDS + max(alert.story.resolves for alert in same)
        for minute in (BEGINS - 1, BEGINS + least - 1):
            yield {"eval_time": f"{minute}m", "alertname": name, "exp_alerts": []}
        for minute in (_settled(same, wait), BACK - 1, BACK + 1, ENDS - 1):
            yield {"eval_time": f"{minute}m", "alertname": name, "exp_alerts": firing}
        yield {"eval_time": f"{gone}m", "alertname": name, "exp_alerts": []}


def _settled(same: list[Alert], wait: int) -> int:
    """When all alerts of a name fire; a counter must have climbed for the whole of its window."""
    climbs = any(series.climbs for alert in same for series in alert.story.series)
    return RESTARTS - 1 if climbs else BEGINS + wait


def _expected(alert: Alert, runbooks: str) -> dict[str, Any]:
    labels = {key: value for key, value in alert.story.fires if value}
    return {"exp_labels": {"severity": alert.severity.value, **labels}, "exp_annotations": expected(alert, runbooks)}


def expected(alert: Alert, runbooks: str) -> dict[str, str]:
    """The annotations of an alert in its story."""
    labels, said = {key: value for key, value in alert.story.fires if value}, dict(alert.story.said)
    templates = annotations(alert, runbooks).items()
    return {key: said.get(key) or rendered(text, labels, alert.story.value) for key, text in templates}
