"""Routes by severity, one notification for one cause, and its text."""

from typing import Final

from dashboards.outputs import NOTE
from truerail.outputs.monitoring.derived import as_yaml

PAGER: Final = "http://127.0.0.1:9095/page"
TICKETS: Final = "http://127.0.0.1:9095/ticket"
"""Where the two receivers listen, to be replaced by the site's own."""
TEMPLATES: Final = "truerail.tmpl"
GROUPED_BY: Final = ("alertname", "fabric", "pod", "cause", "rule")
"""A cause is one notification; findings without one are one for their rule and pod."""
_TITLE: Final = (
    '{{ define "truerail.title" }}[{{ if eq .Status "firing" }}{{ .CommonLabels.severity }}{{ else }}resolved{{ end }}]'
    "{{ if .CommonLabels.fabric }} {{ .CommonLabels.fabric }}:{{ end }} {{ (index .Alerts 0).Annotations.summary }}"
    "{{ if gt (len .Alerts) 1 }} ({{ len .Alerts }} alike){{ end }}{{ end }}"
)
_TEXT: Final = """\
{{ define "truerail.text" }}{{ range .Alerts }}{{ .Annotations.summary }}
{{ .Annotations.description }}
{{ if ne .Status "firing" }}Ended: {{ .EndsAt.UTC.Format "2006-01-02 15:04:05" }} UTC
{{ end }}{{ if .Annotations.page_url }}Page: {{ .Annotations.page_url }}
{{ end }}{{ if .Annotations.dashboard_url }}Dashboard: {{ .Annotations.dashboard_url }}
{{ end }}Runbook: {{ .Annotations.runbook_url }}

{{ end }}{{ end }}
"""


def alertmanager() -> str:
    """The configuration, for Alertmanager 0.25 or newer."""
    return as_yaml(
        {
            "templates": [TEMPLATES],
            "route": {
                "receiver": "tickets",
                "group_by": list(GROUPED_BY),
                "group_wait": "1m",
                "group_interval": "5m",
                "repeat_interval": "1d",
                "routes": [
                    {
                        "receiver": "pager",
                        "matchers": ['severity="critical"'],
                        "group_wait": "30s",
                        "repeat_interval": "4h",
                    },
                    {"receiver": "tickets", "matchers": ['severity="warning"']},
                ],
            },
            "receivers": [
                {"name": "pager", "webhook_configs": [{"url": PAGER, "send_resolved": True}]},
                {"name": "tickets", "webhook_configs": [{"url": TICKETS, "send_resolved": True}]},
            ],
        },
        NOTE,
    )


def templates() -> str:
    """`truerail.title` and `truerail.text`, for receivers that take texts: mail, chat, pagers."""
    note = NOTE.removeprefix("# ").strip()
    return f"{{{{/* {note} */}}}}\n{_TITLE}\n{_TEXT}"
