"""Annotations of alerts on causes and findings, as templates that Prometheus and, in its own form, Grafana understand.

A text is no label of an alert: one that changes would be another alert. So the templates take it from the series of the
same cause. While truerail is restarted, what it said last stands there too.
"""

from typing import Final

from truerail.outputs.monitoring import GRAFANA, TRUERAIL


def _one(metric: str, key: str) -> str:
    """Opens a block in which `$one` is the series of this metric for the alert's cause; `else` and `end` follow."""
    series = f"truerail_{metric}{{fabric=%q,{key}=%q}}"
    return _opened(f"{series} or on({key}) last_over_time({series}[15m])", key, 2)


def _known(metric: str) -> str:
    """The same for a figure that may become unknown while its cause is shown."""
    series, info = (f"truerail_{name}{{fabric=%q,cause=%q}}" for name in (metric, "cause_info"))
    return _opened(f"{series} or on(cause) (last_over_time({series}[15m]) unless on(cause) {info})", "cause", 3)


def _opened(query: str, key: str, times: int) -> str:
    names = f" $labels.fabric $labels.{key}" * times
    return f'{{{{ with printf "{query}"{names} | query }}}}{{{{ $one := . | first }}}}'


def _count(metric: str, thing: str) -> str:
    many = f'{{{{ printf "%.0f" $one.Value }}}} {thing}{{{{ if ne $one.Value 1.0 }}}}s{{{{ end }}}}'
    return f"{_known(metric)}{many}{{{{ else }}}}an unknown number of {thing}s{{{{ end }}}}"


def _place(info: str, key: str) -> str:
    rack = "{{ if $one.Labels.rack }}, rack {{ $one.Labels.rack }}{{ end }}"
    unit = "{{ if $one.Labels.unit }}, unit {{ $one.Labels.unit }}{{ end }}"
    pod = "{{ if $labels.pod }}, pod {{ $labels.pod }}{{ end }}"
    return f"{_one(info, key)}Where: {{{{ $one.Labels.subject }}}}{rack}{unit}{pod}"


_FIRST: Final = "First: {{ $one.Labels.action }}"
_SINCE: Final = (
    _one("cause_since_timestamp_seconds", "cause")
    + 'Since: {{ printf "%.0f" $one.Value | humanizeTimestamp }}{{ else }}Since: unknown{{ end }}'
)


def _summary(info: str, key: str, otherwise: str) -> str:
    return f"{_one(info, key)}{{{{ $one.Labels.summary }}}}{{{{ else }}}}{otherwise}{{{{ end }}}}"


CAUSE_SUMMARY: Final = _summary("cause_info", "cause", "{{ $labels.kind }} {{ $labels.cause }}")
CAUSE_DESCRIPTION: Final = "\n".join(
    (
        f"{_place('cause_info', 'cause')}{{{{ end }}}}",
        f"Affected: {_count('cause_affected_hosts', 'host')}, {_count('cause_affected_gpus', 'GPU')}",
        f"{_one('cause_info', 'cause')}{_FIRST}",
        "Findings: {{ $one.Labels.findings }}{{ end }}",
        _SINCE,
    )
)
FINDING_SUMMARY: Final = _summary("finding_info", "finding", "{{ $labels.rule }} {{ $labels.finding }}")
FINDING_DESCRIPTION: Final = "\n".join(
    (
        _place("finding_info", "finding"),
        f"{_FIRST}{{{{ end }}}}",
        "Finding: {{ $labels.finding }} ({{ $labels.rule }}), which no cause explains",
    )
)


def page_url(info: str, key: str, path: str) -> str:
    """The address of the page: by the service's own setting, else by that of the export."""
    mine = f"{TRUERAIL}{path}/{{{{ $labels.{key} }}}}"
    given = "{{ if $one.Labels.page_url }}{{ $one.Labels.page_url }}{{ else }}"
    return f"{_one(info, key)}{given}{mine}{{{{ end }}}}{{{{ else }}}}{mine}{{{{ end }}}}"


def dashboard_url(board: str) -> str:
    """The address of a board, on the alert's fabric."""
    return f"{GRAFANA}/d/truerail-{board}?var-fabric={{{{ $labels.fabric }}}}"
