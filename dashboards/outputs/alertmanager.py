"""Who is woken: routes by severity, and what mutes what it explains."""

from typing import Any, Final

from dashboards.outputs import NOTE
from dashboards.rules.inhibitions import INHIBITIONS, Inhibition
from truerail.outputs.monitoring.derived import as_yaml

PAGER: Final = "http://127.0.0.1:9095/page"
TICKETS: Final = "http://127.0.0.1:9095/ticket"
"""Where the two receivers listen, to be replaced by the site's own."""


def alertmanager() -> str:
    """The configuration, for Alertmanager 0.25 or newer."""
    return as_yaml(
        {
            "route": {
                "receiver": "tickets",
                "group_by": ["alertname", "fabric", "pod"],
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
            "inhibit_rules": [_inhibition(mutes) for mutes in INHIBITIONS],
            "receivers": [
                {"name": "pager", "webhook_configs": [{"url": PAGER, "send_resolved": True}]},
                {"name": "tickets", "webhook_configs": [{"url": TICKETS, "send_resolved": True}]},
            ],
        },
        NOTE,
    )


def _inhibition(mutes: Inhibition) -> dict[str, Any]:
    return {
        "source_matchers": mutes.source.matchers(),
        "target_matchers": mutes.target.matchers(),
        "equal": list(mutes.equal),
    }
