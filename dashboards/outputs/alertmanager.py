"""Who is woken: routes by severity, and what mutes what it explains."""

from typing import Any, Final

from dashboards.outputs.texts import as_yaml

PAGER: Final = "http://127.0.0.1:9095/page"
TICKETS: Final = "http://127.0.0.1:9095/ticket"
"""Where the two receivers listen, to be replaced by the site's own."""
LEAF: Final = "TruerailLeafDown|TruerailLeafMiscabled"
DARK: Final = "TruerailCableMissing|TruerailPlaneLost"


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
            "inhibit_rules": _inhibitions(),
            "receivers": [
                {"name": "pager", "webhook_configs": [{"url": PAGER, "send_resolved": True}]},
                {"name": "tickets", "webhook_configs": [{"url": TICKETS, "send_resolved": True}]},
            ],
        }
    )


def _inhibitions() -> list[dict[str, Any]]:
    """Two alerts without a label are equal in it, so what must be equal is also asked to be there."""
    return [
        # A leaf that is down or exchanged mutes what concerns one cable of it, and what the leaf itself no longer says.
        _mutes([f'alertname=~"{LEAF}"'], ['nic!=""'], "fabric", "switch"),
        _mutes([f'alertname=~"{LEAF}"'], ['alertname=~"Truerail(Uplink|Device|Stale|Lldp|Dead|Duplicate).+"',
                                          'switch!=""'], "fabric", "switch"),
        # The louder alert on a cable mutes the others on it.
        _mutes(['severity="critical"', 'nic!=""'], ['severity="warning"', 'nic!=""'], "fabric", "host", "nic"),
        # A host with several rails down is one page; a single rail is told by its cable, and so is a cable that is
        # plugged in elsewhere: its alert says where.
        _mutes(['alertname="TruerailHostRailsDown"', 'severity="critical"'], [f'alertname=~"{DARK}"'],
               "fabric", "host"),
        _mutes([f'alertname=~"{DARK}"', 'severity="critical"'],
               ['alertname="TruerailHostRailsDown"', 'severity="warning"'], "fabric", "host"),
        # A rail is cut by a cable, where one is to blame. This alert waits longer than any on a cable.
        _mutes([f'alertname=~"TruerailCableWrong|{DARK}"'], ['alertname="TruerailRailCut"'], "fabric", "host", "nic"),
        # A storm or deadlock explains pauses and congestion elsewhere.
        _mutes(['alertname=~"TruerailPfcStorm|TruerailPfcDeadlock"', 'severity="critical"'],
               ['alertname=~"TruerailPausePressure|TruerailEcnCongestion|TruerailIncast|TruerailRailImbalance|TruerailStragglerNic"'],
               "fabric"),
        # Many silent devices are one fault, not many.
        _mutes(['alertname="TruerailManyDevicesUnreachable"'],
               ['alertname=~"TruerailDeviceUnreachable|TruerailStaleData|TruerailCoverageFalling"'], "fabric"),
        # Who judges nothing has no opinion on how old its judgement is.
        _mutes(['alertname="TruerailJudgingBroken"'], ['alertname="TruerailNoJudgement"']),
    ]  # fmt: skip


def _mutes(source: list[str], target: list[str], *equal: str) -> dict[str, Any]:
    return {"source_matchers": source, "target_matchers": target, "equal": list(equal)}
