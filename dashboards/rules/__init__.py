"""Every recording rule and alert, by chapter as they are written and tested, by group as they are evaluated."""

from typing import Final

from dashboards.rules.cables import LINK_ALERTS
from dashboards.rules.declared import Alert, Group
from dashboards.rules.fabric import FABRIC_ALERTS
from dashboards.rules.findings import FINDING_ALERTS
from dashboards.rules.inhibitions import in_order
from dashboards.rules.records import RECORDS
from dashboards.rules.service import SERVICE_ALERTS
from dashboards.rules.traffic import TRAFFIC_GROUP

CHAPTERS: Final[tuple[Group, ...]] = (LINK_ALERTS, FINDING_ALERTS, FABRIC_ALERTS, TRAFFIC_GROUP, SERVICE_ALERTS)
ALERTS: Final[tuple[Alert, ...]] = tuple(alert for chapter in CHAPTERS for alert in chapter.alerts)
GROUPS: Final[tuple[Group, ...]] = (
    RECORDS,
    Group("truerail.alerts", alerts=in_order(LINK_ALERTS.alerts + FINDING_ALERTS.alerts + FABRIC_ALERTS.alerts)),
    TRAFFIC_GROUP,
    Group(SERVICE_ALERTS.name, alerts=in_order(SERVICE_ALERTS.alerts)),
)
