"""How much of the fabric truerail knows: a row of the overview."""

from typing import Final

from dashboards.grafana.layout import Row
from dashboards.grafana.palette import MISSING, RIGHT, UNKNOWN, none_is_right
from dashboards.grafana.panels import Column, lines, stat, table
from dashboards.grafana.queries import FABRIC, fresh, instant, over_time, rows

_SHARE: Final = ((0, UNKNOWN), (0.9, MISSING), (1, RIGHT))
"""Little coverage is not bad cabling: it is not knowing."""
_COLLECTORS: Final = (
    Column("collector"),
    Column("Value #A", "age", unit="s", width=90),
    Column("Value #B", "ages in rounds", steps=((0, RIGHT), (3, MISSING), (5, UNKNOWN)), width=120),
    Column("Value #C", "answered", unit="percentunit", steps=_SHARE, width=100),
)


def _collectors() -> str:
    age, interval = f"truerail_collector_age_seconds{{{FABRIC}}}", f"truerail_collector_interval_seconds{{{FABRIC}}}"
    return f"max by (collector) ({age} / on(fabric, collector) {interval})"


def _answered() -> str:
    answered = f"truerail_collector_devices_answered{{{FABRIC}}}"
    return f"min by (collector) ({answered} / on(fabric, collector) truerail_collector_devices_asked{{{FABRIC}}})"


_NOT_EVALUATED: Final = f'sum by (fabric) (truerail_rule_status{{{FABRIC}, status=~"unknown|error"}})'

COVERAGE: Final = Row(
    "How much do we know?",
    8,
    (
        stat(
            "Cables verified",
            "Share of the planned cables of which at least one end says where they are plugged. What no end  "
            "confirms is unknown, not right. Normal is 100 %.",
            instant(fresh(f"fabric:truerail_links_verified:ratio{{{FABRIC}}}")),
            unit="percentunit",
            steps=_SHARE,
            width=4,
        ),
        stat(
            "Rules without a verdict",
            "Rules that could not evaluate, for want of answers or because they failed. Their findings are unknown, "
            "not none. Traffic rules are silent while nothing runs. The board truerail itself names them.",
            instant(fresh(_NOT_EVALUATED)),
            unit="short",
            steps=none_is_right(UNKNOWN),
            width=4,
        ),
        lines(
            "Devices read, by role",
            "Share of the planned devices that gave a readable answer. Normal is 100 %. Many at once: management "
            "network, key or user; one: that device.",
            over_time(f"role:truerail_devices_read:ratio{{{FABRIC}}}", "{{role}}"),
            unit="percentunit",
            low=0,
            high=1,
            width=8,
        ),
        table(
            "Collectors",
            "How old the newest readable answer to each question is, and how many of the asked devices answered. "
            "Normal is an age under three rounds and all answered; the alert TruerailDataStale fires from five.",
            rows(f"max by (collector) (truerail_collector_age_seconds{{{FABRIC}}})"),
            rows(_collectors()),
            rows(_answered()),
            columns=_COLLECTORS,
            worst="ages in rounds",
            unit="short",
            width=8,
        ),
    ),
)
